//! The stamp of a commit: everything that is written or sent before a commit carries the stamp of the commit that
//! would make it valid.
//!
//! Whoever finds something prepared compares its stamp with the head. The head and its journal name the attempt of
//! every commit, so a stamp can be judged at any later time. A stamp whose commit is still ahead of the head proves
//! nothing: its writer may be slow, frozen or dead. [`Commits::fence`] makes that commit impossible before anything of
//! it is dropped.

use crate::instance::Commits;
use crate::instance::head::{self as instance, HeadItem, Stored, head_key};
use crate::item::body;
use crate::item::chunks::Chunk;
use crate::item::error::StoreError;
use crate::item::number::number;
pub use crate::item::stamp::Stamp;
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Change, Condition, Durability, Key, Updated, Value};

/// How long the placeholder of an instance that was fenced before it existed stays, in seconds.
const PLACEHOLDER_S: i64 = 30 * 24 * 3_600;

/// Relation of a stamp to the head of its instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The attempt made its commit.
    Committed,
    /// The attempt did not make its commit, and never will.
    Lost,
    /// The commit may still happen.
    Undecided,
}

impl Stored {
    /// Judges a stamp by the head alone. `None`: the commit is older than what the head remembers, and the journal
    /// beside the head decides.
    pub(crate) fn judge(&self, stamp: &Stamp, recent: &[Chunk]) -> Option<Verdict> {
        if stamp.commit > self.head.commit {
            // A higher fence refuses the commit for ever.
            return Some(if stamp.fence < self.head.fence {
                Verdict::Lost
            } else {
                Verdict::Undecided
            });
        }
        let made = recent.iter().find(|chunk| chunk.commit == stamp.commit)?;
        Some(verdict(made.attempt == stamp.attempt))
    }
}

fn verdict(is_made: bool) -> Verdict {
    if is_made {
        Verdict::Committed
    } else {
        Verdict::Lost
    }
}

impl Commits<'_> {
    /// Judges a stamp. One read; one query more where the commit is older than the recent journal in the head.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn judge(
        self,
        tenant: &Tenant,
        instance_id: &str,
        stamp: &Stamp,
    ) -> Result<Verdict, StoreError> {
        let Some(item) = self.table().get(&head_key(tenant, instance_id)?).await? else {
            return Ok(Verdict::Undecided);
        };
        match instance::from_item(&item)? {
            HeadItem::Instance(stored) => self.judge_by(tenant, &stored, stamp).await,
            HeadItem::Tombstone => judge_by_tombstone(&item.attributes, stamp),
            HeadItem::Placeholder { fence } => Ok(if stamp.fence < fence {
                Verdict::Lost
            } else {
                Verdict::Undecided
            }),
        }
    }

    /// Judges a stamp by a head that was read.
    pub(crate) async fn judge_by(
        self,
        tenant: &Tenant,
        stored: &Stored,
        stamp: &Stamp,
    ) -> Result<Verdict, StoreError> {
        if let Some(verdict) = stored.judge(stamp, &self.instances().recent_chunks(stored)?) {
            return Ok(verdict);
        }
        let made = self
            .instances()
            .attempt_of_commit(tenant, stored, stamp.commit)
            .await?;
        Ok(verdict(made == Some(stamp.attempt)))
    }

    /// Makes the commit of an undecided stamp impossible, so that whatever it prepared may be dropped. Answers how the
    /// stamp stands afterwards: [`Verdict::Undecided`] only if others changed the head meanwhile. One conditional
    /// update raises the fence; where there is no head, a placeholder carries it.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn fence(
        self,
        tenant: &Tenant,
        instance_id: &str,
        stamp: &Stamp,
        now_ms: i64,
    ) -> Result<Verdict, StoreError> {
        let key = head_key(tenant, instance_id)?;
        let (changes, condition) = match self.table().get(&key).await? {
            None => (placeholder(stamp.fence + 1, now_ms), Condition::Absent),
            Some(item) => match instance::from_item(&item)? {
                HeadItem::Tombstone => {
                    let verdict = judge_by_tombstone(&item.attributes, stamp)?;
                    if verdict != Verdict::Undecided {
                        return Ok(verdict);
                    }
                    let fence = tombstone_fence(&item.attributes);
                    (
                        vec![Change::Set("fe".into(), number(stamp.fence))],
                        Condition::All(vec![
                            Condition::Has("de".into()),
                            Condition::Equals("fe".into(), number(fence)),
                        ]),
                    )
                }
                HeadItem::Placeholder { fence } if stamp.fence < fence => return Ok(Verdict::Lost),
                HeadItem::Placeholder { fence } => (
                    placeholder(stamp.fence + 1, now_ms),
                    Condition::All(vec![
                        Condition::Has("pl".into()),
                        Condition::Equals("fe".into(), number(fence)),
                    ]),
                ),
                HeadItem::Instance(stored) => {
                    let verdict = self.judge_by(tenant, &stored, stamp).await?;
                    if verdict != Verdict::Undecided {
                        return Ok(verdict);
                    }
                    (raised(&stored), stored.is_as_read())
                }
            },
        };
        let durability = Durability::Durable;
        let updated = self
            .table()
            .update(&key, &changes, &condition, durability)
            .await?;
        Ok(match updated {
            Updated::New(_) => Verdict::Lost,
            Updated::Refused(_) => Verdict::Undecided,
        })
    }
}

