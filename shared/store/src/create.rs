//! Creating an instance: its first commit.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::commit::Commit;
use crate::epoch::Epoch;
use crate::error::StoreError;
use crate::expiry::Expiry;
use crate::idempotency::{self, Answer};
use crate::instance::{self, HeadItem, InstanceHead, Stored, head_key};
use crate::lease::Lease;
use crate::outbox::OutboxKey;
use crate::plan::{Plan, Role};
use crate::seen::Seen;
use crate::send::{Sent, refused_without_reason};
use crate::state::StatePlace;
use crate::store::Store;
use crate::table::{Attributes, Condition, Item, Key, Value, Write, Written};
use crate::tenant::Tenant;
use crate::uniqueness::{self, Claim};

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

/// How long a create of many writes may take, in ms, where the commit does not keep the lease longer.
const PLACEHOLDER_MS: i64 = 60_000;

impl Store {
    /// Creates an instance with the result of its first burst. One conditional put where nothing but the head is
    /// written; one atomic write else. Over 100 writes, a placeholder is put first, and bookmarks and timers
    /// before the head.
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
        let mut blank = blank(tenant, new, commit)?;
        blank.epoch = self.epoch().name();
        let mut plan = self.plan(tenant, &blank, commit, false).await?;
        for (n, claim) in new.claims.iter().enumerate() {
            let key = claim.key(tenant)?;
            // One that has ended in its first burst takes nothing, but must not run beside another all the same.
            let write = if commit.summary.ended {
                uniqueness::check(key, new.instance_id)
            } else {
                uniqueness::take(key, new.instance_id)
            };
            plan.with.push((Role::Claim(n), write));
        }
        let mut unsure = false;
        let created = self
            .carry_out_create(tenant, new, commit, &mut plan, &mut unsure)
            .await;
        if !unsure && !matches!(created, Ok(Created::Done { .. })) {
            self.drop_blob(plan.new_place.as_ref()).await;
        }
        created
    }

    async fn carry_out_create(
        &self,
        tenant: &Tenant,
        new: &NewInstance<'_>,
        commit: &Commit,
        plan: &mut Plan,
        unsure: &mut bool,
    ) -> Result<Created, StoreError> {
        let key = head_key(tenant, new.instance_id)?;
        let parts = self.parts(plan);
        let mut free = is_free(self.epoch(), commit);
        if parts.is_split() {
            if let Some(there) = self.put_placeholder(&key, new, commit, unsure).await? {
                return self.found(tenant, new, commit, plan, there);
            }
            free = is_placeholder_of(new.owner);
        }
        let attributes = plan.next.attributes(tenant, self.config().list_shards)?;
        let head = Write::Put(
            Item {
                key: key.clone(),
                attributes,
            },
            free.clone(),
        );
        let created = match self.send(head, &free, plan, &parts, unsure).await? {
            Sent::Done => self.new_lease(tenant, new, commit, plan)?,
            Sent::HeadRefused(None) => return Err(refused_without_reason()),
            Sent::HeadRefused(Some(item)) => self.found(tenant, new, commit, plan, item)?,
            Sent::Refused(role, item) => refused(role, item, new, commit)?,
        };
        let Created::Done { mut lease, outbox } = created else {
            if parts.is_split() {
                self.undo(key, new, &parts.before).await;
            }
            return Ok(created);
        };
        self.finish(&mut lease, commit, parts.after).await;
        Ok(Created::Done { lease, outbox })
    }

    /// Keeps the id for a create that needs several writes. Answers what is there if it is taken.
    async fn put_placeholder(
        &self,
        key: &Key,
        new: &NewInstance<'_>,
        commit: &Commit,
        unsure: &mut bool,
    ) -> Result<Option<Item>, StoreError> {
        let until_ms = commit
            .keep_until_ms
            .unwrap_or(commit.now_ms + PLACEHOLDER_MS);
        let mut attributes = Attributes::from([
            ("lo".to_owned(), Value::S(new.owner.to_owned())),
            ("lu".to_owned(), Value::N(until_ms)),
            ("pl".to_owned(), Value::N(1)),
            ("ttl".to_owned(), Value::N(until_ms / 1_000 + 24 * 3_600)),
        ]);
        if let Some(epoch) = self.epoch().name() {
            attributes.insert("le".to_owned(), Value::S(epoch));
        }
        let free = Condition::Any(vec![
            is_free(self.epoch(), commit),
            is_placeholder_of(new.owner),
        ]);
        let put = Write::Put(
            Item {
                key: key.clone(),
                attributes,
            },
            free,
        );
        match self.write_again(&[put], unsure).await? {
            Written::Done => Ok(None),
            Written::Refused(items) => match items.into_iter().next().flatten().flatten() {
                Some(item) => Ok(Some(item)),
                None => Err(refused_without_reason()),
            },
        }
    }

    /// What it means that there is something under the id already.
    fn found(
        &self,
        tenant: &Tenant,
        new: &NewInstance<'_>,
        commit: &Commit,
        plan: &Plan,
        item: Item,
    ) -> Result<Created, StoreError> {
        match instance::from_item(&item)? {
            HeadItem::Tombstone => Ok(Created::Deleted),
            HeadItem::Placeholder { until_ms } => Ok(Created::Busy { until_ms }),
            // Nobody else has our name, so this is our own create whose answer was lost.
            HeadItem::Instance(there) if there.creator == new.owner => {
                self.new_lease(tenant, new, commit, plan)
            }
            HeadItem::Instance(there) => Ok(Created::Exists(Box::new(there.head))),
        }
    }

    fn new_lease(
        &self,
        tenant: &Tenant,
        new: &NewInstance<'_>,
        commit: &Commit,
        plan: &Plan,
    ) -> Result<Created, StoreError> {
        let lease = Box::new(Lease {
            tenant: tenant.clone(),
            owner: new.owner.to_owned(),
            attributes: plan.next.attributes(tenant, self.config().list_shards)?,
            stored: plan.next.clone(),
            state: commit.state.clone(),
            held: plan.next.owner.is_some(),
            reopens: false,
            unsure: false,
        });
        Ok(Created::Done {
            lease,
            outbox: plan.outbox.clone(),
        })
    }

    /// Takes back what was put before a create that was refused. What fails here stays behind.
    async fn undo(&self, key: Key, new: &NewInstance<'_>, before: &[Vec<Write>]) {
        let check = Write::Check(key.clone(), is_placeholder_of(new.owner));
        for batch in before {
            let deletes = batch
                .iter()
                .map(|put| Write::Delete(put.key().clone(), Condition::Always));
            let writes: Vec<_> = std::iter::once(check.clone()).chain(deletes).collect();
            if !matches!(
                self.write_again(&writes, &mut false).await,
                Ok(Written::Done)
            ) {
                return;
            }
        }
        let delete = Write::Delete(key, is_placeholder_of(new.owner));
        if let Err(cause) = self.write_again(&[delete], &mut false).await {
            tracing::warn!(instance = new.instance_id, cause = %cause, "a placeholder stays behind");
        }
    }
}

