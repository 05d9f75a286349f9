//! Instances: the head item, which has all that a lease, a list and a duplicate need to know.
//!
//! The store knows that an instance has ended, which bookmarks are open and which commit was last. What a status
//! means is the engine's business.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::body;
use crate::definition::last_part;
use crate::error::StoreError;
use crate::expiry::Expiry;
use crate::key_text::{part, partition, time};
use crate::seen::Seen;
use crate::shard;
use crate::state::StatePlace;
use crate::table::{Attributes, Item, Key, Value};
use crate::tenant::Tenant;

/// What lists show of an instance, and what a duplicate is answered with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// The definition that it runs.
    #[serde(rename = "d")]
    pub definition_id: String,
    /// The version that it is pinned to.
    #[serde(rename = "v")]
    pub definition_version: u32,
    /// That version's own id.
    #[serde(rename = "vi")]
    pub definition_version_id: String,
    /// The engine's word for its status.
    #[serde(rename = "s")]
    pub status: String,
    /// The engine's word for its sub-status.
    #[serde(rename = "ss")]
    pub sub_status: String,
    /// Whether it has ended. Then no write changes it any more; only a delete removes it.
    #[serde(rename = "e")]
    pub ended: bool,
    /// Its name.
    #[serde(rename = "n", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its correlation id.
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The instance that started it.
    #[serde(rename = "p", skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// How many incidents it has.
    #[serde(rename = "ic")]
    pub incident_count: u32,
    /// Whether it belongs to the system and lists hide it.
    #[serde(rename = "sy")]
    pub is_system: bool,
    /// When it was created, in ms since 1970. Never changes.
    #[serde(rename = "ct")]
    pub created_ms: i64,
    /// When it was changed last, in ms since 1970.
    #[serde(rename = "ut")]
    pub updated_ms: i64,
    /// When it ended, in ms since 1970.
    #[serde(rename = "ft", skip_serializing_if = "Option::is_none")]
    pub finished_ms: Option<i64>,
}

/// What the head says of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceHead {
    /// The instance's id.
    pub instance_id: String,
    /// What lists show.
    pub summary: Summary,
    /// The version and the bindings that it is pinned to; the runtime's own format.
    pub pinned: Bytes,
    /// The number of its last commit, from 1.
    pub commit: u64,
    /// The number of its last lease.
    pub fence: u64,
    /// Until when somebody works on it, in ms since 1970.
    pub leased_until_ms: Option<i64>,
    /// The ids of its open bookmarks.
    pub bookmarks: BTreeSet<String>,
    /// How many journal lines it has.
    pub journal_lines: u64,
}

/// The whole content of a head item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) head: InstanceHead,
    /// Who holds the lease.
    pub(crate) owner: Option<String>,
    /// The epoch in which it was taken, where the table has epochs.
    pub(crate) epoch: Option<String>,
    /// Who created it: the owner's name at the create.
    pub(crate) creator: String,
    /// The fence of the last commit.
    pub(crate) commit_fence: u64,
    pub(crate) place: StatePlace,
    /// The packed recent chunks of the journal.
    pub(crate) recent: Bytes,
    /// The stimulus hash of each open bookmark that has a row.
    pub(crate) found_by: BTreeMap<String, String>,
    /// The partitions of the claims that it has.
    pub(crate) claims: BTreeSet<String>,
    pub(crate) seen: Seen,
    pub(crate) expiry: Expiry,
}

/// What lies under a head's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeadItem {
    Instance(Box<Stored>),
    /// It was deleted.
    Tombstone,
    /// A create of many writes is under way, or was interrupted.
    Placeholder {
        until_ms: i64,
    },
}

pub(crate) fn wf_partition(tenant: &Tenant, instance: &str) -> Result<String, StoreError> {
    Ok(partition(
        tenant,
        &format!("WF#{}", part("an instance id", instance)?),
    ))
}

pub(crate) fn head_key(tenant: &Tenant, instance: &str) -> Result<Key, StoreError> {
    Ok(Key::new(wf_partition(tenant, instance)?, "HEAD"))
}

