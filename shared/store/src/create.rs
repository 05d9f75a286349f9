//! Creating an instance: its first commit.

use bytes::Bytes;

use crate::commit::Commit;
use crate::error::StoreError;
use crate::idempotency::Answer;
use crate::instance::InstanceHead;
use crate::lease::Lease;
use crate::outbox::OutboxKey;
use crate::store::Store;
use crate::tenant::Tenant;
use crate::uniqueness::Claim;

/// An instance to create.
#[derive(Debug, Clone)]
pub struct NewInstance<'a> {
    /// Its id.
    pub instance_id: &'a str,
    /// Who creates it: a name that nobody else uses and that is used for one burst only. It is how a repeat after
    /// a lost answer knows its own instance.
    pub owner: &'a str,
    /// What it must be the only one of.
    pub claims: &'a [Claim],
}

/// What became of a create.
#[derive(Debug)]
pub enum Created {
    /// It is there. The lease is ours if the commit keeps it.
    Done {
        /// For the commits that follow.
        lease: Box<Lease>,
        /// The rows of the outbox that it wrote.
        outbox: Vec<OutboxKey>,
    },
    /// An instance has the id. A start with the same id or key was here before.
    Exists(Box<InstanceHead>),
    /// An instance with the id was deleted; it does not come back.
    Deleted,
    /// Somebody is creating it.
    Busy {
        /// Until when at most, in ms since 1970.
        until_ms: i64,
    },
    /// Another instance has a claim.
    NotUnique {
        /// The claim.
        claim: Claim,
        /// The instance that has it.
        holder: String,
    },
    /// Somebody else took the queued stimulus, or it expired.
    StimulusTaken,
    /// The request was answered before, with this.
    Answered(Box<Answer>),
}

impl Store {
    /// Creates an instance with the result of its first burst. One conditional put where nothing but the head is
    /// written; one atomic write else.
    ///
    /// That it runs the published version is the caller's to know: it reads [`Store::definition_head`] beside the
    /// burst, after the request came in. A publish that returned before that is then seen.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. After [`StoreError::is_unknown`] the same call again settles it.
    pub async fn create(
        &self,
        tenant: &Tenant,
        new: &NewInstance<'_>,
        commit: &Commit,
    ) -> Result<Created, StoreError> {
        let _ = (tenant, new, commit, Bytes::new());
        todo!()
    }
}
