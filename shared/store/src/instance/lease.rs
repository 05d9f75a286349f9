//! Opening an instance for work: by reading its head, or by taking its lease.
//!
//! A short burst reads the head and commits under the condition that nothing has happened to it since. A burst that has
//! lost a race, or that commits more than once, holds a lease: others wait for it instead of working in vain. The fence
//! rises with each lease, so a holder that lost it changes nothing.

use bytes::Bytes;

use crate::instance::Leases;
use crate::instance::head::{
    self as instance, HeadItem, InstanceHead, OpenBookmark, Stored, head_key,
};
use crate::instance::predecessor::Predecessor;
use crate::instance::stamp::{Stamp, Verdict};
use crate::instance::uniqueness::Claim;
use crate::item::body;
use crate::item::epoch::Epoch;
use crate::item::error::StoreError;
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Change, Condition, Durability, Item, TableError, Updated, Value};

/// What to open.
#[derive(Debug, Clone, Copy)]
pub struct Open<'a> {
    /// The instance.
    pub instance_id: &'a str,
    /// Name of the holder. Nobody else uses it, and it serves one burst only, such as node and counter: a repeat after a
    /// lost answer recognizes its own lease by it.
    pub owner: &'a str,
    /// Now, in ms since 1970. A lease whose end is before it is free, and so is one of another epoch.
    pub now_ms: i64,
    /// Also if the instance has ended: for one that failed and is to be tried again.
    pub reopens: bool,
}

/// Outcome of opening an instance.
#[derive(Debug)]
pub enum Opened {
    /// It may be worked on.
    Loaded(Box<Loaded>),
    /// Somebody else holds the lease.
    Busy {
        /// When the lease runs out, in ms since 1970.
        until_ms: i64,
    },
    /// It has ended.
    Ended(Box<InstanceHead>),
    /// It was deleted.
    Deleted,
    /// There is no such instance.
    NotFound,
}

/// An instance as it was loaded, with all that a burst needs. Dropping it does not give a lease back: that is what
/// [`Leases::release`](crate::instance::Leases::release) or a commit does, and else time.
#[derive(Debug)]
pub struct Loaded {
    pub(crate) tenant: Tenant,
    pub(crate) owner: String,
    pub(crate) stored: Stored,
    /// The head item as it is stored.
    pub(crate) attributes: Attributes,
    pub(crate) state: Bytes,
    /// Whether we hold the lease.
    pub(crate) is_leased: bool,
    /// Whether the instance had ended, and the next commit opens it again.
    pub(crate) reopens: bool,
    /// Whether an answer to a commit was lost.
    pub(crate) unsure: bool,
    /// For an instance that is to be created: what lies under its id, and its claims.
    pub(crate) new: Option<New>,
}

/// What the first commit of an instance needs.
#[derive(Debug, Clone)]
pub(crate) struct New {
    pub(crate) predecessor: Predecessor,
    pub(crate) claims: Vec<Claim>,
}

impl Loaded {
    /// The tenant.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The instance's id.
    #[must_use]
    pub fn instance_id(&self) -> &str {
        &self.stored.head.instance_id
    }

    /// The head as of the load or the last commit.
    #[must_use]
    pub fn head(&self) -> &InstanceHead {
        &self.stored.head
    }

    /// The state as of the load or the last commit.
    #[must_use]
    pub fn state(&self) -> &Bytes {
        &self.state
    }

