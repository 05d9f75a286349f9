//! A table that counts what its use would cost on DynamoDB: calls, read units and write units, by kind of call.
//!
//! The rules are those of the AWS pages "Read and write operations" and "Transactions: how it works", as of 2026.
//! Every budget of a use case is asserted against these numbers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::table::outcome::{Decision, Outcome};
use crate::table::{
    Change, Condition, Durability, Index, Item, Key, Page, Query, Table, TableError, Updated,
    Write, Written,
};

/// The bytes of a write unit.
const WRITE_UNIT_BYTES: usize = 1_024;
/// The bytes of a read unit.
const READ_UNIT_BYTES: usize = 4_096;

/// What calls of one kind cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// How many there were, failed ones included.
    pub calls: u64,
    /// Twice their read units: a consistent read of 4 KiB counts 2, one of an index 1.
    pub read_half_units: u64,
    /// Their write units in the table: one per KiB of an item, two within a write of several.
    pub write_units: u64,
    /// The write units of the indexes that followed.
    pub index_write_units: u64,
}

impl Spent {
    fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            read_half_units: self.read_half_units + other.read_half_units,
            write_units: self.write_units + other.write_units,
            index_write_units: self.index_write_units + other.index_write_units,
        }
    }
}

/// What was spent, by kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Gets.
    pub get: Spent,
    /// Pages of queries of the table itself.
    pub query: Spent,
    /// Pages of queries of an index.
    pub index_query: Spent,
    /// Updates that return the item.
    pub update: Spent,
    /// Writes of one item.
    pub single_write: Spent,
    /// Writes of several items, at twice the price, and lone checks.
    pub transaction: Spent,
}

impl Usage {
    /// All of it together.
    #[must_use]
    pub fn total(&self) -> Spent {
        let Self {
            get,
            query,
            index_query,
            update,
            single_write,
            transaction,
        } = *self;
        [query, index_query, update, single_write, transaction]
            .into_iter()
            .fold(get, Spent::plus)
    }

    /// All calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.total().calls
    }

    /// All read units.
    #[must_use]
    pub fn read_units(&self) -> f64 {
        self.total().read_half_units as f64 / 2.0
    }

    /// All write units, those of indexes included.
    #[must_use]
    pub fn write_units(&self) -> u64 {
        let total = self.total();
        total.write_units + total.index_write_units
    }
}

/// A [`Table`] that counts what passes through it to another one.
///
/// What a write costs depends on the item before it, so each write is preceded by a get of its own, which is not
/// counted: this is for tests and estimates, not for serving. Beneath it belongs a table that does not fail on
/// purpose; faults go above.
pub struct MeteredTable {
    inner: Arc<dyn Table>,
    usage: Mutex<Usage>,
}

impl MeteredTable {
    /// Counts from zero.
    #[must_use]
    pub fn new(inner: Arc<dyn Table>) -> Self {
        Self {
            inner,
            usage: Mutex::default(),
        }
    }

    /// What was spent since the start or the last [`MeteredTable::reset`].
    #[must_use]
    pub fn usage(&self) -> Usage {
        *self.lock()
    }

    /// Begins from zero again, and gives what was spent until now.
    pub fn reset(&self) -> Usage {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, kind: impl FnOnce(&mut Usage) -> &mut Spent, spent: Spent) {
        let mut usage = self.lock();
        let kind = kind(&mut usage);
        *kind = kind.plus(Spent { calls: 1, ..spent });
    }

    async fn stored(&self, writes: &[Write]) -> Result<Vec<Option<Item>>, TableError> {
        let mut stored = Vec::with_capacity(writes.len());
        for write in writes {
            // What is wrong with a key is for the write itself to say.
            let is_valid = write.key().check().is_ok();
            stored.push(if is_valid {
                self.inner.get(write.key()).await?
            } else {
                None
            });
        }
        Ok(stored)
    }
}

