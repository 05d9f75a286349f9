//! Tables that each break one promise, to show that the suite notices. Beneath lies the table in memory, which
//! keeps them all.
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "each place speaks of the one or two defects that it makes"
)]

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use dormouse_store::MemoryTable;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Value,
    Write, Written,
};

/// What is wrong with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// Nothing: the wrapper itself changes no answer.
    None,
    /// Writes happen whatever their conditions say.
    IgnoresConditionsOfWrites,
    /// Updates happen whatever their conditions say.
    IgnoresConditionsOfUpdates,
    /// Several writes are done one by one, and what came before a refused one stays.
    NotAtomic,
    /// An update looks first and stores later; others come between.
    NotIsolated,
    /// A refusal brings no item.
    RefusesWithoutTheItem,
    /// An update returns the item as it was before.
    ReturnsTheOldItem,
    /// Every seventh write is acknowledged and dropped.
    LosesAWrite,
    /// `Ordered` updates are acknowledged and dropped.
    LosesOrderedUpdates,
    /// Queries go the wrong way round.
    WrongOrder,
    /// The page after a cursor begins one item late.
    SkipsAnItemBetweenPages,
    /// The upper bound of a query is included.
    IncludesTheEnd,
    /// Two writes about one key are taken.
    TakesTwoWritesAboutOneKey,
    /// More than a hundred writes are taken.
    TakesTooManyWrites,
    /// An absent number counts as below any bound.
    CountsAbsentAsSmall,
    /// Texts are cut at the first character that is not ASCII.
    CutsText,
    /// Index one shows the state.
    ShowsTheState,
    /// Any cursor is taken for the beginning.
    TakesAnyCursor,
}

impl Defect {
    /// Every defect, with a promise that must fail for it.
    pub const EVERY: [(Self, &'static str); 17] = [
        (
            Self::IgnoresConditionsOfWrites,
            "one_refused_write_of_any_kind_stops_the_others",
        ),
        (
            Self::IgnoresConditionsOfUpdates,
            "a_lease_race_has_one_winner",
        ),
        (
            Self::NotAtomic,
            "one_refused_write_of_any_kind_stops_the_others",
        ),
        (
            Self::NotIsolated,
            "additions_of_sixteen_tasks_are_all_counted",
        ),
        (
            Self::RefusesWithoutTheItem,
            "a_refused_update_returns_the_item_as_it_stands",
        ),
        (
            Self::ReturnsTheOldItem,
            "an_update_returns_the_whole_new_item",
        ),
        (
            Self::LosesAWrite,
            "random_calls_agree_with_the_table_in_memory",
        ),
        (
            Self::LosesOrderedUpdates,
            "an_ordered_update_is_seen_by_all_that_follows",
        ),
        (Self::WrongOrder, "items_come_in_the_order_of_bytes"),
        (Self::SkipsAnItemBetweenPages, "pages_visit_every_item_once"),
        (
            Self::IncludesTheEnd,
            "a_range_includes_its_start_and_excludes_its_end",
        ),
        (
            Self::TakesTwoWritesAboutOneKey,
            "two_writes_about_one_key_are_invalid",
        ),
        (
            Self::TakesTooManyWrites,
            "more_than_a_hundred_writes_are_too_large",
        ),
        (
            Self::CountsAbsentAsSmall,
            "conditions_hold_or_fail_alike_in_updates",
        ),
        (Self::CutsText, "texts_and_keys_of_every_script_survive"),
        (
            Self::ShowsTheState,
            "index_one_shows_its_keys_and_the_summary",
        ),
        (Self::TakesAnyCursor, "a_cursor_from_elsewhere_is_refused"),
    ];
}

/// A table with a defect.
pub struct BrokenTable {
    inner: MemoryTable,
    defect: Defect,
    writes: AtomicU64,
}

impl BrokenTable {
    /// An empty one.
    #[must_use]
    pub fn new(defect: Defect) -> Self {
        Self {
            inner: MemoryTable::new(),
            defect,
            writes: AtomicU64::new(0),
        }
    }

    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    fn condition(&self, condition: &Condition) -> Condition {
        match (self.defect, condition) {
            (Defect::CountsAbsentAsSmall, Condition::Below(name, bound)) => {
                let below = Condition::Below(name.clone(), *bound);
                Condition::Any(vec![Condition::Lacks(name.clone()), below])
            }
            (_, condition) => condition.clone(),
        }
    }

