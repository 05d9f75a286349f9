//! The work of one rendering, within its limits.

use crate::EvaluationError;
use crate::budget::{Budget, Reached};

/// What one rendering may still do, and the time it happens at.
#[derive(Debug)]
pub(super) struct Work {
    budget: Budget,
    /// The instance's time, milliseconds since 1970.
    pub(super) now_ms: i64,
}

impl Work {
    pub(super) fn new(budget: Budget, now_ms: i64) -> Self {
        budget.begin();
        Self { budget, now_ms }
    }

    /// Adds work, in operations such as JavaScript's.
    pub(super) fn charge(&self, operations: usize) -> Result<(), EvaluationError> {
        self.check(self.budget.charge(operations as u64))
    }

    /// Adds memory, in bytes, before it is taken. It is never given back: all that one rendering makes counts.
    pub(super) fn allocate(&self, bytes: usize) -> Result<(), EvaluationError> {
        self.charge(bytes / 16)?;
        self.check(self.budget.allocate(bytes))
    }

    /// Adds output, in bytes.
    pub(super) fn emit(&self, bytes: usize) -> Result<(), EvaluationError> {
        self.check(self.budget.emit(bytes))
    }

    fn check(&self, goes_on: bool) -> Result<(), EvaluationError> {
        if goes_on {
            return Ok(());
        }
        Err(self
            .budget
            .exceeded()
            .unwrap_or_else(|| self.budget.error(Reached::Steps)))
    }
}
