//! The plan of a commit: the head as it will be, what is put before it, decided with it and deleted after it.

use std::collections::BTreeSet;

use crate::definition::route;
use crate::instance::Commits;
use crate::instance::commit::Commit;
use crate::instance::head::{OpenBookmark, Stored};
use crate::instance::lease::Loaded;
use crate::instance::stamp::Stamp;
use crate::instance::state::{self, StatePlace};
use crate::instance::uniqueness;
use crate::item::chunks::Chunk;
use crate::item::error::StoreError;
use crate::item::tenant::Tenant;
use crate::outbox::row::{self as outbox, OutboxKey, Source};
use crate::stimulus::bookmark;
use crate::stimulus::queued_stimulus;
use crate::table::{Condition, Item, Key, Write};

/// Why a write is decided together with the head: what it means when it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Head,
    /// Takes the claim with this number.
    Claim(usize),
    /// Gives a claim back.
    ClaimBack,
    /// Takes the queued stimulus.
    Consumed,
    /// Cannot be refused.
    Plain,
}

/// All that a commit writes but the head's write itself.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) stamp: Stamp,
    /// The head as it will be.
    pub(crate) next: Stored,
    /// Put before the head: nothing of it counts until the head shows the stamp. No other attempt uses its keys.
    pub(crate) before: Vec<Write>,
    /// Put before the head too, but under keys that others use: what earlier commits moved out of the head, and routes.
    /// A lost commit leaves them, because they may be the winner's.
    pub(crate) shared: Vec<Write>,
    /// Decided with the head.
    pub(crate) with: Vec<(Role, Write)>,
    /// Deleted after the head: rows that lead to what is not open any more.
    pub(crate) after: Vec<Write>,
    /// The rows of the outbox among them.
    pub(crate) outbox: Vec<OutboxKey>,
    /// A large state that the head will not name any more.
    pub(crate) old_place: Option<StatePlace>,
    /// A large state that only this commit names.
    pub(crate) new_place: Option<StatePlace>,
}

