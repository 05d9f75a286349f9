//! Secondary indexes that are behind their table: each change of an item shows in them some time later, and changes of
//! different items in any order.

use std::collections::BTreeMap;

use dormouse_store::MemoryTable;
use dormouse_store::table::{
    Condition, Index, Item, Key, Page, Query, Table, TableError, Value, Write,
};

use super::inspector::at_once;

/// The indexes as they show.
pub(crate) struct LateIndexes {
    shown: MemoryTable,
    /// Changes by the time when they show.
    behind: BTreeMap<(i64, u64), (Key, Option<Item>)>,
    /// When the last change of an item shows: the changes of one item keep their order.
    last_ms: BTreeMap<Key, i64>,
    changes: u64,
}

impl LateIndexes {
    /// The indexes of a table, up to date.
    pub(crate) fn of(table: &MemoryTable) -> Self {
        let shown = MemoryTable::new();
        for item in table.items().into_iter().filter(is_indexed) {
            put(&shown, item);
        }
        Self {
            shown,
            behind: BTreeMap::new(),
            last_ms: BTreeMap::new(),
            changes: 0,
        }
    }

    /// An item was written or deleted; the indexes show it at `at_ms` or later.
    pub(crate) fn change(&mut self, key: &Key, item: Option<Item>, at_ms: i64) {
        let item = item.filter(is_indexed);
        let last_ms = self.last_ms.get(key).copied();
        // An item that no index has seen and that has no place in one.
        if item.is_none()
            && last_ms.is_none()
            && at_once(self.shown.get(key)).is_ok_and(|i| i.is_none())
        {
            return;
        }
        let at_ms = last_ms.map_or(at_ms, |last| last.max(at_ms));
        self.last_ms.insert(key.clone(), at_ms);
        self.changes += 1;
        self.behind
            .insert((at_ms, self.changes), (key.clone(), item));
    }

    /// Answers a query of an index as it shows at a time.
    pub(crate) fn query(&mut self, query: &Query, now_ms: i64) -> Result<Page, TableError> {
        while let Some(entry) = self.behind.first_entry()
            && entry.key().0 <= now_ms
        {
            let (key, item) = entry.remove();
            match item {
                Some(item) => put(&self.shown, item),
                None => {
                    let delete = Write::Delete(key, Condition::Always);
                    at_once(self.shown.write(&[delete])).expect("a key that was stored");
                }
            }
        }
        at_once(self.shown.query(query))
    }
}

fn put(table: &MemoryTable, item: Item) {
    let put = Write::Put(item, Condition::Always);
    at_once(table.write(&[put])).expect("an item that was stored");
}

/// Whether an item has a place in an index.
fn is_indexed(item: &Item) -> bool {
    let has = |name: &&str| matches!(item.attributes.get(*name), Some(Value::S(_)));
    let keys = Index::EVERY.iter().map(|index| index.keys());
    keys.into_iter().any(|keys| keys.iter().all(has))
}

#[test]
fn a_change_shows_late_and_in_order() {
    let item = |place: &str| {
        let text = |text: &str| Value::S(text.to_owned());
        let [partition, sort] = Index::Two.keys();
        Item {
            key: Key::new("p", "s"),
            attributes: [(partition, text("list")), (sort, text(place))]
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
        }
    };
    let query = Query {
        index: Some(Index::Two),
        until: String::new(),
        ..Query::prefix("list", "")
    };
    let mut indexes = LateIndexes::of(&MemoryTable::new());
    let key = Key::new("p", "s");
    indexes.change(&key, Some(item("one")), 100);
    indexes.change(&key, Some(item("two")), 50);
    indexes.change(&Key::new("other", "s"), None, 10);
    let mut seen = |now_ms| {
        let page = indexes.query(&query, now_ms).unwrap();
        page.items
            .first()
            .map(|item| item.attributes["g2s"].clone())
    };
    assert_eq!(seen(99), None);
    assert_eq!(seen(100), Some(Value::S("two".into())));
    indexes.change(&key, None, 120);
    assert!(indexes.query(&query, 119).unwrap().items.len() == 1);
    assert!(indexes.query(&query, 120).unwrap().items.is_empty());
}
