//! The outbox: the effects of a commit, written with it or before it and deleted when they are delivered. What is left
//! is what a crash left. The sweep judges its stamp and delivers it under the same ids, or drops it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, count, part, plain, time};
use crate::item::readable::readable;
use crate::item::shard;
use crate::item::stamp::{self, Stamp};
use crate::item::tenant::Tenant;
use crate::outbox::Outbox;
use crate::table::{
    Attributes, Change, Condition, Durability, Item, Key, Query, Updated, Value, Write, Written,
};

/// At most so many bytes of effects lie in one row.
const ROW_MAX: usize = 256 * 1_024;

/// No row is held longer, in ms. One that seems to be was held by a clock that was ahead, and is free.
const HOLD_MS_MAX: i64 = 120_000;

/// One thing to do after the commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Effect {
    /// Its id, the same at every delivery.
    #[serde(rename = "i")]
    pub id: String,
    /// What to do; the runtime's own format.
    #[serde(rename = "b")]
    pub body: Bytes,
}

/// The place of a row, to delete it by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboxKey(pub(crate) Key);

/// A row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Where it lies.
    pub key: OutboxKey,
    /// Whose it is.
    pub tenant: Tenant,
    /// The instance whose commit wrote it, or the id of the event that was accepted.
    pub source: String,
    /// The commit that it belongs to. `None`: it was accepted without one, such as an event.
    pub stamp: Option<Stamp>,
    /// When it was written, in ms since 1970.
    pub at_ms: i64,
    /// How often its delivery was tried by a sweep.
    pub attempts: u32,
    /// Until when nobody else is to deliver it, in ms since 1970; 0: nobody says so.
    pub held_until_ms: i64,
    /// What is to be done.
    pub effects: Vec<Effect>,
}

impl OutboxRow {
    /// Whether somebody has taken it for the time being.
    #[must_use]
    pub const fn is_held(&self, now_ms: i64) -> bool {
        self.held_until_ms >= now_ms && self.held_until_ms <= now_ms + HOLD_MS_MAX
    }
}

/// One page of rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutboxPage {
    /// The rows, oldest first.
    pub rows: Vec<OutboxRow>,
    /// Where the next page begins.
    pub cursor: Option<String>,
}

fn partition(shard: u16) -> String {
    format!("{SYSTEM}/OUTBOX#{shard:02}")
}

/// Where rows come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) tenant: &'a Tenant,
    /// The instance, or the id of what was accepted.
    pub(crate) id: &'a str,
    pub(crate) stamp: Option<&'a Stamp>,
    pub(crate) now_ms: i64,
    /// How many shards the outbox has.
    pub(crate) shards: u16,
}

/// The rows that hold these effects: one, or some more where they are large. `last`: a row of its own for an effect that
/// is carried out only if the burst is cut off.
pub(crate) fn rows(
    source: &Source<'_>,
    effects: &[Effect],
    last: Option<&Effect>,
) -> Result<Vec<Item>, StoreError> {
    let mut items = Vec::new();
    let mut rest = effects;
    while !rest.is_empty() {
        let mut size = 0;
        let fitting = rest.iter().take_while(|effect| {
            size += effect.id.len() + effect.body.len() + 16;
            size <= ROW_MAX
        });
        // An effect that is too large alone is refused by the table, with its size.
        let (now, later) = rest.split_at(fitting.count().max(1));
        items.push(row(source, items.len(), now)?);
        rest = later;
    }
    if let Some(effect) = last {
        items.push(row(source, items.len(), std::slice::from_ref(effect))?);
    }
    Ok(items)
}

fn row(source: &Source<'_>, number: usize, effects: &[Effect]) -> Result<Item, StoreError> {
    let (commit, attempt) = source
        .stamp
        .map_or((0, 0), |stamp| (stamp.commit, stamp.attempt));
    let sort = format!(
        "{}#{}#{}#{}#{attempt:x}#{number:04}",
        time(source.now_ms),
        source.tenant,
        part("an instance id", source.id)?,
        count(commit),
    );
    let mut attributes = body::attributes("outbox row", &effects)?;
    if let Some(stamp) = source.stamp {
        let (name, value) = stamp::attributes(stamp)?;
        attributes.insert(name, value);
    }
    Ok(Item {
        key: Key::new(partition(shard::of(source.id, source.shards)), sort),
        attributes,
    })
}

