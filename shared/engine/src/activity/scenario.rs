//! A definition played through in a test: stimuli in, lines, effects, calls and bookmarks out.
//!
//! Between any two steps the instance is encoded and decoded, so every scenario also proves that what an activity
//! remembers survives a wait.

use std::sync::OnceLock;

use dormouse_expressions::Expressions;
use serde_json::{Map, Value, json};

use crate::call::{Answer, Call, HttpResponse};
use crate::definition::Definition;
use crate::effect::Effect;
use crate::graph::{Children, Graph, Problem, Trigger};
use crate::id::{BookmarkId, InstanceId};
use crate::instance::{Bookmark, Instance, Start, SubStatus};
use crate::journal::{Entry, Event};
use crate::step::{Environment, Fault, Limits, Next, Stimulus, step};
use crate::time::Timestamp;

/// When scenarios begin: 2026-03-02T10:00:00Z, a Monday.
pub(crate) const BEGIN: Timestamp = Timestamp(1_772_445_600_000);

/// A definition being played through.
pub(crate) struct Scenario {
    pub(crate) graph: Graph,
    pub(crate) instance: Instance,
    pub(crate) now: Timestamp,
    pub(crate) has_http_request: bool,
    pub(crate) lines: Vec<String>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) journal: Vec<Entry>,
    pub(crate) response: Option<HttpResponse>,
    pub(crate) calls: Vec<Call>,
    activities_before: u64,
}

fn expressions() -> &'static Expressions {
    static ALL: OnceLock<Expressions> = OnceLock::new();
    ALL.get_or_init(Expressions::default)
}

impl Scenario {
    /// A workflow that is one activity.
    pub(crate) fn of(root: Value) -> Self {
        Self::workflow(json!({ "toolVersion": "3.7.0", "root": root }))
    }

    /// A sequence of activities with variables, by name and default; their names are their ids.
    pub(crate) fn sequence(variables: Value, activities: Value) -> Self {
        Self::workflow(json!({
            "toolVersion": "3.7.0",
            "variables": variables_of(&variables),
            "root": { "id": "Sequence1", "type": "Elsa.Sequence", "activities": activities },
        }))
    }

    /// A whole definition.
    pub(crate) fn workflow(definition: Value) -> Self {
        Self::using(definition, &())
    }

    /// A whole definition that uses what `children` has.
    pub(crate) fn using(definition: Value, children: &dyn Children) -> Self {
        let mut definition = Definition::from_value(definition).unwrap();
        if definition.definition_id.is_none() {
            definition.identify("test", "test-1", 1);
        }
        let graph = Graph::compile(&definition, children, expressions());
        let instance = Instance::new(&graph, InstanceId::from("i1"), Start::default(), BEGIN, 7);
        Self {
            graph,
            instance,
            now: BEGIN,
            has_http_request: false,
            lines: Vec::new(),
            effects: Vec::new(),
            journal: Vec::new(),
            response: None,
            calls: Vec::new(),
            activities_before: 0,
        }
    }