    /// Whether the instance is not there yet: the next commit creates it.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.new.is_some()
    }

    /// Whether the lease is held.
    #[must_use]
    pub fn is_leased(&self) -> bool {
        self.is_leased
    }

    /// The number that the next commit will have; the ids of its effects are made of it.
    #[must_use]
    pub fn next_commit(&self) -> u64 {
        self.stored.head.commit + 1
    }

    /// The stamp of the next commit by an attempt.
    #[must_use]
    pub fn stamp(&self, attempt: u64, now_ms: i64) -> Stamp {
        Stamp {
            commit: self.next_commit(),
            fence: self.stored.head.fence,
            attempt,
            at_ms: now_ms,
        }
    }

    /// An open bookmark.
    #[must_use]
    pub fn bookmark(&self, id: &str) -> Option<&OpenBookmark> {
        self.stored.head.bookmarks.get(id)
    }

    /// Until when the lease is held, in ms since 1970; `None`: it is not.
    #[must_use]
    pub fn until_ms(&self) -> Option<i64> {
        self.is_leased
            .then_some(self.stored.head.leased_until_ms)
            .flatten()
    }
}

impl Leases<'_> {
    /// Opens an instance by reading it: for a burst of one commit. One read; one more where the state is too large for
    /// the head.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn open(self, tenant: &Tenant, open: &Open<'_>) -> Result<Opened, StoreError> {
        let key = head_key(tenant, open.instance_id)?;
        // A commit between the two reads replaces the state that the head named.
        for _ in 0..ATTEMPTS_MAX {
            let Some(item) = self.table().get(&key).await? else {
                return Ok(Opened::NotFound);
            };
            if let Some(refused) = open.refusal(&item, self.epoch())? {
                return Ok(refused);
            }
            if let Some(loaded) = self.loaded(tenant, open, item, false).await? {
                return Ok(Opened::Loaded(Box::new(loaded)));
            }
        }
        Err(StoreError::damaged("state"))
    }

    /// Opens an instance by taking its lease. One update; one read more where the state is too large for the head.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. After [`StoreError::is_unknown`] the lease may be taken; the same call again finds it.
    pub async fn lease(
        self,
        tenant: &Tenant,
        open: &Open<'_>,
        until_ms: i64,
    ) -> Result<Opened, StoreError> {
        let key = head_key(tenant, open.instance_id)?;
        let mut changes = vec![
            Change::Set("lo".into(), Value::S(open.owner.to_owned())),
            Change::Set("lu".into(), Value::N(until_ms)),
            Change::Add("fe".into(), 1),
        ];
        changes.extend(self.epoch().stamp("le"));
        let condition = open.condition(self.epoch());
        let durability = self.config().lease_durability;
        let update = || self.table().update(&key, &changes, &condition, durability);
        let updated = match update().await {
            // If it happened after all, the second one finds the lease under our own name.
            Err(TableError::Unknown(_)) => update().await?,
            updated => updated?,
        };
        let item = match updated {
            Updated::New(item) => item,
            Updated::Refused(None) => return Ok(Opened::NotFound),
            Updated::Refused(Some(item)) => {
                let a = &item.attributes;
                let is_ours = body::text(a, "lo") == Some(open.owner)
                    && body::number(a, "lu") == Some(until_ms);
                if !is_ours {
                    let refused = open.refusal(&item, self.epoch())?;
                    // It became free between the update and its answer.
                    return Ok(refused.unwrap_or(Opened::Busy {
                        until_ms: open.now_ms,
                    }));
                }
                item
            }
        };
        match self.loaded(tenant, open, item, true).await? {
            Some(loaded) => Ok(Opened::Loaded(Box::new(loaded))),
            None => Err(StoreError::damaged("state")),
        }
    }

    /// `None`: the state that the head names is not there any more.
    async fn loaded(
        self,
        tenant: &Tenant,
        open: &Open<'_>,
        item: Item,
        is_leased: bool,
    ) -> Result<Option<Loaded>, StoreError> {
        let HeadItem::Instance(stored) = instance::from_item(&item)? else {
            return Err(StoreError::damaged("instance"));
        };
        let mut loaded = Loaded {
            tenant: tenant.clone(),
            owner: open.owner.to_owned(),
            reopens: open.reopens && stored.head.summary.ended,
            stored: *stored,
            attributes: item.attributes,
            state: Bytes::new(),
            is_leased,
            unsure: false,
            new: None,
        };
        let state = self
            .instances()
            .load_state(tenant, open.instance_id, &loaded.stored.place)
            .await;
        match state {
            Ok(Some(state)) => loaded.state = state,
            failed => {
                // The error at hand says more than one about giving back; the lease runs out anyway.
                let _ = self.release(&mut loaded).await;
                return failed.map(|_| None);
            }
        }
        Ok(Some(loaded))
    }

    /// Makes a lease longer. False: it is not ours any more. One update.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn renew(self, loaded: &mut Loaded, until_ms: i64) -> Result<bool, StoreError> {
        if !loaded.is_leased {
            return Ok(false);
        }
        let until = Change::Set("lu".into(), Value::N(until_ms));
        self.change_lease(loaded, &[until]).await
    }

    /// Gives a lease back without a commit. Not being the holder any more is fine. One update; nothing where there is
    /// no lease.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn release(self, loaded: &mut Loaded) -> Result<(), StoreError> {
        if loaded.is_leased {
            let back = ["lo", "lu", "le"].map(|name| Change::Remove(name.into()));
            self.change_lease(loaded, &back).await?;
            loaded.is_leased = false;
        }
        Ok(())
    }

    async fn change_lease(
        self,
        loaded: &mut Loaded,
        changes: &[Change],
    ) -> Result<bool, StoreError> {
        let key = head_key(&loaded.tenant, loaded.instance_id())?;
        let ours = Condition::All(vec![
            loaded.stored.is_as_read(),
            Condition::Has("lu".into()),
        ]);
        let durability: Durability = self.config().lease_durability;
        let updated = self
            .table()
            .update(&key, changes, &ours, durability)
            .await?;
        if let Updated::New(item) = &updated {
            loaded.stored.head.leased_until_ms = body::number(&item.attributes, "lu");
            loaded.attributes.clone_from(&item.attributes);
        }
        loaded.is_leased = matches!(updated, Updated::New(_));
        Ok(loaded.is_leased)
    }

    /// Judges a stamp by a loaded instance. No read, unless the commit is older than the recent journal.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn judge_loaded(self, loaded: &Loaded, stamp: &Stamp) -> Result<Verdict, StoreError> {
        self.commits()
            .judge_by(&loaded.tenant, &loaded.stored, stamp)
            .await
    }

    /// Whether a loaded instance has taken an event. One read where some of its events have items of their own.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn has_seen_loaded(self, loaded: &Loaded, event: &str) -> Result<bool, StoreError> {
        self.instances()
            .has_taken(&loaded.tenant, &loaded.stored, event)
            .await
    }
}