impl Commits<'_> {
    /// Plans a commit on top of an instance as it was loaded.
    pub(crate) async fn plan(self, loaded: &Loaded, commit: &Commit) -> Result<Plan, StoreError> {
        let (tenant, old) = (&loaded.tenant, &loaded.stored);
        let mut plan = Plan {
            stamp: loaded.stamp(commit.attempt, commit.now_ms),
            next: self.next_head(loaded, commit),
            before: commit.timers_set.clone(),
            shared: Vec::new(),
            with: Vec::new(),
            after: commit.timers_cleared.clone(),
            outbox: Vec::new(),
            old_place: None,
            new_place: None,
        };
        plan.after.extend_from_slice(&commit.rows_closed);
        let done = commit.outbox_done.iter();
        plan.after
            .extend(done.map(|key| Write::Delete(key.0.clone(), Condition::Always)));
        plan.bookmarks(tenant, old, commit)?;
        plan.claims(tenant, loaded, commit)?;
        plan.attributes(tenant, self.config(), &old.head.summary)?;
        plan.events(tenant, commit)?;
        self.plan_journal(tenant, &mut plan, commit)?;
        self.plan_outbox(tenant, &mut plan, commit)?;
        for route in &commit.routes_added {
            plan.shared.push(put(Item {
                key: route::key(tenant, route, None)?,
                attributes: route::attributes(),
            }));
        }
        if loaded.is_new() || commit.state != loaded.state {
            self.plan_state(tenant, &mut plan, old, commit).await?;
        }
        self.instances()
            .plan_expiry(tenant, &mut plan, old, commit)?;
        plan.dedupe();
        Ok(plan)
    }

    /// The head as the commit makes it, but for the journal and the place of the state.
    fn next_head(self, loaded: &Loaded, commit: &Commit) -> Stored {
        let mut next = loaded.stored.clone();
        let created_ms = next.head.summary.created_ms;
        next.head.commit += 1;
        next.head.summary = commit.summary.clone();
        if !loaded.is_new() {
            // The place in the lists is made of it.
            next.head.summary.created_ms = created_ms;
        }
        if let Some(pinned) = &commit.pinned {
            next.head.pinned = pinned.clone();
        }
        let is_kept = commit.keep_until_ms.filter(|_| !commit.summary.ended);
        next.head.leased_until_ms = is_kept;
        next.owner = is_kept.map(|_| loaded.owner.clone());
        next.epoch = is_kept.and(self.epoch().name());
        if is_kept.is_some() && !loaded.is_leased {
            next.head.fence += 1;
        }
        next
    }

    fn plan_journal(
        self,
        tenant: &Tenant,
        plan: &mut Plan,
        commit: &Commit,
    ) -> Result<(), StoreError> {
        let next = &mut plan.next;
        let added = Chunk {
            commit: next.head.commit,
            attempt: commit.attempt,
            at_ms: commit.now_ms,
            first: next.head.journal_lines,
            lines: commit.journal.clone(),
            beside: 0,
        };
        next.head.journal_lines = added.end();
        let lines =
            self.instances()
                .add_lines(tenant, &next.head.instance_id, &next.recent, added)?;
        next.recent = lines.recent;
        plan.before.extend(lines.own.into_iter().map(put));
        plan.shared.extend(lines.moved.map(put));
        Ok(())
    }

    fn plan_outbox(
        self,
        tenant: &Tenant,
        plan: &mut Plan,
        commit: &Commit,
    ) -> Result<(), StoreError> {
        let source = Source {
            tenant,
            id: &plan.next.head.instance_id,
            stamp: Some(&plan.stamp),
            now_ms: commit.now_ms,
            shards: self.config().outbox_shards,
        };
        for item in outbox::rows(&source, &commit.effects, commit.continuation.as_ref())? {
            plan.outbox.push(OutboxKey(item.key.clone()));
            plan.before.push(put(item));
        }
        Ok(())
    }

    async fn plan_state(
        self,
        tenant: &Tenant,
        plan: &mut Plan,
        old: &Stored,
        commit: &Commit,
    ) -> Result<(), StoreError> {
        let head = &plan.next.head;
        let attempt = (head.commit, commit.attempt);
        let (place, write) = self
            .instances()
            .place_state(tenant, &head.instance_id, attempt, &commit.state)
            .await?;
        plan.before.extend(write);
        match &old.place {
            StatePlace::Inline(_) => {}
            StatePlace::Item(commit, attempt) => {
                let key = state::key(tenant, &head.instance_id, (*commit, *attempt))?;
                plan.after.push(Write::Delete(key, Condition::Always));
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

impl Plan {
    fn bookmarks(
        &mut self,
        tenant: &Tenant,
        old: &Stored,
        commit: &Commit,
    ) -> Result<(), StoreError> {
        let next = &mut self.next.head;
        let ended = commit.summary.ended;
        let removed: BTreeSet<&String> = if ended {
            old.head.bookmarks.keys().collect()
        } else {
            commit.bookmarks_removed.iter().collect()
        };
        for id in removed {
            let closed = next.bookmarks.remove(id);
            if let Some(OpenBookmark {
                attempt,
                place: Some(place),
            }) = closed
            {
                let key = bookmark::key(tenant, &place, &next.instance_id, id, attempt)?;
                self.after.push(Write::Delete(key, Condition::Always));
            }
        }
        for added in commit.bookmarks_added.iter().filter(|_| !ended) {
            let found_by = added.found_by.as_ref();
            let open = OpenBookmark {
                attempt: commit.attempt,
                place: found_by.map(bookmark::FoundBy::place),
            };
            next.bookmarks.insert(added.id.clone(), open);
            if let Some(found_by) = found_by {
                let added = (added.id.as_str(), found_by);
                let row = bookmark::item(tenant, &next.instance_id, added, &self.stamp)?;
                self.before.push(put(row));
            }
        }
        Ok(())
    }

    /// Claims are decided with the head: two starts at the same moment must not both have one.
    fn claims(
        &mut self,
        tenant: &Tenant,
        loaded: &Loaded,
        commit: &Commit,
    ) -> Result<(), StoreError> {
        let instance = self.next.head.instance_id.clone();
        let claims = loaded
            .new
            .as_ref()
            .map_or(&commit.claims, |new| &new.claims);
        for (n, claim) in claims.iter().enumerate() {
            let key = claim.key(tenant)?;
            self.next.claims.insert(key.partition.clone());
            // One that has ended in its first burst takes nothing, but must not run beside another all the same.
            let write = if commit.summary.ended {
                uniqueness::check(key, &instance)
            } else {
                uniqueness::take(key, &instance)
            };
            self.with.push((Role::Claim(n), write));
        }
        if commit.summary.ended {
            for partition in std::mem::take(&mut self.next.claims) {
                let key = Key::new(partition, "HEAD");
                if self.with.iter().all(|(_, write)| *write.key() != key) {
                    let back = uniqueness::give_back(key, &instance);
                    self.with.push((Role::ClaimBack, back));
                }
            }
        }
        Ok(())
    }

    fn events(&mut self, tenant: &Tenant, commit: &Commit) -> Result<(), StoreError> {
        let instance = self.next.head.instance_id.clone();
        if !commit.event_ids.is_empty() {
            let seen = &mut self.next.seen;
            let moved = seen.add(tenant, &instance, &commit.event_ids, commit.now_ms)?;
            self.shared.extend(moved.into_iter().map(put));
        }
        if let Some(consumed) = &commit.consumed {
            let key = queued_stimulus::key(tenant, consumed)?;
            self.with
                .push((Role::Consumed, Write::Delete(key, Condition::Exists)));
            let taken = queued_stimulus::remember_taken(
                tenant,
                &consumed.hash,
                &consumed.id,
                commit.now_ms,
            )?;
            self.with.push((Role::Plain, put(taken)));
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
        keep_last(&mut self.shared);
        keep_last(&mut self.after);
    }
}

fn put(item: Item) -> Write {
    Write::Put(item, Condition::Always)
}
