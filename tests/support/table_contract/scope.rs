//! A corner of a table for one promise: partitions that no other promise touches, and calls that say in words
//! what came back instead.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use dormouse_store::table::{
    Attributes, Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated,
    Value, Write, Written,
};

/// The table, and the name that this promise's partitions begin with.
#[derive(Clone)]
pub struct Scope {
    /// The table under test.
    pub table: Arc<dyn Table>,
    /// How long its indexes may lag behind.
    pub index_lag_max: Duration,
    pub(super) name: String,
}

impl Scope {
    /// A scope for the promise of this name, in a table whose indexes do not lag.
    pub fn new(table: Arc<dyn Table>, name: impl Into<String>) -> Self {
        Self {
            table,
            index_lag_max: Duration::ZERO,
            name: name.into(),
        }
    }

    /// The same table under another name.
    #[must_use]
    pub fn part(&self, name: &str) -> Self {
        Self {
            name: self.partition(name),
            ..self.clone()
        }
    }

    /// The name that its partitions begin with.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A partition of this scope.
    #[must_use]
    pub fn partition(&self, partition: &str) -> String {
        format!("{}/{partition}", self.name)
    }

    /// A key of this scope.
    #[must_use]
    pub fn key(&self, partition: &str, sort: &str) -> Key {
        Key::new(self.partition(partition), sort)
    }

    /// An item of this scope.
    #[must_use]
    pub fn item<const N: usize>(&self, at: [&str; 2], attributes: [(&str, Value); N]) -> Item {
        Item {
            key: self.key(at[0], at[1]),
            attributes: self::attributes(attributes),
        }
    }

    /// The item under the key.
    pub async fn get(&self, key: &Key) -> Result<Option<Item>> {
        self.table
            .get(key)
            .await
            .with_context(|| format!("get {key:?}"))
    }

    /// Stores the item whatever was there.
    pub async fn put(&self, item: &Item) -> Result<()> {
        self.done(&[Write::Put(item.clone(), Condition::Always)])
            .await
    }

    /// Writes that must happen.
    pub async fn done(&self, writes: &[Write]) -> Result<()> {
        match self.table.write(writes).await? {
            Written::Done => Ok(()),
            Written::Refused(refused) => bail!("{writes:?} should happen; refused: {refused:?}"),
        }
    }

    /// Writes that must be refused; the items that stood in the way.
    pub async fn refused(&self, writes: &[Write]) -> Result<Vec<Option<Option<Item>>>> {
        match self.table.write(writes).await? {
            Written::Done => bail!("{writes:?} should be refused; it happened"),
            Written::Refused(refused) => {
                ensure!(
                    refused.len() == writes.len(),
                    "one entry per write: {refused:?}"
                );
                Ok(refused)
            }
        }
    }

    /// A durable update that may be refused.
    pub async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
    ) -> Result<Updated> {
        let updated = self
            .table
            .update(key, changes, condition, Durability::Durable)
            .await;
        updated.with_context(|| format!("update {key:?} with {changes:?} if {condition:?}"))
    }

    /// A durable update that must happen; the new item.
    pub async fn updated(&self, key: &Key, changes: &[Change]) -> Result<Item> {
        match self.update(key, changes, &Condition::Always).await? {
            Updated::New(item) => Ok(item),
            Updated::Refused(item) => bail!("{changes:?} of {item:?} should happen; refused"),
        }
    }

    /// A page of a query.
    pub async fn page(&self, query: &Query) -> Result<Page> {
        self.table
            .query(query)
            .await
            .with_context(|| format!("query {query:?}"))
    }

    /// All items of a query, page by page. No page may be over the limit, and the pages must end.
    pub async fn all(&self, query: &Query) -> Result<Vec<Item>> {
        let mut query = query.clone();
        let mut items = Vec::new();
        for _ in 0..10_000 {
            let page = self.page(&query).await?;
            ensure!(
                page.items.len() <= query.limit as usize,
                "a page over the limit: {query:?}"
            );
            items.extend(page.items);
            let Some(cursor) = page.cursor else {
                return Ok(items);
            };
            query.cursor = Some(cursor);
        }
        bail!("{query:?} does not end")
    }

    /// All of a partition.
    pub async fn all_of(&self, partition: &str) -> Result<Vec<Item>> {
        self.all(&Query::prefix(self.partition(partition), ""))
            .await
    }
}

/// The attributes by name.
#[must_use]
pub fn attributes<const N: usize>(attributes: [(&str, Value); N]) -> Attributes {
    attributes
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// A number.
#[must_use]
pub fn n(number: i64) -> Value {
    Value::N(number)
}

/// A text.
#[must_use]
pub fn s(text: impl Into<String>) -> Value {
    Value::S(text.into())
}

/// Bytes.
#[must_use]
pub fn b(bytes: impl Into<Vec<u8>>) -> Value {
    Value::B(bytes.into().into())
}

/// A set of texts.
#[must_use]
pub fn set(texts: &[&str]) -> Value {
    Value::Ss(
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<BTreeSet<_>>(),
    )
}

/// Sets an attribute.
#[must_use]
pub fn to(name: &str, value: Value) -> Change {
    Change::Set(name.to_owned(), value)
}

/// Adds to an attribute.
#[must_use]
pub fn add(name: &str, amount: i64) -> Change {
    Change::Add(name.to_owned(), amount)
}

/// Removes an attribute.
#[must_use]
pub fn remove(name: &str) -> Change {
    Change::Remove(name.to_owned())
}

/// Holds if the attribute equals the value.
#[must_use]
pub fn equals(name: &str, value: Value) -> Condition {
    Condition::Equals(name.to_owned(), value)
}

/// The call must be refused as one that breaks the rules of the port.
pub fn ensure_invalid<T: std::fmt::Debug>(answer: Result<T, TableError>) -> Result<()> {
    match answer {
        Err(TableError::Invalid(_)) => Ok(()),
        other => bail!("should be invalid: {other:?}"),
    }
}

/// The call must be refused as too large.
pub fn ensure_too_large<T: std::fmt::Debug>(answer: Result<T, TableError>) -> Result<()> {
    match answer {
        Err(TableError::TooLarge { size, limit, .. }) if size > limit => Ok(()),
        other => bail!("should be too large: {other:?}"),
    }
}
