//! Activities: what each kind does. One file per kind.
//!
//! An activity is immutable and shared; what it remembers is in its [`crate::instance::Context`].

mod break_;
mod case;
mod child_start;
mod compensate;
mod complete;
mod correlate;
mod descriptor;
mod dispatch_workflow;
mod download_http_file;
pub(crate) mod execute_workflow;
mod fault;
mod finish;
mod flow_decision;
mod flow_fork;
mod flow_node;
mod flow_send_http_request;
mod flow_switch;
mod for_;
mod for_each;
mod fork;
mod http_call;
mod log_persistence;
mod parallel;
mod parallel_for_each;
mod publish_event;
mod registry;
mod run_javascript;
mod send_http_request;
mod set_name;
mod set_output;
mod state_machine;
mod switch;
mod throw;
mod try_catch;
mod while_;
mod write_file_http_response;
mod write_http_response;

#[cfg(test)]
pub(crate) mod scenario;

pub mod bulk_dispatch_workflows;
pub mod composite;
pub mod cron;
pub mod delay;
pub mod event;
pub mod flow_join;
pub mod flowchart;
pub mod http_endpoint;
pub mod if_;
pub mod marker;
pub mod not_found;
pub mod own;
pub mod read_line;
pub mod run_task;
pub mod sequence;
pub mod set_variable;
pub mod start_at;
pub mod timer;
pub mod workflow;
pub mod write_line;

use std::any::Any;
use std::fmt::Debug;

use serde_json::Value;

pub use descriptor::{ActivityKind, Descriptor, InputDescriptor, OutputDescriptor};
pub(crate) use log_persistence::{is_log_excluded, is_logged};
pub use registry::{BuiltIn, Kind, built_ins, resolve};

use crate::call::Answer;
use crate::graph::{Graph, NodeCommit, NodeIndex, Recurrence};
use crate::instance::{Bookmark, Memory};
use crate::step::{Cx, Ended, Fault, Then};

/// What a trigger listens for, worked out without an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Listening {
    /// The stimulus's name.
    pub name: String,
    /// What is hashed with it; see [`crate::graph::stimulus_hash`].
    pub hashed: Value,
    /// What the trigger keeps (more than what is hashed, for HTTP).
    pub payload: Value,
    /// When it fires by itself.
    pub recurrence: Option<Recurrence>,
}

/// Two versions of a definition, where an instance goes from the one to the other.
#[derive(Debug, Clone, Copy)]
pub struct Versions<'a> {
    /// Where it comes from.
    pub from: &'a Graph,
    /// Where it goes.
    pub to: &'a Graph,
}

/// One kind of activity, as configured at one node.
pub trait Activity: Any + Send + Sync + Debug {
    /// Does the work, or begins it.
    ///
    /// # Errors
    ///
    /// A [`Fault`]: an incident on the instance.
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault>;

    /// A child has ended. Usually that ends this one too.
    ///
    /// # Errors
    ///
    /// A [`Fault`]: an incident on the instance.
    fn child_ended(&self, _cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(Then::DONE)
    }

    /// A child was cancelled by somebody else. Elsa runs no callback then, so most activities just wait on.
    ///
    /// # Errors
    ///
    /// A [`Fault`]: an incident on the instance.
    fn child_cancelled(&self, _cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(Then::Wait)
    }

    /// A bookmark of this execution was resumed; [`Cx::burst_input`] has what came with it.
    ///
    /// # Errors
    ///
    /// A [`Fault`]: an incident on the instance.
    fn resumed(&self, _cx: &mut Cx<'_, '_>, _bookmark: &Bookmark) -> Result<Then, Fault> {
        Ok(Then::DONE)
    }

    /// A call of this execution was answered.
    ///
    /// # Errors
    ///
    /// A [`Fault`]: an incident on the instance.
    fn answered(
        &self,
        _cx: &mut Cx<'_, '_>,
        _bookmark: &Bookmark,
        _answer: Answer,
    ) -> Result<Then, Fault> {
        Ok(Then::DONE)
    }

    /// A child that joins branches has begun.
    ///
    /// # Errors
    ///
    /// A [`Fault`]: an incident on the instance.
    fn child_joins(&self, _cx: &mut Cx<'_, '_>, _child: NodeIndex) -> Result<(), Fault> {
        Ok(())
    }

    /// Runs a child because an operator asks for it. `false`: it cannot be run now.
    fn run_child(&self, _cx: &mut Cx<'_, '_>, _child: NodeIndex) -> bool {
        false
    }

    /// Makes what the same activity of another version remembers its own. `None`: it cannot go on from there.
    fn carry_over(
        &self,
        _from: &dyn Activity,
        memory: Memory,
        _versions: Versions<'_>,
    ) -> Option<Memory> {
        Some(memory)
    }

    /// Whether it deals with an error, its own or one that comes from below, as far as it has got.
    fn handles(&self, _memory: &Memory, _fault: &Fault, _is_own: bool) -> bool {
        false
    }

    /// Deals with an error that [`Self::handles`] said it does. What ran below has been cancelled.
    ///
    /// # Errors
    ///
    /// A [`Fault`]: an error that goes outwards.
    fn caught(&self, _cx: &mut Cx<'_, '_>, _fault: Fault, _is_own: bool) -> Result<Then, Fault> {
        Ok(Then::Wait)
    }

    /// Whether it sees to its retries and the time of its attempts itself.
    fn guards_itself(&self) -> bool {
        false
    }

    /// What it listens for when it may start instances. Inputs are evaluated without an instance.
    ///
    /// # Errors
    ///
    /// A [`Fault`] whose message says why it cannot listen; a validation error.
    fn listen(&self, _cx: &mut Cx<'_, '_>) -> Result<Vec<Listening>, Fault> {
        Ok(Vec::new())
    }

    /// Whether it starts instances when marked so.
    fn is_trigger(&self) -> bool {
        false
    }

    /// Whether it ends the flowchart or sequence it is in.
    fn is_terminal(&self) -> bool {
        false
    }

    /// Whether it is a loop, which stops a `Break`.
    fn is_loop(&self) -> bool {
        false
    }

    /// Whether dynamic variables may be made on it.
    fn is_container(&self) -> bool {
        false
    }

    /// Whether it is the implicit activity of a workflow.
    fn is_workflow(&self) -> bool {
        false
    }

    /// Whether it is a workflow used as an activity.
    fn is_composite(&self) -> bool {
        false
    }

    /// The connections between its children: from which, by which port, to which.
    fn connections(&self) -> Vec<(NodeIndex, &str, NodeIndex)> {
        Vec::new()
    }

    /// Whether it stands for a type that nobody knows.
    fn is_missing(&self) -> bool {
        false
    }

    /// Whether it does nothing but make a call.
    fn makes_calls(&self) -> bool {
        false
    }
}

/// Reads an activity's commit strategy.
pub(crate) fn node_commit(name: Option<&str>) -> NodeCommit {
    let name = name.unwrap_or_default().to_ascii_lowercase();
    let name = name.trim_end_matches("strategy");
    match name {
        "commitalways" => NodeCommit {
            before: Some(true),
            after: Some(true),
        },
        "commitnever" => NodeCommit {
            before: Some(false),
            after: Some(false),
        },
        "executing" => NodeCommit {
            before: Some(true),
            after: None,
        },
        "executed" => NodeCommit {
            before: None,
            after: Some(true),
        },
        _ => NodeCommit::default(),
    }
}
