//! The kernel: the way of one request through one instance. Read this first.
//!
//! ```text
//!  request ─► inbox ─► open ─► step ─► compose ─► commit ─► hand over
//! ```
//!
//! | part | file | what it does |
//! |---|---|---|
//! | requests | `work/wake.rs`, `work/target.rs`, `work/start.rs` | plain data: who asks for what of which instance |
//! | inbox | `runtime/inbox.rs` | combines the requests for one instance; one caller works for all |
//! | advance | `advance.rs` | takes a batch from the inbox and answers it; after a lost race once more, with the lease |
//! | begin, create | `begin.rs`, `create.rs` | finds the version that a start runs, and makes the first commit |
//! | open | `burst/open.rs` | loads the head and the state with one read, or takes the lease |
//! | combine | `combine.rs` | applies the requests of a batch one after the other, in memory |
//! | judge | `judge.rs` | whether the commit of what was prepared may still happen; fences what is old |
//! | step | `burst/stepper.rs` | runs the engine, which is pure; scripts run on threads of their own |
//! | compose | `burst/compose.rs` | makes the commit of what a step did: rows, timers, messages |
//! | commit | `burst/write.rs` | prepares the rows, then writes the head under its condition: that is the commit |
//! | run on | `burst/mod.rs`, `burst/call.rs` | steps and commits until the instance rests, ends or makes way |
//! | hand over | `burst/mod.rs` | gives messages to `outbox/`, and opened bookmarks to the port [`Outgoing`] |
//!
//! Rules that hold here, and that everything above relies on:
//!
//! - Nothing of a step is visible before the conditional write of the head. What is prepared before it carries a stamp,
//!   and its attempt is fenced before any of it is dropped.
//! - A request is answered once, after the commit that decides about it.
//! - Effects leave after the commit, under ids that a repetition shares. What fails stays in the outbox for the sweep.
//! - The kernel knows no use case: it depends on `graph/`, `loading/`, `outbox/`, `work/`, the store and the ports.
//!
//! [`Outgoing`]: crate::runtime::outgoing::Outgoing

pub(crate) mod advance;
pub(crate) mod begin;
pub(crate) mod burst;
pub(crate) mod combine;
pub(crate) mod create;
pub(crate) mod fail_stuck;
pub(crate) mod judge;
pub(crate) mod read;

use crate::runtime::handle::handle;

handle!(
    /// Work on one instance: load, step, commit, hand over the effects.
    pub(crate) Kernel,
    kernel
);
