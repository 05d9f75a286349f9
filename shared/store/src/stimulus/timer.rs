//! Timers that lie in the table itself: for servers that fire them. On AWS the scheduler has them.
//!
//! A row is found by its due time. One that cannot fire yet moves to a later time, so that it never blocks the rows
//! behind it.

use std::cmp::Ordering;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, part, plain, time};
use crate::item::readable::readable;
use crate::item::shard;
use crate::item::tenant::Tenant;
use crate::stimulus::Timers;
use crate::stimulus::merged::{after, merged};
use crate::table::{Condition, Item, Key, Query, Write};

/// Something that is due at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    /// Whose it is.
    pub tenant: Tenant,
    /// Its id, unique within the tenant. With another due time it is another timer.
    pub id: String,
    /// When it is due, in ms since 1970.
    pub due_ms: i64,
    /// What is due; the runtime's own format.
    pub body: Bytes,
}

#[derive(Serialize, Deserialize)]
struct TimerBody {
    #[serde(rename = "b")]
    body: Bytes,
}

fn partition(shard: u16) -> String {
    format!("{SYSTEM}/TIMER#{shard:02}")
}

/// A page of timers that are due.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimerPage {
    /// The timers, soonest first.
    pub timers: Vec<Timer>,
    /// Where the next page begins.
    pub cursor: Option<String>,
}

impl Timer {
    fn key(&self, shards: u16) -> Result<Key, StoreError> {
        let id = part("a timer id", &self.id)?;
        Ok(Key::new(
            partition(shard::of(&self.id, shards)),
            format!("{}#{}#{id}", time(self.due_ms), self.tenant),
        ))
    }

    /// The write that sets it in a table whose timers have so many shards.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`]
    pub fn set(&self, shards: u16) -> Result<Write, StoreError> {
        let key = self.key(shards)?;
        let attributes = body::attributes(
            "timer",
            &TimerBody {
                body: self.body.clone(),
            },
        )?;
        Ok(Write::Put(Item { key, attributes }, Condition::Always))
    }

    /// The write that clears it; clearing nothing is fine. Only tenant, id and due time count.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`]
    pub fn clear(&self, shards: u16) -> Result<Write, StoreError> {
        Ok(Write::Delete(self.key(shards)?, Condition::Always))
    }

    pub(crate) fn from_item(item: &Item) -> Result<Self, StoreError> {
        let what = "timer";
        let damaged = || StoreError::damaged(what);
        let mut parts = item.key.sort.split('#');
        let mut text = || parts.next().and_then(plain).ok_or_else(damaged);
        let (due, tenant, id) = (text()?, text()?, text()?);
        let TimerBody { body } = body::of_item(what, item)?;
        let tenant = Tenant::new(&tenant).map_err(|_| damaged())?;
        Ok(Self {
            tenant,
            id,
            due_ms: due.parse().map_err(|_| damaged())?,
            body,
        })
    }
}

/// A place among the timers as `reader` may see it: right behind a row of theirs, or the same as far as their rows go.
fn shown_to(reader: &Tenant, sort: &str) -> String {
    let mut parts = sort.splitn(3, '#');
    let due = parts.next().unwrap_or_default();
    let owner = parts.next().unwrap_or_default();
    match owner.cmp(reader.as_str()) {
        Ordering::Equal => sort.to_owned(),
        Ordering::Less => format!("{due}#{reader}#"),
        Ordering::Greater => {
            let next_ms = due.parse::<i64>().unwrap_or_default().saturating_add(1);
            format!("{}##", time(next_ms))
        }
    }
}

