//! The epoch of a table that one process has for itself: from its opening to its end, however that comes.
//!
//! Whatever lock keeps the others away proves that the process of any other epoch is gone. So what that one held is
//! free at once, and need not run out. A table that several processes use has no epochs.

use std::sync::Arc;

use crate::item::body;
use crate::table::{Attributes, Change, Condition, Value};

/// The epoch of a store's table, if it has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Epoch(Option<Arc<str>>);

impl Epoch {
    pub(crate) fn new(name: &str) -> Self {
        Self(Some(name.into()))
    }

    /// Its name, as it is stored beside what is held.
    pub(crate) fn name(&self) -> Option<String> {
        self.0.as_deref().map(str::to_owned)
    }

    /// The change that stores it beside what is taken.
    pub(crate) fn stamp(&self, attribute: &str) -> Option<Change> {
        let name = Value::S(self.name()?);
        Some(Change::Set(attribute.to_owned(), name))
    }

    /// Whether what is held until a time, in the epoch beside it, is free now.
    pub(crate) fn is_free(&self, until: &str, epoch: &str, now_ms: i64) -> Condition {
        let mut any = vec![
            Condition::Lacks(until.to_owned()),
            Condition::Below(until.to_owned(), now_ms),
        ];
        if let Some(name) = self.name() {
            let ours = Condition::Equals(epoch.to_owned(), Value::S(name));
            any.push(Condition::Not(Box::new(ours)));
        }
        Condition::Any(any)
    }

    /// Whether what an item says to be held may be held: whoever held it may live.
    pub(crate) fn is_held_in(&self, attributes: &Attributes, epoch: &str) -> bool {
        self.0
            .as_deref()
            .is_none_or(|name| body::text(attributes, epoch) == Some(name))
    }
}
