//! The chain of a recurring trigger: which occurrence is scheduled next.
//!
//! Exactly one path schedules occurrence k+1: the handling of k claims it here by a conditional write, schedules it, and
//! confirms it. A duplicate of k finds it claimed, so no second chain begins, whatever a queue does. A claim that is
//! never confirmed was cut off and is claimed again. All chains of a shard lie in one partition, in which the sweep finds
//! those whose occurrence is overdue.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, part, plain};
use crate::item::number::number;
use crate::item::readable::readable;
use crate::item::shard;
use crate::item::tenant::Tenant;
use crate::stimulus::Chains;
use crate::stimulus::merged::{after, merged};
use crate::table::{Change, Condition, Durability, Item, Key, Query, Updated, Value, Write};

/// How long a claim may stay unconfirmed before it counts as cut off, in ms. One of another epoch is cut off at once.
const CLAIM_MS: i64 = 30_000;

/// An occurrence that is to be scheduled next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Whose trigger it is.
    pub tenant: Tenant,
    /// The definition.
    pub definition_id: String,
    /// The trigger's activity.
    pub activity_id: String,
    /// The generation of the definition's triggers.
    pub generation: u64,
    /// The nominal time of the occurrence, in ms since 1970.
    pub nominal_ms: i64,
    /// The occurrence; the runtime's own format.
    pub body: Bytes,
}

/// Outcome of claiming an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimed {
    /// It is ours: schedule it, then confirm it.
    Ours,
    /// It is scheduled, or a later one is, or the trigger is of an older generation.
    Done,
    /// Somebody else is about to schedule it.
    Pending,
}

/// One page of occurrences.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChainPage {
    /// The occurrences.
    pub links: Vec<Link>,
    /// Where the next page begins.
    pub cursor: Option<String>,
}

/// Chains of a page that do not stand where they should.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Misplaced {
    /// Occurrences whose time is long over.
    pub overdue: Vec<Link>,
    /// Occurrences that were claimed at a time that is still to come: by a clock that was ahead.
    pub ahead: Vec<Link>,
    /// Where the next page begins.
    pub cursor: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct ChainBody {
    #[serde(rename = "b")]
    body: Bytes,
}

fn partition(shard: u16) -> String {
    format!("{SYSTEM}/CHAIN#{shard:02}")
}

impl Link {
    fn key(&self, shards: u16) -> Result<Key, StoreError> {
        let definition = part("a definition id", &self.definition_id)?;
        let activity = part("an activity id", &self.activity_id)?;
        Ok(Key::new(
            partition(shard::of(&self.definition_id, shards)),
            format!("{}#{definition}#{activity}", self.tenant),
        ))
    }

    fn from_item(item: &Item) -> Result<Self, StoreError> {
        let what = "chain";
        let damaged = || StoreError::damaged(what);
        let mut parts = item.key.sort.split('#');
        let mut text = || parts.next().and_then(plain).ok_or_else(damaged);
        let (tenant, definition_id, activity_id) = (text()?, text()?, text()?);
        let ChainBody { body } = body::of_item(what, item)?;
        let generation = body::number(&item.attributes, "ge").ok_or_else(damaged)?;
        Ok(Self {
            tenant: Tenant::new(&tenant).map_err(|_| damaged())?,
            definition_id,
            activity_id,
            generation: generation.unsigned_abs(),
            nominal_ms: body::number(&item.attributes, "nx").ok_or_else(damaged)?,
            body,
        })
    }

    /// The condition that the chain stands at this occurrence.
    fn stands(&self) -> Vec<Condition> {
        vec![
            Condition::Equals("ge".into(), number(self.generation)),
            Condition::Equals("nx".into(), Value::N(self.nominal_ms)),
        ]
    }
}

