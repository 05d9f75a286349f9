//! Points in time and lengths of time as C# scripts have them: ticks of 100 nanoseconds.

use crate::dotnet::format_date;
use crate::moment::Moment;

pub(super) const TICKS_A_MS: i64 = 10_000;
/// Milliseconds from the year 1 to 1970.
const EPOCH_MS: i64 = 62_135_596_800_000;

/// What a date shows of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Part {
    #[default]
    Whole,
    /// `DateOnly`
    Day,
    /// `TimeOnly`
    Clock,
}

/// A `DateTime`, or with an offset a `DateTimeOffset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Date {
    /// What the clock shows, in ticks since the year 1.
    pub(super) ticks: i64,
    pub(super) is_utc: bool,
    /// Minutes.
    pub(super) offset: Option<i32>,
    pub(super) part: Part,
}

impl Date {
    pub(super) fn utc(ms: i64) -> Self {
        Self {
            ticks: (ms + EPOCH_MS) * TICKS_A_MS,
            is_utc: true,
            offset: None,
            part: Part::Whole,
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let moment = Moment::parse(text)?;
        let offset = moment.offset_minutes();
        let local = moment.zoned().timestamp().as_millisecond() + i64::from(offset) * 60_000;
        let mut date = Self::utc(local);
        let clock = text.split_once(['T', ' ']).map_or("", |(_, clock)| clock);
        date.is_utc = clock.ends_with(['Z', 'z']);
        date.offset = (clock.contains(['+', '-'])).then_some(offset);
        Some(date)
    }

    /// A `DateTime`: one that was written with an offset is moved to UTC.
    pub(super) fn parse_plain(text: &str) -> Option<Self> {
        let date = Self::parse(text)?;
        Some(Self {
            ticks: date.instant_ticks(),
            offset: None,
            ..date
        })
    }

    pub(super) fn of(parts: &[i64]) -> Option<Self> {
        let part = |at: usize, default: i64| parts.get(at).copied().unwrap_or(default);
        let small = |at: usize, default: i64| i8::try_from(part(at, default)).ok();
        let year = i16::try_from(part(0, 1)).ok()?;
        let date = jiff::civil::Date::new(year, small(1, 1)?, small(2, 1)?).ok()?;
        let time = jiff::civil::Time::new(small(3, 0)?, small(4, 0)?, small(5, 0)?, 0).ok()?;
        let zoned = date
            .to_datetime(time)
            .to_zoned(jiff::tz::TimeZone::UTC)
            .ok()?;
        let mut found = Self::utc(zoned.timestamp().as_millisecond() + part(6, 0));
        found.is_utc = false;
        Some(found)
    }

    fn instant_ticks(self) -> i64 {
        self.ticks - i64::from(self.offset.unwrap_or(0)) * 60_000 * TICKS_A_MS
    }

    pub(super) fn unix_ms(self) -> i64 {
        self.instant_ticks().div_euclid(TICKS_A_MS) - EPOCH_MS
    }

    pub(super) fn civil(self) -> jiff::civil::DateTime {
        Moment::new(self.ticks.div_euclid(TICKS_A_MS) - EPOCH_MS, 0).civil()
    }

    pub(super) fn plus(self, ticks: i64) -> Option<Self> {
        Some(Self {
            ticks: self.ticks.checked_add(ticks)?,
            ..self
        })
    }

    pub(super) fn plus_months(self, months: i64) -> Option<Self> {
        let moved = self
            .civil()
            .checked_add(jiff::Span::new().try_months(months).ok()?)
            .ok()?;
        let zoned = moved.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        let moved = Self::utc(zoned.timestamp().as_millisecond());
        Some(Self {
            ticks: moved.ticks,
            ..self
        })
    }

    pub(super) fn minus(self, other: Self) -> i64 {
        self.instant_ticks() - other.instant_ticks()
    }

    /// The same instant at another offset.
    pub(super) fn seen_at(self, minutes: i32) -> Self {
        Self {
            ticks: self.instant_ticks() + i64::from(minutes) * 60_000 * TICKS_A_MS,
            is_utc: false,
            offset: Some(minutes),
            part: Part::Whole,
        }
    }

    fn fraction(self) -> i64 {
        self.ticks.rem_euclid(10_000_000)
    }

    fn zone(self) -> String {
        match self.offset {
            Some(minutes) => crate::moment::offset_text(minutes),
            None if self.is_utc => "Z".into(),
            None => String::new(),
        }
    }

    fn clock(self) -> String {
        let at = self.civil();
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            at.year(),
            at.month(),
            at.day(),
            at.hour(),
            at.minute(),
            at.second()
        )
    }

    pub(super) fn json(self) -> String {
        match self.part {
            Part::Day => return self.formatted("yyyy-MM-dd"),
            Part::Clock => return self.formatted("HH:mm:ss"),
            Part::Whole => {}
        }
        let fraction = match self.fraction() {
            0 => String::new(),
            ticks => format!(".{ticks:07}").trim_end_matches('0').to_owned(),
        };
        format!("{}{fraction}{}", self.clock(), self.zone())
    }

    pub(super) fn text(self) -> String {
        match self.part {
            Part::Day => return self.formatted("d"),
            Part::Clock => return self.formatted("t"),
            Part::Whole => {}
        }
        self.formatted(if self.offset.is_some() {
            "MM/dd/yyyy HH:mm:ss zzz"
        } else {
            "MM/dd/yyyy HH:mm:ss"
        })
    }

    pub(super) fn formatted(self, format: &str) -> String {
        if matches!(format, "o" | "O") {
            return format!("{}.{:07}{}", self.clock(), self.fraction(), self.zone());
        }
        if format == "s" {
            return self.clock();
        }
        let offset = self.offset.unwrap_or(0);
        let moment = Moment::new(self.unix_ms(), offset);
        // Without a zone, there is none to show.
        if self.offset.is_none() && !self.is_utc && format.contains('K') {
            return format_date(&moment, &format.replace('K', ""));
        }
        format_date(&moment, format)
    }
}

/// A length of time in .NET's constant format.
pub(super) fn span_text(ticks: i64) -> String {
    let sign = if ticks < 0 { "-" } else { "" };
    let total = ticks.unsigned_abs();
    let (seconds, fraction) = (total / 10_000_000, total % 10_000_000);
    let days = seconds / 86_400;
    let day = if days > 0 {
        format!("{days}.")
    } else {
        String::new()
    };
    let part = if fraction > 0 {
        format!(".{fraction:07}")
    } else {
        String::new()
    };
    format!(
        "{sign}{day}{:02}:{:02}:{:02}{part}",
        seconds / 3_600 % 24,
        seconds / 60 % 60,
        seconds % 60
    )
}
