//! The lease: the right to work on an instance. One conditional update takes it and returns the state; where it
//! does not hold, the same call tells why.

use bytes::Bytes;

use crate::error::StoreError;
use crate::instance::{InstanceHead, Stored};
use crate::store::Store;
use crate::table::Attributes;
use crate::tenant::Tenant;

/// What to take.
#[derive(Debug, Clone, Copy)]
pub struct Acquire<'a> {
    /// The instance.
    pub instance_id: &'a str,
    /// Who takes it: a name that nobody else uses and that is used for one burst only, such as node and counter.
    /// It is how a repeat after a lost answer knows its own lease.
    pub owner: &'a str,
    /// Now, in ms since 1970. A lease whose end is before it is free.
    pub now_ms: i64,
    /// Until when to have it.
    pub until_ms: i64,
    /// Only if this bookmark is open.
    pub wanted: Option<Wanted<'a>>,
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
        let _ = (tenant, acquire);
        todo!()
    }

    /// Makes a lease longer. False: it is not ours any more. One update.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn renew(&self, lease: &mut Lease, until_ms: i64) -> Result<bool, StoreError> {
        let _ = (lease, until_ms);
        todo!()
    }

    /// Gives a lease back without a commit. Not being the holder any more is fine. One update.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn release(&self, lease: &mut Lease) -> Result<(), StoreError> {
        let _ = lease;
        todo!()
    }
}
