//! Queued stimuli: stimuli that nothing waited for when they came. They lie in a partition of their hash, by correlation
//! id and instance, oldest first, where a commit that opens a bookmark looks for the first that fits; and in an index
//! by expiry, where the sweep looks.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::config::REMEMBERED_MS;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, part, partition, plain, time};
use crate::item::shard;
use crate::item::tenant::Tenant;
use crate::stimulus::Stimuli;
use crate::table::{Attributes, Condition, Index, Item, Key, Query, Value, Write};

/// A stimulus that waits for a bookmark. It carries the whole filter of its sender, so that it wakes later what it
/// would have woken at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct QueuedStimulus {
    /// Its id: that of the event. The same event queued twice is one.
    #[serde(skip)]
    pub id: String,
    /// The hash that it is for.
    #[serde(skip)]
    pub hash: String,
    /// Only for this instance.
    #[serde(rename = "i")]
    pub instance_id: Option<String>,
    /// Only for this bookmark.
    #[serde(rename = "b")]
    pub bookmark_id: Option<String>,
    /// Only for instances with this correlation id.
    #[serde(rename = "c")]
    pub correlation_id: Option<String>,
    /// Only for this activity's instance.
    #[serde(rename = "a")]
    pub activity_instance_id: Option<String>,
    /// When it came, in ms since 1970.
    #[serde(rename = "t")]
    pub created_ms: i64,
    /// When it is given up on, in ms since 1970.
    #[serde(rename = "e")]
    pub expires_ms: i64,
    /// The stimulus itself; the runtime's own format.
    #[serde(rename = "p")]
    pub payload: Bytes,
}

/// Where a queued stimulus lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuePlace {
    /// The hash that it is for.
    pub hash: String,
    /// Its id.
    pub id: String,
    /// Only for instances with this correlation id.
    pub correlation_id: Option<String>,
    /// Only for this instance.
    pub instance_id: Option<String>,
    /// When it came, in ms since 1970.
    pub created_ms: i64,
}

impl QueuedStimulus {
    /// Where it lies.
    #[must_use]
    pub fn place(&self) -> QueuePlace {
        QueuePlace {
            hash: self.hash.clone(),
            id: self.id.clone(),
            correlation_id: self.correlation_id.clone(),
            instance_id: self.instance_id.clone(),
            created_ms: self.created_ms,
        }
    }
}

/// The partition where the stimuli of a hash wait.
pub(crate) fn queue_partition(tenant: &Tenant, hash: &str) -> Result<String, StoreError> {
    Ok(partition(
        tenant,
        &format!("QUEUE#{}", part("a stimulus hash", hash)?),
    ))
}

/// What the sort keys begin with of stimuli for a correlation id and an instance; `None`: for any.
pub(crate) fn queue_prefix(
    correlation_id: Option<&str>,
    instance_id: Option<&str>,
) -> Result<String, StoreError> {
    let optional = |what, id: Option<&str>| match id {
        None | Some("") => Ok(String::new()),
        Some(id) => part(what, id),
    };
    Ok(format!(
        "{}#{}#",
        optional("a correlation id", correlation_id)?,
        optional("an instance id", instance_id)?
    ))
}

/// The key of a queued stimulus.
pub(crate) fn key(tenant: &Tenant, place: &QueuePlace) -> Result<Key, StoreError> {
    let prefix = queue_prefix(
        place.correlation_id.as_deref(),
        place.instance_id.as_deref(),
    )?;
    Ok(Key::new(
        queue_partition(tenant, &place.hash)?,
        format!(
            "{prefix}{}#{}",
            time(place.created_ms),
            part("a stimulus id", &place.id)?
        ),
    ))
}

/// The partition of index two that lists what expires.
pub(crate) fn expiry_partition(shard: u16) -> String {
    format!("{SYSTEM}/QUEUED#{shard:02}")
}

pub(crate) fn item(
    tenant: &Tenant,
    queued: &QueuedStimulus,
    shards: u16,
) -> Result<Item, StoreError> {
    let key = key(tenant, &queued.place())?;
    let mut attributes = body::attributes("queued stimulus", queued)?;
    let shard = shard::of(&queued.id, shards);
    let sort = format!(
        "{}#{tenant}#{}",
        time(queued.expires_ms),
        part("a stimulus id", &queued.id)?
    );
    attributes.insert("g2p".into(), Value::S(expiry_partition(shard)));
    attributes.insert("g2s".into(), Value::S(sort));
    Ok(Item { key, attributes })
}

pub(crate) fn from_item(item: &Item) -> Result<QueuedStimulus, StoreError> {
    let what = "queued stimulus";
    let mut queued: QueuedStimulus = body::of_item(what, item)?;
    let id = item.key.sort.rsplit('#').next().and_then(plain);
    queued.id = id.ok_or(StoreError::damaged(what))?;
    let hash = item.key.partition.split_once("/QUEUE#");
    let hash = hash.and_then(|(_, hash)| plain(hash));
    queued.hash = hash.ok_or(StoreError::damaged(what))?;
    Ok(queued)
}

/// What says in the item of a stimulus that it is queued.
pub(crate) const QUEUED: &str = "qu";

