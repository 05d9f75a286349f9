//! The commit: what a burst has done, in one atomic write, only if the fence is still ours.

use bytes::Bytes;

use crate::bookmark::NewBookmark;
use crate::error::StoreError;
use crate::expiry::Kept;
use crate::former::Former;
use crate::head_changes;
use crate::idempotency::{self, Answer};
use crate::instance::{self, HeadItem, InstanceHead, Stored, Summary, head_key, number};
use crate::lease::Lease;
use crate::outbox::{Effect, OutboxKey};
use crate::plan::{Plan, Role};
use crate::route::Route;
use crate::send::{Sent, refused_without_reason};
use crate::store::Store;
use crate::table::{Condition, Item, Write, Written};

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
    /// What to do only if this burst is cut off before its next commit. Goes to the outbox in a row of its own, the
    /// last one of the answer, which the next commit names in `outbox_done`.
    pub continuation: Option<Effect>,
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
    /// Where it ends the instance: how long that is kept then. `None`: for ever.
    pub kept: Option<Kept>,
    /// Keeps the lease until then; `None` gives it back.
    pub keep_until_ms: Option<i64>,
    /// Where it creates an instance that comes back: what its life before has used up.
    pub former: Option<Former>,
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
        if !lease.held {
            return Ok(Committed::Lost(None));
        }
        let event = commit.event_id.as_deref();
        if event.is_some_and(|event| lease.stored.seen.has(event)) {
            return Ok(Committed::Seen);
        }
        let same_state = commit.state == lease.state;
        let mut plan = self
            .plan(&lease.tenant, &lease.stored, commit, same_state)
            .await?;
        let done = self.carry_out(lease, commit, &mut plan).await;
        if matches!(done, Ok(Committed::Done(_))) {
            self.drop_blob(plan.old_place.as_ref()).await;
        } else if !lease.unsure {
            self.drop_blob(plan.new_place.as_ref()).await;
        }
        done
    }

    async fn carry_out(
        &self,
        lease: &mut Lease,
        commit: &Commit,
        plan: &mut Plan,
    ) -> Result<Committed, StoreError> {
        let key = head_key(&lease.tenant, lease.instance_id())?;
        let mut ours = vec![
            lease.is_ours(),
            Condition::Equals("cn".into(), number(lease.stored.head.commit)),
        ];
        if !lease.reopens {
            ours.push(Condition::Lacks("en".into()));
        }
        let ours = Condition::All(ours);
        let parts = self.parts(plan);
        if !parts.after.is_empty() && plan.next.owner.is_none() && !commit.summary.ended {
            // Nobody may open anew what is still to be deleted, so the lease is given back by the last write.
            plan.next.head.leased_until_ms = lease.stored.head.leased_until_ms;
            plan.next.owner = Some(lease.owner.clone());
        }
        let attributes = plan
            .next
            .attributes(&lease.tenant, self.config().list_shards)?;
        let changes = head_changes::changes(&lease.attributes, &attributes);
        let head = Write::Update(key, changes.clone(), ours.clone());
        match self
            .send(head, &ours, plan, &parts, &mut lease.unsure)
            .await?
        {
            Sent::Done => {}
            Sent::HeadRefused(item) => {
                let there = item.as_ref().map(instance::from_item).transpose()?;
                let Some(HeadItem::Instance(stored)) = there else {
                    lease.held = false;
                    return Ok(Committed::Lost(None));
                };
                if !self.landed(lease, &stored).await? {
                    lease.held = false;
                    return Ok(Committed::Lost(Some(Box::new(stored.head))));
                }
            }
            Sent::Refused(role, item) => return refused(role, item, commit),
        }
        for change in &changes {
            change.apply(&mut lease.attributes)?;
        }
        lease.stored = plan.next.clone();
        lease.state = commit.state.clone();
        lease.held = lease.stored.owner.is_some();
        lease.reopens = false;
        lease.unsure = false;
        self.finish(lease, commit, parts.after).await;
        Ok(Committed::Done(plan.outbox.clone()))
    }

    /// Whether a commit that was refused by its head was refused because it had happened already.
    async fn landed(&self, lease: &Lease, there: &Stored) -> Result<bool, StoreError> {
        let (ours, fence) = (lease.next_commit(), lease.fence());
        if !lease.unsure || there.head.commit < ours {
            return Ok(false);
        }
        if there.head.commit == ours {
            return Ok(there.commit_fence == fence);
        }
        // Somebody has committed on top of it, or instead of it: the journal knows whose it was.
        let line = lease.stored.head.journal_lines;
        Ok(self
            .fence_of_commit(&lease.tenant, there, ours, line)
            .await?
            == Some(fence))
    }

    /// The deletes that did not fit, and then the lease. The commit is done: what fails here stays behind.
    pub(crate) async fn finish(&self, lease: &mut Lease, commit: &Commit, after: Vec<Vec<Write>>) {
        let done = self.finish_deletes(lease, after).await;
        let give_back = lease.held && commit.keep_until_ms.is_none();
        let released = if give_back {
            self.release(lease).await
        } else {
            Ok(())
        };
        if let Err(cause) = done.and(released) {
            let instance = lease.instance_id();
            tracing::warn!(instance, cause = %cause, "a commit is done, but rows of it or its lease stay behind");
        }
    }

    async fn finish_deletes(
        &self,
        lease: &mut Lease,
        after: Vec<Vec<Write>>,
    ) -> Result<(), StoreError> {
        let key = head_key(&lease.tenant, lease.instance_id())?;
        for mut batch in after {
            if lease.held {
                batch.push(Write::Check(key.clone(), lease.is_ours()));
            }
            if self.write_again(&batch, &mut false).await? != Written::Done {
                // Somebody has the lease now and may open what these would delete.
                return Ok(());
            }
        }
        Ok(())
    }
}

/// What it means that a write beside the head's was refused.
fn refused(role: Role, item: Option<Item>, commit: &Commit) -> Result<Committed, StoreError> {
    match (role, item, &commit.answer) {
        (Role::Event, ..) => Ok(Committed::Seen),
        (Role::Consumed, ..) => Ok(Committed::StimulusTaken),
        (Role::Answer, Some(item), Some(answer)) => {
            let first = idempotency::from_item(&item, &answer.key)?;
            Ok(Committed::Answered(Box::new(first)))
        }
        (Role::Answer | Role::Head | Role::Claim(_) | Role::ClaimBack | Role::Plain, ..) => {
            Err(refused_without_reason())
        }
    }
}
