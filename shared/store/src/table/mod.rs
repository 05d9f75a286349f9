//! The `Table` port: what Dormouse needs of a key-value store, and no more.
//!
//! DynamoDB and the embedded table implement it. Everything above is written once. There is no scan, no read
//! that may be stale (but the indexes), and no write without a condition that its author has thought about.

pub mod blobs;
pub(crate) mod condition;
pub(crate) mod cursor;
pub mod faults;
pub mod limits;
pub(crate) mod memory;
pub mod meter;
pub(crate) mod outcome;
pub mod scan;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use bytes::Bytes;

/// An error of a blob store.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The place of one item: a partition and a sort key. Both are non-empty text of at most 1 KiB.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The partition. Items of one partition are queried together, in the order of `sort`.
    pub partition: String,
    /// The place within the partition; ordered as bytes.
    pub sort: String,
}

impl Key {
    /// The key of `sort` in `partition`.
    pub fn new(partition: impl Into<String>, sort: impl Into<String>) -> Self {
        Self {
            partition: partition.into(),
            sort: sort.into(),
        }
    }
}

/// The value of one attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Text.
    S(String),
    /// A whole number.
    N(i64),
    /// Bytes.
    B(Bytes),
    /// A set of texts. An empty set is the same as no attribute.
    Ss(BTreeSet<String>),
}

/// Attributes by name. Names are short and stable for ever. The reserved ones:
/// `ttl` (epoch **seconds** after which the item may vanish; no rule depends on it), the index keys of [`Index`]
/// (non-empty text of at most 1 KiB), and `pk` and `sk`, which no item may use: they are the key itself.
pub type Attributes = BTreeMap<String, Value>;

/// One stored item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Where it is.
    pub key: Key,
    /// What it holds.
    pub attributes: Attributes,
}

/// What must hold of the item as it is stored before a write. An absent item has no attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Always holds.
    Always,
    /// There is an item under the key.
    Exists,
    /// There is none.
    Absent,
    /// The attribute is there.
    Has(String),
    /// The attribute is not there.
    Lacks(String),
    /// The attribute equals the value, in kind too. Equal to an empty set is an attribute that is not there.
    Equals(String, Value),
    /// The attribute is a number below the bound. An absent one is not.
    Below(String, i64),
    /// The attribute is a text set that contains the text.
    Contains(String, String),
    /// Every one holds; none at all holds.
    All(Vec<Condition>),
    /// At least one holds; none at all does not.
    Any(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
}

/// One change of one attribute. An update changes each attribute at most once. Where it only removes and there
/// is no item, a table may create an empty one or not: say `Exists`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Sets the attribute.
    Set(String, Value),
    /// Removes the attribute.
    Remove(String),
    /// Adds to a number; an absent one counts as 0. Adding to another kind of value, or past the range of
    /// `i64`, is [`TableError::Invalid`].
    Add(String, i64),
}

/// One write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Stores the item in place of whatever was there.
    Put(Item, Condition),
    /// Changes attributes of an item, and creates it when there is none (say `Exists` where that must not be).
    Update(Key, Vec<Change>, Condition),
    /// Deletes the item; deleting nothing is fine unless the condition says otherwise.
    Delete(Key, Condition),
    /// Changes nothing; the condition must hold for the other writes to happen.
    Check(Key, Condition),
}

impl Write {
    /// The key it is about.
    #[must_use]
    pub fn key(&self) -> &Key {
        match self {
            Self::Put(item, _) => &item.key,
            Self::Update(key, ..) | Self::Delete(key, _) | Self::Check(key, _) => key,
        }
    }
}

/// How long-lived an acknowledged write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It survives kill -9 and power loss. The default, and the only one that a user may be told about.
    Durable,
    /// A crash of the table may lose it, but then loses every later write too, and all who saw it are gone
    /// with it. For leases of a table that lives inside the process that takes them. Tables that have no such
    /// thing treat it as `Durable`.
    Ordered,
}

/// What became of an [`Table::update`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Updated {
    /// It happened; this is the whole item as it is now.
    New(Item),
    /// The condition did not hold; this is the whole item as it was and is, if there is one.
    Refused(Option<Item>),
}

/// What became of a [`Table::write`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// All of it happened.
    Done,
    /// None of it happened. One entry per write, in order: `None` where the condition held, else the item as
    /// it stands (`Some(None)` where there is none). At least one entry names a refusal; where several
    /// conditions failed, a table may name only some of them.
    Refused(Vec<Option<Option<Item>>>),
}

/// The indexes. An item that has both attributes of an index is in it. They may lag behind by seconds on DynamoDB, so no rule depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// Attributes `g1p` and `g1s`; projects the one attribute `su` (the summary): the lists. A write that leaves
    /// these three as they are, as a lease does, does not touch the index and does not pay for it.
    One,
    /// Attributes `g2p` and `g2s`; keys only (the item's own and these two): by sub-status, and what has a time to go at.
    Two,
    /// Attributes `g3p` and `g3s`; keys only: by correlation id.
    Three,
}

/// A range of one partition, in order of the sort key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// `None`: the table itself, read consistently.
    pub index: Option<Index>,
    /// The partition (of the index, where one is named).
    pub partition: String,
    /// Inclusive lower bound of the sort key; empty: from the start.
    pub from: String,
    /// Exclusive upper bound; empty: to the end.
    pub until: String,
    /// Newest (greatest) first.
    pub descending: bool,
    /// At most this many items a page, 1 to 1,000; a number outside counts as the nearest.
    pub limit: u32,
    /// The cursor of an earlier page's end.
    pub cursor: Option<String>,
    /// True: an item that does not read back is left out and logged, as lists of an index always do. False: it fails the
    /// query. Only for callers that lose nothing by a row that stays where it is.
    pub leaves_out_damaged: bool,
}

