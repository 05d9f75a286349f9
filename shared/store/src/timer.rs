//! Timers that lie in the table itself: for a table in the process that fires them. On AWS the scheduler has them.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::body;
use crate::error::StoreError;
use crate::key_text::{SYSTEM, part, plain, time};
use crate::readable::readable;
use crate::store::Store;
use crate::table::{Condition, Item, Key, Query, Write};
use crate::tenant::Tenant;

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

fn partition() -> String {
    format!("{SYSTEM}/TIMER")
}

impl Timer {
    /// The key of a timer.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`]
    pub fn key(tenant: &Tenant, id: &str, due_ms: i64) -> Result<Key, StoreError> {
        let id = part("a timer id", id)?;
        Ok(Key::new(
            partition(),
            format!("{}#{tenant}#{id}", time(due_ms)),
        ))
    }

    /// The write that sets it; for [`crate::commit::Commit::timers_set`], or alone.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`]
    pub fn set(&self) -> Result<Write, StoreError> {
        let key = Self::key(&self.tenant, &self.id, self.due_ms)?;
        let attributes = body::attributes(
            "timer",
            &TimerBody {
                body: self.body.clone(),
            },
        )?;
        Ok(Write::Put(Item { key, attributes }, Condition::Always))
    }

    /// The write that clears it; clearing nothing is fine.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`]
    pub fn clear(tenant: &Tenant, id: &str, due_ms: i64) -> Result<Write, StoreError> {
        Ok(Write::Delete(
            Self::key(tenant, id, due_ms)?,
            Condition::Always,
        ))
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

impl Store {
    /// The timers that are due at `until_ms` or before, soonest first, at most `limit` (1 to 1,000). One that cannot
    /// be read is passed over. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn timers_due(&self, until_ms: i64, limit: u32) -> Result<Vec<Timer>, StoreError> {
        let items = self
            .first_timers(&time(until_ms.saturating_add(1)), limit)
            .await?;
        Ok(readable(items, Timer::from_item))
    }

    /// When the next timer is due, in ms since 1970. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn next_timer(&self) -> Result<Option<i64>, StoreError> {
        let items = self.first_timers("", 1).await?;
        items
            .first()
            .map(|item| Timer::from_item(item).map(|timer| timer.due_ms))
            .transpose()
    }

    async fn first_timers(&self, until: &str, limit: u32) -> Result<Vec<Item>, StoreError> {
        let limit = limit.clamp(1, 1_000);
        let (from, until) = (String::new(), until.to_owned());
        let query = Query {
            index: None,
            partition: partition(),
            from,
            until,
            descending: false,
            limit,
            cursor: None,
        };
        let mut items = Vec::new();
        let mut cursor = None;
        loop {
            let page = self
                .table()
                .query(&Query {
                    cursor,
                    ..query.clone()
                })
                .await?;
            items.extend(page.items);
            cursor = page.cursor;
            if cursor.is_none() || items.len() >= limit as usize {
                items.truncate(limit as usize);
                return Ok(items);
            }
        }
    }

    /// Whether there is such a timer. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn has_timer(
        &self,
        tenant: &Tenant,
        id: &str,
        due_ms: i64,
    ) -> Result<bool, StoreError> {
        let key = Timer::key(tenant, id, due_ms)?;
        Ok(self.table().get(&key).await?.is_some())
    }

    /// Sets a timer that is part of no commit. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn set_timer(&self, timer: &Timer) -> Result<(), StoreError> {
        self.write_plain(&[timer.set()?]).await
    }

    /// Clears a timer that has fired or is not wanted any more. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn clear_timer(
        &self,
        tenant: &Tenant,
        id: &str,
        due_ms: i64,
    ) -> Result<(), StoreError> {
        self.write_plain(&[Timer::clear(tenant, id, due_ms)?]).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_comes_back_and_sorts_by_its_time() {
        let tenant = Tenant::new("acme").unwrap();
        let timer = Timer {
            tenant,
            id: "i#1/b".into(),
            due_ms: 1_000,
            body: Bytes::from_static(b"x"),
        };
        let Write::Put(item, _) = timer.set().unwrap() else {
            panic!("a timer is put")
        };
        assert_eq!(item.key, Key::new("~/TIMER", "0000000001000#acme#i%231/b"));
        assert_eq!(Timer::from_item(&item).unwrap(), timer);
        let later = Timer::key(&timer.tenant, "a", 1_001).unwrap();
        assert!(item.key < later);
    }
}
