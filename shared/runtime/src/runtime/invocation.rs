//! What one invocation adds to a runtime: when it ends, and how many messages led to it.
//!
//! A Lambda function is stopped without a word when its time is over. So work is bounded by the invocation's end:
//! what is left then is committed and goes on by message.

use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;

use crate::runtime::Runtime;
use crate::work::message::{Message, Task};

/// How long after the end of an invocation a lease of it still holds, in ms: a commit may be under way.
const GRACE_MS: i64 = 5_000;

/// What is left of an invocation for a call's answer to be committed, in ms.
const ANSWER_MS: i64 = 1_000;

/// The shortest lease, in ms, however little time is left.
const LEASE_MS_MIN: i64 = 1_000;

/// How many workflows may execute each other and wait, one within the other: each takes its part of a thread's stack.
pub const NESTED_MAX: u32 = 16;

/// What led to the work at hand, and until when it may go on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Invocation {
    /// When it began and when it ends. `None`: the process lives on.
    pub(crate) span: Option<Span>,
    /// How many messages led to it without anybody having waited in between.
    pub(crate) hops: u32,
    /// Within how many workflows that wait for it the work is done.
    pub(crate) nested: u32,
}

/// From when until when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    began: Timestamp,
    ends: Timestamp,
}

impl Runtime {
    /// The same runtime for an invocation that ends at a time: bursts make way, waits and leases are bounded by it.
    #[must_use]
    pub fn until(&self, ends: Timestamp) -> Self {
        let began = self.now();
        self.with_invocation(Invocation {
            span: Some(Span { began, ends }),
            ..self.invocation()
        })
    }

    /// The same runtime for a workflow that another one executes and waits for. `None`: too many do so within each other.
    pub(crate) fn nested(&self) -> Option<Self> {
        let nested = self.invocation().nested + 1;
        let invocation = Invocation {
            nested,
            ..self.invocation()
        };
        (nested <= NESTED_MAX).then(|| self.with_invocation(invocation))
    }

    /// The same runtime for what a message says.
    pub(crate) fn caused_by(&self, message: &Message) -> Self {
        self.with_invocation(Invocation {
            span: self.invocation().span,
            hops: message.hops.saturating_add(1),
            nested: 0,
        })
        .with_cause(&message.id)
    }

    /// A message that follows from the work at hand.
    pub(crate) fn message(&self, tenant: &Tenant, id: impl Into<String>, task: Task) -> Message {
        Message {
            hops: self.invocation().hops,
            ..Message::new(id, tenant.clone(), task)
        }
    }

    /// Whether the invocation has ended, so that nothing more may be begun.
    #[must_use]
    pub fn is_out_of_time(&self) -> bool {
        let span = self.invocation().span;
        span.is_some_and(|span| self.now() >= span.ends)
    }

    /// How much of a length of time is left of the invocation, in ms.
    pub(crate) fn within_ms(&self, ms: i64) -> i64 {
        match self.invocation().span {
            Some(span) => ms.min(span.ends.0 - self.now().0).max(0),
            None => ms,
        }
    }

    /// How long an HTTP request may take that names this limit, in ms; 0: none.
    ///
    /// What a message says has the whole of an invocation at most, and then an answer: it would be cut off again and
    /// again. What is cut off for whoever asks by HTTP goes on by message.
    pub(crate) fn call_ms(&self, given: u64) -> u64 {
        let most = self.config().call_ms;
        let wanted = if given == 0 { most } else { given.min(most) };
        let Invocation { span, hops, .. } = self.invocation();
        match span {
            Some(span) if hops > 0 => {
                let whole = (span.ends.0 - span.began.0 - ANSWER_MS).max(ANSWER_MS);
                wanted.min(whole.unsigned_abs())
            }
            Some(_) | None => wanted,
        }
    }

    /// Whether something may be begun that may take so long: half of that is left, or half of an invocation.
    pub(crate) fn has_time_for(&self, may_take_ms: u64) -> bool {
        let Some(span) = self.invocation().span else {
            return true;
        };
        let may_take_ms = i64::try_from(may_take_ms).unwrap_or(i64::MAX);
        let wanted_ms = may_take_ms.min(span.ends.0 - span.began.0) / 2;
        !self.is_out_of_time() && self.within_ms(wanted_ms) >= wanted_ms
    }

    /// Until when a lease holds that is taken or renewed now.
    pub(crate) fn lease_until(&self, now: Timestamp) -> Timestamp {
        let usual = now.plus_ms(self.config().lease_ms);
        match self.invocation().span {
            Some(span) => usual
                .min(span.ends.plus_ms(GRACE_MS))
                .max(now.plus_ms(LEASE_MS_MIN)),
            None => usual,
        }
    }
}
