//! The step: one stimulus in, a new state and what must be done about it out.
//!
//! Pure: the same graph, instance, stimulus and environment give the same transition, byte for byte.

mod alter;
mod cancel;
mod chain;
mod child;
mod complete;
mod cx;
mod evaluate;
mod event_links;
mod fault;
mod guard;
mod outside;
mod raise;
mod rest;
mod run;
mod scope;
mod started;
mod undo;
mod view;
mod wait;

use dormouse_expressions::Expressions;
use serde_json::{Map, Value};

pub use alter::Change;
pub use cx::Cx;
pub use event_links::EventLinks;
pub use fault::{Fault, Origin};
pub use outside::{CannotSeal, SEALED_PREFIX, SecretReferences, Settings};
pub use run::Run;

use crate::call::{Answer, Call, HttpResponse};
use crate::effect::{Child, Effect};
use crate::graph::Graph;
use crate::id::{BookmarkId, ContextId, InstanceId};
use crate::instance::{Bookmark, Instance, SubStatus};
use crate::journal::Entry;
use crate::time::Timestamp;

/// Stands in for the sub-status of a child that could not be started.
pub(crate) const NOT_STARTED: &str = "NotStarted";

/// What wakes an instance.
#[derive(Debug, Clone, PartialEq)]
pub enum Stimulus {
    /// The first burst of a new instance.
    Start,
    /// A bookmark's waiting is over.
    Resume {
        /// Which one. One that is gone is a duplicate delivery: nothing happens.
        bookmark: BookmarkId,
        /// What the activity receives, by name.
        input: Map<String, Value>,
    },
    /// The answer of a call.
    Answered {
        /// The call's bookmark. One that is gone: nothing happens.
        bookmark: BookmarkId,
        /// The answer.
        answer: Answer,
    },
    /// Go on with queued work, after a commit in mid-burst or a crash.
    Continue,
    /// End it.
    Cancel,
    /// Cancel one execution of an activity, or all of an activity.
    CancelActivity {
        /// The activity's id.
        activity_id: String,
    },
    /// Change it as an operator says: everything, or nothing if one of the changes cannot be made now.
    Alter {
        /// The changes, in their order.
        changes: Vec<Change>,
    },
    /// End it as failed: it cannot be stored, or it was given up on.
    Fail {
        /// The kind of failure; a stable name.
        kind: String,
        /// What went wrong, in a sentence for the workflow's author.
        message: String,
    },
    /// Run an activity again: the faulted executions given, or all of them.
    Retry {
        /// Activity ids; empty: every faulted one.
        activity_ids: Vec<String>,
    },
}

/// How far a burst may go before it is an incident rather than work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Activities of one step; then the burst is committed and goes on.
    pub step_activities_max: u32,
    /// Activities of an instance from one wait to the next; more is a loop without end.
    pub burst_activities_max: u64,
    /// Executions and queued work alive at once.
    pub contexts_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            step_activities_max: 20_000,
            burst_activities_max: 1_000_000,
            contexts_max: 100_000,
        }
    }
}

/// What a step is given besides the state and the stimulus.
pub struct Environment<'a> {
    /// The time of the burst.
    pub now: Timestamp,
    /// Runs scripts.
    pub expressions: &'a Expressions,
    /// How far it may go.
    pub limits: Limits,
    /// Whether flowcharts pass tokens where neither the instance nor its definition says how they go on.
    pub passes_tokens: bool,
    /// Whether an HTTP request waits for what this burst answers.
    pub has_http_request: bool,
    /// Activities that ran since the instance last waited, over the earlier steps of this burst.
    pub activities_before: u64,
    /// Makes addresses for scripts. `None`: the host has no public address.
    pub event_links: Option<&'a dyn EventLinks>,
    /// Makes references to secrets. `None`: the host has none.
    pub secrets: Option<&'a dyn SecretReferences>,
    /// Settings that scripts may read. `None`: there are none, nor a function to read them.
    pub settings: Option<&'a dyn Settings>,
}

impl<'a> Environment<'a> {
    /// An environment without HTTP and with the usual limits.
    #[must_use]
    pub fn new(now: Timestamp, expressions: &'a Expressions) -> Self {
        Self {
            now,
            expressions,
            limits: Limits::default(),
            passes_tokens: false,
            has_http_request: false,
            activities_before: 0,
            event_links: None,
            secrets: None,
            settings: None,
        }
    }
}

/// What comes after the commit.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// The instance waits, or has ended.
    Rest,
    /// Another step with [`Stimulus::Continue`].
    Continue,
    /// Make these calls, and step with [`Stimulus::Answered`] for each.
    Call(Vec<Call>),
}

