//! The commit: what a burst has done, in one atomic write, only if the fence is still ours.

use bytes::Bytes;

use crate::bookmark::NewBookmark;
use crate::error::StoreError;
use crate::idempotency::Answer;
use crate::instance::{InstanceHead, Summary};
use crate::lease::Lease;
use crate::outbox::{Effect, OutboxKey};
use crate::route::Route;
use crate::store::Store;
use crate::table::Write;

/// What a burst has done.
///
/// Nothing of it may leave before the commit is done. A commit that ends the instance closes what bookmarks are
/// still open, gives its claims back and gives the lease back, whatever else it says.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Now, in ms since 1970.
    pub now_ms: i64,
    /// The new state; the engine's own format.
    pub state: Bytes,
    /// The new summary. `created_ms` must stay as it was.
    pub summary: Summary,
    /// The new version and bindings, where they change.
    pub pinned: Option<Bytes>,
    /// New journal lines, in order; the runtime's own format.
    pub journal: Vec<Bytes>,
    /// Bookmarks that open.
    pub bookmarks_added: Vec<NewBookmark>,
    /// The ids of bookmarks that close.
    pub bookmarks_removed: Vec<String>,
    /// Routes of bookmarks that open. They stay; a route that leads nowhere does no harm.
    pub routes_added: Vec<Route>,
    /// What to do after the commit. Goes to the outbox.
    pub effects: Vec<Effect>,
    /// Rows of the outbox that are done with this commit, such as the "continue" of the commit before.
    pub outbox_done: Vec<OutboxKey>,
    /// Timers that lie in the table, as [`crate::timer::Timer::set`] makes them.
    pub timers_set: Vec<Write>,
    /// Timers that lie in the table and have fired or are not wanted any more. Deletes without conditions.
    pub timers_cleared: Vec<Write>,
    /// The event that this commit is the answer to: refused if the instance has seen it.
    pub event_id: Option<String>,
    /// The queued stimulus that this commit is the answer to: refused if it is not there any more.
    pub consumed: Option<Consumed>,
    /// The answer to the request that this commit is the answer to, where its key must be remembered.
    pub answer: Option<Answer>,
    /// Keeps the lease until then; `None` gives it back.
    pub keep_until_ms: Option<i64>,
}

/// A queued stimulus that a commit takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumed {
    /// The hash under which it lies.
    pub hash: String,
    /// Its id.
    pub id: String,
}

/// What became of a commit.
#[derive(Debug)]
pub enum Committed {
    /// It happened. The rows of the outbox that it wrote: delete them when their effects are delivered.
    Done(Vec<OutboxKey>),
    /// The lease is not ours any more, the instance has ended or was deleted. Nothing of it happened.
    Lost(Option<Box<InstanceHead>>),
    /// The instance has seen the event. Nothing happened, the lease is still ours.
    Seen,
    /// Somebody else took the queued stimulus, or it expired. Nothing happened, the lease is still ours.
    StimulusTaken,
    /// The request was answered before, with this. Nothing happened, the lease is still ours.
    Answered(Box<Answer>),
}

impl Store {
    /// Commits a burst, or a part of it.
    ///
    /// One plain update where nothing but the head changes; one atomic write else. Over 100 writes, bookmarks and
    /// timers are put before the head changes (they are not open yet for anybody, see
    /// [`crate::lease::Acquired::NotYet`]) and deleted after it (they are not open any more), so that a crash
    /// between leaves nothing but rows that lead to a bookmark that is not open.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. Where an answer was lost, the commit number is read back; if even that fails the error is
    /// [`StoreError::is_unknown`], and the same call again settles it.
    pub async fn commit(
        &self,
        lease: &mut Lease,
        commit: &Commit,
    ) -> Result<Committed, StoreError> {
        let _ = (lease, commit);
        todo!()
    }
}
