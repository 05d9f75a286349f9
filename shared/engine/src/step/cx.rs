//! What an activity works with while it runs.

use dormouse_expressions::Kind;
use serde_json::{Map, Value};

use super::{Fault, Run};
use crate::call::HttpResponse;
use crate::definition::convert::text_of;
use crate::definition::convert_kind::convert_kind;
use crate::definition::data_type::DataType;
use crate::graph::{Graph, Node, NodeIndex, Target};
use crate::id::{ContextId, InstanceId};
use crate::instance::{Context, Memory};
use crate::time::{Timestamp, parse_duration_ms};

/// An activity's view of the run: its inputs, its children, its bookmarks, and what it may cause.
pub struct Cx<'r, 'a> {
    pub(crate) run: &'r mut Run<'a>,
    pub(crate) context: ContextId,
    pub(crate) node: NodeIndex,
    pub(crate) values: Vec<Option<Value>>,
    pub(crate) arguments: Vec<(String, Value)>,
    pub(crate) outcomes: Option<Vec<String>>,
    /// What the journal shows of the inputs' values, where that is not what they were converted to.
    pub(crate) raw: Vec<Option<Value>>,
    /// The same of the value evaluated last.
    pub(crate) logged: Option<Value>,
    /// How the inputs' values look to scripts.
    pub(crate) kinds: Vec<Kind>,
    /// The same of the value evaluated last.
    pub(crate) kind: Kind,
}

impl<'r, 'a> Cx<'r, 'a> {
    pub(crate) fn new(run: &'r mut Run<'a>, context: ContextId, node: NodeIndex) -> Self {
        Self {
            run,
            context,
            node,
            values: Vec::new(),
            arguments: Vec::new(),
            outcomes: None,
            raw: Vec::new(),
            logged: None,
            kinds: Vec::new(),
            kind: Kind::Plain,
        }
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &'a Graph {
        self.run.graph
    }

