//! Taking many writes apart into atomic writes that the table takes.

use crate::store::Store;
use crate::table::limits::TRANSACTION_BYTES_MAX;
use crate::table::{Attributes, Change, Value, Write};

/// The most bytes of one atomic write, with room for a head item beside them.
const BYTES_MAX: usize = TRANSACTION_BYTES_MAX - 600 * 1_024;

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::S(text) => text.len(),
        Value::N(_) => 8,
        Value::B(bytes) => bytes.len(),
        Value::Ss(set) => set.iter().map(|text| text.len() + 3).sum(),
    }
}

fn attribute_bytes(attributes: &Attributes) -> usize {
    attributes
        .iter()
        .map(|(name, value)| name.len() + value_bytes(value))
        .sum()
}

/// About how many bytes a write is.
fn bytes(write: &Write) -> usize {
    let key = write.key().partition.len() + write.key().sort.len() + 100;
    key + match write {
        Write::Put(item, _) => attribute_bytes(&item.attributes),
        Write::Update(_, changes, _) => changes
            .iter()
            .map(|change| match change {
                Change::Set(name, value) => name.len() + value_bytes(value),
                Change::Remove(name) | Change::Add(name, _) => name.len() + 8,
            })
            .sum(),
        Write::Delete(..) | Write::Check(..) => 0,
    }
}

impl Store {
    /// Whether so many more writes are one atomic write beside `count` others.
    pub(crate) fn fits<'a>(&self, count: usize, writes: impl Iterator<Item = &'a Write>) -> bool {
        let (count, size) = writes.fold((count, 0), |(count, size), write| {
            (count + 1, size + bytes(write))
        });
        count <= self.config().writes_max && size <= BYTES_MAX
    }

    /// The writes in as many atomic writes as they need, each with room for one write more.
    pub(crate) fn batches(&self, writes: Vec<Write>) -> Vec<Vec<Write>> {
        let mut batches = Vec::new();
        let mut batch = Vec::new();
        let mut size = 0;
        for write in writes {
            size += bytes(&write);
            if !batch.is_empty()
                && (batch.len() + 1 >= self.config().writes_max || size > BYTES_MAX)
            {
                batches.push(std::mem::take(&mut batch));
                size = bytes(&write);
            }
            batch.push(write);
        }
        if !batch.is_empty() {
            batches.push(batch);
        }
        batches
    }
}
