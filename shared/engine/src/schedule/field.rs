//! One field of a cron expression: which numbers it stands for.

use super::CronError;

/// Which field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Seconds,
    Minutes,
    Hours,
    DaysOfMonth,
    Months,
    DaysOfWeek,
}

const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];
const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl Field {
    /// The field's name in messages, as Cronos has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Seconds => "Seconds",
            Self::Minutes => "Minutes",
            Self::Hours => "Hours",
            Self::DaysOfMonth => "Days of month",
            Self::Months => "Months",
            Self::DaysOfWeek => "Days of week",
        }
    }

    pub(super) fn first(self) -> u32 {
        match self {
            Self::Seconds | Self::Minutes | Self::Hours | Self::DaysOfWeek => 0,
            Self::DaysOfMonth | Self::Months => 1,
        }
    }

    pub(super) fn last(self) -> u32 {
        match self {
            Self::Seconds | Self::Minutes => 59,
            Self::Hours => 23,
            Self::DaysOfMonth => 31,
            Self::Months => 12,
            // Sunday is 0 and 7.
            Self::DaysOfWeek => 7,
        }
    }

    /// Where a range that goes past the end goes on: the last number that is no second name of the first.
    fn turn(self) -> u32 {
        match self {
            Self::DaysOfWeek => 6,
            Self::Seconds | Self::Minutes | Self::Hours | Self::DaysOfMonth | Self::Months => {
                self.last()
            }
        }
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Months => &MONTHS,
            Self::DaysOfWeek => &DAYS,
            Self::Seconds | Self::Minutes | Self::Hours | Self::DaysOfMonth => &[],
        }
    }

    /// Whether stars, ranges and steps in it make the expression an interval rather than fixed times.
    pub(super) fn can_be_interval(self) -> bool {
        match self {
            Self::Seconds | Self::Minutes | Self::Hours => true,
            Self::DaysOfMonth | Self::Months | Self::DaysOfWeek => false,
        }
    }

    pub(super) fn error(self) -> CronError {
        CronError::OutOfRange {
            field: self.name(),
            first: self.first(),
            last: self.last(),
        }
    }
}

/// The text of a field, read from the front.
pub(super) struct Reader<'t> {
    pub(super) field: Field,
    rest: &'t str,
    /// Whether a star, a range or a step was read.
    pub(super) is_interval: bool,
}

