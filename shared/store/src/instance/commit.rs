//! The commit: one conditional update of the head decides everything.
//!
//! What the head can verify later is put before it ([`Commits::prepare`]): rows of bookmarks and timers, the outbox, large
//! states. All of it carries the stamp of the commit. What only tidies up is deleted after it.

use bytes::Bytes;

use crate::definition::route::Route;
use crate::instance::Commits;
use crate::instance::expiry::Kept;
use crate::instance::head::{self as instance, HeadItem, InstanceHead, Stored, Summary, head_key};
use crate::instance::head_changes;
use crate::instance::lease::Loaded;
use crate::instance::plan::{Plan, Role};
use crate::instance::predecessor::Predecessor;
use crate::instance::send::Sent;
use crate::instance::uniqueness::{self, Claim};
use crate::item::error::StoreError;
use crate::item::error::refused_without_reason;
use crate::outbox::row::{Effect, OutboxKey};
use crate::stimulus::bookmark::NewBookmark;
use crate::stimulus::queued_stimulus::QueuePlace;
use crate::table::{Condition, Item, Key, Write};

/// What a burst has done.
///
/// Nothing that the head cannot verify may leave before the commit is done. A commit that ends the instance closes what
/// bookmarks are still open, gives its claims back and gives the lease back, whatever else it says.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Identifier of this execution of the burst: random, at most 63 bits. No other execution shares it.
    pub attempt: u64,
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
    /// Timers that lie in the table, as [`timer_write`](crate::stimulus::Timers::timer_write) makes them.
    pub timers_set: Vec<Write>,
    /// Timers that lie in the table and have fired or are not wanted any more, as
    /// [`timer_clearing`](crate::stimulus::Timers::timer_clearing) makes them.
    pub timers_cleared: Vec<Write>,
    /// Other rows that only lead here and do not any more, such as that of a task that is taken.
    pub rows_closed: Vec<Write>,
    /// The events that this commit is the answer to. The caller has looked that the instance has not seen them.
    pub event_ids: Vec<String>,
    /// The queued stimulus that this commit is the answer to: refused if it is not there any more.
    pub consumed: Option<QueuePlace>,
    /// What an instance that is opened again must be the only one of.
    pub claims: Vec<Claim>,
    /// Where it ends the instance: how long that is kept then. `None`: for ever.
    pub kept: Option<Kept>,
    /// Takes or keeps the lease until then; `None` gives it back.
    pub keep_until_ms: Option<i64>,
}

/// Outcome of a commit.
#[derive(Debug)]
pub enum Committed {
    /// It happened. The rows of the outbox that it wrote: delete them when their effects are delivered.
    Done(Vec<OutboxKey>),
    /// The head is not as it was loaded: somebody else committed, took the lease, fenced or deleted it. Nothing of it
    /// happened. For a new instance: there is one already.
    Lost(Option<Box<InstanceHead>>),
    /// An instance with the id was deleted; it does not come back. For a new instance only.
    Deleted,
    /// The id of a new instance was fenced. Begin again after this.
    Fenced(Predecessor),
    /// Somebody else took the queued stimulus, or it expired. Nothing happened.
    StimulusTaken,
    /// Another instance has a claim. Nothing happened.
    NotUnique {
        /// The claim.
        claim: Claim,
        /// The instance that has it.
        holder: String,
    },
}

/// A commit whose rows are put, and that only its head decides now.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) claims: Vec<Claim>,
    state: Bytes,
    /// The keys of what only this attempt puts before the head, to be deleted if the commit is lost.
    put: Vec<Key>,
}

