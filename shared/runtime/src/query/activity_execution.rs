//! Activity execution records: what a journal says of each execution, folded.

use std::collections::BTreeMap;

use dormouse_engine::activity::start_at::START_AT;
use dormouse_engine::definition::convert::{convert, text_of};
use dormouse_engine::definition::data_type::DataType;
use dormouse_engine::definition::name::property_name;
use dormouse_engine::graph::{Expression, Graph, Node};
use dormouse_engine::http::status_name;
use dormouse_engine::id::ContextId;
use dormouse_engine::instance::{Instance, context_text};
use dormouse_engine::journal::{Event, Line};
use dormouse_engine::time::Timestamp;
use serde_json::{Map, Value};

/// How an execution of an activity stands. Elsa's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivityStatus {
    /// It has begun, and runs or waits.
    Running,
    /// It ended.
    Completed,
    /// It was cancelled.
    Canceled,
    /// It failed.
    Faulted,
    /// It may not run yet.
    Pending,
}

impl ActivityStatus {
    /// Elsa's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Completed => "Completed",
            Self::Canceled => "Canceled",
            Self::Faulted => "Faulted",
            Self::Pending => "Pending",
        }
    }
}

/// One execution of one activity.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityExecution {
    /// Its id.
    pub id: String,
    /// The activity's id.
    pub activity_id: String,
    /// Its place.
    pub activity_node_id: String,
    /// Its type.
    pub activity_type: String,
    /// The type's version.
    pub activity_type_version: u32,
    /// Its name.
    pub activity_name: Option<String>,
    /// The values of its inputs, by property name.
    pub activity_state: Value,
    /// Its outcomes.
    pub outcomes: Vec<String>,
    /// Its outputs, by name.
    pub outputs: Value,
    /// Why it failed.
    pub exception: Value,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Whether it has waited.
    pub has_bookmarks: bool,
    /// How it stands.
    pub status: ActivityStatus,
    /// How many executions in it have failed, itself included.
    pub aggregate_fault_count: u32,
    /// The execution that scheduled it.
    pub scheduled_by: Option<String>,
    /// In a flowchart, the execution whose end led to it.
    pub came_from: Option<String>,
    /// Of a flowchart: what of it was visited.
    pub flow_scope: Value,
}

/// What is shown of an output that is never shown.
const OPAQUE: &str = "(not serializable)";

/// Headers as Elsa records them: each with a list of values.
fn listed(headers: &mut Map<String, Value>) {
    for value in headers.values_mut() {
        if value.is_string() {
            *value = Value::Array(vec![value.take()]);
        }
    }
}

/// Values as Elsa records them, where they are kept otherwise.
fn spell(type_name: &str, state: &mut Map<String, Value>) {
    for headers in ["ResponseHeaders", "RequestHeaders"] {
        if let Some(Value::Object(headers)) = state.get_mut(headers) {
            listed(headers);
        }
    }
    let (name, spelled): (_, fn(&Value) -> Option<Value>) = match type_name {
        "Elsa.WriteHttpResponse" => ("StatusCode", |given| {
            let text = text_of(given.clone());
            status_name(&text).map(Value::from)
        }),
        // It is kept without an offset, because it may be meant in a zone.
        START_AT => ("DateTime", |given| {
            convert(given.clone(), &DataType::DateTimeOffset).ok()
        }),
        _ => return,
    };
    if let Some(value) = state.get_mut(name)
        && let Some(spelled) = spelled(value)
    {
        *value = spelled;
    }
}

/// Whether an execution begins with the line. It says who scheduled it; one that begins while another execution of its
/// activity waits is told of as resumed.
fn is_start(line: &Line) -> bool {
    line.event == Event::Started || line.event == Event::Resumed && line.owner.is_some()
}

impl ActivityExecution {
    /// The executions that a whole journal tells of, in the order in which they began.
    #[must_use]
    pub fn fold(instance_id: &str, lines: &[Line]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut places: BTreeMap<ContextId, usize> = BTreeMap::new();
        let mut owners: BTreeMap<ContextId, ContextId> = BTreeMap::new();
        for line in lines {
            let place = *places.entry(line.context).or_insert_with(|| {
                found.push(Self::begun(instance_id, line));
                found.len() - 1
            });
            if let Some(owner) = line.owner {
                owners.insert(line.context, owner);
            }
            if line.event == Event::Faulted {
                let mut at = Some(line.context);
                while let Some(context) = at {
                    if let Some(one) = places.get(&context).and_then(|p| found.get_mut(*p)) {
                        one.aggregate_fault_count += 1;
                    }
                    at = owners.get(&context).copied();
                }
            }
            if let Some(one) = found.get_mut(place) {
                one.take(instance_id, line);
            }
        }
        found
    }