/// The partition of index one that lists a shard of a tenant's instances.
pub(crate) fn list_partition(tenant: &Tenant, shard: u16) -> String {
    partition(tenant, &format!("WFS#{shard:02}"))
}

/// The partition of index two that lists a shard of a definition's instances.
pub(crate) fn definition_partition(
    tenant: &Tenant,
    definition: &str,
    shard: u16,
) -> Result<String, StoreError> {
    let definition = part("a definition id", definition)?;
    Ok(partition(tenant, &format!("WFD#{definition}#{shard:02}")))
}

/// The partition of index three that lists the instances with a correlation id.
pub(crate) fn correlation_partition(
    tenant: &Tenant,
    correlation: &str,
) -> Result<String, StoreError> {
    Ok(partition(
        tenant,
        &format!("WFC#{}", part("a correlation id", correlation)?),
    ))
}

/// A counter as a value.
pub(crate) fn number(n: u64) -> Value {
    Value::N(i64::try_from(n).unwrap_or(i64::MAX))
}

impl Stored {
    /// The head item's attributes. Only what `from_item` reads, so that two of them can be compared.
    pub(crate) fn attributes(
        &self,
        tenant: &Tenant,
        shards: u16,
    ) -> Result<Attributes, StoreError> {
        let head = &self.head;
        let summary = &head.summary;
        let mut a = Attributes::new();
        let mut set = |name: &str, value: Value| a.insert(name.to_owned(), value);
        set("su", Value::B(body::encode("instance", summary)?));
        if !head.pinned.is_empty() {
            set("pn", Value::B(head.pinned.clone()));
        }
        set("cn", number(head.commit));
        set("cf", number(self.commit_fence));
        set("fe", number(head.fence));
        set("by", Value::S(self.creator.clone()));
        set("jn", number(head.journal_lines));
        if let (Some(owner), Some(until)) = (&self.owner, head.leased_until_ms) {
            set("lo", Value::S(owner.clone()));
            set("lu", Value::N(until));
            if let Some(epoch) = &self.epoch {
                set("le", Value::S(epoch.clone()));
            }
        }
        if summary.ended {
            set("en", Value::N(1));
        }
        if !self.recent.is_empty() {
            set("jr", Value::B(self.recent.clone()));
        }
        if !head.bookmarks.is_empty() {
            set("bm", Value::Ss(head.bookmarks.clone()));
        }
        if !self.found_by.is_empty() {
            set("bh", Value::B(body::encode("instance", &self.found_by)?));
        }
        if !self.claims.is_empty() {
            set("uq", Value::Ss(self.claims.clone()));
        }
        if let Some(events) = self.seen.events() {
            set("se", Value::Ss(events));
        }
        if let Some(times) = self.seen.times()? {
            set("sd", Value::B(times));
        }
        let place = std::iter::once(self.place.attribute());
        for (name, value) in place.chain(self.expiry.attribute()) {
            set(name, value);
        }
        self.index(tenant, shards, &mut a)?;
        Ok(a)
    }

    /// The keys in the three indexes.
    fn index(&self, tenant: &Tenant, shards: u16, a: &mut Attributes) -> Result<(), StoreError> {
        let (id, summary) = (&self.head.instance_id, &self.head.summary);
        let shard = shard::of(id, shards);
        let sort = format!(
            "{}#{}",
            time(summary.created_ms),
            part("an instance id", id)?
        );
        let mut set = |name: &str, text: String| a.insert(name.to_owned(), Value::S(text));
        set("g1p", list_partition(tenant, shard));
        set("g1s", sort.clone());
        let definition = definition_partition(tenant, &summary.definition_id, shard)?;
        set("g2p", definition);
        set("g2s", sort.clone());
        let correlation = summary.correlation_id.as_deref();
        if let Some(correlation) = correlation.filter(|id| !id.is_empty()) {
            set("g3p", correlation_partition(tenant, correlation)?);
            set("g3s", sort);
        }
        Ok(())
    }
}