fn attempts(attributes: &Attributes) -> u32 {
    let attempts = body::number(attributes, "at").unwrap_or(0);
    u32::try_from(attempts).unwrap_or(u32::MAX)
}

pub(crate) fn from_item(item: Item) -> Result<OutboxRow, StoreError> {
    let what = "outbox row";
    let damaged = || StoreError::damaged(what);
    let mut parts = item.key.sort.split('#');
    let mut text = || parts.next().and_then(plain).ok_or_else(damaged);
    let (at, tenant, source) = (text()?, text()?, text()?);
    let stamp = item.attributes.contains_key("sp");
    let stamp = stamp.then(|| stamp::of_item(what, &item)).transpose()?;
    Ok(OutboxRow {
        tenant: Tenant::new(&tenant).map_err(|_| damaged())?,
        source,
        stamp,
        at_ms: at.parse().map_err(|_| damaged())?,
        attempts: attempts(&item.attributes),
        held_until_ms: body::number(&item.attributes, "hu").unwrap_or(0),
        effects: body::of_item(what, &item)?,
        key: OutboxKey(item.key),
    })
}

impl Outbox<'_> {
    /// Accepts effects that belong to no commit, such as an event from outside: when it returns they will be
    /// delivered whatever happens. `id` is the event's. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put(
        self,
        tenant: &Tenant,
        id: &str,
        now_ms: i64,
        effects: &[Effect],
    ) -> Result<Vec<OutboxKey>, StoreError> {
        let rows = rows(&self.accepted(tenant, id, now_ms), effects, None)?;
        let keys = rows
            .iter()
            .map(|item| OutboxKey(item.key.clone()))
            .collect();
        let writes: Vec<_> = rows
            .into_iter()
            .map(|item| Write::Put(item, Condition::Always))
            .collect();
        if !writes.is_empty() {
            self.write_plain(&writes).await?;
        }
        Ok(keys)
    }

    /// The source of rows that belong to no commit.
    pub(crate) fn accepted<'a>(self, tenant: &'a Tenant, id: &'a str, now_ms: i64) -> Source<'a> {
        Source {
            tenant,
            id,
            stamp: None,
            now_ms,
            shards: self.config().outbox_shards,
        }
    }

    /// The rows of one shard that were written before `before_ms`, oldest first. Shards are numbered from 0 to
    /// below [`Self::shards`]. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list(
        self,
        shard: u16,
        before_ms: i64,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<OutboxPage, StoreError> {
        let query = Query {
            index: None,
            partition: partition(shard),
            from: String::new(),
            until: time(before_ms),
            descending: false,
            limit: limit.clamp(1, 1_000),
            cursor,
            leaves_out_damaged: true,
        };
        let page = self.table().query(&query).await?;
        let read = |item: &Item| {
            let is_held = self.epoch().is_held_in(&item.attributes, "he");
            let mut row = from_item(item.clone())?;
            row.held_until_ms *= i64::from(is_held);
            Ok(row)
        };
        Ok(OutboxPage {
            rows: readable(page.items, read),
            cursor: page.cursor,
        })
    }

    /// How many shards the outbox has.
    #[must_use]
    pub fn shards(self) -> u16 {
        self.config().outbox_shards
    }

    /// Deletes a row whose effects are delivered. One write; deleting it twice is fine. It may be forgotten in a
    /// crash: the effects are then delivered once more, under the same ids.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete(self, key: &OutboxKey) -> Result<(), StoreError> {
        self.write_plain(&[Write::Delete(key.0.clone(), Condition::Always)])
            .await
    }

    /// Takes a row for one attempt at its delivery: counts the attempt, and keeps every other sweep away from it for a
    /// time, also if the attempt fails. Answers how many attempts there were. `None`: somebody else has it, or it is
    /// gone. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn take(
        self,
        key: &OutboxKey,
        now_ms: i64,
        for_ms: i64,
    ) -> Result<Option<u32>, StoreError> {
        // Durable before it is tried: an attempt that brings the process down is counted too.
        let more = [Change::Add("at".into(), 1)];
        let taken = self
            .hold_if(key, (now_ms, for_ms), more, Durability::Durable)
            .await?;
        Ok(taken.map(|row| attempts(&row.attributes)))
    }

    /// Says that a delivery is under way that must not be made twice at the same time, such as a long call. False:
    /// somebody else said so first, or the row is gone. One update.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn hold(self, key: &OutboxKey, now_ms: i64, for_ms: i64) -> Result<bool, StoreError> {
        let durability = self.config().lease_durability;
        let held = self.hold_if(key, (now_ms, for_ms), [], durability).await?;
        Ok(held.is_some())
    }

    async fn hold_if(
        self,
        key: &OutboxKey,
        (now_ms, for_ms): (i64, i64),
        more: impl IntoIterator<Item = Change>,
        durability: Durability,
    ) -> Result<Option<Item>, StoreError> {
        let until_ms = now_ms + for_ms.min(HOLD_MS_MAX);
        let mut hold = vec![Change::Set("hu".into(), Value::N(until_ms))];
        hold.extend(self.epoch().stamp("he"));
        hold.extend(more);
        let within = Condition::Below("hu".into(), now_ms + HOLD_MS_MAX + 1);
        let free = Condition::All(vec![
            Condition::Exists,
            Condition::Any(vec![
                self.epoch().is_free("hu", "he", now_ms),
                Condition::Not(Box::new(within)),
            ]),
        ]);
        let updated = self
            .table()
            .update(&key.0, &hold, &free, durability)
            .await?;
        Ok(match updated {
            Updated::New(item) => Some(item),
            Updated::Refused(_) => None,
        })
    }

    /// Keeps only these effects of a row, the others being delivered. `is_counted`: whether the attempt counts; one that
    /// had to wait for others does not. False if the row is gone. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn keep(
        self,
        key: &OutboxKey,
        effects: &[Effect],
        is_counted: bool,
    ) -> Result<bool, StoreError> {
        let body = Value::B(body::encode("outbox row", &effects)?);
        let mut set = vec![Change::Set("bo".into(), body)];
        if !is_counted {
            set.push(Change::Add("at".into(), -1));
        }
        let written = self
            .table()
            .write(&[Write::Update(key.0.clone(), set, Condition::Exists)])
            .await?;
        Ok(written == Written::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_back_and_many_effects_take_several_rows() {
        let effect = |id: &str, size| Effect {
            id: id.into(),
            body: vec![7; size].into(),
        };
        let tenant = Tenant::new("acme").unwrap();
        let stamp = Stamp {
            commit: 3,
            fence: 0,
            attempt: 0xab,
            at_ms: 77,
        };
        let source = Source {
            tenant: &tenant,
            id: "i#1",
            stamp: Some(&stamp),
            now_ms: 77,
            shards: 1,
        };
        let effects = [
            effect("a", 10),
            effect("b", 200 * 1_024),
            effect("c", 100 * 1_024),
        ];
        let items = rows(&source, &effects, Some(&effect("d", 1))).unwrap();
        assert_eq!(items.len(), 3);
        let key = Key::new(
            "~/OUTBOX#00",
            "0000000000077#acme#i%231#000000000003#ab#0000",
        );
        assert_eq!(items[0].key, key);
        let row = from_item(items[0].clone()).unwrap();
        assert_eq!((row.tenant, row.source.as_str()), (tenant, "i#1"));
        assert_eq!((row.stamp, row.at_ms, row.attempts), (Some(stamp), 77, 0));
        assert_eq!(row.effects, effects[..2]);
        let last = from_item(items[2].clone()).unwrap();
        assert_eq!(last.effects, [effect("d", 1)]);
    }
}
