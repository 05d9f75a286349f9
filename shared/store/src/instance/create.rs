//! An instance before its first commit. Creating it is a commit like any other, on top of what lies under its id.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::instance::Instances;
use crate::instance::expiry::Expiry;
use crate::instance::head::{self as instance, HeadItem, InstanceHead, Stored, Summary, head_key};
use crate::instance::lease::{Loaded, New};
use crate::instance::predecessor::Predecessor;
use crate::instance::seen::Seen;
use crate::instance::stamp::attempts_attribute;
use crate::instance::state::StatePlace;
use crate::instance::uniqueness::Claim;
use crate::item::error::StoreError;
use crate::item::number::number;
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Condition, Item, Value, Write, Written};

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

    /// Makes an instance that does not exist yet impossible: a tombstone lies under its id until `until_ms`, and as long
    /// after it as one of a deleted instance. `false`: it exists. Doing it again changes nothing. One write; one read more
    /// where there is something.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn rule_out(
        self,
        tenant: &Tenant,
        instance_id: &str,
        (now_ms, until_ms): (i64, i64),
    ) -> Result<bool, StoreError> {
        let key = head_key(tenant, instance_id)?;
        loop {
            let there = self.table().get(&key).await?;
            let (fence, condition) = match there.as_ref().map(instance::from_item).transpose()? {
                None => (1, Condition::Absent),
                Some(HeadItem::Instance(_)) => return Ok(false),
                Some(HeadItem::Tombstone) => return Ok(true),
                Some(HeadItem::Placeholder { fence }) => {
                    (fence + 1, Condition::Equals("fe".into(), number(fence)))
                }
            };
            let ttl = now_ms.max(until_ms) / 1_000 + self.config().tombstone_s;
            let (name, none) = attempts_attribute(&[])?;
            let attributes = Attributes::from([
                ("de".to_owned(), Value::N(now_ms)),
                ("fe".to_owned(), number(fence)),
                ("cn".to_owned(), number(0)),
                ("ttl".to_owned(), Value::N(ttl)),
                (name, none),
            ]);
            let tombstone = Item {
                key: key.clone(),
                attributes,
            };
            let put = Write::Put(tombstone, condition);
            if self.table().write(&[put]).await? == Written::Done {
                return Ok(true);
            }
        }
    }
}
