//! Which events an instance has seen, so that an event that is delivered twice wakes it once.
//!
//! The first few ride in the head, where a lease can ask for them in its condition. When they are too many, each
//! further one gets an item of its own that a commit puts if absent; the head remembers that such items exist.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::body;
use crate::error::StoreError;
use crate::instance::{self, HeadItem, head_key, wf_partition};
use crate::key_text::part;
use crate::store::Store;
use crate::table::{Attributes, Condition, Item, Key, Value, Write};
use crate::tenant::Tenant;

/// How many events ride in the head.
const IN_HEAD_MAX: usize = 8;

/// How long an event is remembered, in ms: longer than a queue or the outbox delivers it again.
const REMEMBERED_MS: i64 = 24 * 3_600_000;

/// The events in the head.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Seen {
    /// When each was seen, in ms since 1970.
    #[serde(rename = "t")]
    times: BTreeMap<String, i64>,
    /// When the last one got an item of its own.
    #[serde(rename = "o")]
    overflow_ms: Option<i64>,
}

impl Seen {
    pub(crate) fn read(times: Option<&Bytes>) -> Result<Self, StoreError> {
        times.map_or(Ok(Self::default()), |bytes| body::decode("instance", bytes))
    }

    pub(crate) fn events(&self) -> Option<BTreeSet<String>> {
        (!self.times.is_empty()).then(|| self.times.keys().cloned().collect())
    }

    pub(crate) fn times(&self) -> Result<Option<Bytes>, StoreError> {
        if *self == Self::default() {
            return Ok(None);
        }
        body::encode("instance", self).map(Some)
    }

    pub(crate) fn has(&self, event: &str) -> bool {
        self.times.contains_key(event)
    }

    /// Whether some events have items of their own.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.overflow_ms.is_some()
    }

    /// Adds an event, and forgets the old ones. Answers the write that remembers it where the head is full.
    pub(crate) fn add(
        &mut self,
        tenant: &Tenant,
        instance: &str,
        event: &str,
        now_ms: i64,
    ) -> Result<Option<Write>, StoreError> {
        let old = now_ms.saturating_sub(REMEMBERED_MS);
        self.times.retain(|_, seen_ms| *seen_ms > old);
        self.overflow_ms = self.overflow_ms.filter(|seen_ms| *seen_ms > old);
        // Once an event has an item, the next ones need one too: only its put can tell whether they have.
        if self.overflow_ms.is_none() && self.times.len() < IN_HEAD_MAX {
            self.times.insert(event.to_owned(), now_ms);
            return Ok(None);
        }
        self.overflow_ms = Some(now_ms);
        let key = key(tenant, instance, event)?;
        let ttl = now_ms.saturating_add(REMEMBERED_MS) / 1_000 + 3_600;
        let attributes = Attributes::from([
            ("at".to_owned(), Value::N(now_ms)),
            ("ttl".to_owned(), Value::N(ttl)),
        ]);
        let unseen = Condition::Any(vec![Condition::Absent, Condition::Below("at".into(), old)]);
        Ok(Some(Write::Put(Item { key, attributes }, unseen)))
    }
}

/// The key of an event's item.
pub(crate) fn key(tenant: &Tenant, instance: &str, event: &str) -> Result<Key, StoreError> {
    let event = part("an event id", event)?;
    Ok(Key::new(
        wf_partition(tenant, instance)?,
        format!("SEEN#{event}"),
    ))
}

impl Store {
    /// Whether an instance has taken an event, as long as it remembers. One read, or two.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn has_seen(
        &self,
        tenant: &Tenant,
        instance: &str,
        event: &str,
    ) -> Result<bool, StoreError> {
        let head = self.table().get(&head_key(tenant, instance)?).await?;
        if let Some(item) = head
            && let HeadItem::Instance(stored) = instance::from_item(&item)?
            && stored.seen.has(event)
        {
            return Ok(true);
        }
        let own = self.table().get(&key(tenant, instance, event)?).await?;
        Ok(own.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_ride_in_the_head_until_they_are_too_many() {
        let tenant = Tenant::default();
        let mut seen = Seen::default();
        for n in 0..8 {
            assert_eq!(
                seen.add(&tenant, "i", &format!("e{n}"), 1_000).unwrap(),
                None
            );
        }
        let write = seen.add(&tenant, "i", "e8", 1_001).unwrap().unwrap();
        assert_eq!(write.key(), &Key::new("default/WF#i", "SEEN#e8"));
        assert!(seen.has("e0") && !seen.has("e8"));
        assert_eq!(Seen::read(seen.times().unwrap().as_ref()).unwrap(), seen);

        // Room in the head alone is not enough while an event may have an item.
        let later = 1_000 + REMEMBERED_MS;
        assert!(seen.add(&tenant, "i", "e9", later).unwrap().is_some());
        assert_eq!(seen.events(), None);
        let much_later = later + REMEMBERED_MS;
        assert_eq!(seen.add(&tenant, "i", "e10", much_later).unwrap(), None);
        assert_eq!(seen.events(), Some(["e10".to_owned()].into()));
    }
}