#[async_trait]
impl Table for MeteredTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        let found = self.inner.get(key).await;
        let size = found
            .as_ref()
            .map_or(0, |item| item.as_ref().map_or(0, Item::size_bytes));
        let read_half_units = if found.is_ok() {
            2 * units(size, READ_UNIT_BYTES)
        } else {
            0
        };
        self.count(
            |usage| &mut usage.get,
            Spent {
                read_half_units,
                ..Spent::default()
            },
        );
        found
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        let page = self.inner.query(query).await;
        // A page is read as a whole: the sum of its items is rounded up, not each of them.
        let size = page
            .as_ref()
            .map_or(0, |page| page.items.iter().map(Item::size_bytes).sum());
        let units = if page.is_ok() {
            units(size, READ_UNIT_BYTES)
        } else {
            0
        };
        let spent = |read_half_units| Spent {
            read_half_units,
            ..Spent::default()
        };
        match query.index {
            None => self.count(|usage| &mut usage.query, spent(2 * units)),
            Some(_) => self.count(|usage| &mut usage.index_query, spent(units)),
        }
        page
    }

    async fn count(&self, query: &Query, most: u64) -> Result<u64, TableError> {
        let count = self.inner.count(query, most).await;
        // The table reads what it counts. An entry of an index is a few keys, about 200 bytes.
        let size = usize::try_from(*count.as_ref().unwrap_or(&0)).unwrap_or(usize::MAX);
        let units = units(size.saturating_mul(200), READ_UNIT_BYTES);
        self.count(
            |usage| &mut usage.index_query,
            Spent {
                read_half_units: units,
                ..Spent::default()
            },
        );
        count
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        let write = Write::Update(key.clone(), changes.to_vec(), condition.clone());
        let before = self
            .stored(std::slice::from_ref(&write))
            .await?
            .pop()
            .flatten();
        let updated = self.inner.update(key, changes, condition, durability).await;
        let spent = match &updated {
            Ok(Updated::New(after)) => changed(before.as_ref(), Some(after)),
            Ok(Updated::Refused(stands)) => changed(stands.as_ref(), stands.as_ref()),
            Err(_) => Spent::default(),
        };
        self.count(|usage| &mut usage.update, spent);
        updated
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        let before = self.stored(writes).await?;
        let written = self.inner.write(writes).await;
        let mut spent = match &written {
            Ok(Written::Done) => all_changed(writes, before),
            // A refusal costs as much as if each item had been written as it stands.
            Ok(Written::Refused(_)) => {
                let stands = before
                    .iter()
                    .map(|item| changed(item.as_ref(), item.as_ref()));
                stands.fold(Spent::default(), Spent::plus)
            }
            Err(_) => Spent::default(),
        };
        // A check has no call of its own but as a transaction of one.
        if let [Write::Put(..) | Write::Update(..) | Write::Delete(..)] = writes {
            self.count(|usage| &mut usage.single_write, spent);
        } else {
            spent.write_units *= 2;
            self.count(|usage| &mut usage.transaction, spent);
        }
        written
    }
}

/// What the writes cost that were all done.
fn all_changed(writes: &[Write], before: Vec<Option<Item>>) -> Spent {
    let mut stored = before.iter().cloned();
    let decision = Decision::of(writes, |_| Ok::<_, TableError>(stored.next().flatten()));
    // Somebody may have come between the get and the write; then the sizes are a guess.
    let outcomes = match decision {
        Ok(Decision::Apply(outcomes)) => outcomes,
        Ok(Decision::Refuse(_)) | Err(_) => vec![Outcome::Keep; writes.len()],
    };
    let each = before
        .iter()
        .zip(&outcomes)
        .map(|(before, outcome)| match outcome {
            Outcome::Keep => changed(before.as_ref(), before.as_ref()),
            Outcome::Store(after) => changed(before.as_ref(), Some(after)),
            Outcome::Delete => changed(before.as_ref(), None),
        });
    each.fold(Spent::default(), Spent::plus)
}

/// What it costs that the item was the one and is the other: the larger of both, in the table and in each index.
fn changed(before: Option<&Item>, after: Option<&Item>) -> Spent {
    let size = |item: Option<&Item>| item.map_or(0, Item::size_bytes);
    Spent {
        write_units: units(size(before).max(size(after)), WRITE_UNIT_BYTES),
        index_write_units: Index::EVERY
            .into_iter()
            .map(|index| {
                index_units(
                    shown(before, index).as_ref(),
                    shown(after, index).as_ref(),
                    index,
                )
            })
            .sum(),
        ..Spent::default()
    }
}

/// What the index shows of the item, if it is in it.
fn shown(item: Option<&Item>, index: Index) -> Option<Item> {
    let item = item.filter(|item| item.index_key(index).is_some())?;
    Some(item.clone().projected(index))
}

fn index_units(before: Option<&Item>, after: Option<&Item>, index: Index) -> u64 {
    let write = |item: &Item| units(item.size_bytes(), WRITE_UNIT_BYTES);
    match (before, after) {
        (None, None) => 0,
        (Some(item), None) | (None, Some(item)) => write(item),
        (Some(before), Some(after)) if before == after => 0,
        (Some(before), Some(after)) if before.index_key(index) == after.index_key(index) => {
            write(before).max(write(after))
        }
        // A moved entry is deleted in one place and put in the other.
        (Some(before), Some(after)) => write(before) + write(after),
    }
}

/// Whole units, and at least one: nothing is free.
fn units(bytes: usize, unit_bytes: usize) -> u64 {
    bytes.div_ceil(unit_bytes).max(1) as u64
}