/// How often a head is read anew because its state moved on meanwhile.
const ATTEMPTS_MAX: u32 = 5;

impl Open<'_> {
    fn condition(&self, epoch: &Epoch) -> Condition {
        let mut all = vec![
            Condition::Has("su".into()),
            epoch.is_free("lu", "le", self.now_ms),
        ];
        if !self.reopens {
            all.push(Condition::Lacks("en".into()));
        }
        Condition::All(all)
    }

    /// Why the instance in an item may not be worked on. `None`: it may. What will not change by waiting comes first.
    fn refusal(&self, item: &Item, epoch: &Epoch) -> Result<Option<Opened>, StoreError> {
        let stored = match instance::from_item(item)? {
            HeadItem::Tombstone => return Ok(Some(Opened::Deleted)),
            HeadItem::Placeholder { .. } => return Ok(Some(Opened::NotFound)),
            HeadItem::Instance(stored) => stored,
        };
        if stored.head.summary.ended && !self.reopens {
            return Ok(Some(Opened::Ended(Box::new(stored.head))));
        }
        let until_ms = stored.head.leased_until_ms.unwrap_or(i64::MIN);
        let is_held = until_ms >= self.now_ms && epoch.is_held_in(&item.attributes, "le");
        Ok(is_held.then_some(Opened::Busy { until_ms }))
    }
}
