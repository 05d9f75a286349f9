//! Times as people say them.

use std::time::{SystemTime, UNIX_EPOCH};

use dormouse_engine::time::Timestamp;

/// The time now.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A length of time in its two largest units: `2 d 3 h`, `4.2 s`, `12 ms`.
pub(crate) fn length(ms: i64) -> String {
    let ms = ms.max(0);
    let (s, m, h) = (ms / 1_000, ms / 60_000, ms / 3_600_000);
    match () {
        () if ms < 1_000 => format!("{ms} ms"),
        () if s < 10 => format!("{}.{} s", s, ms % 1_000 / 100),
        () if s < 60 => format!("{s} s"),
        () if m < 60 => format!("{m} min {} s", s % 60),
        () if h < 24 => format!("{h} h {} min", m % 60),
        () => format!("{} d {} h", h / 24, h % 24),
    }
}

/// Distance of an ISO time from now, in words.
pub(crate) fn relative(iso: &str, now: Timestamp) -> String {
    let Some(at) = Timestamp::parse(iso) else {
        return iso.to_owned();
    };
    match now.0.saturating_sub(at.0) {
        past if past >= 0 => format!("{} ago", length(past)),
        future => format!("in {}", length(-future)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_told_in_their_two_largest_units() {
        for (ms, text) in [
            (12, "12 ms"),
            (4_250, "4.2 s"),
            (59_999, "59 s"),
            (61_000, "1 min 1 s"),
            (3_660_000, "1 h 1 min"),
            (183_600_000, "2 d 3 h"),
        ] {
            assert_eq!(length(ms), text);
        }
    }

    #[test]
    fn a_time_is_ago_or_ahead() {
        let now = Timestamp::parse("2026-01-01T12:00:00Z").unwrap();
        assert_eq!(relative("2026-01-01T11:58:00Z", now), "2 min 0 s ago");
        assert_eq!(relative("2026-01-02T12:00:00Z", now), "in 1 d 0 h");
        assert_eq!(relative("soon", now), "soon");
    }
}