    /// Adds the outputs that an execution has given so far without having ended.
    pub(crate) fn add_outputs(&mut self, graph: &Graph, instance: &Instance) {
        let mut contexts = instance.contexts.iter();
        let Some((_, context)) = contexts.find(|(id, _)| instance.context_text(**id) == self.id)
        else {
            return;
        };
        let declared = &graph.node(context.node).outputs;
        let own = context.outputs.iter().filter(|o| o.node == context.node);
        let logged = own.filter(|o| declared.iter().any(|d| d.name == o.output && d.is_logged));
        let outputs: Map<String, Value> = logged
            .map(|o| (property_name(&o.output), o.value.clone()))
            .collect();
        if !outputs.is_empty() {
            self.outputs = Value::Object(outputs);
        }
    }

    /// Adds the inputs whose values the definition itself gives: the journal leaves them out.
    pub(crate) fn add_literals(&mut self, graph: &Graph) {
        let Some(index) = graph.by_node_id(&self.activity_node_id) else {
            return;
        };
        let node = graph.node(index);
        let literals = node.inputs.iter().filter(|input| input.is_logged);
        let literals = literals.filter_map(|input| {
            let value = match &input.expression {
                Some(Expression::Literal(value)) => value,
                None if !input.default.is_null() => &input.default,
                Some(
                    Expression::Variable(_)
                    | Expression::Input(_)
                    | Expression::Secret(_)
                    | Expression::Script(_)
                    | Expression::Invalid(_),
                )
                | None => return None,
            };
            Some((property_name(&input.name), value.clone()))
        });
        let plain = node.plain.iter();
        let plain = plain.map(|(name, value)| (property_name(name), value.clone()));
        let mut state = match std::mem::take(&mut self.activity_state) {
            Value::Object(state) => state,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        for (name, value) in literals.chain(plain) {
            state.entry(name).or_insert(value);
        }
        spell(&node.type_name, &mut state);
        self.activity_state = Value::Object(state);
        self.hide_opaque(node);
    }

    /// Names the outputs that are never shown, in Elsa's words.
    fn hide_opaque(&mut self, node: &Node) {
        let mut opaque = node.outputs.iter().filter(|o| o.is_opaque).peekable();
        if opaque.peek().is_none() {
            return;
        }
        let mut outputs = match std::mem::take(&mut self.outputs) {
            Value::Object(outputs) => outputs,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        for output in opaque {
            outputs.insert(property_name(&output.name), OPAQUE.into());
        }
        self.outputs = Value::Object(outputs);
    }

    fn begun(instance_id: &str, line: &Line) -> Self {
        Self {
            id: context_text(&instance_id.into(), line.context),
            activity_id: line.activity_id.clone(),
            activity_node_id: line.activity_node_id.clone(),
            activity_type: line.activity_type.clone(),
            activity_type_version: line.activity_type_version,
            activity_name: line.activity_name.clone(),
            activity_state: Value::Null,
            outcomes: Vec::new(),
            outputs: Value::Null,
            exception: Value::Null,
            started_at: line.at,
            completed_at: None,
            has_bookmarks: false,
            status: ActivityStatus::Running,
            aggregate_fault_count: 0,
            scheduled_by: None,
            came_from: None,
            flow_scope: Value::Null,
        }
    }

    fn take(&mut self, instance_id: &str, line: &Line) {
        let data = |name: &str| line.data.get(name).cloned().unwrap_or(Value::Null);
        if let (Value::Object(late), Value::Object(state)) =
            (data("inputs"), &mut self.activity_state)
            && !is_start(line)
        {
            state.extend(late);
        }
        match line.event {
            Event::Started | Event::Resumed if is_start(line) => {
                self.activity_state = if line.data.is_null() {
                    Value::Object(Map::new())
                } else {
                    line.data.clone()
                };
                self.scheduled_by = line
                    .owner
                    .map(|owner| context_text(&instance_id.into(), owner));
                self.status = ActivityStatus::Running;
                self.completed_at = None;
            }
            Event::Started | Event::Resumed | Event::Retrying => {
                self.status = ActivityStatus::Running
            }
            Event::Suspended => {
                self.has_bookmarks = true;
                self.outputs = data("outputs");
            }
            Event::Completed => {
                self.outputs = data("outputs");
                let outcomes = data("outcomes");
                let names = outcomes.as_array().into_iter().flatten();
                self.outcomes = names
                    .filter_map(|n| n.as_str().map(str::to_owned))
                    .collect();
                if self.outcomes.is_empty() && outcomes.is_null() {
                    self.outcomes.push("Done".to_owned());
                }
                self.end(ActivityStatus::Completed, line.at);
            }
            Event::Canceled => {
                self.outputs = data("outputs");
                self.end(ActivityStatus::Canceled, line.at);
            }
            Event::Faulted => {
                self.exception = data("exception");
                self.end(ActivityStatus::Faulted, line.at);
            }
            Event::PreconditionFailed => self.status = ActivityStatus::Pending,
            // Lines about the instance as a whole, which happen to name its workflow activity.
            Event::WorkflowCancelled | Event::Altered | Event::Error | Event::Compensating => {}
        }
    }

    fn end(&mut self, status: ActivityStatus, at: Timestamp) {
        self.status = status;
        self.completed_at = Some(at);
    }
}
