//! Examining a table: what no crash should leave, and bugs, lost disks and people with tools may. All of it is found
//! in one scan beside the work that goes on, so whatever looks wrong is looked at once more, consistently, before it
//! is told of and before it is repaired.

mod attributes;
mod facts;
mod repair;

use std::collections::BTreeSet;

use crate::definition::head::DefinitionHead;
use crate::instance::state::StatePlace;
use crate::item::error::StoreError;
use crate::item::tenant::Tenant;
use crate::operation::Operations;
use crate::table::Key;
use crate::table::scan::Scan;
use facts::{Facts, Head, Place};

/// A row of the outbox older than this should have been delivered, in ms.
const UNDELIVERED_MS: i64 = 10 * 60_000;

/// A lease that ran out this long ago is nobody's any more, in ms.
const EXPIRED_MS: i64 = 60_000;

/// A row that was prepared within this time, in ms, may belong to the creation of an instance that is under way.
const UNDECIDED_MS: i64 = 60_000;

/// What kind of thing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A row of a bookmark that is not open: its instance is gone, has ended, or closed it.
    BookmarkWithoutInstance,
    /// An open bookmark whose row is missing: no event finds it.
    BookmarkWithoutRow,
    /// Journal, state or expiry of an instance that is not there.
    RowsWithoutInstance,
    /// A trigger that no publication in force has.
    OldTrigger,
    /// A row of a search attribute that differs from its instance, or is missing.
    AttributeRow,
    /// A claim of an instance that has ended or is not there: it keeps others from starting.
    ClaimWithoutHolder,
    /// Effects that are not delivered.
    OldOutbox,
    /// An instance that was cut off, and nothing continues it.
    Interrupted,
    /// A bookmark that waits for a time, and no timer comes.
    TimerMissing,
    /// A large state that no instance names.
    BlobWithoutOwner,
    /// An item that cannot be read.
    Damaged,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing.
    pub kind: Kind,
    /// Whose it is.
    pub tenant: String,
    /// Which: an id, for people.
    pub about: String,
    /// The items that it is about.
    pub(crate) keys: Vec<Key>,
}

/// An instance that somebody who knows states should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// Whose it is.
    pub tenant: Tenant,
    /// Its id.
    pub instance_id: String,
}

/// An open bookmark whose row is missing: no event finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfound {
    /// Whose it is.
    pub tenant: Tenant,
    /// The instance that waits.
    pub instance_id: String,
    /// The bookmark.
    pub bookmark_id: String,
}

/// What an examination found.
#[derive(Debug, Default)]
pub struct Examination {
    /// How many items there are.
    pub items: u64,
    /// How many instances there are.
    pub instances: u64,
    /// How many of them have not ended.
    pub running: u64,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Open bookmarks whose rows are missing.
    pub unfound: Vec<Unfound>,
    /// Instances with open bookmarks that have no row: they may wait for a time.
    pub waiting: Vec<Suspect>,
    /// Instances without a valid lease and without anything in the outbox, which may have been cut off.
    pub idle: Vec<Suspect>,
    /// The ids of all timers in the table, with their tenants.
    pub timers: BTreeSet<(Tenant, String)>,
    /// The definitions that are published.
    pub published: Vec<(Tenant, DefinitionHead)>,
    /// The names of all large states that instances name.
    pub blobs: BTreeSet<String>,
}

impl Operations<'_> {
    /// Looks at everything once. `table` is the store's own. Where it `is_in_use`, others may work on it meanwhile.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the table cannot be read; an item that cannot be read is a finding.
    pub async fn examine(
        self,
        table: &dyn Scan,
        now_ms: i64,
        is_in_use: bool,
    ) -> Result<Examination, StoreError> {
        let facts = Facts::gather(table).await?;
        let mut findings = facts.damaged.clone();
        let settled_ms = if is_in_use {
            now_ms - UNDECIDED_MS
        } else {
            i64::MAX
        };
        findings.extend(self.lost_bookmarks(&facts, settled_ms).await?);
        let unfound = self.missing_rows(&facts).await?;
        findings.extend(self.lost_rows(&facts).await?);
        findings.extend(self.wrong_attributes(&facts).await?);
        findings.extend(self.old_triggers(&facts).await?);
        findings.extend(self.lost_claims(&facts).await?);
        for ((tenant, source), (at_ms, attempts)) in &facts.outbox {
            if *at_ms < now_ms - UNDELIVERED_MS {
                let age_min = (now_ms - at_ms) / 60_000;
                let about = format!("{source}: for {age_min} minutes, {attempts} attempts");
                findings.push(finding(Kind::OldOutbox, tenant, about, Vec::new()));
            }
        }
        Ok(Examination {
            unfound,
            ..examination(facts, findings, now_ms)
        })
    }
}

fn finding(kind: Kind, tenant: &Tenant, about: String, keys: Vec<Key>) -> Finding {
    Finding {
        kind,
        tenant: tenant.to_string(),
        about,
        keys,
    }
}

fn examination(facts: Facts, findings: Vec<Finding>, now_ms: i64) -> Examination {
    let mut found = Examination {
        items: facts.items,
        findings,
        timers: facts.timers,
        ..Examination::default()
    };
    for ((tenant, _), head) in facts.definitions {
        if head.published.is_some() {
            found.published.push((tenant, head));
        }
    }
    for ((tenant, instance_id), head) in facts.heads {
        let Head::Instance(stored) = head else {
            continue;
        };
        found.instances += 1;
        if let StatePlace::Blob(name) = &stored.place {
            found.blobs.insert(name.clone());
        }
        if stored.head.summary.ended {
            continue;
        }
        found.running += 1;
        let suspect = Suspect {
            tenant,
            instance_id,
        };
        let place: Place = (suspect.tenant.clone(), suspect.instance_id.clone());
        let leased_until = stored.head.leased_until_ms.unwrap_or(0);
        if leased_until < now_ms - EXPIRED_MS && !facts.outbox.contains_key(&place) {
            found.idle.push(suspect.clone());
        }
        let mut open = stored.head.bookmarks.values();
        if open.any(|bookmark| bookmark.place.is_none()) {
            found.waiting.push(suspect);
        }
    }
    found
}
