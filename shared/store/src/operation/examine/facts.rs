//! What is in a table, as far as items depend on each other: gathered in one scan.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Kind};
use crate::definition::head::DefinitionHead;
use crate::definition::trigger::{self, TriggerRow};
use crate::instance::attribute;
use crate::instance::head::{self as instance, HeadItem, Stored};
use crate::instance::uniqueness;
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::plain;
use crate::item::tenant::Tenant;
use crate::outbox::row as outbox;
use crate::stimulus::bookmark::{self, BookmarkRow};
use crate::stimulus::timer::Timer;
use crate::table::scan::Scan;
use crate::table::{Item, Key};

/// Whose, and which: the tenant, and an id.
pub(super) type Place = (Tenant, String);

/// What is known of an instance.
pub(super) enum Head {
    Instance(Box<Stored>),
    /// Deleted, or about to be created: what lies beside it is somebody's business.
    Other,
}

/// What is in a table.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) items: u64,
    pub(super) heads: BTreeMap<Place, Head>,
    pub(super) bookmarks: Vec<(Tenant, Key, BookmarkRow)>,
    pub(super) triggers: Vec<(Tenant, Key, TriggerRow)>,
    pub(super) definitions: BTreeMap<Place, DefinitionHead>,
    /// Items beside a head, by instance: one key stands for all.
    pub(super) beside: BTreeMap<Place, Key>,
    /// Rows of search attributes.
    pub(super) attributes: BTreeMap<Key, Item>,
    pub(super) claims: Vec<(Tenant, Key, String)>,
    /// The ids of timers that lie in the table.
    pub(super) timers: BTreeSet<Place>,
    /// When the oldest row of each source was written, and of how many attempts it knows.
    pub(super) outbox: BTreeMap<Place, (i64, u32)>,
    pub(super) damaged: Vec<Finding>,
    /// The keys of what is damaged: it is there, so nothing may be concluded from its absence.
    pub(super) unreadable: BTreeSet<Key>,
}

impl Facts {
    /// Reads everything.
    pub(super) async fn gather(table: &dyn Scan) -> Result<Self, StoreError> {
        let mut facts = Self::default();
        let mut cursor = None;
        loop {
            let page = table.scan_readable(cursor).await?;
            for item in page.items {
                facts.items += 1;
                if let Err(error) = facts.add(&item) {
                    facts.add_damaged(item.key, &error.to_string());
                }
            }
            for key in page.damaged {
                facts.items += 1;
                facts.add_damaged(key, "it does not read back");
            }
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(facts);
            }
        }
    }

    fn add_damaged(&mut self, key: Key, why: &str) {
        self.damaged.push(Finding {
            kind: Kind::Damaged,
            tenant: key.partition.clone(),
            about: format!("{} {}: {why}", key.partition, key.sort),
            keys: vec![key.clone()],
        });
        self.unreadable.insert(key);
    }

    /// Whether nothing can be told about what belongs to this item: it is there, and cannot be read.
    pub(super) fn is_unreadable(&self, key: &Key) -> bool {
        self.unreadable.contains(key)
    }

    fn add(&mut self, item: &Item) -> Result<(), StoreError> {
        let (partition, sort) = (item.key.partition.as_str(), item.key.sort.as_str());
        let Some((owner, rest)) = partition.split_once('/') else {
            return Err(StoreError::damaged("key"));
        };
        let kind = rest.split('#').next().unwrap_or_default();
        match (owner, kind) {
            ("~", "TIMER") => {
                let timer = Timer::from_item(item)?;
                self.timers.insert((timer.tenant, timer.id));
            }
            ("~", "OUTBOX") => {
                let row = outbox::from_item(item.clone())?;
                let known = self.outbox.entry((row.tenant, row.source));
                let oldest = known.or_insert((row.at_ms, row.attempts));
                *oldest = (oldest.0.min(row.at_ms), oldest.1.max(row.attempts));
            }
            ("~", _) => {}
            (tenant, _) => {
                let tenant = Tenant::new(tenant).map_err(|_| StoreError::damaged("tenant"))?;
                self.add_of(tenant, kind, sort, item)?;
            }
        }
        Ok(())
    }

    fn add_of(
        &mut self,
        tenant: Tenant,
        kind: &str,
        sort: &str,
        item: &Item,
    ) -> Result<(), StoreError> {
        match (kind, sort) {
            ("WF", "HEAD") => {
                let place = (tenant, id_of(item)?);
                let head = match instance::from_item(item)? {
                    HeadItem::Instance(stored) => Head::Instance(stored),
                    HeadItem::Tombstone | HeadItem::Placeholder { .. } => Head::Other,
                };
                self.heads.insert(place, head);
            }
            // Events that were seen have a time to live of their own.
            ("WF", sort) if !sort.starts_with("SEEN#") => {
                let place = (tenant, id_of(item)?);
                self.beside.insert(place, item.key.clone());
                if sort.starts_with(attribute::PREFIX) {
                    self.attributes.insert(item.key.clone(), item.clone());
                }
            }
            ("STIM", sort) if sort.starts_with("B#") => {
                let row = bookmark::from_item(item)?;
                self.bookmarks.push((tenant, item.key.clone(), row));
            }
            ("STIM", sort) if sort.starts_with("T#") => {
                let row = trigger::from_item(item)?;
                self.triggers.push((tenant, item.key.clone(), row));
            }
            ("DEF", "HEAD") => {
                if let Some(head) = DefinitionHead::from_item(item)? {
                    self.definitions
                        .insert((tenant, head.definition_id.clone()), head);
                }
            }
            ("UNIQ", "HEAD") if body::text(&item.attributes, "in").is_some() => {
                let holder = uniqueness::holder(item)?;
                self.claims.push((tenant, item.key.clone(), holder));
            }
            _ => {}
        }
        Ok(())
    }
}

/// The instance in whose partition an item lies.
pub(super) fn id_of(item: &Item) -> Result<String, StoreError> {
    let id = item.key.partition.split_once("/WF#");
    id.and_then(|(_, id)| plain(id))
        .ok_or(StoreError::damaged("instance"))
}