/// The result of a step. The caller saves state, bookmarks, journal and effects in one transaction and only then
/// carries the effects out; the other order would let a crash announce a state that was never saved.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The new state.
    pub instance: Instance,
    /// Whether anything changed. If not, there is nothing to save.
    pub is_changed: bool,
    /// Bookmarks that are new.
    pub bookmarks_added: Vec<Bookmark>,
    /// Bookmarks that are gone.
    pub bookmarks_removed: Vec<Bookmark>,
    /// What to do after the commit.
    pub effects: Vec<Effect>,
    /// What happened, line by line.
    pub journal: Vec<Entry>,
    /// What `WriteLine` wrote.
    pub lines: Vec<String>,
    /// What to answer to the waiting HTTP request.
    pub response: Option<HttpResponse>,
    /// Activities that ran in this step.
    pub activities: u64,
    /// What comes after the commit.
    pub next: Next,
}

/// Moves an instance forward by one stimulus.
///
/// A stimulus for a bookmark that is gone, or for an instance that has ended, is a duplicate delivery, not an
/// error: the transition is unchanged and has no effects. A workflow's own failure is not an error either: it is an
/// incident on the instance.
#[must_use]
pub fn step(
    graph: &Graph,
    instance: Instance,
    stimulus: Stimulus,
    environment: &Environment<'_>,
) -> Transition {
    // Changes that cannot all be made leave nothing behind.
    let before = matches!(stimulus, Stimulus::Alter { .. }).then(|| instance.clone());
    let mut run = Run::new(graph, instance, environment);
    if run.instance.is_ended() && !matches!(stimulus, Stimulus::Retry { .. }) {
        return run.unchanged();
    }
    let is_changed = match stimulus {
        Stimulus::Start => run.begin(),
        Stimulus::Resume { bookmark, input } => run.resume(&bookmark, input),
        Stimulus::Answered { bookmark, answer } => run.answered(&bookmark, answer),
        Stimulus::Continue => true,
        Stimulus::Cancel => run.cancel_instance(),
        Stimulus::Fail { kind, message } => {
            run.fail(Fault::new(&kind, message));
            true
        }
        Stimulus::CancelActivity { activity_id } => run.cancel_activity(&activity_id),
        Stimulus::Alter { changes } => run.alter(&changes),
        Stimulus::Retry { activity_ids } => run.retry(&activity_ids),
    };
    if !is_changed {
        return match before {
            Some(before) => Run::new(graph, before, environment).unchanged(),
            None => run.unchanged(),
        };
    }
    run.drain();
    run.conclude()
}

/// What an activity does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Then {
    /// It has ended, with these outcomes.
    Complete(Outcomes),
    /// It goes on when a child ends or a bookmark is resumed.
    Wait,
}

impl Then {
    /// Ended with `Done`.
    pub const DONE: Self = Self::Complete(Outcomes::Done);
}

/// Through which ports an activity ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Outcomes {
    /// `Done`.
    #[default]
    Done,
    /// These, perhaps none.
    Named(Vec<String>),
}

impl Outcomes {
    /// One outcome.
    #[must_use]
    pub fn one(name: impl Into<String>) -> Self {
        Self::Named(vec![name.into()])
    }

    /// None at all.
    #[must_use]
    pub fn none() -> Self {
        Self::Named(Vec::new())
    }

    /// Whether the port is among them.
    #[must_use]
    pub fn contains(&self, port: &str) -> bool {
        match self {
            Self::Done => port == "Done",
            Self::Named(names) => names.iter().any(|n| n == port),
        }
    }

    /// The names.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Done => vec!["Done".into()],
            Self::Named(names) => names.clone(),
        }
    }
}

/// A child that has ended, as its owner sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// The child's activity.
    pub node: crate::graph::NodeIndex,
    /// Its execution; gone already.
    pub context: ContextId,
    /// Through which ports; none if it was cancelled.
    pub outcomes: Outcomes,
    /// The owner's mark.
    pub tag: i64,
    /// It was cancelled rather than completed.
    pub is_cancelled: bool,
}

/// How an instance ended, for its parent: what its bookmark is resumed with.
#[must_use]
pub fn end_of(instance: &Instance) -> Map<String, Value> {
    let serial = instance.parent.as_ref().map_or(0, |p| p.serial);
    let mut input = child_input(&instance.id, serial, instance.sub_status.as_str());
    input.insert("Output".into(), Value::Object(instance.output.clone()));
    input
}

/// What a waiting parent's bookmark is resumed with when a child cannot be started: its definition is gone.
#[must_use]
pub fn not_started(child: &Child, message: &str) -> Map<String, Value> {
    let serial = child.start.parent.as_ref().map_or(0, |p| p.serial);
    let mut input = child_input(&child.instance, serial, NOT_STARTED);
    input.insert("Message".into(), message.into());
    input
}

fn child_input(child: &InstanceId, serial: u64, sub_status: &str) -> Map<String, Value> {
    let mut input = Map::new();
    input.insert("ChildInstanceId".into(), child.as_str().into());
    input.insert("ChildSerial".into(), serial.into());
    input.insert("SubStatus".into(), sub_status.into());
    input
}

/// Whether the sub-status is one that nothing leaves.
#[must_use]
pub fn is_terminal(sub_status: SubStatus) -> bool {
    sub_status.status() == crate::instance::Status::Finished
}
