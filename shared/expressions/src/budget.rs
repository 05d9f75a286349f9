//! The work one evaluation may still do: counted operations first, real time only as a last resort.
//!
//! The interpreter asks every ten thousand operations of its own; host functions and guarded builtins
//! report what they do for a script natively, so that such work is not free.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::{EvaluationError, Limits, cut};

/// How many operations the interpreter does between two questions whether it may go on.
const OPERATIONS_PER_STEP: u64 = 10_000;

/// A limit that was reached; names the field of [`Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    Steps,
    Memory,
    Stack,
    Output,
    Depth,
    Time,
}

/// Counts the work of the running evaluation. Shared by everything that works for it on this thread.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    operations: Cell<u64>,
    steps: Cell<u64>,
    output_bytes: Cell<usize>,
    allocated_bytes: Cell<usize>,
    deadline: Cell<Instant>,
    reached: Cell<Option<Reached>>,
}

impl Budget {
    /// A budget of these limits, not yet begun.
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            operations: Cell::new(0),
            steps: Cell::new(0),
            output_bytes: Cell::new(0),
            allocated_bytes: Cell::new(0),
            deadline: Cell::new(Instant::now()),
            reached: Cell::new(None),
        }
    }

    /// Starts the next evaluation with the whole budget.
    pub(crate) fn begin(&self) {
        self.operations.set(0);
        self.steps.set(0);
        self.output_bytes.set(0);
        self.allocated_bytes.set(0);
        self.deadline
            .set(Instant::now() + Duration::from_millis(self.limits.time_ms_max));
        self.reached.set(None);
        if cut::is_cut() {
            self.reach(Reached::Time);
        }
    }

    /// The limits this budget is made from.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The interpreter's question: has the script to stop?
    pub(crate) fn step(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        self.check();
        self.reached.get().is_some()
    }

    /// Adds work done natively; false: the script has to stop.
    pub(crate) fn charge(&self, operations: u64) -> bool {
        self.operations
            .set(self.operations.get().saturating_add(operations));
        if self.operations.get() >= OPERATIONS_PER_STEP {
            self.steps
                .set(self.steps.get() + self.operations.get() / OPERATIONS_PER_STEP);
            self.operations
                .set(self.operations.get() % OPERATIONS_PER_STEP);
            self.check();
        }
        self.reached.get().is_none()
    }

    /// Whether there is time left, or a limit was reached before.
    pub(crate) fn has_time(&self) -> bool {
        if self.reached.get().is_none() {
            self.check();
        }
        self.reached.get().is_none()
    }

    /// Adds bytes that leave the script; false: they are too many.
    pub(crate) fn emit(&self, bytes: usize) -> bool {
        let total = self.output_bytes.get().saturating_add(bytes);
        self.output_bytes.set(total);
        if total > self.limits.output_bytes_max {
            self.reach(Reached::Output);
        }
        self.reached.get().is_none()
    }

    /// Adds bytes that an evaluation takes from the process's own heap and is never asked to give back; false:
    /// they are too many. The interpreter of JavaScript has a heap of its own, which it limits itself.
    pub(crate) fn allocate(&self, bytes: usize) -> bool {
        let total = self.allocated_bytes.get().saturating_add(bytes);
        self.allocated_bytes.set(total);
        if total > self.limits.memory_bytes_max {
            self.reach(Reached::Memory);
        }
        self.reached.get().is_none()
    }

    /// Whether the evaluation did so much that its garbage is worth collecting at once.
    pub(crate) fn worked_hard(&self) -> bool {
        self.steps.get() > 0
    }

    /// Records a limit; the first one counts.
    pub(crate) fn reach(&self, limit: Reached) {
        if self.reached.get().is_none() {
            self.reached.set(Some(limit));
        }
    }

    /// The limit that was reached, as the error of the evaluation.
    pub(crate) fn exceeded(&self) -> Option<EvaluationError> {
        self.reached.get().map(|reached| self.error(reached))
    }

    /// The error that names a limit.
    pub(crate) fn error(&self, reached: Reached) -> EvaluationError {
        let limits = &self.limits;
        let (limit, value) = match reached {
            Reached::Steps => ("steps_max", limits.steps_max),
            Reached::Memory => ("memory_bytes_max", limits.memory_bytes_max as u64),
            Reached::Stack => ("stack_bytes_max", limits.stack_bytes_max as u64),
            Reached::Output => ("output_bytes_max", limits.output_bytes_max as u64),
            Reached::Depth => ("depth_max", limits.depth_max as u64),
            Reached::Time => ("time_ms_max", limits.time_ms_max),
        };
        EvaluationError::Limit { limit, value }
    }

    fn check(&self) {
        if self.steps.get() > self.limits.steps_max {
            self.reach(Reached::Steps);
        } else if Instant::now() > self.deadline.get() || cut::is_cut() {
            self.reach(Reached::Time);
        }
    }
}
