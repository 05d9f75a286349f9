//! A definition made ready to run: its activities as one flat list, with the workflows it uses inlined.
//!
//! A graph never changes and is shared between threads. Compiling cannot fail: what Elsa would not find becomes a
//! node that faults when it runs, and every problem is listed.

mod build;
mod children;
mod describe;
pub mod expression;
mod finish;
mod guard;
mod place;
mod plain;
mod property;
mod trigger;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

pub use build::{Builder, DEPTH_MAX, NODES_MAX};
pub use children::{Children, Reference};
pub use expression::Expression;
pub use guard::Guard;
pub use place::Place;
pub use property::argument_property;
pub use trigger::{Recurrence, Trigger, stimulus_hash};

use crate::activity::Activity;
use crate::definition::data_type::DataType;
use crate::definition::declaration::{Argument, CommitStrategy, IncidentStrategy, Variable};
use crate::definition::search_attribute::SearchAttribute;

/// The place of an activity in [`Graph::nodes`]. Stable for one definition version and one build; stored data
/// carries node ids beside it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    Default,
)]
#[serde(transparent)]
pub struct NodeIndex(pub u32);

/// An input of an activity as the definition sets it.
#[derive(Debug, Clone)]
pub struct Input {
    /// The name in JSON (camelCase).
    pub name: String,
    /// What it should be.
    pub data_type: DataType,
    /// What gives its value. `None`: not set.
    pub expression: Option<Expression>,
    /// The value when it is not set or gives null.
    pub default: Value,
    /// Evaluated by the activity itself, not before it runs.
    pub is_lazy: bool,
    /// Never written to the journal.
    pub is_sensitive: bool,
    /// Whether the journal shows it.
    pub is_logged: bool,
}

/// Where an output's value goes besides the output register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The variable with this id.
    Variable(String),
    /// An output of the workflow (or of the workflow used as an activity that the node is in).
    Output(String),
}

/// An output of an activity.
#[derive(Debug, Clone)]
pub struct Output {
    /// The name in JSON (camelCase).
    pub name: String,
    /// The type its values are converted to.
    pub data_type: DataType,
    /// Where it is bound to.
    pub target: Option<Target>,
    /// Whether the journal shows it.
    pub is_logged: bool,
    /// Whether it is a file, a request or an answer, of which readers are told that it is not shown.
    pub is_opaque: bool,
}

/// When an activity's own commit strategy commits. `None` in both: the workflow's strategy decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodeCommit {
    /// Before it runs.
    pub before: Option<bool>,
    /// After it ran.
    pub after: Option<bool>,
}

/// One activity.
#[derive(Debug)]
pub struct Node {
    /// The id in the definition.
    pub id: String,
    /// Elsa's path of ids from the root: `Workflow1:Flowchart1:WriteLine1`.
    pub node_id: String,
    /// The name, where it has one.
    pub name: Option<String>,
    /// The type, as written.
    pub type_name: String,
    /// The type's version.
    pub version: u32,
    /// The activity it is in.
    pub parent: Option<NodeIndex>,
    /// What it does.
    pub activity: Box<dyn Activity>,
    /// Its inputs, in the order of its descriptor.
    pub inputs: Vec<Input>,
    /// Its properties of plain JSON, by their names in JSON, as the definition or their default has them.
    pub plain: Vec<(String, Value)>,
    /// Its outputs.
    pub outputs: Vec<Output>,
    /// Variables it declares.
    pub variables: Vec<Variable>,
    /// Whether it may start instances.
    pub can_start_workflow: bool,
    /// Whether it runs as a background job.
    pub run_asynchronously: bool,
    /// Token mode's join rule, as written.
    pub merge_mode: Option<String>,
    /// Its commit strategy.
    pub commit: NodeCommit,
    /// `customProperties.resilienceStrategy`, as written.
    pub resilience: Option<Value>,
    /// What is around it for when it fails.
    pub guard: Guard,
    /// Whether its workflow's accessors use names (else ids).
    pub modern: bool,
    /// All its custom properties.
    pub custom: BTreeMap<String, Value>,
}

