//! Instances: the head is the single item that is the instance.
//!
//! It holds the commit number, the fence, the open bookmarks, the state, the recent journal and the recent events. The
//! numbers that conditions compare and the attributes of the indexes lie open; all else is one compressed body. What a
//! status means is the engine's business.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::instance::expiry::Expiry;
use crate::instance::partitions::{correlation_partition, definition_partition, status_partition};
use crate::instance::seen::Seen;
use crate::instance::state::StatePlace;
use crate::item::body;
use crate::item::config::StoreConfig;
use crate::item::error::StoreError;
use crate::item::key_text::last_part;
use crate::item::key_text::{part, partition, time};
use crate::item::number::number;
use crate::item::packed;
use crate::item::shard;
use crate::item::tenant::Tenant;
use crate::stimulus::bookmark::RowPlace;
use crate::table::{Attributes, Condition, Item, Key, Value};

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
    /// Values of its search attributes, by name. None is empty.
    #[serde(rename = "a", skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
    /// Its open bookmarks, by id.
    pub bookmarks: BTreeMap<String, OpenBookmark>,
    /// How many journal lines it has.
    pub journal_lines: u64,
}

/// An open bookmark, as the head knows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenBookmark {
    /// Attempt of the commit that opened it.
    #[serde(rename = "a")]
    pub attempt: u64,
    /// Where its row lies, if it is found by a stimulus.
    #[serde(rename = "p", skip_serializing_if = "Option::is_none")]
    pub place: Option<RowPlace>,
}

/// The whole content of a head item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) head: InstanceHead,
    /// Who holds the lease.
    pub(crate) owner: Option<String>,
    /// The epoch in which it was taken, where the table has epochs.
    pub(crate) epoch: Option<String>,
    /// The owner's name at the first commit.
    pub(crate) creator: String,
    pub(crate) place: StatePlace,
    /// The recent chunks of the journal.
    pub(crate) recent: Bytes,
    /// The partitions of the claims that it has.
    pub(crate) claims: BTreeSet<String>,
    pub(crate) seen: Seen,
    pub(crate) expiry: Expiry,
}

/// What a head keeps compressed.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Compressed {
    #[serde(rename = "j")]
    journal_lines: u64,
    #[serde(rename = "r", skip_serializing_if = "Bytes::is_empty")]
    recent: Bytes,
    #[serde(rename = "s", skip_serializing_if = "StatePlace::is_empty")]
    place: StatePlace,
    #[serde(rename = "b", skip_serializing_if = "BTreeMap::is_empty")]
    bookmarks: BTreeMap<String, OpenBookmark>,
    #[serde(rename = "e", skip_serializing_if = "Seen::is_empty")]
    seen: Seen,
    #[serde(rename = "p", skip_serializing_if = "Bytes::is_empty")]
    pinned: Bytes,
    #[serde(rename = "u", skip_serializing_if = "BTreeSet::is_empty")]
    claims: BTreeSet<String>,
    #[serde(rename = "w")]
    creator: String,
}

/// The most bytes that the compressed part of a head may be, unpacked.
const UNPACKED_MAX: usize = 16 * 1_024 * 1_024;

