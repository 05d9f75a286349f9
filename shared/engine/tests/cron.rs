//! Cron against a slow oracle that asks of every second, or every day, whether it fires.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it is"
)]

use std::fmt::Write as _;

use dormouse_engine::schedule::Cron;
use dormouse_engine::schedule::zone::zone;
use dormouse_engine::time::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone};
use proptest::prelude::*;

/// A part of a field: its text, the numbers it stands for, and whether it makes the expression an interval.
type Part = (String, Vec<i64>, bool);

/// A field of numbers from `first` to `last`, written in every way there is.
fn field(first: i64, last: i64) -> impl Strategy<Value = Part> {
    let number = first..=last;
    let walk = move |from: i64, to: i64, step: i64| {
        let mut numbers = Vec::new();
        let (mut at, mut walked) = (from, 0);
        loop {
            if walked % step == 0 {
                numbers.push(at);
            }
            if at == to {
                return numbers;
            }
            at = if at == last { first } else { at + 1 };
            walked += 1;
        }
    };
    let list = |numbers: Vec<i64>| {
        let text: Vec<_> = numbers.iter().map(i64::to_string).collect();
        (text.join(","), numbers, false)
    };
    prop_oneof![
        Just(("*".to_owned(), (first..=last).collect(), true)),
        prop::collection::vec(number.clone(), 1..4).prop_map(list),
        (number.clone(), number.clone()).prop_map(move |(a, b)| (
            format!("{a}-{b}"),
            walk(a, b, 1),
            true
        )),
        (number.clone(), number.clone(), 1..=last).prop_map(move |(a, b, s)| (
            format!("{a}-{b}/{s}"),
            walk(a, b, s),
            true
        )),
        (number, 1..=last).prop_map(move |(a, s)| (format!("{a}/{s}"), walk(a, last, s), true)),
    ]
}

/// Times of day, and whether they are an interval.
#[derive(Debug, Clone)]
struct Clock {
    text: String,
    seconds: Vec<i64>,
    minutes: Vec<i64>,
    hours: Vec<i64>,
    is_interval: bool,
}

fn clock() -> impl Strategy<Value = Clock> {
    (field(0, 59), field(0, 59), field(0, 23)).prop_map(|(s, m, h)| Clock {
        text: format!("{} {} {}", s.0, m.0, h.0),
        is_interval: s.2 || m.2 || h.2,
        seconds: s.1,
        minutes: m.1,
        hours: h.1,
    })
}

impl Clock {
    fn is_at(&self, local: DateTime) -> bool {
        self.hours.contains(&i64::from(local.hour()))
            && self.minutes.contains(&i64::from(local.minute()))
            && self.seconds.contains(&i64::from(local.second()))
    }

    /// Whether it fires at an instant, by asking every local second that this instant stands for.
    fn fires(&self, second: i64, zone: &TimeZone) -> bool {
        let at = jiff::Timestamp::from_second(second).unwrap();
        let offset = zone.to_offset(at);
        let before = zone.to_offset(jiff::Timestamp::from_second(second - 1).unwrap());
        let skipped = i64::from(offset.seconds()) - i64::from(before.seconds());
        let local =
            |back: i64| offset.to_datetime(jiff::Timestamp::from_second(second - back).unwrap());
        if (1..=skipped).any(|back| self.is_at(local(back))) {
            return true;
        }
        let is_second_pass = match zone.to_ambiguous_timestamp(local(0)).offset() {
            AmbiguousOffset::Fold { after, .. } => after == offset,
            AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Gap { .. } => false,
        };
        self.is_at(local(0)) && (self.is_interval || !is_second_pass)
    }
}