impl Query {
    /// All of a partition's items whose sort key begins with `prefix`, ascending, a thousand a page.
    pub fn prefix(partition: impl Into<String>, prefix: &str) -> Self {
        let mut until = prefix.to_owned();
        // Sort keys are ASCII where a prefix ends, so the next character bounds the prefix from above.
        if let Some(last) = until.pop() {
            until.push(char::from_u32(last as u32 + 1).unwrap_or(char::MAX));
        }
        Self {
            index: None,
            partition: partition.into(),
            from: prefix.to_owned(),
            until,
            descending: false,
            limit: 1_000,
            cursor: None,
            leaves_out_damaged: false,
        }
    }
}

/// One page of a query. A page may hold fewer items than the limit (1 MiB of them ends it), even none, and
/// still have a next one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The items, in order.
    pub items: Vec<Item>,
    /// Where the next page begins; `None` at the end. Opaque text.
    pub cursor: Option<String>,
}

/// Why a call did not succeed. A failed condition is not an error, it is an answer.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Too many requests, or a transaction that met another. Nothing happened; try again after a pause.
    #[error("the table is busy; try again after a pause")]
    Busy,
    /// The answer was lost: the write happened or did not. Read back before deciding.
    #[error("the table did not answer; the write may or may not have happened")]
    Unknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An item over 400 KiB, more than 100 writes, or over 4 MiB together. Nothing happened.
    #[error("too large for the table: {what} is {size}, the limit is {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// No room left on the disk. Nothing happened, and all acknowledged before is still there.
    #[error("the disk is full: free some space, then try again")]
    Full(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The cursor is not one that this table gave out for such a query. Text that came from outside ends here.
    #[error("the page cursor is not valid: begin again without one")]
    BadCursor,
    /// A request that breaks the rules of the port, such as two writes about one key. A bug of the caller, who
    /// gains nothing by trying again. Nothing happened.
    #[error("not a valid request to the table: {0}")]
    Invalid(String),
    /// Another process has it. Nothing happened.
    #[error("{0}")]
    InUse(String),
    /// It cannot work as it is: wrong configuration, no permission, a damaged file. Nothing happened.
    #[error("the table cannot be used: {0}")]
    Unusable(
        String,
        #[source] Option<Box<dyn std::error::Error + Send + Sync>>,
    ),
}

/// The source of a [`TableError::Unusable`] that is about one item: its body does not read back.
#[derive(Debug, thiserror::Error)]
#[error("the item {} {} does not read back", .0.partition, .0.sort)]
pub struct DamagedItem(pub Key);

impl TableError {
    /// Whether one item is damaged, and the rest of the table can be used.
    #[must_use]
    pub fn is_damaged_item(&self) -> bool {
        matches!(self, Self::Unusable(_, Some(source)) if source.is::<DamagedItem>())
    }
}

/// A store of items, strongly consistent.
#[async_trait]
pub trait Table: Send + Sync + 'static {
    /// The item under the key, as of the last acknowledged write.
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError>;

    /// One page of a partition.
    async fn query(&self, query: &Query) -> Result<Page, TableError>;

    /// How many items a query has on all its pages, `most` at most.
    async fn count(&self, query: &Query, most: u64) -> Result<u64, TableError> {
        count_by_pages(self, query, most).await
    }

    /// Changes one item if the condition holds, and returns it either way.
    ///
    /// What an `Ordered` update returns may be told to a user only after something durable followed it: a
    /// `get`, a `query` and every refusal show nothing that a power cut could still take back, but for `Ordered`
    /// updates themselves.
    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError>;

    /// Does all of the writes or none. 1 to 100, each about another key. A single write costs half of what it
    /// costs as one of several (DynamoDB's price of a transaction).
    async fn write(&self, writes: &[Write]) -> Result<Written, TableError>;

    /// Does puts and deletes under [`Condition::Always`], any number of them, each by itself and in any order. Doing
    /// them again changes nothing. After an error some of them may have happened.
    ///
    /// On DynamoDB each costs half of what it costs as one of several in [`Self::write`].
    async fn write_each(&self, writes: &[Write]) -> Result<(), TableError> {
        for write in writes {
            if let Written::Refused(_) = self.write(std::slice::from_ref(write)).await? {
                return Err(TableError::Invalid("a plain write has a condition".into()));
            }
        }
        Ok(())
    }

    /// Fails while the table refuses writes, for monitors, which may ask often. Tables that have no such state always
    /// accept.
    async fn accepts_writes(&self) -> Result<(), TableError> {
        Ok(())
    }
}

/// Counts what a query has by reading its pages.
///
/// # Errors
///
/// As for [`Table::query`].
pub async fn count_by_pages<T: Table + ?Sized>(
    table: &T,
    query: &Query,
    most: u64,
) -> Result<u64, TableError> {
    let mut query = Query {
        limit: 1_000,
        ..query.clone()
    };
    let mut count = 0;
    loop {
        let page = table.query(&query).await?;
        count += page.items.len() as u64;
        query.cursor = page.cursor;
        if count >= most || query.cursor.is_none() {
            return Ok(count.min(most));
        }
    }
}
