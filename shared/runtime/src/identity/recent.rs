//! What was read not long ago, by key.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The most entries that are remembered.
const ENTRIES_MAX: usize = 10_000;

/// Values that are believed for a while after they were read.
#[derive(Debug)]
pub(super) struct Recent<T> {
    believed_ms: i64,
    entries: Mutex<HashMap<String, (i64, T)>>,
}

impl<T: Clone> Recent<T> {
    pub(super) fn new(believed_ms: i64) -> Self {
        Self {
            believed_ms,
            entries: Mutex::default(),
        }
    }

    pub(super) fn get(&self, key: &str, now_ms: i64) -> Option<T> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_ms, value) = entries.get(key)?;
        (now_ms.abs_diff(*read_ms) < self.believed_ms.unsigned_abs()).then(|| value.clone())
    }

    pub(super) fn put(&self, key: String, value: T, now_ms: i64) -> T {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= ENTRIES_MAX {
            entries.clear();
        }
        entries.insert(key, (now_ms, value.clone()));
        value
    }

    /// Forgets everything: something has changed.
    pub(super) fn forget(&self) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.clear();
    }
}
