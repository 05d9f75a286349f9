//! The plan of a commit: the head as it will be, and every other write, in the order in which a crash between
//! them does no harm.

use std::collections::BTreeSet;

use crate::bookmark;
use crate::chunks::Chunk;
use crate::commit::Commit;
use crate::error::StoreError;
use crate::idempotency;
use crate::instance::Stored;
use crate::outbox::{self, OutboxKey};
use crate::queued_stimulus;
use crate::route;
use crate::state::{self, StatePlace};
use crate::store::Store;
use crate::table::{Condition, Item, Key, Write};
use crate::tenant::Tenant;
use crate::uniqueness;

/// Why a write is part of a commit: what it means when it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Head,
    /// Takes the claim with this number.
    Claim(usize),
    /// Gives a claim back.
    ClaimBack,
    /// Remembers the event.
    Event,
    /// Takes the queued stimulus.
    Consumed,
    /// Remembers the answer.
    Answer,
    /// Cannot be refused.
    Plain,
}

/// All that a commit writes but the head's write itself.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The head as it will be.
    pub(crate) next: Stored,
    /// May be done before the head changes: rows that lead to a bookmark that is not open yet.
    pub(crate) before: Vec<Write>,
    /// Must be done with the head.
    pub(crate) with: Vec<(Role, Write)>,
    /// May be done after the head has changed: rows that lead to a bookmark that is not open any more.
    pub(crate) after: Vec<Write>,
    /// The rows of the outbox among them.
    pub(crate) outbox: Vec<OutboxKey>,
    /// A large state that the head will not name any more.
    pub(crate) old_place: Option<StatePlace>,
    /// A large state that only this commit names.
    pub(crate) new_place: Option<StatePlace>,
}

impl Store {
    /// Plans a commit on top of the head as it is. `same_state`: the state is the one that the head names.
    pub(crate) async fn plan(
        &self,
        tenant: &Tenant,
        old: &Stored,
        commit: &Commit,
        same_state: bool,
    ) -> Result<Plan, StoreError> {
        let next = next_head(old, commit);
        let (before, with, after) = (Vec::new(), Vec::new(), Vec::new());
        let mut plan = Plan {
            next,
            before,
            with,
            after,
            outbox: Vec::new(),
            old_place: None,
            new_place: None,
        };
        plan.bookmarks(tenant, old, commit)?;
        plan.before.extend(commit.timers_set.iter().cloned());
        plan.after.extend(commit.timers_cleared.iter().cloned());
        let done = commit
            .outbox_done
            .iter()
            .map(|key| Write::Delete(key.0.clone(), Condition::Always));
        plan.after.extend(done);
        plan.conditional(tenant, commit)?;
        self.plan_journal(tenant, &mut plan, commit)?;
        let source = (plan.next.head.instance_id.as_str(), plan.next.head.commit);
        let shards = self.config().outbox_shards;
        let rows = outbox::rows(tenant, source, commit.now_ms, &commit.effects, shards)?;
        let continuation = outbox::continuation(tenant, source, commit, shards)?;
        for item in rows.into_iter().chain(continuation) {
            plan.outbox.push(OutboxKey(item.key.clone()));
            plan.with.push((Role::Plain, put(item)));
        }
        for route in &commit.routes_added {
            plan.before.push(put(Item {
                key: route::key(tenant, route, None)?,
                attributes: route::attributes(),
            }));
        }
        if !same_state {
            self.plan_state(tenant, &mut plan, old, commit).await?;
        }
        self.plan_expiry(tenant, &mut plan, old, commit)?;
        plan.dedupe();
        Ok(plan)
    }

    fn plan_journal(
        &self,
        tenant: &Tenant,
        plan: &mut Plan,
        commit: &Commit,
    ) -> Result<(), StoreError> {
        let next = &mut plan.next;
        let added = Chunk {
            commit: next.head.commit,
            fence: next.commit_fence,
            at_ms: commit.now_ms,
            first: next.head.journal_lines,
            lines: commit.journal.clone(),
        };
        next.head.journal_lines = added.end();
        let (recent, items) =
            self.add_lines(tenant, &next.head.instance_id, &next.recent, added)?;
        next.recent = recent;
        plan.with
            .extend(items.into_iter().map(|item| (Role::Plain, put(item))));
        Ok(())
    }

