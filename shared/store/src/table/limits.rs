//! The limits of the port: DynamoDB's own, kept by every table, so that what works on one works on all.

use std::collections::BTreeSet;

use crate::table::{Change, Index, Item, Key, Query, TableError, Value, Write};

/// The largest item: 400 KiB, names of attributes included.
pub const ITEM_BYTES_MAX: usize = 400 * 1024;
/// The most writes in one [`Table::write`](crate::table::Table::write).
pub const WRITES_MAX: usize = 100;
/// The most bytes of items in one atomic write.
pub const TRANSACTION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The longest partition or sort key, in bytes.
pub const KEY_BYTES_MAX: usize = 1024;
/// The most items on a page of a query.
pub const PAGE_ITEMS_MAX: u32 = 1_000;
/// The bytes of items after which a page of a query ends.
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// The names under which DynamoDB keeps the key itself: the partition, the sort key.
pub const KEY_NAMES: [&str; 2] = ["pk", "sk"];

impl Item {
    /// Its size in bytes as DynamoDB counts it (page "DynamoDB item sizes and formats"): UTF-8 names and
    /// values, and for a number about a byte per two digits.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let key = KEY_NAMES.concat().len() + self.key.partition.len() + self.key.sort.len();
        self.attributes.iter().fold(key, |sum, (name, value)| {
            sum + name.len() + value.size_bytes()
        })
    }

    /// Checks its key, its index keys and its size.
    ///
    /// # Errors
    ///
    /// [`TableError::Invalid`] or [`TableError::TooLarge`].
    pub fn check(&self) -> Result<(), TableError> {
        self.key.check()?;
        if let Some(name) = KEY_NAMES
            .iter()
            .find(|name| self.attributes.contains_key(**name))
        {
            return Err(TableError::Invalid(format!(
                "the attribute name {name} is reserved"
            )));
        }
        for name in Index::EVERY.iter().flat_map(|index| index.keys()) {
            match self.attributes.get(name) {
                None => {}
                Some(Value::S(text)) => check_key_part(name, text)?,
                Some(Value::N(_) | Value::B(_) | Value::Ss(_)) => {
                    return Err(TableError::Invalid(format!(
                        "the index key {name} is not text"
                    )));
                }
            }
        }
        at_most("item bytes", self.size_bytes(), ITEM_BYTES_MAX)
    }
}

impl Value {
    /// Its size in bytes as DynamoDB counts it.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        match self {
            Self::S(text) => text.len(),
            Self::N(number) => {
                let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
                1 + digits.div_ceil(2) + usize::from(*number < 0)
            }
            Self::B(bytes) => bytes.len(),
            Self::Ss(texts) => texts.iter().map(String::len).sum(),
        }
    }
}

impl Key {
    /// Checks that both parts are non-empty and short enough.
    ///
    /// # Errors
    ///
    /// [`TableError::Invalid`].
    pub fn check(&self) -> Result<(), TableError> {
        check_key_part("partition", &self.partition)?;
        check_key_part("sort key", &self.sort)
    }
}

fn check_key_part(what: &str, text: &str) -> Result<(), TableError> {
    match text.len() {
        0 => Err(TableError::Invalid(format!("the {what} is empty"))),
        1..=KEY_BYTES_MAX => Ok(()),
        size => Err(TableError::Invalid(format!(
            "the {what} has {size} bytes, the limit is {KEY_BYTES_MAX}"
        ))),
    }
}

/// Checks everything about the writes that can be known without the stored items.
///
/// # Errors
///
/// [`TableError::Invalid`] or [`TableError::TooLarge`].
pub fn check_writes(writes: &[Write]) -> Result<(), TableError> {
    if writes.is_empty() {
        return Err(TableError::Invalid("a write without writes".to_owned()));
    }
    at_most("number of writes", writes.len(), WRITES_MAX)?;
    let mut keys = BTreeSet::new();
    for write in writes {
        let key = write.key();
        if !keys.insert(key) {
            return Err(TableError::Invalid(format!(
                "two writes about one key: {key:?}"
            )));
        }
        match write {
            Write::Put(item, _) => item.check()?,
            Write::Update(key, changes, _) => check_changes(key, changes)?,
            Write::Delete(key, _) | Write::Check(key, _) => key.check()?,
        }
    }
    Ok(())
}

/// Checks everything about an update that can be known without the stored item.
///
/// # Errors
///
/// [`TableError::Invalid`].
pub fn check_changes(key: &Key, changes: &[Change]) -> Result<(), TableError> {
    key.check()?;
    let mut names = BTreeSet::new();
    match changes
        .iter()
        .map(Change::attribute)
        .find(|name| !names.insert(*name))
    {
        Some(name) => Err(TableError::Invalid(format!(
            "two changes of one attribute: {name}"
        ))),
        None => Ok(()),
    }
}

/// Checks that what is too much of something stays within its limit.
///
/// # Errors
///
/// [`TableError::TooLarge`].
pub(crate) fn at_most(what: &'static str, size: usize, limit: usize) -> Result<(), TableError> {
    if size > limit {
        Err(TableError::TooLarge { what, size, limit })
    } else {
        Ok(())
    }
}

impl Query {
    /// The most items a page of it has: its limit, brought into the range of 1 to [`PAGE_ITEMS_MAX`].
    #[must_use]
    pub fn page_items_max(&self) -> usize {
        self.limit.clamp(1, PAGE_ITEMS_MAX) as usize
    }
}
