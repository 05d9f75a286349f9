//! Cron expressions in the dialect of Cronos, which Elsa uses.
//!
//! Six fields: seconds, minutes, hours, days of month, months, days of week; five are taken as starting with
//! minutes. Numbers, names, lists, ranges (also past the end: `22-2`), steps; `L`, `L-3`, `W`, `LW` for days of month;
//! `5L` and `5#2` for days of week, where 0 and 7 are Sunday; `?` for either. Both kinds of day must match.

use jiff::civil::{Date, Weekday};

use super::field::{self, Field, Reader};

/// Why a text is no cron expression. The messages are Elsa's, which clients look for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// A number that the field does not have, or no number at all.
    #[error(
        "Error when parsing cron expression: {field}: Value must be a number between {first} and {last} (all inclusive)."
    )]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// Its lowest number.
        first: u32,
        /// Its highest number.
        last: u32,
    },
    /// A step of nothing, or over the whole field.
    #[error(
        "Error when parsing cron expression: {field}: Step must be a number between 1 and {last} (all inclusive)."
    )]
    BadStep {
        /// The field.
        field: &'static str,
        /// The longest step.
        last: u32,
    },
    /// Too few or too many fields.
    #[error(
        "Error when parsing cron expression: it has {count} fields; give 6 (seconds, minutes, hours, days of month, months, days of week) or 5 (starting with minutes)."
    )]
    FieldCount {
        /// How many there are.
        count: usize,
    },
}

/// A rule for days of the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MonthDay {
    /// The days whose bits are set.
    In(u64),
    /// So many days before the last.
    Last(u32),
    /// The working day nearest to so many days before the last.
    LastWeekday(u32),
    /// The working day nearest to a day, within the month.
    Nearest(u32),
}

/// A rule for days of the week; Sunday is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WeekDay {
    /// The days whose bits are set.
    In(u64),
    /// The last such day of the month.
    Last(u32),
    /// The so many-th such day of the month.
    Nth(u32, u32),
}

/// A cron expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    pub(super) seconds: u64,
    pub(super) minutes: u64,
    pub(super) hours: u64,
    pub(super) months: u64,
    month_days: Vec<MonthDay>,
    week_days: Vec<WeekDay>,
    /// It says how often rather than when: it goes on through an hour that comes twice.
    pub(super) is_interval: bool,
}

impl Cron {
    /// Reads an expression, or one of `@every_second`, `@every_minute`, `@hourly`, `@daily`, `@midnight`, `@weekly`,
    /// `@monthly`, `@yearly`, `@annually`.
    ///
    /// # Errors
    ///
    /// [`CronError`], with what the field allows.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let text = spelled_out(text.trim());
        let parts: Vec<&str> = text.split_ascii_whitespace().collect();
        let count = parts.len();
        let mut parts = parts.into_iter();
        let mut is_interval = false;
        let mut next = |field: Field| {
            let mut reader =
                Reader::new(field, parts.next().ok_or(CronError::FieldCount { count })?);
            let bits = field::plain(&mut reader)?;
            is_interval |= reader.is_interval;
            Ok(bits)
        };
        let seconds = if count == 5 { 1 } else { next(Field::Seconds)? };
        let minutes = next(Field::Minutes)?;
        let hours = next(Field::Hours)?;
        let mut day = |field: Field| {
            let text = parts.next().ok_or(CronError::FieldCount { count })?;
            Ok::<_, CronError>(Reader::new(field, text))
        };
        let month_days = list(day(Field::DaysOfMonth)?, month_day)?;
        let months = field::plain(&mut day(Field::Months)?)?;
        let week_days = list(day(Field::DaysOfWeek)?, week_day)?;
        if count > 6 {
            return Err(CronError::FieldCount { count });
        }
        Ok(Self {
            seconds,
            minutes,
            hours,
            months,
            month_days,
            week_days,
            is_interval,
        })
    }

    /// Whether it can fire on a day.
    pub(super) fn is_on(&self, date: Date) -> bool {
        has(self.months, ordinal(date.month()))
            && self.month_days.iter().any(|rule| rule.is_on(date))
            && self.week_days.iter().any(|rule| rule.is_on(date))
    }
}

