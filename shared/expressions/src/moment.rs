//! An instant seen at an offset from UTC: what the dates of scripts and templates are.

use jiff::civil;
use jiff::fmt::temporal::Pieces;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

/// An instant and the offset it is seen at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moment(Zoned);

impl Moment {
    /// The moment of a time in milliseconds since 1970, or of the nearest one that a calendar has.
    pub(crate) fn new(ms: i64, offset_minutes: i32) -> Self {
        let nearest = if ms < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        };
        let instant = Timestamp::from_millisecond(ms).unwrap_or(nearest);
        let offset = Offset::from_seconds(offset_minutes.saturating_mul(60)).unwrap_or(Offset::UTC);
        Self(instant.to_zoned(TimeZone::fixed(offset)))
    }

    /// Reads a date as people and programs write it; without a zone it is UTC.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(pieces) = Pieces::parse(text) {
            let time = pieces.time().unwrap_or(civil::Time::midnight());
            let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
            return Self::of(civil::DateTime::from_parts(pieces.date(), time), offset);
        }
        if let Ok(zoned) = jiff::fmt::rfc2822::parse(text) {
            return Some(Self(zoned));
        }
        let formats = [
            "%m/%d/%Y %H:%M:%S",
            "%m/%d/%Y",
            "%B %d, %Y",
            "%d %B %Y",
            "%b %d, %Y",
            "%d %b %Y",
        ];
        let read = |format: &&str| civil::DateTime::strptime(format, text).ok();
        let date = |format: &&str| civil::Date::strptime(format, text).ok().map(Into::into);
        let found = formats
            .iter()
            .find_map(|format| read(format).or_else(|| date(format)))?;
        Self::of(found, Offset::UTC)
    }

    /// The same instant in a time zone of the IANA database, which is built in: the same on every machine.
    pub(crate) fn in_zone(&self, name: &str) -> Option<Self> {
        let zone = TimeZoneDatabase::bundled().get(name).ok()?;
        let offset = zone.to_offset(self.0.timestamp());
        Some(Self(self.0.timestamp().to_zoned(TimeZone::fixed(offset))))
    }

    /// The same instant in UTC.
    pub(crate) fn in_utc(&self) -> Self {
        Self(self.0.timestamp().to_zoned(TimeZone::UTC))
    }

    /// As ISO 8601 text, with `Z` or the offset.
    pub(crate) fn to_iso(&self) -> String {
        let offset = self.offset_minutes();
        let zone = match offset {
            0 => "Z".to_owned(),
            _ => offset_text(offset),
        };
        format!("{}{zone}", self.0.datetime())
    }

    /// The offset from UTC, minutes.
    pub(crate) fn offset_minutes(&self) -> i32 {
        self.0.offset().seconds() / 60
    }

    /// Date and time of day at the offset.
    pub(crate) fn civil(&self) -> civil::DateTime {
        self.0.datetime()
    }

    /// The date with its zone, for formatting.
    pub(crate) fn zoned(&self) -> &Zoned {
        &self.0
    }

    fn of(date: civil::DateTime, offset: Offset) -> Option<Self> {
        date.to_zoned(TimeZone::fixed(offset)).ok().map(Self)
    }
}

/// An offset as `+02:00`.
pub(crate) fn offset_text(minutes: i32) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_people_and_programs_write_them() {
        let cases = [
            ("2024-03-10", "2024-03-10T00:00:00Z"),
            ("2024-03-10 02:30", "2024-03-10T02:30:00Z"),
            ("2024-03-10T02:30:00.5Z", "2024-03-10T02:30:00.5Z"),
            ("2024-03-10T02:30:00+02:00", "2024-03-10T02:30:00+02:00"),
            (
                "Sun, 10 Mar 2024 02:30:00 -0500",
                "2024-03-10T02:30:00-05:00",
            ),
            ("03/10/2024", "2024-03-10T00:00:00Z"),
            ("March 10, 2024", "2024-03-10T00:00:00Z"),
        ];
        for (text, expected) in cases {
            assert_eq!(Moment::parse(text).unwrap().to_iso(), expected, "{text}");
        }
        assert!(
            ["", "x", "2024-13-01", "12"]
                .iter()
                .all(|text| Moment::parse(text).is_none())
        );
    }

    #[test]
    fn a_zone_keeps_the_instant() {
        let moment = Moment::parse("2024-07-01T12:00:00Z").unwrap();
        let there = moment.in_zone("America/New_York").unwrap();
        assert_eq!(there.to_iso(), "2024-07-01T08:00:00-04:00");
        assert_eq!(there.in_utc().to_iso(), "2024-07-01T12:00:00Z");
        assert_eq!(moment.in_zone("Nowhere/Land"), None);
    }
}