impl Timers<'_> {
    /// How many shards the timers have.
    #[must_use]
    pub fn timer_shards(self) -> u16 {
        self.config().timer_shards
    }

    /// The write that sets a timer; for [`crate::instance::commit::Commit::timers_set`], or alone.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`]
    pub fn timer_write(self, timer: &Timer) -> Result<Write, StoreError> {
        timer.set(self.timer_shards())
    }

    /// The write that clears a timer; clearing nothing is fine. Only tenant, id and due time count.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`]
    pub fn timer_clearing(self, timer: &Timer) -> Result<Write, StoreError> {
        timer.clear(self.timer_shards())
    }

    /// The timers of a shard that are due at `until_ms` or before, soonest first, at most `limit` (1 to 1,000). One that
    /// cannot be read is passed over. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn timers_due(
        self,
        shard: u16,
        until_ms: i64,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<TimerPage, StoreError> {
        let query = Query {
            index: None,
            partition: partition(shard),
            from: String::new(),
            until: time(until_ms.saturating_add(1)),
            descending: false,
            limit: limit.clamp(1, 1_000),
            cursor,
            leaves_out_damaged: true,
        };
        let page = self.table().query(&query).await?;
        Ok(TimerPage {
            timers: readable(page.items, Timer::from_item),
            cursor: page.cursor,
        })
    }

    /// The timers of all tenants, soonest first, at most `limit`; `cursor` is that of an earlier page. The page's own cursor
    /// tells `reader` nothing of other tenants. A query of each shard.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadCursor`], or what the table says.
    pub async fn list(
        self,
        reader: &Tenant,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<TimerPage, StoreError> {
        let is_sort = |cursor: &str| cursor.len() > 13 && cursor.split('#').count() == 3;
        let from = match cursor {
            None => String::new(),
            Some(cursor) if is_sort(cursor) => after(cursor),
            Some(_) => return Err(StoreError::BadCursor),
        };
        let partitions = (0..self.timer_shards()).map(partition);
        let (items, cursor) = merged(&self, partitions, (&from, ""), limit).await?;
        let timers = readable(items, Timer::from_item);
        let cursor = cursor.map(|sort| shown_to(reader, &sort));
        Ok(TimerPage { timers, cursor })
    }

    /// Whether there is such a timer. One read. One that was moved is found at its new time only.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn has_timer(self, timer: &Timer) -> Result<bool, StoreError> {
        let key = timer.key(self.timer_shards())?;
        Ok(self.table().get(&key).await?.is_some())
    }

    /// Sets a timer that is part of no commit. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn set_timer(self, timer: &Timer) -> Result<(), StoreError> {
        self.write_plain(&[self.timer_write(timer)?]).await
    }

    /// Moves a timer to a later time, so that it does not block those behind it. The new row is put first: a crash in
    /// between leaves both.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn move_timer(self, timer: &Timer, due_ms: i64) -> Result<(), StoreError> {
        let later = Timer {
            due_ms,
            ..timer.clone()
        };
        let writes = [self.timer_write(&later)?, self.timer_clearing(timer)?];
        Ok(self.table().write_each(&writes).await?)
    }

    /// Clears timers that have fired or are not wanted any more.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn clear_timers(self, timers: &[Timer]) -> Result<(), StoreError> {
        let writes: Result<Vec<_>, _> = timers
            .iter()
            .map(|timer| self.timer_clearing(timer))
            .collect();
        Ok(self.table().write_each(&writes?).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_comes_back_and_sorts_by_its_time() {
        let timer = Timer {
            tenant: Tenant::new("acme").unwrap(),
            id: "i#1/b".into(),
            due_ms: 1_000,
            body: Bytes::from_static(b"x"),
        };
        let Write::Put(item, Condition::Always) = timer.set(1).unwrap() else {
            panic!("a plain put");
        };
        assert_eq!(
            item.key,
            Key::new("~/TIMER#00", "0000000001000#acme#i%231/b")
        );
        assert_eq!(Timer::from_item(&item).unwrap(), timer);
        let later = Timer {
            id: "a".into(),
            due_ms: 1_001,
            ..timer
        };
        assert!(item.key < later.key(1).unwrap());
    }

    #[test]
    fn a_place_tells_nothing_of_other_tenants_and_passes_over_no_timer() {
        let reader = Tenant::new("m").unwrap();
        let row = |tenant: &str, due_ms| {
            let timer = Timer {
                tenant: Tenant::new(tenant).unwrap(),
                id: "secret".into(),
                due_ms,
                body: Bytes::new(),
            };
            timer.key(1).unwrap().sort
        };
        for (tenant, before, behind) in [("a", 7, 7), ("m", 7, 8), ("z", 7, 8)] {
            let place = shown_to(&reader, &row(tenant, before));
            assert!(tenant == "m" || !place.contains("secret"), "{place}");
            let own = row("m", behind);
            assert!(after(&place) < own, "{place} {own}");
            assert!(tenant == "a" || after(&place) > row("m", before));
        }
    }
}
