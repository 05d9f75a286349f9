//! One run of a definition: everything that is kept while it waits.

mod bookmark;
mod context;
mod encode;
mod guarded;
mod incident;
mod migrate;
mod search;
mod serials;
mod status;

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use bookmark::{Bookmark, Wait};
pub use context::{Context, Local, Memory, Recorded, Retry, Work};
pub use encode::DecodeError;
pub use guarded::{AfterUndo, Guarded, Undoable, Undoing};
pub use incident::{ExceptionState, Incident};
pub use serials::Serials;
pub use status::{Status, SubStatus};

use crate::definition::convert::convert;
use crate::definition::data_type::DataType;
use crate::effect::ParentLink;
use crate::graph::{Graph, ROOT};
use crate::id::{BookmarkId, ContextId, InstanceId, hex, mix};
use crate::time::Timestamp;

/// How an instance begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Start {
    /// Values for the workflow's inputs.
    pub input: Map<String, Value>,
    /// The correlation id.
    pub correlation_id: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The id of the activity that was triggered.
    pub trigger_activity_id: Option<String>,
    /// Properties, such as `Flowchart:ExecutionMode`.
    pub properties: Map<String, Value>,
    /// Who started it and wants to know of its end.
    pub parent: Option<ParentLink>,
}

/// One run of a definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// Its id.
    pub id: InstanceId,
    /// The definition.
    pub definition_id: String,
    /// The version's id.
    pub version_id: String,
    /// The version's number.
    pub version: u32,
    /// What it is doing, or how it ended.
    pub sub_status: SubStatus,
    /// The correlation id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentLink>,
    /// The id of the activity whose trigger started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_activity_id: Option<String>,
    /// Whether its first burst is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_trigger_taken: bool,
    /// Inputs. Those without a storage driver are gone once the instance waits, as in Elsa.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub input: Map<String, Value>,
    /// Outputs of the workflow.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub output: Map<String, Value>,
    /// Free properties.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub properties: Map<String, Value>,
    /// Last values of the workflow's variables, by place, once the workflow itself has ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<u32, Value>,
    /// Values of its search attributes, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub search: BTreeMap<String, String>,
    /// Activities that have begun and not ended, and faulted ones.
    pub contexts: BTreeMap<ContextId, Context>,
    /// Executions that have ended while activities of theirs were still due: those see their variables until the burst is
    /// over.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ended: BTreeMap<ContextId, Context>,
    /// Activities that are due.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub queue: VecDeque<Work>,
    /// Where it waits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bookmarks: Vec<Bookmark>,
    /// Where it waited when it failed. Nothing resumes it there, unless it is retried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Bookmark>,
    /// Failures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<Incident>,
    /// What has completed and can be undone, in the order of completion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undoable: Vec<Undoable>,
    /// How it ends once what is being undone is undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<SubStatus>,
    /// The last output named `Result`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub last_result: Value,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last did something.
    pub updated_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// The next context's and bookmark's serial number.
    pub next_serial: u64,
    /// The next journal entry's number; the journal has no gaps.
    pub sequence: u64,
    /// How many random numbers scripts have drawn.
    #[serde(default)]
    pub drawn: u64,
    /// Serial numbers of the children it started.
    #[serde(default, skip_serializing_if = "Serials::is_empty")]
    pub children: Serials,
    /// Given at the start; all randomness of the instance comes from it.
    pub seed: u64,
}

impl Instance {
    /// A new instance of a graph's definition, not run yet.
    #[must_use]
    pub fn new(graph: &Graph, id: InstanceId, start: Start, now: Timestamp, seed: u64) -> Self {
        Self {
            id,
            definition_id: graph.definition_id.clone(),
            version_id: graph.version_id.clone(),
            version: graph.version,
            sub_status: SubStatus::Pending,
            correlation_id: start.correlation_id.filter(|c| !c.is_empty()),
            name: start.name,
            parent: start.parent,
            trigger_activity_id: start.trigger_activity_id,
            is_trigger_taken: false,
            input: start.input,
            output: Map::new(),
            properties: start.properties,
            variables: BTreeMap::new(),
            search: BTreeMap::new(),
            contexts: BTreeMap::new(),
            ended: BTreeMap::new(),
            queue: VecDeque::new(),
            bookmarks: Vec::new(),
            left: Vec::new(),
            incidents: Vec::new(),
            undoable: Vec::new(),
            ending: None,
            last_result: Value::Null,
            created_at: now,
            updated_at: now,
            finished_at: None,
            next_serial: 1,
            sequence: 0,
            drawn: 0,
            children: Serials::default(),
            seed,
        }
    }

    /// Whether it can still do something.
    #[must_use]
    pub fn status(&self) -> Status {
        self.sub_status.status()
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.status() == Status::Finished
    }

    /// The open bookmark with the id.
    #[must_use]
    pub fn bookmark(&self, id: &BookmarkId) -> Option<&Bookmark> {
        self.bookmarks.iter().find(|b| &b.id == id)
    }

    /// The id of the child with a serial number: 32 hexadecimal digits of SHA-256, so that no two children of any
    /// instances share one.
    #[must_use]
    pub fn child_id(&self, serial: u64) -> InstanceId {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(format!("child|{}|{serial}", self.id));
        InstanceId::from(
            digest
                .iter()
                .take(16)
                .map(|b| format!("{b:02x}"))
                .collect::<String>(),
        )
    }

