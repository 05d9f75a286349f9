//! The lease: the right to work on an instance. One conditional update takes it and returns the state; where it
//! does not hold, the same call tells why.

use bytes::Bytes;

use crate::body;
use crate::epoch::Epoch;
use crate::error::StoreError;
use crate::instance::{self, HeadItem, InstanceHead, Stored, head_key, number};
use crate::store::Store;
use crate::table::{Attributes, Change, Condition, Item, TableError, Updated, Value};
use crate::tenant::Tenant;

/// What to take.
#[derive(Debug, Clone, Copy)]
pub struct Acquire<'a> {
    /// The instance.
    pub instance_id: &'a str,
    /// Who takes it: a name that nobody else uses and that is used for one burst only, such as node and counter.
    /// It is how a repeat after a lost answer knows its own lease.
    pub owner: &'a str,
    /// Now, in ms since 1970. A lease whose end is before it is free, and so is one of another epoch.
    pub now_ms: i64,
    /// Until when to have it.
    pub until_ms: i64,
    /// Only if this bookmark is open.
    pub wanted: Option<Wanted<'a>>,
    /// Also if the instance has ended: for one that failed and is to be tried again. Its claims are not taken back.
    pub reopens: bool,
    /// Only if the instance has not seen this event. An event that the head does not remember is refused by the
    /// commit that names it.
    pub event_id: Option<&'a str>,
}

/// A bookmark that a stimulus is for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Its id.
    pub bookmark_id: &'a str,
    /// The commit that opens it, as the timer or the bookmark's row says; 0 where it is not known.
    pub commit: u64,
}

/// What became of an acquire.
#[derive(Debug)]
pub enum Acquired {
    /// It is ours.
    Lease(Box<Lease>),
    /// Somebody works on it until then, or says so.
    Busy {
        /// When the lease runs out, in ms since 1970.
        until_ms: i64,
        /// The instance, where it is there already.
        head: Option<Box<InstanceHead>>,
    },
    /// The bookmark is not open yet: the commit that opens it is not visible. Try again later, do not drop it.
    NotYet(Box<InstanceHead>),
    /// The bookmark is not open any more: the stimulus is a duplicate, or too late.
    Gone(Box<InstanceHead>),
    /// The instance has seen the event.
    Seen(Box<InstanceHead>),
    /// The instance has ended.
    Ended(Box<InstanceHead>),
    /// The instance was deleted.
    Deleted,
    /// There is no such instance.
    NotFound,
}

/// The right to work on an instance, with all that is needed for it. Dropping it does not give it back: that is
/// what [`Store::release`] or a commit does, and else time.
#[derive(Debug)]
pub struct Lease {
    pub(crate) tenant: Tenant,
    pub(crate) owner: String,
    pub(crate) stored: Stored,
    /// The head item as it is stored.
    pub(crate) attributes: Attributes,
    pub(crate) state: Bytes,
    pub(crate) held: bool,
    /// Whether it was taken of an instance that had ended, which the next commit opens again.
    pub(crate) reopens: bool,
    /// Whether an answer to a commit was lost.
    pub(crate) unsure: bool,
}

impl Lease {
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

    /// The fence: the number of this lease.
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.stored.head.fence
    }

    /// The head as of the acquire or the last commit.
    #[must_use]
    pub fn head(&self) -> &InstanceHead {
        &self.stored.head
    }

    /// The state as of the acquire or the last commit.
    #[must_use]
    pub fn state(&self) -> &Bytes {
        &self.state
    }

    /// The number that the next commit will have; the ids of its effects are made of it.
    #[must_use]
    pub fn next_commit(&self) -> u64 {
        self.stored.head.commit + 1
    }

    /// Until when it is ours, in ms since 1970; `None`: it was given back.
    #[must_use]
    pub fn until_ms(&self) -> Option<i64> {
        self.held
            .then_some(self.stored.head.leased_until_ms)
            .flatten()
    }
}

