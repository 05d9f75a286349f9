//! Walking over several partitions of an index as if they were one, in order of their sort keys.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::future::try_join_all;

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::last_part;
use crate::store::Store;
use crate::table::{Index, Item, Key, Query, Value};

/// An instance as an index lists it.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// Its sort key in the index: the time of its creation, then its id. No other instance has it.
    pub(crate) sort: String,
    /// The key of the head, whatever row beside it the index lists.
    pub(crate) key: Key,
    pub(crate) instance_id: String,
    /// The summary, encoded, where the index has it.
    pub(crate) summary: Option<Bytes>,
}

/// How many are passed over at once.
const SKIPPED_AT_ONCE: usize = 1_000;

/// One partition and how far it is read.
struct Lane {
    query: Query,
    ready: VecDeque<Listed>,
    is_read: bool,
}

/// The merge of several partitions.
pub(crate) struct Walk {
    lanes: Vec<Lane>,
    ascending: bool,
}

fn listed(item: Item, index: Option<Index>) -> Result<Listed, StoreError> {
    let what = "instance";
    let [_, name] = index.unwrap_or(Index::One).keys();
    let sort = match item.attributes.get(name) {
        Some(Value::S(sort)) => sort.clone(),
        None | Some(Value::N(_) | Value::B(_) | Value::Ss(_)) => {
            return Err(StoreError::damaged(what));
        }
    };
    let instance_id = last_part(what, &sort)?;
    let summary = body::bytes(&item.attributes, Index::SUMMARY).cloned();
    Ok(Listed {
        sort,
        key: Key::new(item.key.partition, "HEAD"),
        instance_id,
        summary,
    })
}

impl Lane {
    /// The sort key of its next one.
    fn sort(&self) -> Option<&str> {
        self.ready.front().map(|listed| listed.sort.as_str())
    }

    /// Reads on until there is something or nothing more.
    async fn fill(&mut self, store: &Store) -> Result<(), StoreError> {
        while self.ready.is_empty() && !self.is_read {
            let page = store.table().query(&self.query).await?;
            for item in page.items {
                self.ready.push_back(listed(item, self.query.index)?);
            }
            self.is_read = page.cursor.is_none();
            self.query.cursor = page.cursor;
        }
        Ok(())
    }
}

impl Walk {
    pub(crate) fn new(queries: Vec<Query>, ascending: bool) -> Self {
        let lane = |query| Lane {
            query,
            ready: VecDeque::new(),
            is_read: false,
        };
        Self {
            lanes: queries.into_iter().map(lane).collect(),
            ascending,
        }
    }

    /// The next ones in order, at most `limit`; none at the end.
    pub(crate) async fn next(
        &mut self,
        store: &Store,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let mut batch = Vec::new();
        while batch.len() < limit && self.has_more(store).await? {
            let ascending = self.ascending;
            let with_next = self.lanes.iter_mut().filter(|lane| !lane.ready.is_empty());
            let first = with_next.min_by(|a, b| {
                let order = a.sort().cmp(&b.sort());
                if ascending { order } else { order.reverse() }
            });
            batch.extend(first.and_then(|lane| lane.ready.pop_front()));
        }
        Ok(batch)
    }

    /// Passes over the next `count`.
    pub(crate) async fn skip(&mut self, store: &Store, count: usize) -> Result<(), StoreError> {
        let mut left = count;
        while left > 0 {
            let passed = self.next(store, left.min(SKIPPED_AT_ONCE)).await?;
            if passed.is_empty() {
                return Ok(());
            }
            left -= passed.len();
        }
        Ok(())
    }

    /// Whether there is a next one. Every lane is read as far as that takes, all at once.
    pub(crate) async fn has_more(&mut self, store: &Store) -> Result<bool, StoreError> {
        let empty = self
            .lanes
            .iter_mut()
            .filter(|lane| lane.ready.is_empty() && !lane.is_read);
        try_join_all(empty.map(|lane| lane.fill(store))).await?;
        Ok(self.lanes.iter().any(|lane| !lane.ready.is_empty()))
    }
}