/// Until when what became of a stimulus is remembered, in s since 1970.
pub(crate) fn remembered_until_s(now_ms: i64) -> i64 {
    now_ms.saturating_add(REMEMBERED_MS) / 1_000
}

/// The key of what says of a stimulus what became of it: for whom it is, that it is queued, or that it was taken. It
/// is one item so that of two deliveries at once, one that finds receivers and one that finds none, one is first.
pub(crate) fn taken_key(tenant: &Tenant, hash: &str, id: &str) -> Result<Key, StoreError> {
    let hash = part("a stimulus hash", hash)?;
    let id = part("a stimulus id", id)?;
    let partition = partition(tenant, &format!("TAKEN#{id}"));
    Ok(Key::new(partition, hash))
}

/// Says that a stimulus is queued, for as long as it is.
pub(crate) fn remember_queued(
    tenant: &Tenant,
    queued: &QueuedStimulus,
) -> Result<Item, StoreError> {
    let mut item = remember_taken(tenant, &queued.hash, &queued.id, queued.expires_ms)?;
    item.attributes.insert(QUEUED.to_owned(), Value::N(1));
    Ok(item)
}

/// Remembers that a stimulus was taken, so that a late delivery of it is not queued anew.
pub(crate) fn remember_taken(
    tenant: &Tenant,
    hash: &str,
    id: &str,
    now_ms: i64,
) -> Result<Item, StoreError> {
    let key = taken_key(tenant, hash, id)?;
    let ttl = Value::N(remembered_until_s(now_ms));
    let attributes = Attributes::from([("ttl".to_owned(), ttl)]);
    Ok(Item { key, attributes })
}

/// The tenant in whose partition an item lies.
pub(crate) fn tenant_of(what: &'static str, partition: &str) -> Result<Tenant, StoreError> {
    let (tenant, _) = partition.split_once('/').ok_or(StoreError::damaged(what))?;
    Tenant::new(tenant).map_err(|_| StoreError::damaged(what))
}

impl Stimuli<'_> {
    /// The keys in one shard of what expires before a time, in ms since 1970, at most `limit` and at most 1,000.
    pub(crate) async fn expiring(
        self,
        shard: u16,
        until_ms: i64,
        limit: u32,
    ) -> Result<Vec<Key>, StoreError> {
        let query = Query {
            index: Some(Index::Two),
            partition: expiry_partition(shard),
            from: String::new(),
            until: time(until_ms),
            descending: false,
            limit: limit.clamp(1, 1_000),
            cursor: None,
            leaves_out_damaged: false,
        };
        let page = self.table().query(&query).await?;
        Ok(page.items.into_iter().map(|item| item.key).collect())
    }

    /// Prolongs the queued stimuli that would expire before `until_ms` until `anew_ms`, both in ms since 1970; at most
    /// 1,000 of each shard. Answers how many there were.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn prolong_stimuli(self, until_ms: i64, anew_ms: i64) -> Result<u32, StoreError> {
        let mut count = 0;
        for shard in 0..self.config().outbox_shards {
            for key in self.expiring(shard, until_ms, u32::MAX).await? {
                if self.prolong_stimulus(&key, anew_ms).await? {
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    /// False: it is not there any more, and the index lags behind.
    async fn prolong_stimulus(self, key: &Key, until_ms: i64) -> Result<bool, StoreError> {
        let tenant = tenant_of("queued stimulus", &key.partition)?;
        let Some(found) = self.table().get(key).await? else {
            return Ok(false);
        };
        let queued = QueuedStimulus {
            expires_ms: until_ms,
            ..from_item(&found)?
        };
        let prolonged = item(&tenant, &queued, self.config().outbox_shards)?;
        let said = remember_queued(&tenant, &queued)?;
        self.write_if(&[
            Write::Put(prolonged, Condition::Exists),
            Write::Put(said, Condition::Always),
        ])
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queued_stimulus_comes_back_with_its_whole_filter() {
        let queued = QueuedStimulus {
            id: "e#1".into(),
            hash: "AB".into(),
            instance_id: Some("i".into()),
            bookmark_id: Some("b".into()),
            correlation_id: Some("c".into()),
            activity_instance_id: Some("a".into()),
            created_ms: 1,
            expires_ms: 600_001,
            payload: Bytes::from_static(b"{}"),
        };
        let tenant = Tenant::new("acme").unwrap();
        let item = item(&tenant, &queued, 1).unwrap();
        assert_eq!(
            item.key,
            Key::new("acme/QUEUE#AB", "c#i#0000000000001#e%231")
        );
        let for_any = QueuePlace {
            correlation_id: None,
            instance_id: None,
            ..queued.place()
        };
        let any = key(&tenant, &for_any).unwrap();
        assert_eq!(any.sort, "##0000000000001#e%231");
        assert_eq!(body::text(&item.attributes, "g2p"), Some("~/QUEUED#00"));
        assert_eq!(
            body::text(&item.attributes, "g2s"),
            Some("0000000600001#acme#e%231")
        );
        assert_eq!(from_item(&item).unwrap(), queued);
        assert_eq!(tenant_of("x", &item.key.partition).unwrap(), tenant);
    }
}