impl<'t> Reader<'t> {
    pub(super) fn new(field: Field, text: &'t str) -> Self {
        Self {
            field,
            rest: text,
            is_interval: false,
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes a character, in either case.
    pub(super) fn accept(&mut self, wanted: char) -> bool {
        let mut chars = self.rest.chars();
        if chars
            .next()
            .is_some_and(|c| c.eq_ignore_ascii_case(&wanted))
        {
            self.rest = chars.as_str();
            return true;
        }
        false
    }

    /// Takes a number of one or two digits, within the bounds.
    pub(super) fn number(&mut self, first: u32, last: u32) -> Result<u32, CronError> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (text, rest) = self.rest.split_at(digits);
        match text.parse::<u32>() {
            Ok(number) if digits <= 2 && (first..=last).contains(&number) => {
                self.rest = rest;
                Ok(number)
            }
            Ok(_) | Err(_) => Err(CronError::OutOfRange {
                field: self.field.name(),
                first,
                last,
            }),
        }
    }

    /// Takes a number or a name of the field.
    pub(super) fn value(&mut self) -> Result<u32, CronError> {
        for (place, name) in (0_u32..).zip(self.field.names()) {
            let head = self.rest.get(..name.len());
            if head.is_some_and(|h| h.eq_ignore_ascii_case(name)) {
                self.rest = self.rest.get(name.len()..).unwrap_or_default();
                return Ok(place + self.field.first());
            }
        }
        self.number(self.field.first(), self.field.last())
    }

    /// Takes what may follow a star, or nothing: a step.
    pub(super) fn star(&mut self) -> Result<u64, CronError> {
        self.is_interval |= self.field.can_be_interval();
        let step = if self.accept('/') { self.step()? } else { 1 };
        Ok(range(
            self.field,
            self.field.first(),
            self.field.last(),
            step,
        ))
    }

    /// Takes what may follow a first number: the end of a range, a step.
    pub(super) fn range_from(&mut self, low: u32) -> Result<u64, CronError> {
        let high = if self.accept('-') {
            Some(self.value()?)
        } else {
            None
        };
        let step = if self.accept('/') {
            Some(self.step()?)
        } else {
            None
        };
        if high.is_none() && step.is_none() {
            return Ok(1 << low);
        }
        self.is_interval |= self.field.can_be_interval();
        let high = high.unwrap_or(self.field.last());
        Ok(range(self.field, low, high, step.unwrap_or(1)))
    }

    fn step(&mut self) -> Result<u32, CronError> {
        self.number(1, self.field.last())
            .map_err(|_| CronError::BadStep {
                field: self.field.name(),
                last: self.field.last(),
            })
    }
}

/// The numbers from `low` to `high`, past the end of the field and on from its beginning if `high` is the lower one.
fn range(field: Field, low: u32, high: u32, step: u32) -> u64 {
    let count = field.turn() - field.first() + 1;
    let length = if low <= high {
        high - low
    } else {
        high + count - low
    };
    (0..=length).step_by(step as usize).fold(0, |bits, offset| {
        let number = low + offset;
        let number = if low <= high {
            number
        } else {
            field.first() + (number - field.first()) % count
        };
        bits | 1 << number
    })
}

/// Reads a field that has no letters of its own: stars, numbers, names, ranges, steps, lists.
pub(super) fn plain(reader: &mut Reader<'_>) -> Result<u64, CronError> {
    let mut bits = 0;
    loop {
        bits |= if reader.accept('*') {
            reader.star()?
        } else {
            let low = reader.value()?;
            reader.range_from(low)?
        };
        if !reader.accept(',') {
            break;
        }
    }
    if reader.is_at_end() {
        Ok(bits)
    } else {
        Err(reader.field.error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(field: Field, text: &str) -> Vec<u32> {
        let bits = plain(&mut Reader::new(field, text)).unwrap();
        (0..60).filter(|n| bits >> n & 1 == 1).collect()
    }

    #[test]
    fn ranges_steps_lists_and_names() {
        assert_eq!(numbers(Field::Minutes, "0/15"), [0, 15, 30, 45]);
        assert_eq!(numbers(Field::Minutes, "5-9/2,30"), [5, 7, 9, 30]);
        assert_eq!(numbers(Field::Hours, "*/6"), [0, 6, 12, 18]);
        assert_eq!(numbers(Field::Months, "jan,MAR-may"), [1, 3, 4, 5]);
    }

    #[test]
    fn ranges_go_past_the_end() {
        assert_eq!(numbers(Field::Hours, "22-2"), [0, 1, 2, 22, 23]);
        assert_eq!(numbers(Field::Hours, "20-4/3"), [2, 20, 23]);
        assert_eq!(numbers(Field::Months, "NOV-FEB"), [1, 2, 11, 12]);
        assert_eq!(numbers(Field::DaysOfWeek, "FRI-MON"), [0, 1, 5, 6]);
        assert_eq!(numbers(Field::DaysOfWeek, "5-7"), [5, 6, 7]);
    }

    #[test]
    fn what_is_no_number_of_the_field_names_its_bounds() {
        for text in [
            "60", "x", "", "1-", "1,", "*/0", "*/60", "1/", "100", "-1", "1 ",
        ] {
            assert!(
                plain(&mut Reader::new(Field::Seconds, text)).is_err(),
                "{text}"
            );
        }
        let error = plain(&mut Reader::new(Field::Hours, "24")).unwrap_err();
        let expected = "Error when parsing cron expression: Hours: Value must be a number between 0 and 23 (all inclusive).";
        assert_eq!(error.to_string(), expected);
    }
}