/// Something wrong with a definition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Where: a JSON path from the definition's root, such as `root.activities[2].text`.
    pub path: String,
    /// A stable code.
    pub code: &'static str,
    /// What is wrong and what to do about it.
    pub message: String,
    /// Whether it keeps the definition from being published. Other problems are warnings.
    pub is_error: bool,
}

/// A definition ready to run.
#[derive(Debug)]
pub struct Graph {
    /// The definition's id.
    pub definition_id: String,
    /// The version's id.
    pub version_id: String,
    /// The version's number.
    pub version: u32,
    /// The definition's name.
    pub name: Option<String>,
    /// All activities, parents before children. The first is the workflow itself.
    pub nodes: Vec<Node>,
    /// Inputs the workflow declares.
    pub inputs: Vec<Argument>,
    /// Outputs the workflow declares.
    pub outputs: Vec<Argument>,
    /// What a failure does.
    pub incident_strategy: IncidentStrategy,
    /// When bursts are committed.
    pub commit_strategy: CommitStrategy,
    /// Whether its flowcharts pass tokens, if it says so.
    pub passes_tokens: Option<bool>,
    /// The names under which lists find its instances.
    pub search_attributes: Vec<SearchAttribute>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// The versions of other workflows it was compiled with: (definition id, version).
    pub bindings: Vec<(String, u32)>,
    /// Workflows used as activities that were not found.
    pub missing: Vec<Reference>,
    by_node_id: BTreeMap<String, NodeIndex>,
    by_activity_id: BTreeMap<String, NodeIndex>,
    /// JSON paths of activities that may start instances, by id.
    trigger_paths: BTreeMap<String, String>,
    variables: BTreeMap<String, (NodeIndex, usize)>,
}

/// The workflow itself.
pub const ROOT: NodeIndex = NodeIndex(0);

impl Graph {
    /// The activity at an index.
    ///
    /// Indexes come from this graph, so the fallback to the root is never taken; it spares a panic.
    #[must_use]
    pub fn node(&self, index: NodeIndex) -> &Node {
        #[allow(
            clippy::indexing_slicing,
            reason = "a graph always has its root, and indexes come from the graph"
        )]
        self.nodes.get(index.0 as usize).unwrap_or(&self.nodes[0])
    }

    /// The activity with Elsa's node id.
    #[must_use]
    pub fn by_node_id(&self, node_id: &str) -> Option<NodeIndex> {
        self.by_node_id.get(node_id).copied()
    }

    /// The first activity with the id, outer workflows before the ones they use.
    #[must_use]
    pub fn by_activity_id(&self, id: &str) -> Option<NodeIndex> {
        self.by_activity_id.get(id).copied()
    }

    /// The node that declares the variable with the id as seen from `from`, and the variable's place there.
    #[must_use]
    pub fn variable(&self, id: &str, from: NodeIndex) -> Option<(NodeIndex, usize)> {
        let found = self.variables.get(id).copied()?;
        // Two containers may declare the same id, as two inlined copies of one workflow do: the nearest one counts.
        let mut at = Some(from);
        while let Some(index) = at {
            let node = self.node(index);
            if let Some(place) = node.variables.iter().position(|v| v.id == id) {
                return Some((index, place));
            }
            at = node.parent;
        }
        Some(found)
    }

    /// The JSON path of an activity that may start instances.
    #[must_use]
    pub fn trigger_path(&self, activity_id: &str) -> Option<&str> {
        self.trigger_paths.get(activity_id).map(String::as_str)
    }

    /// Whether `inner` is `outer` or somewhere inside it.
    #[must_use]
    pub fn is_within(&self, inner: NodeIndex, outer: NodeIndex) -> bool {
        let mut at = Some(inner);
        while let Some(index) = at {
            if index == outer {
                return true;
            }
            at = self.node(index).parent;
        }
        false
    }

    /// The indexes of all activities.
    pub fn indexes(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeIndex)
    }

    /// The problems that keep it from being published.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|p| p.is_error)
    }
}

/// A graph as everybody holds it.
pub type SharedGraph = Arc<Graph>;