/// The head before the first commit.
fn blank(tenant: &Tenant, new: &NewInstance<'_>, commit: &Commit) -> Result<Stored, StoreError> {
    let keys = new
        .claims
        .iter()
        .map(|claim| Ok(claim.key(tenant)?.partition));
    let former = commit.former.unwrap_or_default();
    Ok(Stored {
        head: InstanceHead {
            instance_id: new.instance_id.to_owned(),
            summary: commit.summary.clone(),
            pinned: Bytes::new(),
            commit: former.commit,
            fence: former.fence(),
            leased_until_ms: None,
            bookmarks: BTreeSet::new(),
            journal_lines: 0,
        },
        owner: Some(new.owner.to_owned()),
        epoch: None,
        creator: new.owner.to_owned(),
        commit_fence: 0,
        place: StatePlace::Inline(Bytes::new()),
        recent: Bytes::new(),
        found_by: BTreeMap::new(),
        claims: if commit.summary.ended {
            BTreeSet::new()
        } else {
            keys.collect::<Result<_, StoreError>>()?
        },
        seen: Seen::default(),
        expiry: Expiry::Never,
    })
}

/// Whether nothing is there, or nothing but the placeholder of a create that was interrupted, or the tombstone that an
/// instance comes back from.
fn is_free(epoch: &Epoch, commit: &Commit) -> Condition {
    let interrupted = vec![
        Condition::Has("pl".into()),
        epoch.is_free("lu", "le", commit.now_ms),
    ];
    let ground = commit.former.unwrap_or_default().is_free();
    Condition::Any(vec![ground, Condition::All(interrupted)])
}

fn is_placeholder_of(owner: &str) -> Condition {
    let owner = Condition::Equals("lo".into(), Value::S(owner.to_owned()));
    Condition::All(vec![Condition::Has("pl".into()), owner])
}

/// What it means that a write beside the head's was refused.
fn refused(
    role: Role,
    item: Option<Item>,
    new: &NewInstance<'_>,
    commit: &Commit,
) -> Result<Created, StoreError> {
    match (role, item, &commit.answer) {
        (Role::Claim(n), Some(item), _) => {
            let claim = new
                .claims
                .get(n)
                .cloned()
                .ok_or(StoreError::damaged("claim"))?;
            Ok(Created::NotUnique {
                claim,
                holder: uniqueness::holder(&item)?,
            })
        }
        (Role::Consumed, ..) => Ok(Created::StimulusTaken),
        (Role::Answer, Some(item), Some(answer)) => {
            let first = idempotency::from_item(&item, &answer.key)?;
            Ok(Created::Answered(Box::new(first)))
        }
        (
            Role::Claim(_)
            | Role::Answer
            | Role::Head
            | Role::ClaimBack
            | Role::Event
            | Role::Plain,
            ..,
        ) => Err(refused_without_reason()),
    }
}
