//! The next time a cron expression fires, also across changes of daylight saving time.
//!
//! As Cronos does: a time that is skipped fires once, at the first instant after the gap. In an hour that comes twice
//! an expression of fixed times fires in the first pass only, one that is an interval in both.

use jiff::civil::{DateTime, Time};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::cron::{Cron, has, ordinal};
use crate::time::Timestamp;

/// The Gregorian calendar repeats itself after so many years: what did not fire in them never does.
const CYCLE_YEARS: i16 = 400;

impl Cron {
    /// The first time strictly after `after` at which it fires in the zone. `None`: it never does again.
    #[must_use]
    pub fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let after = jiff::Timestamp::from_second(after.0.div_euclid(1_000)).ok()?;
        let offset = zone.to_offset(after);
        let mut from = offset.to_datetime(after).checked_add(SECOND).ok()?;
        let here = offset.to_datetime(after);
        if let AmbiguousOffset::Fold {
            before,
            after: later,
        } = zone.to_ambiguous_timestamp(here).offset()
        {
            let (begin, end) = fold(zone, here, before, later)?;
            if offset == before {
                if let Some(found) = self.at_or_after(from, end) {
                    return instant(found, before);
                }
                from = begin;
            }
            if self.is_interval
                && let Some(found) = self.at_or_after(from, end)
            {
                return instant(found, later);
            }
            from = end;
        }
        let found = self.at_or_after(from, DateTime::MAX)?;
        match zone.to_ambiguous_timestamp(found).offset() {
            AmbiguousOffset::Unambiguous { offset } => instant(found, offset),
            AmbiguousOffset::Fold { before, .. } => instant(found, before),
            AmbiguousOffset::Gap { before, .. } => {
                let inside = before.to_timestamp(found).ok()?;
                let end_of_gap = change_at_or_before(zone, inside)?;
                Some(Timestamp(end_of_gap.as_millisecond()))
            }
        }
    }

    /// The first local time from `from` on, and before `end`, that the fields match.
    fn at_or_after(&self, from: DateTime, end: DateTime) -> Option<DateTime> {
        let mut date = from.date();
        let mut time = from.time();
        let last_year = from.year().saturating_add(CYCLE_YEARS);
        while date.year() <= last_year && date <= end.date() {
            if !has(self.months, ordinal(date.month())) {
                date = date.last_of_month().tomorrow().ok()?;
                time = Time::midnight();
                continue;
            }
            if self.is_on(date)
                && let Some(time) = self.time_at_or_after(time)
            {
                let found = date.to_datetime(time);
                return (found < end).then_some(found);
            }
            date = date.tomorrow().ok()?;
            time = Time::midnight();
        }
        None
    }

    /// The first time of day from `from` on that the fields match.
    fn time_at_or_after(&self, from: Time) -> Option<Time> {
        let (hour, minute, second) = (
            ordinal(from.hour()),
            ordinal(from.minute()),
            ordinal(from.second()),
        );
        let first = |bits: u64, from: u32| (from..60).find(|n| has(bits, *n));
        if has(self.hours, hour) {
            if has(self.minutes, minute)
                && let Some(second) = first(self.seconds, second)
            {
                return time(hour, minute, second);
            }
            if let Some(minute) = first(self.minutes, minute + 1) {
                return time(hour, minute, first(self.seconds, 0)?);
            }
        }
        let hour = first(self.hours, hour + 1)?;
        time(hour, first(self.minutes, 0)?, first(self.seconds, 0)?)
    }
}

const SECOND: jiff::SignedDuration = jiff::SignedDuration::from_secs(1);

fn time(hour: u32, minute: u32, second: u32) -> Option<Time> {
    let number = |n: u32| i8::try_from(n).ok();
    Time::new(number(hour)?, number(minute)?, number(second)?, 0).ok()
}

fn instant(local: DateTime, offset: Offset) -> Option<Timestamp> {
    Some(Timestamp(offset.to_timestamp(local).ok()?.as_millisecond()))
}

/// The local times, from and until, that come twice around `here`.
fn fold(
    zone: &TimeZone,
    here: DateTime,
    before: Offset,
    after: Offset,
) -> Option<(DateTime, DateTime)> {
    // In its second pass `here` lies behind the change.
    let change = change_at_or_before(zone, after.to_timestamp(here).ok()?)?;
    Some((after.to_datetime(change), before.to_datetime(change)))
}

/// The last change of the zone's offset up to an instant.
fn change_at_or_before(zone: &TimeZone, at: jiff::Timestamp) -> Option<jiff::Timestamp> {
    let just_after = at.checked_add(SECOND).ok()?;
    zone.preceding(just_after).next().map(|t| t.timestamp())
}