impl Store {
    /// Takes the lease of an instance, and loads its state. One update; one read more where the state is too large
    /// for the head.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. After [`StoreError::is_unknown`] the lease may be taken; the same call again finds it.
    pub async fn acquire(
        &self,
        tenant: &Tenant,
        acquire: &Acquire<'_>,
    ) -> Result<Acquired, StoreError> {
        let key = head_key(tenant, acquire.instance_id)?;
        let mut changes = vec![
            Change::Set("lo".into(), Value::S(acquire.owner.to_owned())),
            Change::Set("lu".into(), Value::N(acquire.until_ms)),
            Change::Add("fe".into(), 1),
        ];
        changes.extend(self.epoch().stamp("le"));
        let condition = acquire.condition(self.epoch());
        let durability = self.config().lease_durability;
        let update = || self.table().update(&key, &changes, &condition, durability);
        let updated = match update().await {
            // If it happened after all, the second one finds the lease under our own name.
            Err(TableError::Unknown(_)) => update().await?,
            updated => updated?,
        };
        let item = match updated {
            Updated::New(item) => item,
            Updated::Refused(None) => return Ok(Acquired::NotFound),
            Updated::Refused(Some(item)) => {
                let a = &item.attributes;
                let ours = body::text(a, "lo") == Some(acquire.owner)
                    && body::number(a, "lu") == Some(acquire.until_ms);
                if !ours {
                    return acquire.why_refused(&item, self.epoch());
                }
                item
            }
        };
        let HeadItem::Instance(stored) = instance::from_item(&item)? else {
            return acquire.why_refused(&item, self.epoch());
        };
        let mut lease = Lease {
            tenant: tenant.clone(),
            owner: acquire.owner.to_owned(),
            stored: *stored,
            attributes: item.attributes,
            state: Bytes::new(),
            held: true,
            reopens: acquire.reopens,
            unsure: false,
        };
        match self
            .load_state(tenant, acquire.instance_id, &lease.stored.place)
            .await
        {
            Ok(Some(state)) => lease.state = state,
            failed => {
                // The error at hand says more than one about giving back; the lease runs out anyway.
                let _ = self.release(&mut lease).await;
                return Err(failed.err().unwrap_or(StoreError::damaged("state")));
            }
        }
        Ok(Acquired::Lease(Box::new(lease)))
    }

    /// Makes a lease longer. False: it is not ours any more. One update.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn renew(&self, lease: &mut Lease, until_ms: i64) -> Result<bool, StoreError> {
        if !lease.held {
            return Ok(false);
        }
        let until = Change::Set("lu".into(), Value::N(until_ms));
        self.change_lease(lease, &[until]).await
    }

    /// Gives a lease back without a commit. Not being the holder any more is fine. One update.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn release(&self, lease: &mut Lease) -> Result<(), StoreError> {
        if lease.held {
            let back = ["lo", "lu", "le"].map(|name| Change::Remove(name.into()));
            self.change_lease(lease, &back).await?;
            lease.held = false;
        }
        Ok(())
    }

    async fn change_lease(
        &self,
        lease: &mut Lease,
        changes: &[Change],
    ) -> Result<bool, StoreError> {
        let key = head_key(&lease.tenant, lease.instance_id())?;
        let ours = Condition::All(vec![lease.is_ours(), Condition::Has("lu".into())]);
        let durability = self.config().lease_durability;
        let updated = self
            .table()
            .update(&key, changes, &ours, durability)
            .await?;
        if let Updated::New(item) = &updated {
            lease.stored.head.leased_until_ms = body::number(&item.attributes, "lu");
            lease.attributes.clone_from(&item.attributes);
        }
        lease.held = matches!(updated, Updated::New(_));
        Ok(lease.held)
    }
}

impl Lease {
    /// Whether nobody took the lease after us. Time does not matter: a lease that ran out is ours until then.
    pub(crate) fn is_ours(&self) -> Condition {
        Condition::Equals("fe".into(), number(self.fence()))
    }
}

impl Acquire<'_> {
    fn condition(&self, epoch: &Epoch) -> Condition {
        let mut all = vec![
            Condition::Has("su".into()),
            epoch.is_free("lu", "le", self.now_ms),
        ];
        if !self.reopens {
            all.push(Condition::Lacks("en".into()));
        }
        if let Some(wanted) = &self.wanted {
            all.push(Condition::Contains(
                "bm".into(),
                wanted.bookmark_id.to_owned(),
            ));
        }
        if let Some(event) = self.event_id {
            all.push(Condition::Not(Box::new(Condition::Contains(
                "se".into(),
                event.to_owned(),
            ))));
        }
        Condition::All(all)
    }

    /// What the head says to those who do not get the lease. What will not change by waiting comes first.
    fn why_refused(&self, item: &Item, epoch: &Epoch) -> Result<Acquired, StoreError> {
        let stored = match instance::from_item(item)? {
            HeadItem::Tombstone => return Ok(Acquired::Deleted),
            HeadItem::Placeholder { until_ms } => {
                let is_held = epoch.is_held_in(&item.attributes, "le");
                return Ok(Acquired::Busy {
                    until_ms: until_ms * i64::from(is_held),
                    head: None,
                });
            }
            HeadItem::Instance(stored) => stored,
        };
        let head = Box::new(stored.head);
        if head.summary.ended && !self.reopens {
            return Ok(Acquired::Ended(head));
        }
        if self.event_id.is_some_and(|event| stored.seen.has(event)) {
            return Ok(Acquired::Seen(head));
        }
        if let Some(wanted) = self
            .wanted
            .filter(|wanted| !head.bookmarks.contains(wanted.bookmark_id))
        {
            let ahead = wanted.commit > head.commit;
            return Ok(if ahead {
                Acquired::NotYet(head)
            } else {
                Acquired::Gone(head)
            });
        }
        let until_ms = head.leased_until_ms.unwrap_or(self.now_ms);
        Ok(Acquired::Busy {
            until_ms,
            head: Some(head),
        })
    }
}