/// Reads a head item.
pub(crate) fn from_item(item: &Item) -> Result<HeadItem, StoreError> {
    let what = "instance";
    let a = &item.attributes;
    if a.contains_key("de") {
        return Ok(HeadItem::Tombstone);
    }
    let Some(summary) = body::bytes(a, "su") else {
        return Ok(HeadItem::Placeholder {
            until_ms: body::number(a, "lu").unwrap_or(0),
        });
    };
    let counter = |name| {
        body::number(a, name)
            .map(i64::unsigned_abs)
            .ok_or(StoreError::damaged(what))
    };
    let set = |name: &str| match a.get(name) {
        Some(Value::Ss(set)) => set.clone(),
        None | Some(Value::S(_) | Value::N(_) | Value::B(_)) => BTreeSet::new(),
    };
    let found_by = body::bytes(a, "bh")
        .map(|bytes| body::decode(what, bytes))
        .transpose()?;
    Ok(HeadItem::Instance(Box::new(Stored {
        head: InstanceHead {
            instance_id: last_part(what, &item.key.partition)?,
            summary: body::decode(what, summary)?,
            pinned: body::bytes(a, "pn").cloned().unwrap_or_default(),
            commit: counter("cn")?,
            fence: counter("fe")?,
            leased_until_ms: body::number(a, "lu"),
            bookmarks: set("bm"),
            journal_lines: counter("jn")?,
        },
        owner: body::text(a, "lo").map(str::to_owned),
        epoch: body::text(a, "le").map(str::to_owned),
        creator: body::text(a, "by").unwrap_or_default().to_owned(),
        commit_fence: counter("cf")?,
        place: StatePlace::from_attributes(a)?,
        recent: body::bytes(a, "jr").cloned().unwrap_or_default(),
        found_by: found_by.unwrap_or_default(),
        claims: set("uq"),
        seen: Seen::read(body::bytes(a, "sd"))?,
        expiry: Expiry::from_attributes(a),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head_changes::OURS;

    pub(crate) fn stored() -> Stored {
        let summary = Summary {
            definition_id: "d#1".into(),
            definition_version: 2,
            status: "Running".into(),
            correlation_id: Some("c".into()),
            created_ms: 77,
            ..Summary::default()
        };
        Stored {
            head: InstanceHead {
                instance_id: "i#1".into(),
                summary,
                pinned: Bytes::from_static(b"pin"),
                commit: 4,
                fence: 9,
                leased_until_ms: Some(5_000),
                bookmarks: ["b1".to_owned(), "b2".to_owned()].into(),
                journal_lines: 11,
            },
            owner: Some("node-1".into()),
            epoch: Some("e1".into()),
            creator: "node-0".into(),
            commit_fence: 8,
            place: StatePlace::Item(3),
            recent: Bytes::from_static(&[1]),
            found_by: [("b1".to_owned(), "AB".to_owned())].into(),
            claims: ["default/UNIQ#d#".to_owned()].into(),
            seen: Seen::default(),
            expiry: Expiry::Swept(7),
        }
    }

    #[test]
    fn a_head_comes_back_and_sets_only_what_it_reads() {
        let tenant = Tenant::default();
        for (ended, place) in [
            (false, StatePlace::Item(3)),
            (true, StatePlace::Inline(Bytes::from_static(&[1]))),
        ] {
            let mut stored = stored();
            stored.head.summary.ended = ended;
            stored.place = place;
            let attributes = stored.attributes(&tenant, 1).unwrap();
            assert!(attributes.keys().all(|name| OURS.contains(&name.as_str())));
            assert_eq!(attributes.contains_key("en"), ended);
            let item = Item {
                key: head_key(&tenant, "i#1").unwrap(),
                attributes,
            };
            assert_eq!(item.key, Key::new("default/WF#i%231", "HEAD"));
            assert_eq!(
                body::text(&item.attributes, "g1s"),
                Some("0000000000077#i%231")
            );
            assert_eq!(
                body::text(&item.attributes, "g2p"),
                Some("default/WFD#d%231#00")
            );
            assert_eq!(body::text(&item.attributes, "g3p"), Some("default/WFC#c"));
            let expected = HeadItem::Instance(Box::new(stored));
            assert_eq!(from_item(&item).unwrap(), expected);
        }
    }
}