/// What lies under a head's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeadItem {
    Instance(Box<Stored>),
    /// It was deleted.
    Tombstone,
    /// There is no instance, and a first commit with a fence below this one is refused.
    Placeholder {
        fence: u64,
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

impl Stored {
    /// The head item's attributes. Only what `from_item` reads, so that two of them can be compared.
    pub(crate) fn attributes(
        &self,
        tenant: &Tenant,
        config: &StoreConfig,
    ) -> Result<Attributes, StoreError> {
        let head = &self.head;
        let summary = &head.summary;
        let mut a = Attributes::new();
        let mut set = |name: &str, value: Value| a.insert(name.to_owned(), value);
        set("su", Value::B(body::encode("instance", summary)?));
        set("cn", number(head.commit));
        set("fe", number(head.fence));
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
        if let Some((name, value)) = self.expiry.attribute() {
            set(name, value);
        }
        let rest = Compressed {
            journal_lines: head.journal_lines,
            recent: self.recent.clone(),
            place: self.place.clone(),
            bookmarks: head.bookmarks.clone(),
            seen: self.seen.clone(),
            pinned: head.pinned.clone(),
            claims: self.claims.clone(),
            creator: self.creator.clone(),
        };
        let rest = body::encode("instance", &rest)?;
        set("bo", Value::B(packed::pack(&rest, config.compress_from)));
        self.index(tenant, config, &mut a)?;
        Ok(a)
    }

    /// The keys in the indexes: by definition, by sub-status where it is listed, and by correlation id where it has one.
    fn index(
        &self,
        tenant: &Tenant,
        config: &StoreConfig,
        a: &mut Attributes,
    ) -> Result<(), StoreError> {
        let (id, summary) = (&self.head.instance_id, &self.head.summary);
        let shard = shard::of(id, config.list_shards);
        let sort = format!(
            "{}#{}",
            time(summary.created_ms),
            part("an instance id", id)?
        );
        let mut set = |name: &str, text: String| a.insert(name.to_owned(), Value::S(text));
        let definition = definition_partition(tenant, &summary.definition_id, shard)?;
        set("g1p", definition);
        set("g1s", sort.clone());
        let sub_status = &summary.sub_status;
        if !sub_status.is_empty() && config.lists_status(sub_status) {
            let definition = &summary.definition_id;
            set(
                "g2p",
                status_partition(tenant, definition, sub_status, shard)?,
            );
            set("g2s", sort.clone());
        }
        let correlation = summary.correlation_id.as_deref();
        if let Some(correlation) = correlation.filter(|id| !id.is_empty()) {
            set("g3p", correlation_partition(tenant, correlation)?);
            set("g3s", sort);
        }
        Ok(())
    }

    /// The condition that nothing has happened to the head since it was read: no commit, no lease, no fence.
    pub(crate) fn is_as_read(&self) -> Condition {
        Condition::All(vec![
            Condition::Equals("fe".into(), number(self.head.fence)),
            Condition::Equals("cn".into(), number(self.head.commit)),
        ])
    }
}

/// Reads a head item.
pub(crate) fn from_item(item: &Item) -> Result<HeadItem, StoreError> {
    let what = "instance";
    let a = &item.attributes;
    if a.contains_key("de") {
        return Ok(HeadItem::Tombstone);
    }
    let counter = |name| {
        body::number(a, name)
            .map(i64::unsigned_abs)
            .ok_or(StoreError::damaged(what))
    };
    let Some(summary) = body::bytes(a, "su") else {
        return Ok(HeadItem::Placeholder {
            fence: counter("fe")?,
        });
    };
    let rest = body::bytes(a, "bo").ok_or(StoreError::damaged(what))?;
    let rest: Compressed = body::decode(what, &packed::unpack(what, rest, UNPACKED_MAX)?)?;
    Ok(HeadItem::Instance(Box::new(Stored {
        head: InstanceHead {
            instance_id: last_part(what, &item.key.partition)?,
            summary: body::decode(what, summary)?,
            pinned: rest.pinned,
            commit: counter("cn")?,
            fence: counter("fe")?,
            leased_until_ms: body::number(a, "lu"),
            bookmarks: rest.bookmarks,
            journal_lines: rest.journal_lines,
        },
        owner: body::text(a, "lo").map(str::to_owned),
        epoch: body::text(a, "le").map(str::to_owned),
        creator: rest.creator,
        place: rest.place,
        recent: rest.recent,
        claims: rest.claims,
        seen: rest.seen,
        expiry: Expiry::from_attributes(a),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::head_changes::OURS;

    pub(crate) fn stored() -> Stored {
        let mut found = OpenBookmark::default();
        found.place.get_or_insert_default().hash = "AB".into();
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
                bookmarks: [
                    ("b1".to_owned(), found),
                    ("b2".to_owned(), OpenBookmark::default()),
                ]
                .into(),
                journal_lines: 11,
            },
            owner: Some("node-1".into()),
            epoch: Some("e1".into()),
            creator: "node-0".into(),
            place: StatePlace::Item(3, 0xab),
            recent: Bytes::from_static(&[1]),
            claims: ["default/UNIQ#d#".to_owned()].into(),
            seen: Seen::default(),
            expiry: Expiry::Swept(7),
        }
    }

    #[test]
    fn a_head_comes_back_and_sets_only_what_it_reads() {
        let tenant = Tenant::default();
        let config = StoreConfig::embedded();
        for (ended, place) in [
            (false, StatePlace::Item(3, 0xab)),
            (true, StatePlace::Inline(Bytes::from_static(&[1]))),
        ] {
            let mut stored = stored();
            stored.head.summary.ended = ended;
            stored.place = place;
            let attributes = stored.attributes(&tenant, &config).unwrap();
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
                body::text(&item.attributes, "g1p"),
                Some("default/WFD#d%231#00")
            );
            assert_eq!(body::text(&item.attributes, "g3p"), Some("default/WFC#c"));
            let expected = HeadItem::Instance(Box::new(stored));
            assert_eq!(from_item(&item).unwrap(), expected);
        }
    }
}
