//! A table that enters into the account what each call costs, item by item.

use std::sync::Arc;

use async_trait::async_trait;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Write,
    Written,
};
use dormouse_store::{Decision, Outcome};

use crate::charge::{Units, item_name, stored_bytes};
use crate::parts::{Parts, State};

/// A table whose calls are entered into the account.
pub(crate) struct Ledger {
    table: Arc<dyn Table>,
    /// The same items, read to know them as they were before a write. These reads are not entered.
    stored: Arc<dyn Table>,
    parts: Parts,
}

impl Ledger {
    pub(crate) fn new(table: Arc<dyn Table>, stored: Arc<dyn Table>, parts: Parts) -> Self {
        Self {
            table,
            stored,
            parts,
        }
    }

    async fn before(&self, writes: &[Write]) -> Result<Vec<Option<Item>>, TableError> {
        let mut before = Vec::with_capacity(writes.len());
        for write in writes {
            before.push(match write.key().check() {
                Ok(()) => self.stored.get(write.key()).await?,
                // The write itself says what is wrong with its key.
                Err(_) => None,
            });
        }
        Ok(before)
    }
}

impl State {
    /// Enters a call that has been made.
    fn enter_call(&mut self, is_transaction: bool) {
        let table = &mut self.tally().table;
        table.calls += 1;
        table.transactions += u64::from(is_transaction);
    }

    fn enter(&mut self, what: &'static str, item: String, units: Units) {
        self.tally().table.units.add(units);
        self.items().entry((item, what)).or_default().add(units);
    }

    fn enter_stored(&mut self, before: Option<&Item>, after: Option<&Item>) {
        self.stored_bytes += stored_bytes(after);
        self.stored_bytes = self.stored_bytes.saturating_sub(stored_bytes(before));
    }
}

fn word(write: &Write) -> &'static str {
    match write {
        Write::Put(..) => "put",
        Write::Update(..) => "update",
        Write::Delete(..) => "delete",
        Write::Check(..) => "check",
    }
}

#[async_trait]
impl Table for Ledger {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        let found = self.table.get(key).await?;
        let bytes = found.as_ref().map_or(0, Item::size_bytes);
        let mut state = self.parts.lock();
        state.enter_call(false);
        state.enter("get", item_name(key), Units::of_read(bytes, false));
        Ok(found)
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        let page = self.table.query(query).await?;
        // The sum of a page's items is rounded up, not each of them.
        let bytes = page.items.iter().map(Item::size_bytes).sum();
        let is_index = query.index.is_some();
        let what = if is_index { "index query" } else { "query" };
        let name = item_name(&Key::new(query.partition.as_str(), query.from.as_str()));
        let mut state = self.parts.lock();
        state.enter_call(false);
        state.enter(what, name, Units::of_read(bytes, is_index));
        Ok(page)
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        let before = self.stored.get(key).await?;
        let updated = self
            .table
            .update(key, changes, condition, durability)
            .await?;
        // A failed condition costs as much as if the item had been written as it stands.
        let after = match &updated {
            Updated::New(after) => Some(after),
            Updated::Refused(_) => before.as_ref(),
        };
        let units = Units::of_write(before.as_ref(), after, false);
        let mut state = self.parts.lock();
        state.enter_call(false);
        state.enter("update", item_name(key), units);
        state.enter_stored(before.as_ref(), after);
        Ok(updated)
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        let before = self.before(writes).await?;
        let written = self.table.write(writes).await?;
        let mut stored = before.iter().cloned();
        let decision = Decision::of(writes, |_| Ok::<_, TableError>(stored.next().flatten()))?;
        let outcomes = match (decision, &written) {
            (Decision::Apply(outcomes), Written::Done) => outcomes,
            (Decision::Apply(_) | Decision::Refuse(_), _) => vec![Outcome::Keep; writes.len()],
        };
        // A check has no call of its own but a transaction of one.
        let is_single = matches!(
            writes,
            [Write::Put(..) | Write::Update(..) | Write::Delete(..)]
        );
        let mut state = self.parts.lock();
        state.enter_call(!is_single);
        for ((write, before), outcome) in writes.iter().zip(&before).zip(&outcomes) {
            let after = match outcome {
                Outcome::Keep => before.as_ref(),
                Outcome::Store(after) => Some(after),
                Outcome::Delete => None,
            };
            let units = Units::of_write(before.as_ref(), after, !is_single);
            state.enter(word(write), item_name(write.key()), units);
            state.enter_stored(before.as_ref(), after);
        }
        Ok(written)
    }
}