impl Commits<'_> {
    /// Refuses every first commit that is prepared for an instance which does not exist. False: it exists, or did.
    pub(crate) async fn refuse_creation(self, head: &Key, now_ms: i64) -> Result<bool, StoreError> {
        let there = self.table().get(head).await?;
        let (fence, condition) = match there.as_ref().map(instance::from_item).transpose()? {
            None => (1, Condition::Absent),
            Some(HeadItem::Placeholder { fence }) => {
                (fence + 1, Condition::Equals("fe".into(), number(fence)))
            }
            Some(HeadItem::Instance(_) | HeadItem::Tombstone) => return Ok(false),
        };
        let changes = placeholder(fence, now_ms);
        let durability = Durability::Durable;
        let updated = self
            .table()
            .update(head, &changes, &condition, durability)
            .await?;
        Ok(matches!(updated, Updated::New(_)))
    }
}

/// Judges a stamp by what a deleted instance left. An instance that is brought back commits under a higher fence.
fn judge_by_tombstone(attributes: &Attributes, stamp: &Stamp) -> Result<Verdict, StoreError> {
    if stamp.fence > tombstone_fence(attributes) {
        return Ok(Verdict::Undecided);
    }
    let attempts = last_attempts(attributes)?;
    Ok(verdict(attempts.contains(&(stamp.commit, stamp.attempt))))
}

fn tombstone_fence(attributes: &Attributes) -> u64 {
    body::number(attributes, "fe").map_or(0, i64::unsigned_abs)
}

/// The changes that raise a head's fence. Whoever held the lease has lost it.
fn raised(stored: &Stored) -> Vec<Change> {
    let mut changes = vec![Change::Set("fe".into(), number(stored.head.fence + 1))];
    changes.extend(["lo", "lu", "le"].map(|name| Change::Remove(name.into())));
    changes
}

/// The changes that make a placeholder.
fn placeholder(fence: u64, now_ms: i64) -> Vec<Change> {
    vec![
        Change::Set("pl".into(), Value::N(1)),
        Change::Set("fe".into(), number(fence)),
        Change::Set("ttl".into(), Value::N(now_ms / 1_000 + PLACEHOLDER_S)),
    ]
}

/// The attempts of the last commits of an instance that was deleted, as its tombstone keeps them.
pub(crate) fn last_attempts(attributes: &Attributes) -> Result<Vec<(u64, u64)>, StoreError> {
    body::bytes(attributes, "ra").map_or(Ok(Vec::new()), |bytes| body::decode("tombstone", bytes))
}

/// The attribute of a tombstone that [`last_attempts`] reads.
pub(crate) fn attempts_attribute(recent: &[Chunk]) -> Result<(String, Value), StoreError> {
    let attempts: Vec<_> = recent
        .iter()
        .map(|chunk| (chunk.commit, chunk.attempt))
        .collect();
    Ok((
        "ra".to_owned(),
        Value::B(body::encode("tombstone", &attempts)?),
    ))
}