impl Commits<'_> {
    /// Commits a burst, or a part of it: [`Self::prepare`] and [`Self::commit_prepared`].
    ///
    /// # Errors
    ///
    /// [`StoreError`]. After [`StoreError::is_unknown`] the commit may have happened.
    pub async fn commit(
        self,
        loaded: &mut Loaded,
        commit: &Commit,
    ) -> Result<Committed, StoreError> {
        let mut prepared = self.prepare(loaded, commit).await?;
        self.commit_prepared(loaded, &mut prepared).await
    }

    /// Puts what the head will verify. Where atomic writes cost no more than single ones and all fits, nothing is
    /// written yet.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. What was put is harmless: its commit never happens.
    pub async fn prepare(self, loaded: &Loaded, commit: &Commit) -> Result<Prepared, StoreError> {
        let mut plan = self.plan(loaded, commit).await?;
        let own: Vec<Key> = plan
            .before
            .iter()
            .map(|write| write.key().clone())
            .collect();
        let mut rows = std::mem::take(&mut plan.before);
        rows.append(&mut plan.shared);
        let with = plan.with.iter().map(|(_, write)| write);
        let all = with.chain(&rows).chain(&plan.after);
        let is_whole = self.config().commits_whole && self.fits(1, all);
        let rows = if is_whole {
            let whole = rows.into_iter().chain(plan.after.drain(..));
            plan.with.extend(whole.map(|write| (Role::Plain, write)));
            Vec::new()
        } else {
            rows
        };
        self.put_each(&rows).await?;
        let put = if is_whole { Vec::new() } else { own };
        let claims = match &loaded.new {
            Some(new) => new.claims.clone(),
            None => commit.claims.clone(),
        };
        Ok(Prepared {
            plan,
            claims,
            state: commit.state.clone(),
            put,
        })
    }

    /// Commits what was prepared: one conditional write of the head, with what must be decided together with it.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. Where an answer was lost, the head is read back; if even that fails the error is
    /// [`StoreError::is_unknown`], and the same call again settles it.
    pub async fn commit_prepared(
        self,
        loaded: &mut Loaded,
        prepared: &mut Prepared,
    ) -> Result<Committed, StoreError> {
        let done = self.carry_out(loaded, prepared).await;
        match &done {
            Ok(Committed::Done(_)) => {
                self.instances()
                    .drop_blob(prepared.plan.old_place.as_ref())
                    .await;
                let after = std::mem::take(&mut prepared.plan.after);
                if let Err(cause) = self.put_each(&after).await {
                    let instance = loaded.instance_id();
                    tracing::warn!(instance, cause = %cause, "a commit is done, but rows that it closed stay behind");
                }
            }
            Ok(_) => self.take_back(prepared).await,
            Err(_) => {}
        }
        done
    }

    /// Deletes what a commit prepared that did not happen and never will. What fails here is dropped by whoever finds it.
    pub async fn take_back(self, prepared: &mut Prepared) {
        self.instances()
            .drop_blob(prepared.plan.new_place.as_ref())
            .await;
        let deletes: Vec<_> = std::mem::take(&mut prepared.put)
            .into_iter()
            .map(|key| Write::Delete(key, Condition::Always))
            .collect();
        if let Err(cause) = self.put_each(&deletes).await {
            tracing::debug!(cause = %cause, "rows of a lost commit stay behind");
        }
    }

    async fn put_each(self, writes: &[Write]) -> Result<(), StoreError> {
        if !writes.is_empty() {
            self.table().write_each(writes).await?;
        }
        Ok(())
    }

    async fn carry_out(
        self,
        loaded: &mut Loaded,
        prepared: &Prepared,
    ) -> Result<Committed, StoreError> {
        let plan = &prepared.plan;
        let key = head_key(&loaded.tenant, loaded.instance_id())?;
        let attributes = plan.next.attributes(&loaded.tenant, self.config())?;
        let changes = head_changes::changes(&loaded.attributes, &attributes);
        let head = match &loaded.new {
            Some(new) => {
                let item = Item {
                    key,
                    attributes: attributes.clone(),
                };
                Write::Put(item, new.predecessor.is_as_read())
            }
            None => Write::Update(key, changes.clone(), loaded.may_commit()),
        };
        match self.send(head, plan, &mut loaded.unsure).await? {
            Sent::Done => {}
            Sent::HeadRefused(item) => {
                let there = item.as_ref().map(instance::from_item).transpose()?;
                let there = match there {
                    Some(HeadItem::Instance(stored)) => stored,
                    Some(HeadItem::Placeholder { fence }) => {
                        return Ok(Committed::Fenced(Predecessor::of_placeholder(fence)));
                    }
                    Some(HeadItem::Tombstone) if loaded.is_new() => return Ok(Committed::Deleted),
                    Some(HeadItem::Tombstone) | None => return Ok(Committed::Lost(None)),
                };
                if !self.landed(loaded, plan, &there).await? {
                    loaded.is_leased = false;
                    return Ok(Committed::Lost(Some(Box::new(there.head))));
                }
            }
            Sent::Refused(role, item) => return refused(role, item, &prepared.claims),
        }
        if loaded.new.take().is_some() {
            loaded.attributes = attributes;
        } else {
            for change in &changes {
                change.apply(&mut loaded.attributes)?;
            }
        }
        loaded.stored = plan.next.clone();
        loaded.state = prepared.state.clone();
        loaded.is_leased = loaded.stored.owner.is_some();
        loaded.reopens = false;
        loaded.unsure = false;
        Ok(Committed::Done(plan.outbox.clone()))
    }

    /// Whether a commit that was refused by its head was refused because it had happened already.
    async fn landed(
        self,
        loaded: &Loaded,
        plan: &Plan,
        there: &Stored,
    ) -> Result<bool, StoreError> {
        if !loaded.unsure || there.head.commit < loaded.next_commit() {
            return Ok(false);
        }
        let verdict = self.judge_by(&loaded.tenant, there, &plan.stamp).await?;
        Ok(verdict == crate::instance::stamp::Verdict::Committed)
    }
}

impl Loaded {
    /// The condition of a commit: the head is as it was loaded.
    fn may_commit(&self) -> Condition {
        let mut all = vec![self.stored.is_as_read()];
        if !self.reopens {
            all.push(Condition::Lacks("en".into()));
        }
        Condition::All(all)
    }
}

/// What it means that a write beside the head's was refused.
fn refused(role: Role, item: Option<Item>, claims: &[Claim]) -> Result<Committed, StoreError> {
    match (role, item) {
        (Role::Consumed, _) => Ok(Committed::StimulusTaken),
        (Role::Claim(n), Some(item)) => {
            let claim = claims.get(n).cloned();
            Ok(Committed::NotUnique {
                claim: claim.ok_or(StoreError::damaged("claim"))?,
                holder: uniqueness::holder(&item)?,
            })
        }
        (Role::Claim(_) | Role::Head | Role::ClaimBack | Role::Plain, _) => {
            Err(refused_without_reason())
        }
    }
}
