//! What an activity works with while it runs.

use serde_json::{Map, Value, json};

use super::{Fault, Outcomes, Run, Then};
use crate::call::{HttpResponse, Request};
use crate::definition::convert::text_of;
use crate::definition::data_type::DataType;
use crate::effect::Effect;
use crate::graph::{Graph, Node, NodeIndex, stimulus_hash};
use crate::id::{BookmarkId, ContextId, InstanceId, hex, mix};
use crate::instance::{Bookmark, Context, Local, Memory, Wait, Work};
use crate::time::{Timestamp, parse_duration_ms};

/// An activity's view of the run: its inputs, its children, its bookmarks, and what it may cause.
pub struct Cx<'r, 'a> {
    pub(crate) run: &'r mut Run<'a>,
    pub(crate) context: ContextId,
    pub(crate) node: NodeIndex,
    pub(crate) values: Vec<Option<Value>>,
    pub(crate) arguments: Vec<(String, Value)>,
    pub(crate) outcomes: Vec<String>,
}

/// Names the bookmark with which a background activity is put off to a burst of its own.
pub(crate) const BACKGROUND: &str = "BackgroundActivity";

impl<'r, 'a> Cx<'r, 'a> {
    pub(crate) fn new(run: &'r mut Run<'a>, context: ContextId, node: NodeIndex) -> Self {
        Self {
            run,
            context,
            node,
            values: Vec::new(),
            arguments: Vec::new(),
            outcomes: Vec::new(),
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
    fn context(&self) -> Option<&Context> {
        self.run.instance.contexts.get(&self.context)
    }

    /// The id of the instance.
    #[must_use]
    pub fn instance_id(&self) -> &InstanceId {
        &self.run.instance.id
    }

    /// The instance's correlation id.
    #[must_use]
    pub fn correlation_id(&self) -> Option<&str> {
        self.run.instance.correlation_id.as_deref()
    }

    /// Sets the instance's correlation id; blank is none.
    pub fn set_correlation_id(&mut self, id: Option<String>) {
        self.run.instance.correlation_id = id.filter(|i| !i.is_empty());
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

    /// Whether this activity is the trigger that started the instance, running for the first time. Asking takes it:
    /// a loop back to the trigger waits.
    pub fn take_trigger(&mut self) -> bool {
        let is_trigger = !self.run.instance.is_trigger_taken
            && self.run.instance.trigger_activity_id.as_deref() == Some(self.node().id.as_str());
        self.run.instance.is_trigger_taken |= is_trigger;
        is_trigger
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

    /// An input as text; null is `None`.
    ///
    /// # Errors
    ///
    /// As [`Self::input`].
    pub fn text(&mut self, name: &str) -> Result<Option<String>, Fault> {
        Ok(match self.input(name)? {
            Value::Null => None,
            value => Some(text_of(value)),
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
    pub fn take_outcomes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.outcomes)
    }

    /// The value of a variable, by id.
    #[must_use]
    pub fn variable(&self, id: &str) -> Option<Value> {
        self.run.variable_by_id(self.context, self.node, id)
    }

    /// Sets a variable by id, converted to its type. `false`: there is no such variable in scope.
    pub fn set_variable(&mut self, id: &str, value: Value) -> bool {
        self.run
            .set_variable_by_id(self.context, self.node, id, value, true)
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

    /// Sets an output of the workflow this activity is in.
    pub fn set_workflow_output(&mut self, name: &str, value: Value) {
        if self.run.variable_by_name(self.context, name).is_some() {
            self.run
                .set_variable_by_name(self.context, name, value.clone());
        }
        self.run.set_workflow_output(self.context, name, value);
    }

    /// Queues a child.
    pub fn schedule(&mut self, node: NodeIndex) {
        self.schedule_with(node, 0, Vec::new());
    }

    /// Queues a child with a mark, which comes back when it ends, and variables that it and what is below it see.
    pub fn schedule_with(&mut self, node: NodeIndex, tag: i64, locals: Vec<Local>) {
        if let Some(context) = self.run.instance.contexts.get_mut(&self.context) {
            context.children_open += 1;
        }
        self.run.instance.queue.push_back(Work {
            node,
            owner: Some(self.context),
            tag,
            locals,
            existing: None,
        });
    }

    /// How many children are scheduled and not ended.
    #[must_use]
    pub fn children_open(&self) -> u32 {
        self.context().map_or(0, |c| c.children_open)
    }

    /// Whether a direct child has failed.
    #[must_use]
    pub fn has_faulted_child(&self) -> bool {
        self.context().is_some_and(|c| c.faults > 0)
            && self
                .run
                .instance
                .contexts
                .values()
                .any(|c| c.owner == Some(self.context) && (c.is_faulted || c.faults > 0))
    }

    /// Whether the child activity is queued.
    #[must_use]
    pub fn is_queued(&self, node: NodeIndex) -> bool {
        self.run
            .instance
            .queue
            .iter()
            .any(|w| w.owner == Some(self.context) && w.node == node)
    }

    /// Whether the child activity is queued or active.
    #[must_use]
    pub fn is_open(&self, node: NodeIndex) -> bool {
        self.is_queued(node)
            || self
                .run
                .instance
                .contexts
                .values()
                .any(|c| c.owner == Some(self.context) && c.node == node)
    }

    /// Cancels executions of a child activity, without being told of it.
    pub fn cancel_child(&mut self, node: NodeIndex) {
        let owner = Some(self.context);
        let before = self.run.instance.queue.len();
        self.run
            .instance
            .queue
            .retain(|w| !(w.owner == owner && w.node == node));
        let mut ended = u32::try_from(before - self.run.instance.queue.len()).unwrap_or(0);
        let active: Vec<_> = self
            .run
            .instance
            .contexts
            .iter()
            .filter(|(_, c)| c.owner == owner && c.node == node && !c.is_faulted)
            .map(|(id, _)| *id)
            .collect();
        for id in active {
            self.run.cancel(id);
            ended += 1;
        }
        if let Some(context) = self.run.instance.contexts.get_mut(&self.context) {
            context.children_open = context.children_open.saturating_sub(ended);
        }
    }

    /// Cancels all children.
    pub fn cancel_children(&mut self) {
        self.run.cancel_children(self.context);
    }

    /// What the activity remembers.
    pub fn memory(&mut self) -> &mut Memory {
        match self.run.instance.contexts.get_mut(&self.context) {
            Some(context) => &mut context.memory,
            None => &mut self.run.scratch,
        }
    }

    /// The remembered count.
    #[must_use]
    pub fn count(&self) -> i64 {
        match self.context().map(|c| &c.memory) {
            Some(Memory::Count(n)) => *n,
            Some(Memory::None | Memory::Flow(_) | Memory::Json(_)) | None => 0,
        }
    }

    /// Remembers a count.
    pub fn set_count(&mut self, count: i64) {
        *self.memory() = Memory::Count(count);
    }

    /// Whether a `Break` was seen below.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.context().is_some_and(|c| c.is_broken)
    }

    /// Sends `Break` outwards: everyone on the way notes it, the nearest loop stops it.
    pub fn send_break(&mut self) {
        let mut at = self.context().and_then(|c| c.owner);
        while let Some(id) = at {
            let Some(context) = self.run.instance.contexts.get_mut(&id) else {
                return;
            };
            context.is_broken = true;
            at = context.owner;
            if self.run.graph.node(context.node).activity.is_loop() {
                return;
            }
        }
    }

    /// Ends the nearest composite around this activity, with outcomes; what is pending inside is cancelled.
    pub fn complete_composite(&mut self, outcomes: Outcomes) {
        let mut at = self.context().and_then(|c| c.owner);
        while let Some(id) = at {
            let Some(context) = self.run.instance.contexts.get(&id) else {
                return;
            };
            at = context.owner;
            if self
                .run
                .graph
                .node(context.node)
                .activity
                .ends_on_complete()
            {
                self.run.complete(id, outcomes);
                return;
            }
        }
    }

    /// Ends the instance as finished, whatever else it is doing.
    pub fn finish(&mut self) {
        self.run.instance.queue.clear();
        self.run.end(crate::instance::SubStatus::Finished);
        self.run.is_finishing = true;
    }

    /// Waits for a stimulus that is found by name and payload.
    pub fn wait_for_stimulus(&mut self, name: &str, hashed: &Value, payload: Value) -> BookmarkId {
        let hash = stimulus_hash(name, hashed);
        self.wait(name, Wait::Stimulus { hash }, payload, true)
    }

    /// Waits for a point in time.
    pub fn wait_until(&mut self, due: Timestamp, payload: Value) -> BookmarkId {
        let name = self.node().type_name.clone();
        self.wait(&name, Wait::Timer { due }, payload, true)
    }

    /// Waits for somebody who knows the bookmark.
    pub fn wait_for_resume(&mut self, payload: Value, auto_burn: bool) -> BookmarkId {
        let name = self.node().type_name.clone();
        self.wait(&name, Wait::Direct, payload, auto_burn)
    }

    /// Asks the shell to make a call and waits for its answer. Under `runAsynchronously` the call is made in the background.
    pub fn call(&mut self, request: Request) -> BookmarkId {
        let name = self.node().type_name.clone();
        let id = self.wait(&name, Wait::Call(Box::new(request)), Value::Null, true);
        if self.run.is_in_background(self.context) {
            self.run.calls.retain(|c| c.bookmark != id);
            self.run.effects.push(Effect::CallInBackground {
                bookmark: id.clone(),
            });
        }
        id
    }

    fn wait(&mut self, name: &str, wait: Wait, payload: Value, auto_burn: bool) -> BookmarkId {
        let serial = self.run.instance.serial();
        let id = BookmarkId::from(hex(mix(self.run.instance.id.as_str(), serial)));
        self.run.bookmark(Bookmark {
            id: id.clone(),
            name: name.to_owned(),
            wait,
            payload,
            context: self.context,
            auto_burn,
            created_at: self.run.environment.now,
        });
        id
    }

    /// Changes the payload of an open bookmark.
    pub fn set_bookmark_payload(&mut self, id: &BookmarkId, payload: Value) {
        if let Some(bookmark) = self.run.instance.bookmarks.iter_mut().find(|b| &b.id == id) {
            bookmark.payload = payload;
        }
    }

    /// Removes a bookmark of this activity.
    pub fn burn(&mut self, id: &BookmarkId) {
        self.run.burn(id);
    }

    /// Asks for something after the commit.
    pub fn effect(&mut self, effect: Effect) {
        self.run.effects.push(effect);
    }

    /// The id of a new child instance: the same if this step is repeated.
    pub fn child_instance(&mut self) -> InstanceId {
        let serial = self.run.instance.serial();
        self.run.instance.children.push(serial);
        self.run.instance.child_id(serial)
    }

    /// A fresh serial number, for ids that must be the same if this step is repeated.
    pub fn serial(&mut self) -> u64 {
        self.run.instance.serial()
    }

    /// A number of the instance's own sequence, as scripts draw them.
    pub fn random(&mut self) -> u64 {
        self.run.draw()
    }

    /// Resumes other bookmarks of this same instance that wait for a stimulus; they are handled after the running activity.
    pub fn stimulate_self(
        &mut self,
        name: &str,
        hashed: &Value,
        input: &Map<String, Value>,
    ) -> usize {
        let hash = stimulus_hash(name, hashed);
        let waiting: Vec<_> = self
            .run
            .instance
            .bookmarks
            .iter()
            .filter(|b| b.hash() == Some(hash.as_str()))
            .map(|b| b.id.clone())
            .collect();
        let outer = std::mem::take(&mut self.run.input);
        for id in &waiting {
            self.run.resume(id, input.clone());
        }
        self.run.input = outer;
        waiting.len()
    }

    /// Writes a line of text for whoever watches.
    pub fn write_line(&mut self, text: String) {
        self.run.lines.push(text);
    }

    /// Whether an HTTP request waits for an answer and has none yet.
    #[must_use]
    pub fn has_http_request(&self) -> bool {
        self.run.environment.has_http_request
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

    pub(crate) fn move_to_background(&mut self) -> Result<Then, Fault> {
        let due = self.now();
        self.run.journal_put_off(self.context, self.node);
        self.wait(
            BACKGROUND,
            Wait::Timer { due },
            json!({ "JobId": self.run.instance.next_serial }),
            true,
        );
        Ok(Then::Wait)
    }
}