    async fn one_by_one(&self, writes: &[Write]) -> Result<Written, TableError> {
        for (place, write) in writes.iter().enumerate() {
            if let Written::Refused(refused) = self.inner.write(std::slice::from_ref(write)).await?
            {
                let mut all = vec![None; writes.len()];
                all.splice(place..=place, refused);
                return Ok(Written::Refused(all));
            }
        }
        Ok(Written::Done)
    }
}

fn without_condition(write: &Write) -> Write {
    match write.clone() {
        Write::Put(item, _) => Write::Put(item, Condition::Always),
        Write::Update(key, changes, _) => Write::Update(key, changes, Condition::Always),
        Write::Delete(key, _) => Write::Delete(key, Condition::Always),
        Write::Check(key, _) => Write::Check(key, Condition::Always),
    }
}

fn with_cut_text(mut item: Item) -> Item {
    for value in item.attributes.values_mut() {
        if let Value::S(text) = value {
            text.retain(|character| character.is_ascii());
        }
    }
    item
}

#[async_trait]
impl Table for BrokenTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        let found = self.inner.get(key).await?;
        Ok(if self.is(Defect::CutsText) {
            found.map(with_cut_text)
        } else {
            found
        })
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        let mut query = query.clone();
        if self.is(Defect::WrongOrder) {
            query.descending = !query.descending;
        }
        if self.is(Defect::IncludesTheEnd) && !query.until.is_empty() {
            query.until.push('\0');
        }
        if self.is(Defect::ShowsTheState) {
            query.index = None;
            let mut page = Page::default();
            for item in self.inner.items() {
                let partition = item.attributes.get("g1p");
                if partition == Some(&Value::S(query.partition.clone())) {
                    page.items.push(item);
                }
            }
            return Ok(page);
        }
        match self.inner.query(&query).await {
            Err(TableError::BadCursor) if self.is(Defect::TakesAnyCursor) => {
                self.inner
                    .query(&Query {
                        cursor: None,
                        ..query
                    })
                    .await
            }
            Ok(mut page) if self.is(Defect::SkipsAnItemBetweenPages) && query.cursor.is_some() => {
                page.items = page.items.split_off(1.min(page.items.len()));
                Ok(page)
            }
            answer => answer,
        }
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        let condition = match self.defect {
            Defect::IgnoresConditionsOfUpdates => Condition::Always,
            _ => self.condition(condition),
        };
        let before = self.inner.get(key).await?;
        if self.is(Defect::NotIsolated) {
            let updated = Updated::of(key, changes, &condition, before)?;
            tokio::task::yield_now().await;
            if let Updated::New(item) = &updated {
                self.inner
                    .write(&[Write::Put(item.clone(), Condition::Always)])
                    .await?;
            }
            return Ok(updated);
        }
        if self.is(Defect::LosesOrderedUpdates) && durability == Durability::Ordered {
            return Updated::of(key, changes, &condition, before);
        }
        let updated = self
            .inner
            .update(key, changes, &condition, durability)
            .await?;
        Ok(match (updated, self.defect) {
            (Updated::Refused(_), Defect::RefusesWithoutTheItem) => Updated::Refused(None),
            (Updated::New(new), Defect::ReturnsTheOldItem) => Updated::New(before.unwrap_or(new)),
            (updated, _) => updated,
        })
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        match self.defect {
            Defect::IgnoresConditionsOfWrites => {
                let writes: Vec<Write> = writes.iter().map(without_condition).collect();
                self.inner.write(&writes).await
            }
            Defect::NotAtomic => self.one_by_one(writes).await,
            Defect::LosesAWrite if self.writes.fetch_add(1, Ordering::Relaxed) % 7 == 6 => {
                Ok(Written::Done)
            }
            Defect::TakesTwoWritesAboutOneKey | Defect::TakesTooManyWrites => {
                match self.inner.write(writes).await {
                    Err(TableError::Invalid(_)) if self.is(Defect::TakesTwoWritesAboutOneKey) => {
                        self.one_by_one(writes).await
                    }
                    Err(TableError::TooLarge {
                        what: "number of writes",
                        ..
                    }) if self.is(Defect::TakesTooManyWrites) => self.one_by_one(writes).await,
                    answer => answer,
                }
            }
            _ => self.inner.write(writes).await,
        }
    }
}
