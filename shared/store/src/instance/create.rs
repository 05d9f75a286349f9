//! An instance before its first commit. Creating it is a commit like any other, on top of what lies under its id.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::instance::Instances;
use crate::instance::expiry::Expiry;
use crate::instance::head::{InstanceHead, Stored, Summary};
use crate::instance::lease::{Loaded, New};
use crate::instance::predecessor::Predecessor;
use crate::instance::seen::Seen;
use crate::instance::state::StatePlace;
use crate::instance::uniqueness::Claim;
use crate::item::error::StoreError;
use crate::item::tenant::Tenant;
use crate::table::Attributes;

/// An instance to create.
#[derive(Debug, Clone)]
pub struct NewInstance<'a> {
    /// Its id.
    pub instance_id: &'a str,
    /// Who creates it: a name that nobody else uses and that is used for one burst only. A repeat after a lost answer
    /// recognizes its own instance by it.
    pub owner: &'a str,
    /// What it must be the only one of.
    pub claims: &'a [Claim],
    /// What it continues after.
    pub predecessor: Predecessor,
}

impl Instances<'_> {
    /// An instance that its first commit creates. No call to the table.
    ///
    /// That it runs the published version is the caller's to know: it reads
    /// [`definition_head`](crate::definition::Definitions::definition_head) beside the
    /// burst, after the request came in. A publish that returned before that is then seen.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`] of a claim.
    pub fn blank(self, tenant: &Tenant, new: &NewInstance<'_>) -> Result<Loaded, StoreError> {
        let claims: Result<BTreeSet<_>, StoreError> = new
            .claims
            .iter()
            .map(|claim| Ok(claim.key(tenant)?.partition))
            .collect();
        let predecessor = new.predecessor;
        let stored = Stored {
            head: InstanceHead {
                instance_id: new.instance_id.to_owned(),
                summary: Summary::default(),
                pinned: Bytes::new(),
                commit: predecessor.commit,
                fence: predecessor.next_fence(),
                leased_until_ms: None,
                bookmarks: Default::default(),
                journal_lines: 0,
            },
            owner: None,
            epoch: None,
            creator: new.owner.to_owned(),
            place: StatePlace::default(),
            recent: Bytes::new(),
            claims: claims?,
            seen: Seen::default(),
            expiry: Expiry::Never,
        };
        Ok(Loaded {
            tenant: tenant.clone(),
            owner: new.owner.to_owned(),
            stored,
            attributes: Attributes::new(),
            state: Bytes::new(),
            is_leased: false,
            reopens: false,
            unsure: false,
            new: Some(New {
                predecessor,
                claims: new.claims.to_vec(),
            }),
        })
    }
}