    /// The activity as the definition has it.
    #[must_use]
    pub fn node(&self) -> &'a Node {
        self.run.graph.node(self.node)
    }

    /// The activity's place.
    #[must_use]
    pub fn index(&self) -> NodeIndex {
        self.node
    }

    /// The time of the burst.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.run.environment.now
    }

    /// This execution.
    #[must_use]
    pub fn context_id(&self) -> ContextId {
        self.context
    }

    /// This execution's state.
    pub(super) fn context(&self) -> Option<&Context> {
        self.run.instance.contexts.get(&self.context)
    }

    /// The id of the instance.
    #[must_use]
    pub fn instance_id(&self) -> &InstanceId {
        &self.run.instance.id
    }

    /// Whether the host lets flowcharts pass tokens.
    #[must_use]
    pub fn passes_tokens(&self) -> bool {
        self.run.environment.passes_tokens
    }

    /// The instance's correlation id.
    #[must_use]
    pub fn correlation_id(&self) -> Option<&str> {
        self.run.instance.correlation_id.as_deref()
    }

    /// Sets the instance's correlation id; blank is none.
    pub fn set_correlation_id(&mut self, id: Option<String>) {
        self.run.instance.correlation_id = id;
    }

    /// Sets the instance's name.
    pub fn set_name(&mut self, name: Option<String>) {
        self.run.instance.name = name;
    }

    /// A property of the instance.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.run.instance.properties.get(name)
    }

    /// Whether this activity is the trigger that started the instance, in its first burst. As in Elsa, a loop back to
    /// the trigger within that burst does not wait.
    #[must_use]
    pub fn is_trigger(&self) -> bool {
        !self.run.instance.is_trigger_taken
            && self.run.instance.trigger_activity_id.as_deref() == Some(self.node().id.as_str())
    }

    /// The id of the activity whose trigger started the instance.
    #[must_use]
    pub fn trigger_activity_id(&self) -> Option<&str> {
        self.run.instance.trigger_activity_id.as_deref()
    }

    /// What the burst was given, by name: the payload of an event, the result of a task.
    #[must_use]
    pub fn burst_input(&self, name: &str) -> Option<Value> {
        self.run
            .input
            .get(name)
            .or_else(|| self.run.instance.input.get(name))
            .cloned()
    }

    /// All that the burst was given.
    #[must_use]
    pub fn burst_inputs(&self) -> &Map<String, Value> {
        if self.run.input.is_empty() {
            &self.run.instance.input
        } else {
            &self.run.input
        }
    }

    /// The value of an input: as evaluated when the activity began, or evaluated now.
    ///
    /// # Errors
    ///
    /// A [`Fault`] when it cannot be evaluated.
    pub fn input(&mut self, name: &str) -> Result<Value, Fault> {
        let graph = self.run.graph;
        let inputs = &graph.node(self.node).inputs;
        let Some(place) = inputs.iter().position(|i| i.name == name) else {
            return Ok(Value::Null);
        };
        if let Some(Some(value)) = self.values.get(place) {
            return Ok(value.clone());
        }
        match inputs.get(place) {
            Some(input) => self.evaluate_input(input),
            None => Ok(Value::Null),
        }
    }

    /// Whether the value of an input is a date, a duration or a GUID to scripts.
    #[must_use]
    pub fn is_scalar_object(&self, name: &str) -> bool {
        let mut inputs = self.node().inputs.iter();
        let place = inputs.position(|input| input.name == name);
        let kind = place.and_then(|place| self.kinds.get(place));
        kind.is_some_and(|kind| matches!(kind, Kind::DateTime | Kind::TimeSpan | Kind::Guid))
    }

    /// An input as text; null is `None`.
    ///
    /// # Errors
    ///
    /// As [`Self::input`].
    pub fn text(&mut self, name: &str) -> Result<Option<String>, Fault> {
        Ok(match self.input(name)? {
            Value::Null => None,
            value @ (Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_)) => Some(text_of(value)),
        })
    }

    /// An input as a truth value; null is false.
    ///
    /// # Errors
    ///
    /// As [`Self::input`].
    pub fn flag(&mut self, name: &str) -> Result<bool, Fault> {
        Ok(self.input(name)?.as_bool().unwrap_or(false))
    }

    /// An input as a whole number.
    ///
    /// # Errors
    ///
    /// As [`Self::input`].
    pub fn integer(&mut self, name: &str) -> Result<Option<i64>, Fault> {
        Ok(self.input(name)?.as_i64())
    }

    /// An input as a length of time, milliseconds.
    ///
    /// # Errors
    ///
    /// As [`Self::input`], and when the text is no length of time.
    pub fn duration_ms(&mut self, name: &str) -> Result<Option<i64>, Fault> {
        match self.text(name)? {
            None => Ok(None),
            Some(text) => parse_duration_ms(&text).map(Some).ok_or_else(|| {
                Fault::new(
                    "InvalidInput",
                    format!("`{text}` is not a length of time such as 00:05:00"),
                )
            }),
        }
    }

    /// Sets extra arguments for the scripts evaluated from here on.
    pub fn set_arguments(&mut self, arguments: Vec<(String, Value)>) {
        self.arguments = arguments;
    }

    /// The outcomes that a script asked for with `setOutcome`.
    pub fn take_outcomes(&mut self) -> Option<Vec<String>> {
        self.outcomes.take()
    }

    /// The value of a variable, by id.
    #[must_use]
    pub fn variable(&self, id: &str) -> Option<Value> {
        self.run.variable_by_id(self.context, self.node, id)
    }

    /// Sets a variable by id to the value of an input, converted to its type. `false`: there is no such variable in scope.
    ///
    /// # Errors
    ///
    /// A [`Fault`] where the value is not one of the type, and cannot be its default either.
    pub fn set_variable(&mut self, id: &str, input: &str) -> Result<bool, Fault> {
        let value = self.input(input)?;
        let mut inputs = self.node().inputs.iter();
        let kind = inputs.position(|i| i.name == input);
        let kind = kind.and_then(|place| self.kinds.get(place)).copied();
        let value = match self.run.type_of_variable(id, self.node) {
            Some(wanted) => convert_kind(value, kind.unwrap_or_default(), wanted)
                .map_err(|e| Fault::new("TypeConversionException", e.to_string()))?,
            None => value,
        };
        Ok(self
            .run
            .set_variable_by_id(self.context, self.node, id, value))
    }

    /// Sets a variable by name in scope, or a new one on the nearest container.
    pub fn set_variable_by_name(&mut self, name: &str, value: Value) {
        self.run.set_variable_by_name(self.context, name, value);
    }

    /// The value of a variable by name.
    #[must_use]
    pub fn variable_by_name(&self, name: &str) -> Option<Value> {
        self.run.variable_by_name(self.context, name)
    }

    /// Sets an output of this activity.
    pub fn set_output(&mut self, name: &str, value: Value) {
        self.run.record_output(self.context, name, value);
    }

    /// Records an output that what it is bound to is not given.
    pub fn record_output(&mut self, name: &str, value: Value) {
        let _recorded = self.run.record_alone(self.context, name, value);
    }

    /// The same, where what it is bound to gets another value than the one that is recorded.
    pub fn set_output_as(&mut self, name: &str, recorded: Value, bound: Value) {
        self.run
            .record_output_as(self.context, name, recorded, Some(bound));
    }

    /// The type of what an output of this activity is bound to. `None`: it is bound to nothing.
    #[must_use]
    pub fn bound_type(&self, name: &str) -> Option<DataType> {
        let graph = self.run.graph;
        let output = self.node().outputs.iter().find(|o| o.name == name)?;
        match output.target.as_ref()? {
            Target::Variable(id) => {
                let (owner, place) = graph.variable(id, self.node)?;
                let variable = graph.node(owner).variables.get(place)?;
                Some(variable.data_type.clone())
            }
            Target::Output(id) => {
                let declared = graph.outputs.iter().find(|o| &o.name == id);
                Some(declared.map_or(DataType::Object, |o| o.data_type.clone()))
            }
        }
    }

    /// Sets an output of the workflow this activity is in.
    pub fn set_workflow_output(&mut self, name: &str, value: Value) {
        if self.run.variable_by_name(self.context, name).is_some() {
            self.run
                .set_variable_by_name(self.context, name, value.clone());
        }
        self.run.set_workflow_output(self.context, name, value);
    }

    /// What the activity remembers.
    pub fn memory(&mut self) -> &mut Memory {
        match self.run.instance.context_mut(self.context) {
            Some(context) => &mut context.memory,
            None => &mut self.run.scratch,
        }
    }

    /// The remembered count.
    #[must_use]
    pub fn count(&self) -> i64 {
        match self.context().map(|c| &c.memory) {
            Some(Memory::Count(n)) => *n,
            Some(Memory::None | Memory::Flow(_) | Memory::Retry(_) | Memory::Json(_)) | None => 0,
        }
    }

    /// Remembers a count.
    pub fn set_count(&mut self, count: i64) {
        *self.memory() = Memory::Count(count);
    }

    /// Notes what the journal shows of an input instead of its value.
    pub fn note_input(&mut self, name: &str, value: &Value) {
        self.run.note_input(self.context, name, value);
    }

    /// Writes a line of text for whoever watches.
    pub fn write_line(&mut self, mut text: String) {
        crate::sensitive::redact_line(&mut text);
        self.run.lines.push(text);
    }

    /// Whether an HTTP request waits for an answer and has none yet.
    #[must_use]
    pub fn has_http_request(&self) -> bool {
        self.run.environment.has_http_request
    }

    /// Whether the HTTP request has been answered with a body in this burst.
    #[must_use]
    pub fn has_answered(&self) -> bool {
        let answer = self.run.response.as_ref();
        answer.is_some_and(|answer| !answer.body.is_empty())
    }

    /// Answers the HTTP request.
    pub fn respond(&mut self, response: HttpResponse) {
        self.run.response = Some(response);
    }

    /// Writes a journal line of this activity.
    pub fn log(&mut self, event: crate::journal::Event, data: Value) {
        self.run.log(event, self.context, self.node, data);
    }

    /// Evaluates an expression as a condition.
    ///
    /// # Errors
    ///
    /// As [`Self::evaluate`].
    pub fn condition(
        &mut self,
        expression: Option<&crate::graph::Expression>,
    ) -> Result<bool, Fault> {
        match expression {
            None => Ok(false),
            Some(expression) => Ok(self
                .evaluate(expression, &DataType::Boolean)?
                .as_bool()
                .unwrap_or(false)),
        }
    }
}
