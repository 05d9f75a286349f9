//! The table as a map in memory: the plain reference that says what a table does. Tests and the simulation run
//! on it, and every other table must agree with it. Nothing is kept beyond the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::table::cursor::Cursor;
use crate::table::limits::{PAGE_BYTES_MAX, check_changes, check_writes};
use crate::table::outcome::{Decision, Outcome};
use crate::table::scan::Scan;
use crate::table::{
    Attributes, Change, Condition, Durability, Index, Item, Key, Page, Query, Table, TableError,
    Updated, Value, Write, Written,
};

/// A [`Table`] in memory.
#[derive(Debug, Default)]
pub struct MemoryTable {
    items: Mutex<BTreeMap<Key, Attributes>>,
}

impl MemoryTable {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything in it, in the order of keys: for checks of what a test left behind.
    #[must_use]
    pub fn items(&self) -> Vec<Item> {
        self.lock()
            .iter()
            .map(|(key, attributes)| item(key, attributes))
            .collect()
    }

    /// Whether there is any item in a partition that begins so.
    #[must_use]
    pub fn has_partition(&self, prefix: &str) -> bool {
        let items = self.lock();
        let mut from = items.range(Key::new(prefix, "")..);
        from.next()
            .is_some_and(|(key, _)| key.partition.starts_with(prefix))
    }

    /// Deletes what is past its `ttl` (epoch seconds), and says how many items that were.
    pub fn sweep_expired(&self, now_s: i64) -> usize {
        let mut items = self.lock();
        let before = items.len();
        items.retain(|_, attributes| {
            !matches!(attributes.get("ttl"), Some(Value::N(ttl_s)) if *ttl_s < now_s)
        });
        before - items.len()
    }

    /// A panic while the lock was held left the map whole: every change of it is one insert or remove.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Attributes>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for MemoryTable {
    /// Another table with the same items.
    fn clone(&self) -> Self {
        Self {
            items: Mutex::new(self.lock().clone()),
        }
    }
}

fn item(key: &Key, attributes: &Attributes) -> Item {
    Item {
        key: key.clone(),
        attributes: attributes.clone(),
    }
}

fn find(items: &BTreeMap<Key, Attributes>, key: &Key) -> Option<Item> {
    items.get(key).map(|attributes| item(key, attributes))
}

/// The partition and the sort key of an item, in the table or in the index.
fn place<'a>(
    key: &'a Key,
    attributes: &'a Attributes,
    index: Option<Index>,
) -> Option<[&'a str; 2]> {
    let Some(index) = index else {
        return Some([&key.partition, &key.sort]);
    };
    let text = |name: &str| match attributes.get(name) {
        Some(Value::S(text)) => Some(text.as_str()),
        None | Some(Value::N(_) | Value::B(_) | Value::Ss(_)) => None,
    };
    let [partition, sort] = index.keys();
    Some([text(partition)?, text(sort)?])
}

#[async_trait]
impl Scan for MemoryTable {
    async fn scan(&self, cursor: Option<String>) -> Result<Page, TableError> {
        // All of it is one page.
        let items = if cursor.is_none() {
            self.items()
        } else {
            Vec::new()
        };
        Ok(Page {
            items,
            cursor: None,
        })
    }
}

#[async_trait]
impl Table for MemoryTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        key.check()?;
        Ok(find(&self.lock(), key))
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        let after = query
            .cursor
            .as_deref()
            .map(|text| Cursor::decode(text, query.index));
        let after = after.transpose()?;
        let mut found: Vec<(Cursor, Item)> = Vec::new();
        // Items of one partition lie together; an index is searched from end to end.
        let begin = match query.index {
            None => Key::new(query.partition.as_str(), query.from.as_str()),
            Some(_) => Key::new("", ""),
        };
        let items = self.lock();
        let candidates = items
            .range(begin..)
            .take_while(|(key, _)| query.index.is_some() || key.partition == query.partition);
        for (key, attributes) in candidates {
            let Some([partition, sort]) = place(key, attributes, query.index) else {
                continue;
            };
            let in_range = partition == query.partition
                && sort >= query.from.as_str()
                && (query.until.is_empty() || sort < query.until.as_str());
            // Only what is in the range is copied: this table serves simulations by the million.
            if !in_range {
                continue;
            }
            let item = item(key, attributes);
            let Some(place) = Cursor::after(&item, query.index) else {
                continue;
            };
            let is_ahead = after.as_ref().is_none_or(|after| {
                if query.descending {
                    place < *after
                } else {
                    place > *after
                }
            });
            if is_ahead {
                found.push((place, item));
            }
        }
        drop(items);
        found.sort_by(|(left, _), (right, _)| left.cmp(right));
        if query.descending {
            found.reverse();
        }
        Ok(first_page(query, found))
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        _durability: Durability,
    ) -> Result<Updated, TableError> {
        check_changes(key, changes)?;
        let mut items = self.lock();
        let updated = Updated::of(key, changes, condition, find(&items, key))?;
        if let Updated::New(item) = &updated {
            items.insert(item.key.clone(), item.attributes.clone());
        }
        Ok(updated)
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        check_writes(writes)?;
        let mut items = self.lock();
        let decision = Decision::of(writes, |key| Ok::<_, TableError>(find(&items, key)))?;
        if let Decision::Apply(outcomes) = &decision {
            for (write, outcome) in writes.iter().zip(outcomes) {
                match outcome {
                    Outcome::Keep => {}
                    Outcome::Store(item) => {
                        items.insert(item.key.clone(), item.attributes.clone());
                    }
                    Outcome::Delete => {
                        items.remove(write.key());
                    }
                }
            }
        }
        Ok(decision.written())
    }
}

/// Cuts what was found at the query's limit, or after a mebibyte.
fn first_page(query: &Query, found: Vec<(Cursor, Item)>) -> Page {
    let mut page = Page::default();
    let mut bytes = 0;
    let mut last = None;
    for (place, item) in found {
        if page.items.len() == query.page_items_max() || bytes >= PAGE_BYTES_MAX {
            page.cursor = last.map(Cursor::encode);
            break;
        }
        let item = match query.index {
            None => item,
            Some(index) => item.projected(index),
        };
        bytes += item.size_bytes();
        last = Some(place);
        page.items.push(item);
    }
    page
}
