//! The work one evaluation may still do: counted operations first, time only as a last resort.
//!
//! Time is processor time of the thread. A process that was frozen for longer than the limit, or starved by others, has evaluated
//! nothing meanwhile, and its scripts are not to blame.
//!
//! The interpreter asks every ten thousand operations of its own; host functions and guarded builtins
//! report what they do for a script natively, so that such work is not free.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::processor::processor_time;
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
    /// Until then nobody needs to look at the processor time.
    deadline: Cell<Instant>,
    /// The thread's processor time at the first look.
    busy_before: Cell<Option<Duration>>,
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
            busy_before: Cell::new(None),
            reached: Cell::new(None),
        }
    }

    /// Starts the next evaluation with the whole budget.
    pub(crate) fn begin(&self) {
        self.operations.set(0);
        self.steps.set(0);
        self.output_bytes.set(0);
        self.allocated_bytes.set(0);
        self.deadline.set(Instant::now() + self.time_max());
        self.busy_before.set(None);
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
        } else if self.is_late() || cut::is_cut() {
            self.reach(Reached::Time);
        }
    }

    fn time_max(&self) -> Duration {
        Duration::from_millis(self.limits.time_ms_max)
    }

    /// Whether the evaluation has taken its time. What it took before the first look is not counted: looking costs more than
    /// most evaluations.
    fn is_late(&self) -> bool {
        let before = self.busy_before.get().unwrap_or_else(processor_time);
        self.busy_before.set(Some(before));
        let now = Instant::now();
        if now <= self.deadline.get() {
            return false;
        }
        let taken = processor_time().saturating_sub(before);
        let left = self.time_max().saturating_sub(taken);
        self.deadline.set(now + left);
        left.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_the_thread_did_nothing_is_not_the_evaluations() {
        let limits = Limits {
            time_ms_max: 60,
            ..Limits::default()
        };
        let budget = Budget::new(limits);
        for looks_before in [false, true] {
            budget.begin();
            assert!(!looks_before || budget.has_time());
            std::thread::sleep(Duration::from_millis(100));
            assert!(budget.has_time(), "it looked before: {looks_before}");
            let begun = processor_time();
            while processor_time() - begun < Duration::from_millis(70) {
                std::hint::spin_loop();
            }
            assert!(!budget.has_time());
            assert_eq!(budget.reached.get(), Some(Reached::Time));
        }
    }
}
