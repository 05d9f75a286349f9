//! Bugs on purpose: the explorer must find each of them.

use std::collections::BTreeMap;
use std::sync::Mutex;

use dormouse_store::table::{Condition, Item, Key, Page, Write};

/// What a node's table does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Plant {
    /// Nothing.
    #[default]
    None,
    /// A commit counts although its attempt was fenced.
    NoFence,
    /// What belongs together is written piece by piece.
    TornWrites,
    /// Effects are not recorded with the commit.
    NoOutbox,
    /// Nobody's claim is in anybody's way.
    NoClaims,
    /// A start believes what it knows of the definition.
    TrustsCache,
}

impl Plant {
    /// The condition as the broken table checks it.
    pub(crate) fn condition(self, condition: &Condition) -> Condition {
        match condition {
            Condition::All(all) => Condition::All(all.iter().map(|c| self.condition(c)).collect()),
            Condition::Equals(name, _) if self == Self::NoFence && name == "fe" => {
                Condition::Always
            }
            // A placeholder carries the fence of an instance that is not there.
            Condition::Absent if self == Self::NoFence => {
                let placeholder = Condition::Has("pl".into());
                Condition::Any(vec![Condition::Absent, placeholder])
            }
            other => other.clone(),
        }
    }

    /// The writes as the broken table does them.
    pub(crate) fn writes(self, writes: &[Write]) -> Vec<Write> {
        let is_kept = |write: &&Write| {
            let partition = &write.key().partition;
            let is_put = matches!(write, Write::Put(..));
            !(self == Self::NoOutbox && is_put && partition.contains("/OUTBOX#"))
        };
        let broken = |write: &Write| match write {
            Write::Put(item, condition) => {
                let is_claim = item.key.partition.contains("/UNIQ#");
                let condition = if self == Self::NoClaims && is_claim {
                    Condition::Always
                } else {
                    self.condition(condition)
                };
                Write::Put(item.clone(), condition)
            }
            Write::Update(key, changes, condition) => {
                Write::Update(key.clone(), changes.clone(), self.condition(condition))
            }
            Write::Delete(key, condition) => Write::Delete(key.clone(), self.condition(condition)),
            Write::Check(key, condition) => Write::Check(key.clone(), self.condition(condition)),
        };
        writes.iter().filter(is_kept).map(broken).collect()
    }

    fn is_trusted(self, key: &Key) -> bool {
        self == Self::TrustsCache && key.sort == "HEAD" && key.partition.contains("/DEF#")
    }

    /// What a definition's head was when it was read first.
    pub(crate) fn stale_read(
        self,
        looked: &Mutex<BTreeMap<String, Page>>,
        key: &Key,
    ) -> Option<Option<Item>> {
        if !self.is_trusted(key) {
            return None;
        }
        let page = looked.lock().unwrap().get(&key.partition)?.clone();
        Some(page.items.into_iter().next())
    }

    pub(crate) fn remember_read(
        self,
        looked: &Mutex<BTreeMap<String, Page>>,
        key: &Key,
        item: Option<&Item>,
    ) {
        if self.is_trusted(key) {
            let items = item.cloned().into_iter().collect();
            let page = Page {
                items,
                ..Page::default()
            };
            looked
                .lock()
                .unwrap()
                .entry(key.partition.clone())
                .or_insert(page);
        }
    }
}