    /// The ids of all children it started.
    #[must_use]
    pub fn child_ids(&self) -> Vec<InstanceId> {
        self.children
            .iter()
            .map(|serial| self.child_id(serial))
            .collect()
    }

    /// The next serial number.
    pub(crate) fn serial(&mut self) -> u64 {
        let serial = self.next_serial;
        self.next_serial += 1;
        serial
    }

    /// The id that shows outside for a context: 16 hexadecimal digits.
    #[must_use]
    pub fn context_text(&self, context: ContextId) -> String {
        context_text(&self.id, context)
    }

    /// Keeps the last values of the workflow's own variables beyond the execution that holds them: the instance's
    /// readers ask for them after its end.
    pub(crate) fn keep_variables(&mut self, root: &Context) {
        if root.owner.is_none() {
            self.variables.clone_from(&root.variables);
        }
    }

    /// An execution, also one that has ended while activities of its were still due.
    pub(crate) fn context(&self, id: ContextId) -> Option<&Context> {
        self.contexts.get(&id).or_else(|| self.ended.get(&id))
    }

    pub(crate) fn context_mut(&mut self, id: ContextId) -> Option<&mut Context> {
        match self.contexts.get_mut(&id) {
            Some(context) => Some(context),
            None => self.ended.get_mut(&id),
        }
    }

    /// Keeps an execution that has ended for activities that are due in it, or in one that was kept for the same reason.
    pub(crate) fn keep_ended(&mut self, id: ContextId, context: &Context) {
        let is_due = self.queue.iter().any(|w| w.owner == Some(id));
        if is_due || self.ended.values().any(|c| c.owner == Some(id)) {
            let mut kept = context.clone();
            kept.has_ended = true;
            kept.memory = Memory::None;
            self.ended.insert(id, kept);
        }
    }

    /// Forgets the executions kept by [`Self::keep_ended`] once nothing is due any more.
    pub(crate) fn drop_ended(&mut self) {
        let ended = std::mem::take(&mut self.ended);
        if let Some(root) = ended.values().find(|c| c.owner.is_none()) {
            self.keep_variables(root);
        }
    }

    /// Value of a variable of the workflow by its place, whether the instance runs or has ended. `None`: it has its
    /// default.
    #[must_use]
    pub fn variable(&self, place: u32) -> Option<&Value> {
        let root = self.contexts.values().find(|c| c.owner.is_none());
        root.map_or(&self.variables, |c| &c.variables).get(&place)
    }

    /// Drops what is kept for the length of a burst only: inputs without a storage driver, variables in memory.
    /// Null is not stored, as by Elsa's drivers: a variable that was set to it has its default again.
    pub(crate) fn forget(&mut self, graph: &Graph) {
        use crate::definition::declaration::Storage;
        self.input.retain(|name, _| {
            graph
                .inputs
                .iter()
                .any(|i| i.name.eq_ignore_ascii_case(name) && i.storage == Storage::Instance)
        });
        let own = (ROOT, &mut self.variables);
        let contexts = self.contexts.values_mut();
        let all = contexts.map(|c| (c.node, &mut c.variables));
        for (node, variables) in all.chain([own]) {
            let declared = &graph.node(node).variables;
            variables.retain(|place, value| match declared.get(*place as usize) {
                Some(variable) if variable.storage == Storage::Instance => {
                    settle(value, &variable.data_type);
                    !value.is_null()
                }
                Some(_) => false,
                None => true,
            });
        }
    }
}

/// Converts a value that a script set as it was to the type of its variable, as Elsa does when it reads it back from
/// its store. Text stays text there, and what Elsa cannot convert stays what it is.
fn settle(value: &mut Value, wanted: &DataType) {
    use DataType as T;
    crate::activity::execute_workflow::store(value);
    let is_number = matches!(
        wanted,
        T::Byte | T::Short | T::Integer | T::Long | T::Single | T::Number | T::Decimal
    );
    let is_whole = is_number && !matches!(wanted, T::Single | T::Number | T::Decimal);
    let is_time = matches!(
        wanted,
        T::DateTime | T::DateTimeOffset | T::TimeSpan | T::Guid
    );
    let has_fraction = value.as_f64().is_some_and(|f| f.fract() != 0.0);
    let settled = match (&*value, wanted) {
        (Value::Array(_), _) if is_number || is_time || matches!(wanted, T::Boolean | T::Json) => {
            convert(std::mem::take(value), wanted).unwrap_or_default()
        }
        (Value::Array(_) | Value::Object(_), T::String) => {
            Value::String(serde_json::to_string_pretty(value).unwrap_or_default())
        }
        (Value::Number(_), T::Boolean) => Value::Bool(!has_fraction && value.as_f64() != Some(0.0)),
        (Value::Number(_), _) if is_whole && has_fraction => Value::from(0),
        (Value::Number(_) | Value::Bool(_), T::String) => {
            convert(std::mem::take(value), wanted).unwrap_or_default()
        }
        (Value::Bool(_), _) if is_number => {
            convert(std::mem::take(value), wanted).unwrap_or_default()
        }
        _ => return,
    };
    *value = settled;
}

/// The id that shows outside for a context of an instance.
#[must_use]
pub fn context_text(instance: &InstanceId, context: ContextId) -> String {
    hex(mix(instance.as_str(), context.0))
}
