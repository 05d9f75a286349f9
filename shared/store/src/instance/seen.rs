//! Which events an instance has seen, so that an event that is delivered twice wakes it once.
//!
//! The last few ride in the head. When they are too many, the oldest move to items of their own; the head remembers
//! that such items exist. Only events of earlier commits move, so every attempt moves the same, before its commit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::instance::Instances;
use crate::instance::head::{Stored, wf_partition};
use crate::item::config::REMEMBERED_MS;
use crate::item::error::StoreError;
use crate::item::key_text::part;
use crate::item::tenant::Tenant;
use crate::stimulus::recipients::Standing;
use crate::table::{Attributes, Item, Key, Value};

/// How many events ride in the head.
const IN_HEAD_MAX: usize = 8;

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
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn has(&self, event: &str) -> bool {
        self.times.contains_key(event)
    }

    /// Whether some events have items of their own.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.overflow_ms.is_some()
    }

    /// Adds the events of a commit, and forgets the old ones. Answers the items of those that move out of the head.
    pub(crate) fn add(
        &mut self,
        tenant: &Tenant,
        instance: &str,
        events: &[String],
        now_ms: i64,
    ) -> Result<Vec<Item>, StoreError> {
        let old = now_ms.saturating_sub(REMEMBERED_MS);
        self.times.retain(|_, seen_ms| *seen_ms > old);
        self.overflow_ms = self.overflow_ms.filter(|seen_ms| *seen_ms > old);
        let mut moved = Vec::new();
        if self.times.len() + events.len() > IN_HEAD_MAX {
            for (event, seen_ms) in std::mem::take(&mut self.times) {
                let last = self.overflow_ms.get_or_insert(seen_ms);
                *last = seen_ms.max(*last);
                moved.push(item(tenant, instance, &event, seen_ms)?);
            }
        }
        let new = events.iter().map(|event| (event.clone(), now_ms));
        self.times.extend(new);
        Ok(moved)
    }
}

/// The item of an event that an instance has seen.
fn item(tenant: &Tenant, instance: &str, event: &str, seen_ms: i64) -> Result<Item, StoreError> {
    let ttl = seen_ms.saturating_add(REMEMBERED_MS) / 1_000 + 3_600;
    Ok(Item {
        key: key(tenant, instance, event)?,
        attributes: Attributes::from([
            ("at".to_owned(), Value::N(seen_ms)),
            ("ttl".to_owned(), Value::N(ttl)),
        ]),
    })
}

/// The key of an event's item.
pub(crate) fn key(tenant: &Tenant, instance: &str, event: &str) -> Result<Key, StoreError> {
    let event = part("an event id", event)?;
    Ok(Key::new(
        wf_partition(tenant, instance)?,
        format!("SEEN#{event}"),
    ))
}

impl Instances<'_> {
    /// Whether an instance has taken an event, as long as it remembers. One read, or two.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn has_seen(
        self,
        tenant: &Tenant,
        instance: &str,
        event: &str,
    ) -> Result<bool, StoreError> {
        match self.stored(tenant, instance).await? {
            Some(stored) => self.has_taken(tenant, &stored, event).await,
            None => Ok(false),
        }
    }

    /// How one that was a recipient stands to an event of the last day. One read, or two where it has seen many events.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn standing(
        self,
        tenant: &Tenant,
        (instance_id, bookmark_id): (&str, &str),
        event: &str,
    ) -> Result<Standing, StoreError> {
        let Some(stored) = self.stored(tenant, instance_id).await? else {
            return Ok(Standing::Away);
        };
        if stored.seen.has(event) {
            return Ok(Standing::Seen);
        }
        let seen = key(tenant, instance_id, event)?;
        if stored.seen.has_overflowed() && self.table().get(&seen).await?.is_some() {
            return Ok(Standing::Seen);
        }
        Ok(if stored.head.bookmarks.contains_key(bookmark_id) {
            Standing::Waits
        } else {
            Standing::Away
        })
    }

    /// Whether an instance that was read has taken an event. One read where some events have items of their own.
    pub(crate) async fn has_taken(
        self,
        tenant: &Tenant,
        stored: &Stored,
        event: &str,
    ) -> Result<bool, StoreError> {
        if stored.seen.has(event) {
            return Ok(true);
        }
        if !stored.seen.has_overflowed() {
            return Ok(false);
        }
        let own = key(tenant, &stored.head.instance_id, event)?;
        Ok(self.table().get(&own).await?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_events_ride_in_the_head_and_older_ones_move() {
        let tenant = Tenant::default();
        let mut seen = Seen::default();
        let events: Vec<_> = (0..8).map(|n| format!("e{n}")).collect();
        assert!(seen.add(&tenant, "i", &events, 1_000).unwrap().is_empty());
        let moved = seen.add(&tenant, "i", &["e8".to_owned()], 1_001).unwrap();
        assert_eq!(moved.len(), 8);
        assert_eq!(moved[0].key, Key::new("default/WF#i", "SEEN#e0"));
        assert!(!seen.has("e0") && seen.has("e8") && seen.has_overflowed());

        let later = 1_001 + REMEMBERED_MS;
        seen.add(&tenant, "i", &["e9".to_owned()], later).unwrap();
        assert!(!seen.has("e8") && seen.has("e9") && !seen.has_overflowed());
    }
}
