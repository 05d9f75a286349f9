//! Points in time and lengths of time, as whole milliseconds.

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since 1970-01-01T00:00:00Z. Always given to the engine, never read from a clock.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This time moved by a number of milliseconds, at most to the ends of time.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Reads ISO 8601. A text without an offset is taken as UTC, as Elsa does on its servers.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(t) = text.parse::<jiff::Timestamp>() {
            return Some(Self(t.as_millisecond()));
        }
        if let Ok(t) = text.parse::<jiff::civil::DateTime>() {
            let zoned = t.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
            return Some(Self(zoned.timestamp().as_millisecond()));
        }
        None
    }
}

impl std::fmt::Display for Timestamp {
    /// ISO 8601 in UTC, with milliseconds where there are any.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(t) => write!(f, "{t}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

/// Reads a length of time as .NET writes it, `[-][d.]hh:mm[:ss[.fffffff]]` or a whole number of days, and also
/// ISO 8601 (`PT5M`). Gives milliseconds.
#[must_use]
pub fn parse_duration_ms(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.starts_with(['P', 'p']) || text.starts_with("-P") {
        let span: jiff::SignedDuration = text.parse().ok()?;
        return i64::try_from(span.as_millis()).ok();
    }
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let ms = match rest.split_once(':') {
        None => rest.parse::<i64>().ok()?.checked_mul(86_400_000)?,
        Some((head, tail)) => {
            let (days, hours) = match head.split_once('.') {
                Some((d, h)) => (d.parse::<i64>().ok()?, h.parse::<i64>().ok()?),
                None => (0, head.parse::<i64>().ok()?),
            };
            let (minutes, seconds) = match tail.split_once(':') {
                Some((m, s)) => (m.parse::<i64>().ok()?, seconds_ms(s)?),
                None => (tail.parse::<i64>().ok()?, 0),
            };
            if !(0..60).contains(&minutes) || seconds >= 60_000 || hours < 0 {
                return None;
            }
            days.checked_mul(86_400_000)?
                .checked_add(hours.checked_mul(3_600_000)?)?
                .checked_add(minutes * 60_000 + seconds)?
        }
    };
    Some(if negative { -ms } else { ms })
}

fn seconds_ms(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    Some(whole.parse::<u16>().ok().map(i64::from)? * 1_000 + thousandths.parse::<i64>().ok()?)
}

/// Writes a length of time as .NET's constant format does.
#[must_use]
pub fn format_duration(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    let total = ms.unsigned_abs();
    let (days, rest) = (total / 86_400_000, total % 86_400_000);
    let (h, m) = (rest / 3_600_000, rest / 60_000 % 60);
    let (s, f) = (rest / 1_000 % 60, rest % 1_000);
    let day = if days > 0 {
        format!("{days}.")
    } else {
        String::new()
    };
    let fraction = if f > 0 {
        format!(".{f:03}0000")
    } else {
        String::new()
    };
    format!("{sign}{day}{h:02}:{m:02}:{s:02}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_dotnet_writes_them() {
        assert_eq!(parse_duration_ms("00:01:00"), Some(60_000));
        assert_eq!(parse_duration_ms("7.00:00:00"), Some(604_800_000));
        assert_eq!(parse_duration_ms("-00:00:01.5"), Some(-1_500));
        assert_eq!(parse_duration_ms("PT5M"), Some(300_000));
        assert_eq!(parse_duration_ms("00:99:00"), None);
        assert_eq!(parse_duration_ms("soon"), None);
    }

    #[test]
    fn durations_survive_a_round_trip() {
        for ms in [0, 1, 999, 60_000, 604_800_000, 90_061_001, -5_000] {
            assert_eq!(parse_duration_ms(&format_duration(ms)), Some(ms), "{ms}");
        }
    }

    #[test]
    fn a_time_without_offset_is_utc() {
        assert_eq!(
            Timestamp::parse("2026-01-02T03:04:05"),
            Timestamp::parse("2026-01-02T03:04:05Z")
        );
        assert!(Timestamp::parse("tomorrow").is_none());
    }
}
