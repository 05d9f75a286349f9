//! Time zones by their IANA name, from a database that is compiled in: the same on every machine.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::time::Timestamp;

/// Nobody knows the zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no time zone `{0}`; give an IANA name such as Europe/Amsterdam, or UTC")]
pub struct UnknownZone(pub String);

/// The zone of a name; blank is UTC.
///
/// # Errors
///
/// [`UnknownZone`].
pub fn zone(name: &str) -> Result<TimeZone, UnknownZone> {
    let name = name.trim();
    if name.is_empty() || name.eq_ignore_ascii_case("utc") {
        return Ok(TimeZone::UTC);
    }
    TimeZone::get(name).map_err(|_| UnknownZone(name.to_owned()))
}

/// Reads ISO 8601: with an offset as it says, without one as a local time of the zone. A local time that comes twice
/// is the first one, and one that is skipped is as long after the gap as it would have been after its beginning.
#[must_use]
pub fn parse_in(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(local) = text.parse::<DateTime>()
        && text.parse::<jiff::Timestamp>().is_err()
    {
        let at = zone.to_ambiguous_zoned(local).compatible().ok()?;
        return Some(Timestamp(at.timestamp().as_millisecond()));
    }
    Timestamp::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_known_by_their_iana_names() {
        assert!(zone("Europe/Amsterdam").is_ok());
        assert_eq!(zone("").unwrap(), TimeZone::UTC);
        assert!(
            zone("Mars/Olympus")
                .unwrap_err()
                .to_string()
                .contains("Mars/Olympus")
        );
    }

    #[test]
    fn a_local_time_is_read_in_its_zone() {
        let amsterdam = zone("Europe/Amsterdam").unwrap();
        let utc = |text| Timestamp::parse(text);
        assert_eq!(
            parse_in("2026-07-01T12:00:00", &amsterdam),
            utc("2026-07-01T10:00:00Z")
        );
        assert_eq!(
            parse_in("2026-07-01T12:00:00Z", &amsterdam),
            utc("2026-07-01T12:00:00Z")
        );
        assert_eq!(
            parse_in("2026-07-01T12:00:00+05:00", &amsterdam),
            utc("2026-07-01T07:00:00Z")
        );
        assert_eq!(
            parse_in("2026-03-29T02:30:00", &amsterdam),
            utc("2026-03-29T01:30:00Z")
        );
        assert_eq!(parse_in("soon", &amsterdam), None);
    }
}