    async fn plan_state(
        &self,
        tenant: &Tenant,
        plan: &mut Plan,
        old: &Stored,
        commit: &Commit,
    ) -> Result<(), StoreError> {
        let head = &plan.next.head;
        let attempt = (head.commit, plan.next.commit_fence);
        let (place, write) = self
            .place_state(tenant, &head.instance_id, attempt, &commit.state)
            .await?;
        plan.with.extend(write.map(|write| (Role::Plain, write)));
        match &old.place {
            StatePlace::Inline(_) => {}
            StatePlace::Item(n) => {
                let key = state::key(tenant, &head.instance_id, *n)?;
                plan.with
                    .push((Role::Plain, Write::Delete(key, Condition::Always)));
            }
            StatePlace::Blob(_) => plan.old_place = Some(old.place.clone()),
        }
        if matches!(place, StatePlace::Blob(_)) {
            plan.new_place = Some(place.clone());
        }
        plan.next.place = place;
        Ok(())
    }
}

/// The head as the commit makes it, but for the journal and the place of the state.
fn next_head(old: &Stored, commit: &Commit) -> Stored {
    let mut next = old.clone();
    let created_ms = next.head.summary.created_ms;
    let is_first = next.head.commit == 0;
    next.commit_fence = next.head.fence;
    next.head.commit += 1;
    next.head.summary = commit.summary.clone();
    if !is_first {
        // The place in the lists is made of it.
        next.head.summary.created_ms = created_ms;
    }
    if let Some(pinned) = &commit.pinned {
        next.head.pinned = pinned.clone();
    }
    let ended = commit.summary.ended;
    next.head.leased_until_ms = commit.keep_until_ms.filter(|_| !ended);
    if next.head.leased_until_ms.is_none() {
        next.owner = None;
    }
    next
}

impl Plan {
    fn bookmarks(
        &mut self,
        tenant: &Tenant,
        old: &Stored,
        commit: &Commit,
    ) -> Result<(), StoreError> {
        let Self {
            next,
            before,
            after,
            ..
        } = self;
        let instance = next.head.instance_id.clone();
        let ended = commit.summary.ended;
        let removed: BTreeSet<&String> = if ended {
            old.head.bookmarks.iter().collect()
        } else {
            commit.bookmarks_removed.iter().collect()
        };
        for id in removed {
            next.head.bookmarks.remove(id);
            if let Some(hash) = next.found_by.remove(id) {
                let key = bookmark::key(tenant, &hash, &instance, id)?;
                after.push(Write::Delete(key, Condition::Always));
            }
        }
        for added in commit.bookmarks_added.iter().filter(|_| !ended) {
            next.head.bookmarks.insert(added.id.clone());
            if let Some(found_by) = &added.found_by {
                next.found_by
                    .insert(added.id.clone(), found_by.hash.clone());
                let key = bookmark::key(tenant, &found_by.hash, &instance, &added.id)?;
                let attributes = bookmark::attributes(found_by, next.head.commit)?;
                before.push(put(Item { key, attributes }));
            }
        }
        Ok(())
    }

    /// The writes that may be refused.
    fn conditional(&mut self, tenant: &Tenant, commit: &Commit) -> Result<(), StoreError> {
        let Self { next, with, .. } = self;
        let instance = next.head.instance_id.clone();
        if commit.summary.ended {
            for partition in std::mem::take(&mut next.claims) {
                let back = uniqueness::give_back(Key::new(partition, "HEAD"), &instance);
                with.push((Role::ClaimBack, back));
            }
        }
        if let Some(event) = &commit.event_id {
            let write = next.seen.add(tenant, &instance, event, commit.now_ms)?;
            with.extend(write.map(|write| (Role::Event, write)));
        }
        if let Some(consumed) = &commit.consumed {
            let key = queued_stimulus::key(tenant, &consumed.hash, &consumed.id)?;
            with.push((Role::Consumed, Write::Delete(key, Condition::Exists)));
            let taken = queued_stimulus::remember_taken(
                tenant,
                &consumed.hash,
                &consumed.id,
                commit.now_ms,
            )?;
            with.push((Role::Plain, put(taken)));
        }
        if let Some(answer) = &commit.answer {
            with.push((
                Role::Answer,
                idempotency::put(tenant, answer, commit.now_ms)?,
            ));
        }
        Ok(())
    }

    /// One write a key: a later put wins over an earlier one, and any other write over a plain delete.
    fn dedupe(&mut self) {
        let mut keys: BTreeSet<Key> = self
            .with
            .iter()
            .map(|(_, write)| write.key().clone())
            .collect();
        let mut keep_last = |writes: &mut Vec<Write>| {
            writes.reverse();
            writes.retain(|write| keys.insert(write.key().clone()));
            writes.reverse();
        };
        keep_last(&mut self.before);
        keep_last(&mut self.after);
    }
}

fn put(item: Item) -> Write {
    Write::Put(item, Condition::Always)
}