    /// Small limits, so that a loop without end is found out soon and long bursts are cut in several steps.
    fn environment(&self) -> Environment<'static> {
        Environment {
            has_http_request: self.has_http_request,
            activities_before: self.activities_before,
            limits: Limits {
                step_activities_max: 1_000,
                burst_activities_max: 5_000,
                ..Limits::default()
            },
            ..Environment::new(self.now, expressions())
        }
    }

    /// What starts instances of it.
    pub(crate) fn triggers(&self) -> Result<Vec<Trigger>, Vec<(String, Fault)>> {
        self.graph.triggers(&self.environment())
    }

    /// All that is wrong with it.
    pub(crate) fn validate(&self) -> Vec<Problem> {
        crate::validate::validate(&self.graph, &self.environment())
    }

    /// Begins without anything given.
    pub(crate) fn start(self) -> Self {
        self.start_with(Start::default())
    }

    /// Begins as if the activity with the id had been triggered.
    pub(crate) fn trigger(self, activity_id: &str, input: Value) -> Self {
        self.start_with(Start {
            trigger_activity_id: Some(activity_id.into()),
            input: map(input),
            ..Start::default()
        })
    }

    /// Begins.
    pub(crate) fn start_with(mut self, start: Start) -> Self {
        self.instance = Instance::new(&self.graph, InstanceId::from("i1"), start, BEGIN, 7);
        self.play(Stimulus::Start);
        self
    }

    /// Resumes the only bookmark of the activity with the id.
    pub(crate) fn resume(&mut self, activity_id: &str, input: Value) -> bool {
        let bookmark = self.waiting_at(activity_id).id.clone();
        self.resume_bookmark(bookmark, input)
    }

    /// Resumes a bookmark. `false`: nothing changed.
    pub(crate) fn resume_bookmark(&mut self, bookmark: BookmarkId, input: Value) -> bool {
        self.play(Stimulus::Resume {
            bookmark,
            input: map(input),
        })
    }

    /// Lets the next timer be due.
    pub(crate) fn let_time_pass(&mut self) {
        let next = self
            .instance
            .bookmarks
            .iter()
            .filter_map(|b| Some((b.due()?, b.id.clone())));
        let (due, bookmark) = next.min().expect("something waits for a time");
        self.now = self.now.max(due);
        self.resume_bookmark(bookmark, json!({}));
    }

    /// Answers the only call.
    pub(crate) fn answer(&mut self, answer: Answer) {
        assert_eq!(self.calls.len(), 1, "one call is due");
        let bookmark = self.calls.remove(0).bookmark;
        self.play(Stimulus::Answered { bookmark, answer });
    }

    /// The only bookmark of the activity with the id.
    pub(crate) fn waiting_at(&self, activity_id: &str) -> &Bookmark {
        let mut found = self.bookmarks_at(activity_id);
        assert_eq!(found.len(), 1, "{activity_id} has one bookmark");
        found.remove(0)
    }

    /// The bookmarks of the activity with the id.
    pub(crate) fn bookmarks_at(&self, activity_id: &str) -> Vec<&Bookmark> {
        let is_there = |b: &&Bookmark| {
            let context = self.instance.contexts.get(&b.context);
            context.is_some_and(|c| self.graph.node(c.node).id == activity_id)
        };
        self.instance.bookmarks.iter().filter(is_there).collect()
    }

    /// Plays a stimulus until the instance rests or a call is due. `false`: nothing changed.
    pub(crate) fn play(&mut self, stimulus: Stimulus) -> bool {
        let mut stimulus = stimulus;
        self.activities_before = 0;
        loop {
            let bytes = self.instance.encode(&self.graph);
            let instance = Instance::decode(&bytes, &self.graph).unwrap();
            let transition = step(&self.graph, instance, stimulus, &self.environment());
            self.instance = transition.instance;
            self.activities_before += transition.activities;
            self.lines.extend(transition.lines);
            self.effects.extend(transition.effects);
            self.journal.extend(transition.journal);
            self.response = transition.response.or(self.response.take());
            // A crash here is continued only if the state says that there is something to continue.
            if transition.next != Next::Rest {
                assert_eq!(self.instance.sub_status, SubStatus::Executing);
            }
            match transition.next {
                Next::Continue => stimulus = Stimulus::Continue,
                Next::Rest => {
                    self.calls.clear();
                    return transition.is_changed;
                }
                Next::Call(calls) => {
                    self.calls = calls;
                    return transition.is_changed;
                }
            }
        }
    }

    /// How it stands.
    pub(crate) fn sub_status(&self) -> SubStatus {
        self.instance.sub_status
    }

    /// The incidents' messages.
    pub(crate) fn incidents(&self) -> Vec<&str> {
        self.instance
            .incidents
            .iter()
            .map(|i| i.message.as_str())
            .collect()
    }

    /// What the journal says of an activity's events of one kind.
    pub(crate) fn journaled(&self, activity_id: &str, event: Event) -> Vec<&Value> {
        self.journal
            .iter()
            .filter(|e| e.event == event && self.graph.node(e.node).id == activity_id)
            .map(|e| &e.data)
            .collect()
    }

    /// The outcomes with which an activity ended last.
    pub(crate) fn outcomes(&self, activity_id: &str) -> Value {
        let ends = self.journaled(activity_id, Event::Completed);
        let last = ends.last().expect("it ended");
        last.get("outcomes")
            .cloned()
            .unwrap_or_else(|| json!(["Done"]))
    }

    /// The value of a workflow variable.
    pub(crate) fn variable(&self, name: &str) -> Value {
        let root = self
            .instance
            .contexts
            .values()
            .find(|c| c.owner.is_none())
            .expect("it runs");
        let variables = &self.graph.node(root.node).variables;
        let place = variables.iter().position(|v| v.name == name).unwrap();
        let set = root.variables.get(&u32::try_from(place).unwrap());
        set.unwrap_or(&variables[place].default).clone()
    }
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn variables_of(names: &Value) -> Vec<Value> {
    let variable = |(name, value): (&String, &Value)| {
        json!({
            "id": name, "name": name, "typeName": "Object", "value": value,
            "storageDriverTypeName": "WorkflowInstanceStorageDriver",
        })
    };
    names
        .as_object()
        .into_iter()
        .flatten()
        .map(variable)
        .collect()
}

/// A wrapped literal input.
pub(crate) fn literal(value: impl Into<Value>) -> Value {
    json!({ "typeName": "Object", "expression": { "type": "Literal", "value": value.into() } })
}

/// A wrapped input that reads a variable.
pub(crate) fn variable(id: &str) -> Value {
    json!({ "typeName": "Object", "expression": { "type": "Variable", "value": { "id": id } } })
}

/// A wrapped script.
pub(crate) fn script(source: &str) -> Value {
    json!({ "typeName": "Object", "expression": { "type": "JavaScript", "value": source } })
}

/// An output bound to a variable or a workflow output.
pub(crate) fn bound(id: &str) -> Value {
    json!({ "typeName": "Object", "memoryReference": { "id": id } })
}

/// An activity that writes a line.
pub(crate) fn line(text: &str) -> Value {
    json!({ "type": "Elsa.WriteLine", "text": literal(text) })
}

/// An activity that writes a variable.
pub(crate) fn write(name: &str) -> Value {
    json!({ "type": "Elsa.WriteLine", "text": variable(name) })
}

/// An activity that sets a variable.
pub(crate) fn set(name: &str, value: impl Into<Value>) -> Value {
    json!({ "type": "Elsa.SetVariable", "variable": { "id": name }, "value": literal(value) })
}

/// An activity that waits for an event; the name is its id.
pub(crate) fn event(name: &str) -> Value {
    json!({ "id": name, "type": "Elsa.Event", "eventName": literal(name) })
}

/// An activity that fails.
pub(crate) fn fault(message: &str) -> Value {
    json!({ "type": "Elsa.Fault", "message": literal(message) })
}

/// A sequence.
pub(crate) fn sequence(activities: Value) -> Value {
    json!({ "type": "Elsa.Sequence", "activities": activities })
}