/// Instants near which clocks change, in zones that do it differently: by an hour, by half of one, at midnight.
const CHANGES: [(&str, &str); 8] = [
    ("Europe/Amsterdam", "2026-03-29T01:00:00Z"),
    ("Europe/Amsterdam", "2026-10-25T01:00:00Z"),
    ("America/New_York", "2026-03-08T07:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
    ("Africa/Cairo", "2026-04-23T22:00:00Z"),
    ("UTC", "2026-06-30T23:59:59Z"),
];

fn seconds_of(text: &str) -> i64 {
    Timestamp::parse(text).unwrap().0 / 1_000
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_second_around_a_change_of_clocks_is_as_the_oracle_says(
        clock in clock(), place in 0..CHANGES.len(), before in 0_i64..7_200,
    ) {
        let (name, change) = CHANGES[place];
        let zone = zone(name).unwrap();
        let cron = Cron::parse(&format!("{} * * *", clock.text)).unwrap();
        let begin = seconds_of(change) - before;
        let end = begin + 14_400;
        let mut expected = (begin + 1..=end).filter(|second| clock.fires(*second, &zone));
        let mut at = Timestamp(begin * 1_000);
        loop {
            let found = cron.next(at, &zone).filter(|t| t.0 <= end * 1_000);
            prop_assert_eq!(found.map(|t| t.0 / 1_000), expected.next(), "{} in {}", clock.text, name);
            match found {
                Some(next) => at = next,
                None => break,
            }
        }
    }
}

/// A rule for days: its text and the days of a month it picks, by going through them all.
#[derive(Debug, Clone)]
enum Days {
    Every,
    OfMonth(Vec<i64>),
    Last(i64),
    LastWorking(i64),
    Nearest(i64),
    OfWeek(Vec<i64>),
    LastOfWeek(i64),
    NthOfWeek(i64, i64),
}

fn month_days() -> impl Strategy<Value = (String, Days)> {
    prop_oneof![
        Just(("*".to_owned(), Days::Every)),
        Just(("?".to_owned(), Days::Every)),
        field(1, 31).prop_map(|(text, numbers, _)| (text, Days::OfMonth(numbers))),
        (0_i64..=30).prop_map(|n| (format!("L-{n}"), Days::Last(n))),
        (0_i64..=30).prop_map(|n| (format!("L-{n}W"), Days::LastWorking(n))),
        Just(("LW".to_owned(), Days::LastWorking(0))),
        (1_i64..=31).prop_map(|n| (format!("{n}W"), Days::Nearest(n))),
    ]
}

fn week_days() -> impl Strategy<Value = (String, Days)> {
    prop_oneof![
        3 => Just(("*".to_owned(), Days::Every)),
        1 => field(0, 6)
            .prop_filter("a step without an end runs to 7", |(text, ..)| text.contains('-') || !text.contains('/'))
            .prop_map(|(text, numbers, _)| (text, Days::OfWeek(numbers))),
        1 => Just(("1/2".to_owned(), Days::OfWeek(vec![1, 3, 5, 0]))),
        1 => Just(("FRI-MON".to_owned(), Days::OfWeek(vec![5, 6, 0, 1]))),
        1 => Just(("7".to_owned(), Days::OfWeek(vec![0]))),
        1 => (0_i64..=6).prop_map(|d| (format!("{d}L"), Days::LastOfWeek(d))),
        1 => (0_i64..=6, 1_i64..=5).prop_map(|(d, n)| (format!("{d}#{n}"), Days::NthOfWeek(d, n))),
    ]
}

fn weekday(date: Date) -> i64 {
    i64::from(date.weekday().to_sunday_zero_offset())
}

impl Days {
    fn picks(&self, date: Date) -> bool {
        let month: Vec<Date> = date
            .first_of_month()
            .series(jiff::Span::new().days(1))
            .take_while(|d| d.month() == date.month())
            .collect();
        let number = |d: &Date| i64::from(d.day());
        let nearest = |wanted: i64| {
            let working = month.iter().filter(|d| (1..=5).contains(&weekday(**d)));
            working
                .min_by_key(|d| (number(d) - wanted).abs())
                .map(number)
        };
        let same: Vec<_> = month
            .iter()
            .filter(|d| weekday(**d) == weekday(date))
            .collect();
        let last = month.len() as i64;
        match self {
            Self::Every => true,
            Self::OfMonth(days) => days.contains(&number(&date)),
            Self::Last(before) => number(&date) == last - before,
            Self::LastWorking(before) => {
                last > *before && nearest(last - before) == Some(number(&date))
            }
            Self::Nearest(day) => *day <= last && nearest(*day) == Some(number(&date)),
            Self::OfWeek(days) => days.contains(&weekday(date)),
            Self::LastOfWeek(day) => weekday(date) == *day && same.last() == Some(&&date),
            Self::NthOfWeek(day, nth) => {
                weekday(date) == *day
                    && same.iter().position(|d| **d == date) == Some(*nth as usize - 1)
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_day_of_some_years_is_as_the_oracle_says(
        of_month in month_days(), months in field(1, 12), of_week in week_days(), year in 2024_i16..2032,
    ) {
        let text = format!("0 0 0 {} {} {}", of_month.0, months.0, of_week.0);
        let cron = Cron::parse(&text).unwrap();
        let begin = jiff::civil::date(year, 1, 1);
        let is_on = |d: &Date| {
            months.1.contains(&i64::from(d.month())) && of_month.1.picks(*d) && of_week.1.picks(*d)
        };
        let days = begin.series(jiff::Span::new().days(1)).skip(1).take(3 * 365);
        let mut found = String::new();
        let mut expected = String::new();
        for day in days.clone().filter(is_on) {
            let _infallible = writeln!(expected, "{day}");
        }
        let end = days.last().unwrap();
        let local = |d: Date| Timestamp(d.to_zoned(TimeZone::UTC).unwrap().timestamp().as_millisecond());
        let mut at = local(begin);
        while let Some(next) = cron.next(at, &TimeZone::UTC).filter(|t| *t <= local(end)) {
            let day = jiff::Timestamp::from_millisecond(next.0).unwrap().to_zoned(TimeZone::UTC).date();
            let _infallible = writeln!(found, "{day}");
            at = next;
        }
        prop_assert_eq!(found, expected, "{}", text);
    }
}

fn next(expression: &str, name: &str, after: &str) -> Option<String> {
    let found = Cron::parse(expression)
        .unwrap()
        .next(Timestamp::parse(after).unwrap(), &zone(name).unwrap());
    found.map(|t| t.to_string())
}

#[test]
fn dates_that_never_come_end_the_search() {
    for impossible in [
        "0 0 0 30 2 *",
        "0 0 0 31 4,6,9,11 ?",
        "0 0 0 31W 2 *",
        "0 0 0 1 1 MON#2",
    ] {
        assert_eq!(
            next(impossible, "UTC", "2026-01-01T00:00:00Z"),
            None,
            "{impossible}"
        );
    }
    assert_eq!(
        next("0 0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z").unwrap(),
        "2104-02-29T00:00:00Z"
    );
    assert_eq!(
        next("0 0 0 29 2 MON", "UTC", "2026-01-01T00:00:00Z").unwrap(),
        "2044-02-29T00:00:00Z"
    );
}

#[test]
fn a_daily_time_that_is_skipped_fires_at_the_end_of_the_gap() {
    let nightly = |after| next("0 30 2 * * *", "Europe/Amsterdam", after).unwrap();
    assert_eq!(nightly("2026-03-28T12:00:00Z"), "2026-03-29T01:00:00Z");
    assert_eq!(nightly("2026-03-29T01:00:00Z"), "2026-03-30T00:30:00Z");
}

#[test]
fn a_daily_time_that_comes_twice_fires_once_and_an_interval_goes_on() {
    let nightly = |after| next("0 30 2 * * *", "Europe/Amsterdam", after).unwrap();
    assert_eq!(nightly("2026-10-24T12:00:00Z"), "2026-10-25T00:30:00Z");
    assert_eq!(nightly("2026-10-25T00:30:00Z"), "2026-10-26T01:30:00Z");
    let half_hourly = |after| next("0 */30 * * * *", "Europe/Amsterdam", after).unwrap();
    assert_eq!(half_hourly("2026-10-25T00:30:00Z"), "2026-10-25T01:00:00Z");
    assert_eq!(half_hourly("2026-10-25T01:00:00Z"), "2026-10-25T01:30:00Z");
}

#[test]
fn the_next_time_is_strictly_later_even_within_a_second() {
    assert_eq!(
        next("* * * * * *", "UTC", "2026-01-01T00:00:00Z").unwrap(),
        "2026-01-01T00:00:01Z"
    );
    assert_eq!(
        next("* * * * * *", "UTC", "2026-01-01T00:00:00.999Z").unwrap(),
        "2026-01-01T00:00:01Z"
    );
}