impl Chains<'_> {
    /// Claims an occurrence for scheduling. One conditional update; one more where a claim was cut off.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. After [`StoreError::is_unknown`] the claim may be taken: it is free again after half a minute.
    pub async fn claim_occurrence(self, link: &Link, now_ms: i64) -> Result<Claimed, StoreError> {
        let earlier = Condition::Any(vec![
            Condition::Absent,
            Condition::Below(
                "ge".into(),
                i64::try_from(link.generation).unwrap_or(i64::MAX),
            ),
            Condition::All(vec![
                Condition::Equals("ge".into(), number(link.generation)),
                Condition::Below("nx".into(), link.nominal_ms),
            ]),
        ]);
        let there = match self.claim_if(link, now_ms, earlier).await? {
            Updated::New(_) => return Ok(Claimed::Ours),
            Updated::Refused(None) => return Ok(Claimed::Pending),
            Updated::Refused(Some(item)) => item,
        };
        let is_other = body::number(&there.attributes, "nx") != Some(link.nominal_ms)
            || there.attributes.get("ge") != Some(&number(link.generation));
        if is_other || there.attributes.contains_key("ok") {
            return Ok(Claimed::Done);
        }
        let since_ms = body::number(&there.attributes, "at").unwrap_or(0);
        let may_live = self.epoch().is_held_in(&there.attributes, "ep");
        if may_live && since_ms > now_ms - CLAIM_MS {
            return Ok(Claimed::Pending);
        }
        let mut cut_off = link.stands();
        cut_off.push(Condition::Equals("at".into(), Value::N(since_ms)));
        cut_off.push(Condition::Lacks("ok".into()));
        Ok(
            match self.claim_if(link, now_ms, Condition::All(cut_off)).await? {
                Updated::New(_) => Claimed::Ours,
                Updated::Refused(_) => Claimed::Pending,
            },
        )
    }

    async fn claim_if(
        self,
        link: &Link,
        now_ms: i64,
        condition: Condition,
    ) -> Result<Updated, StoreError> {
        let body = body::encode(
            "chain",
            &ChainBody {
                body: link.body.clone(),
            },
        )?;
        let mut changes = vec![
            Change::Set("ge".into(), number(link.generation)),
            Change::Set("nx".into(), Value::N(link.nominal_ms)),
            Change::Set("at".into(), Value::N(now_ms)),
            Change::Set("bo".into(), Value::B(body)),
            Change::Remove("ok".into()),
        ];
        changes.extend(self.epoch().stamp("ep"));
        let key = link.key(self.config().outbox_shards)?;
        let durability = Durability::Durable;
        Ok(self
            .table()
            .update(&key, &changes, &condition, durability)
            .await?)
    }

    /// Confirms that a claimed occurrence is scheduled. One update; nothing if the chain has moved on.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. The claim is then taken again, and the occurrence scheduled twice: the second is a no-op.
    pub async fn confirm_occurrence(self, link: &Link) -> Result<(), StoreError> {
        let key = link.key(self.config().outbox_shards)?;
        let confirmed = [Change::Set("ok".into(), Value::N(1))];
        self.table()
            .update(
                &key,
                &confirmed,
                &Condition::All(link.stands()),
                Durability::Ordered,
            )
            .await?;
        Ok(())
    }

    /// The occurrence at which the chain of a trigger's generation stands, whether it is scheduled or not. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn standing_occurrence(self, of: &Link) -> Result<Option<Link>, StoreError> {
        let item = self
            .table()
            .get(&of.key(self.config().outbox_shards)?)
            .await?;
        let link = item.as_ref().map(Link::from_item).transpose()?;
        Ok(link.filter(|link| link.generation == of.generation))
    }

    /// Ends a chain that stands at an occurrence: there is no next one. One write; nothing if it has moved on.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn end_chain(self, link: &Link) -> Result<(), StoreError> {
        let key = link.key(self.config().outbox_shards)?;
        let end = Write::Delete(key, Condition::All(link.stands()));
        self.table().write(&[end]).await?;
        Ok(())
    }

    /// Moves a chain from the occurrence at which it stands back to an earlier one, which is to be scheduled and confirmed
    /// then. False: it has moved on. One update.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn rewind_occurrence(
        self,
        from: &Link,
        to: &Link,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let rewound = self.claim_if(to, now_ms, Condition::All(from.stands()));
        Ok(matches!(rewound.await?, Updated::New(_)))
    }

    /// The chains of a shard whose occurrence has a nominal time before `overdue_ms`, and those that were claimed after
    /// `ahead_ms`; a page looks at 1,000 chains at most. Shards are those of the outbox. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn misplaced_occurrences(
        self,
        shard: u16,
        (overdue_ms, ahead_ms): (i64, i64),
        cursor: Option<String>,
    ) -> Result<Misplaced, StoreError> {
        let query = Query {
            until: String::new(),
            cursor,
            leaves_out_damaged: true,
            ..Query::prefix(partition(shard), "")
        };
        let page = self.table().query(&query).await?;
        let (ahead, rest): (Vec<_>, Vec<_>) = page
            .items
            .into_iter()
            .partition(|item| body::number(&item.attributes, "at").is_some_and(|at| at > ahead_ms));
        let mut overdue = readable(rest, Link::from_item);
        overdue.retain(|link| link.nominal_ms < overdue_ms);
        Ok(Misplaced {
            overdue,
            ahead: readable(ahead, Link::from_item),
            cursor: page.cursor,
        })
    }

    /// The chains of a tenant in order of their definitions and activities, at most `limit`; `cursor` is that of an earlier
    /// page. A chain whose trigger is not in force any more is among them until it would fire. A query of each shard.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadCursor`], or what the table says.
    pub async fn list(
        self,
        tenant: &Tenant,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<ChainPage, StoreError> {
        let (first, end) = (format!("{tenant}#"), format!("{tenant}$"));
        let from = match cursor {
            None => first,
            Some(cursor) if cursor.starts_with(&first) => after(cursor),
            Some(_) => return Err(StoreError::BadCursor),
        };
        let partitions = (0..self.config().outbox_shards).map(partition);
        let (items, cursor) = merged(&self, partitions, (&from, &end), limit).await?;
        let links = readable(items, Link::from_item);
        Ok(ChainPage { links, cursor })
    }
}