/// A small number of the calendar, which is never negative.
pub(super) fn ordinal(number: i8) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// Whether the bit of a number is set.
pub(super) fn has(bits: u64, number: u32) -> bool {
    bits >> number & 1 == 1
}

fn spelled_out(text: &str) -> &str {
    match text.to_ascii_lowercase().as_str() {
        "@every_second" => "* * * * * *",
        "@every_minute" => "0 * * * * *",
        "@hourly" => "0 0 * * * *",
        "@daily" | "@midnight" => "0 0 0 * * *",
        "@weekly" => "0 0 0 * * 0",
        "@monthly" => "0 0 0 1 * *",
        "@yearly" | "@annually" => "0 0 0 1 1 *",
        _ => text,
    }
}

fn list<R>(
    mut reader: Reader<'_>,
    rule: fn(&mut Reader<'_>) -> Result<R, CronError>,
) -> Result<Vec<R>, CronError> {
    let mut rules = vec![rule(&mut reader)?];
    while reader.accept(',') {
        rules.push(rule(&mut reader)?);
    }
    if reader.is_at_end() {
        Ok(rules)
    } else {
        Err(reader.field.error())
    }
}

fn month_day(reader: &mut Reader<'_>) -> Result<MonthDay, CronError> {
    if reader.accept('*') || reader.accept('?') {
        return Ok(MonthDay::In(reader.star()?));
    }
    if reader.accept('L') {
        let before = if reader.accept('-') {
            reader.number(0, 30)?
        } else {
            0
        };
        return Ok(if reader.accept('W') {
            MonthDay::LastWeekday(before)
        } else {
            MonthDay::Last(before)
        });
    }
    let day = reader.value()?;
    if reader.accept('W') {
        return Ok(MonthDay::Nearest(day));
    }
    Ok(MonthDay::In(reader.range_from(day)?))
}

fn week_day(reader: &mut Reader<'_>) -> Result<WeekDay, CronError> {
    if reader.accept('*') || reader.accept('?') {
        return Ok(WeekDay::In(reader.star()?));
    }
    let day = reader.value()?;
    if reader.accept('L') {
        return Ok(WeekDay::Last(day % 7));
    }
    if reader.accept('#') {
        return Ok(WeekDay::Nth(day % 7, reader.number(1, 5)?));
    }
    let bits = reader.range_from(day)?;
    // Both numbers of Sunday are one bit.
    Ok(WeekDay::In(bits & 0x7f | bits >> 7 & 1))
}

impl MonthDay {
    fn is_on(self, date: Date) -> bool {
        let (day, last) = (ordinal(date.day()), ordinal(date.days_in_month()));
        match self {
            Self::In(days) => has(days, day),
            Self::Last(before) => day + before == last,
            Self::LastWeekday(before) => {
                before < last && day == nearest_weekday(date, last - before)
            }
            Self::Nearest(wanted) => wanted <= last && day == nearest_weekday(date, wanted),
        }
    }
}

/// The working day nearest to a day of the month `date` is in, in that month.
fn nearest_weekday(date: Date, day: u32) -> u32 {
    let last = ordinal(date.days_in_month());
    let Ok(wanted) = i8::try_from(day) else {
        return day;
    };
    let Ok(there) = Date::new(date.year(), date.month(), wanted) else {
        return day;
    };
    match there.weekday() {
        Weekday::Saturday if day == 1 => 3,
        Weekday::Saturday => day - 1,
        Weekday::Sunday if day == last => day - 2,
        Weekday::Sunday => day + 1,
        Weekday::Monday
        | Weekday::Tuesday
        | Weekday::Wednesday
        | Weekday::Thursday
        | Weekday::Friday => day,
    }
}

impl WeekDay {
    fn is_on(self, date: Date) -> bool {
        let day = ordinal(date.day());
        let here = ordinal(date.weekday().to_sunday_zero_offset());
        match self {
            Self::In(days) => has(days, here),
            Self::Last(wanted) => wanted == here && day + 7 > ordinal(date.days_in_month()),
            Self::Nth(wanted, nth) => wanted == here && day.div_ceil(7) == nth,
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn days(fields: &str, year: i16, month: i8) -> Vec<i8> {
        let cron = Cron::parse(&format!("0 0 0 {fields}")).unwrap();
        (1..=31)
            .filter(|day| Date::new(year, month, *day).is_ok_and(|d| cron.is_on(d)))
            .collect()
    }

    #[test]
    fn last_days_of_the_month() {
        assert_eq!(days("L * ?", 2024, 2), [29]);
        assert_eq!(days("L-3 * *", 2024, 2), [26]);
        assert_eq!(days("LW * *", 2026, 5), [29]);
        assert_eq!(days("L-2W * *", 2026, 5), [29]);
        assert_eq!(days("1,15,L * *", 2026, 4), [1, 15, 30]);
    }

    #[test]
    fn the_nearest_working_day_stays_in_its_month() {
        // 2026-08-01 is a Saturday, 2026-05-31 a Sunday, 2026-03-15 a Sunday.
        assert_eq!(days("1W * *", 2026, 8), [3]);
        assert_eq!(days("31W * *", 2026, 5), [29]);
        assert_eq!(days("15W * *", 2026, 3), [16]);
        assert_eq!(days("31W * *", 2026, 4), [0_i8; 0]);
    }

    #[test]
    fn days_of_the_week_by_number_name_and_place() {
        assert_eq!(days("? * FRI#2", 2026, 3), [13]);
        assert_eq!(days("* * 5L", 2026, 3), [27]);
        assert_eq!(days("* * SUN", 2026, 3), [1, 8, 15, 22, 29]);
        assert_eq!(days("* * 7", 2026, 3), days("* * 0", 2026, 3));
        assert_eq!(
            days("* * 6-1", 2026, 3),
            [1, 2, 7, 8, 9, 14, 15, 16, 21, 22, 23, 28, 29, 30]
        );
    }

    #[test]
    fn both_kinds_of_day_must_match() {
        assert_eq!(days("13 * FRI", 2026, 3), [13]);
        assert_eq!(days("13 * FRI", 2026, 4), [0_i8; 0]);
    }

    #[test]
    fn five_fields_start_with_minutes() {
        let (five, six) = (Cron::parse("30 4 * * *"), Cron::parse("0 30 4 * * *"));
        assert_eq!(five, six);
        assert!(Cron::parse("@daily").unwrap().is_on(date(2026, 3, 2)));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_bounds() {
        let message = |text: &str| Cron::parse(text).unwrap_err().to_string();
        let bad = message("BadCronExpression");
        assert_eq!(
            bad,
            "Error when parsing cron expression: Seconds: Value must be a number between 0 and 59 (all inclusive)."
        );
        assert!(message("0 0 25 * * *").contains("Hours: Value must be a number between 0 and 23"));
        assert!(
            message("0 0 0 0 * *")
                .contains("Days of month: Value must be a number between 1 and 31")
        );
        assert!(message("0 0 0 * 13 *").contains("Months"));
        assert!(message("0 0 0 * * 8").contains("Days of week"));
        assert!(message("0/0 * * * * *").contains("Step must be a number between 1 and 59"));
        assert!(message("0 0 0 * *").contains("Days of month"));
        assert!(message("0 0 0 *").contains("it has 4 fields"));
        assert!(message("0 0 0 * * * *").contains("it has 7 fields"));
        for text in [
            "",
            "@often",
            "0 0 0 L5 * *",
            "0 0 0 * * 1#6",
            "0 0 0 * * L",
            "0 ? 0 * * *",
            "0 0 0 1W5 * *",
        ] {
            assert!(
                message(text).starts_with("Error when parsing cron expression:"),
                "{text}"
            );
        }
    }
}
