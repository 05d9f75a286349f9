//! What a loop runs over, and what it tells of its progress.

use serde_json::Value;

/// The `forloop` object.
pub(super) fn progress(turn: usize, count: usize) -> Value {
    serde_json::json!({
        "index": turn + 1,
        "index0": turn,
        "rindex": count - turn,
        "rindex0": count - turn - 1,
        "first": turn == 0,
        "last": turn + 1 == count,
        "length": count,
    })
}

/// What a loop runs over.
pub(super) enum Items {
    List(Vec<Value>),
    Range(i64, i64),
}

impl Items {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::List(items) => items.len(),
            Self::Range(first, last) if first > last => 0,
            Self::Range(first, last) => usize::try_from(first.abs_diff(*last))
                .unwrap_or(usize::MAX)
                .saturating_add(1),
        }
    }

    pub(super) fn get(&self, index: usize) -> Value {
        match self {
            Self::List(items) => items.get(index).cloned().unwrap_or_default(),
            Self::Range(first, _) => Value::from(
                i64::try_from(index).map_or(i64::MAX, |index| first.saturating_add(index)),
            ),
        }
    }
}
