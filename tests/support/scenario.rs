//! Given a definition, when something happens, then exactly this.

use dormouse_engine::id::{BookmarkId, InstanceId};
use dormouse_engine::instance::{Instance, Start};
use dormouse_engine::step::Stimulus;
use dormouse_engine::time::parse_duration_ms;
use serde_json::{Map, Value, json};

use crate::host::Kept;
use crate::web::Request;
use crate::{Host, Seen, Workflow};

/// One definition, one instance of it, and the world around it.
#[derive(Debug)]
pub struct Scenario {
    /// The world.
    pub host: Host,
    definition_id: String,
    id: Option<InstanceId>,
}

/// A JSON object's entries; anything else is none.
#[must_use]
pub fn entries(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

impl Scenario {
    /// Given a definition.
    #[must_use]
    pub fn of(workflow: &Workflow) -> Self {
        Self::of_json(workflow.json().to_string().as_bytes())
    }

    /// Given a definition as text.
    #[must_use]
    pub fn of_json(text: &[u8]) -> Self {
        let mut host = Host::default();
        let definition_id = host.add_text(text).definition_id.clone().expect("an id");
        Self {
            host,
            definition_id,
            id: None,
        }
    }

    /// Given another definition too.
    #[must_use]
    pub fn with(mut self, workflow: &Workflow) -> Self {
        self.host.add(workflow.json());
        self
    }

    /// Given another definition as text too.
    #[must_use]
    pub fn with_json(mut self, text: &[u8]) -> Self {
        self.host.add_text(text);
        self
    }

    /// When an instance is started.
    pub fn start(&mut self) -> Seen {
        self.start_as(Start::default())
    }

    /// When an instance is started with inputs.
    pub fn start_with(&mut self, input: Value) -> Seen {
        self.start_as(Start {
            input: entries(input),
            ..Start::default()
        })
    }

    /// When an instance is started in token mode.
    pub fn start_with_tokens(&mut self) -> Seen {
        let properties = entries(json!({ "Flowchart:ExecutionMode": "TokenBased" }));
        self.start_as(Start {
            properties,
            ..Start::default()
        })
    }

    /// When an instance is started in some other way.
    pub fn start_as(&mut self, start: Start) -> Seen {
        let lines = self.host.lines.len();
        let now = self.host.now;
        let id = self
            .host
            .start(&self.definition_id, start)
            .expect("a definition");
        let seen = Seen::read(
            self.host.kept(&id).expect("started"),
            0,
            0,
            &self.host.lines[lines..],
            now,
        );
        self.id = Some(id);
        seen
    }

    /// What `act` brings about.
    pub fn when(&mut self, act: impl FnOnce(&mut Host, &InstanceId)) -> Seen {
        let id = self.id().clone();
        let (journal, effects) = (self.kept().journal.len(), self.kept().effects.len());
        let lines = self.host.lines.len();
        if let Some(kept) = self.host.instances.iter_mut().find(|k| k.id == id) {
            kept.response = None;
        }
        act(&mut self.host, &id);
        Seen::read(
            self.kept(),
            journal,
            effects,
            &self.host.lines[lines..],
            self.host.now,
        )
    }

    /// When the oldest bookmark of an activity is resumed.
    pub fn resume(&mut self, activity_id: &str) -> Seen {
        self.resume_with(activity_id, json!({}))
    }

    /// When the oldest bookmark of an activity is resumed with input.
    pub fn resume_with(&mut self, activity_id: &str, input: Value) -> Seen {
        let bookmark = self.bookmark(activity_id);
        self.when(|host, id| {
            host.step(
                id,
                Stimulus::Resume {
                    bookmark,
                    input: entries(input),
                },
            );
        })
    }

    /// When an event happens.
    pub fn event(&mut self, name: &str, payload: Value) -> Seen {
        self.when(|host, _| host.publish_event(name, payload))
    }

    /// When time passes; a length of time as .NET writes it.
    pub fn after(&mut self, time: &str) -> Seen {
        let ms = parse_duration_ms(time).expect("a length of time");
        self.when(|host, _| host.advance_ms(ms))
    }

    /// When a task is done with a result.
    pub fn task_done(&mut self, name: &str, result: Value) -> Seen {
        self.resume_with(name, json!({ "Result": result }))
    }

    /// When an HTTP request comes. `None`: nobody listens for it. What is seen is of the instance that answered.
    pub fn request(&mut self, request: &Request) -> Option<Seen> {
        let lines = self.host.lines.len();
        let before: Vec<_> = self
            .host
            .instances
            .iter()
            .map(|k| (k.journal.len(), k.effects.len()))
            .collect();
        let id = self.host.request(request)?;
        let place = self.host.instances.iter().position(|k| k.id == id)?;
        let (journal, effects) = before.get(place).copied().unwrap_or_default();
        self.id = Some(id);
        Some(Seen::read(
            self.kept(),
            journal,
            effects,
            &self.host.lines[lines..],
            self.host.now,
        ))
    }

    /// When the instance is cancelled.
    pub fn cancel(&mut self) -> Seen {
        self.when(|host, id| {
            host.step(id, Stimulus::Cancel);
        })
    }

    /// When an activity is cancelled.
    pub fn cancel_activity(&mut self, activity_id: &str) -> Seen {
        self.when(|host, id| {
            host.step(
                id,
                Stimulus::CancelActivity {
                    activity_id: activity_id.to_owned(),
                },
            );
        })
    }

    /// When what has failed is tried again.
    pub fn retry(&mut self) -> Seen {
        self.when(|host, id| {
            host.step(
                id,
                Stimulus::Retry {
                    activity_ids: Vec::new(),
                },
            );
        })
    }

    /// When every bookmark is resumed until none is left.
    pub fn resume_all(&mut self) -> Seen {
        self.when(|host, id| host.resume_all(id, &Map::new()))
    }

    /// The instance's id.
    #[must_use]
    pub fn id(&self) -> &InstanceId {
        self.id.as_ref().expect("started")
    }

    fn kept(&self) -> &Kept {
        self.host.kept(self.id()).expect("started")
    }

    /// The instance's state.
    #[must_use]
    pub fn instance(&self) -> Instance {
        self.kept().instance.clone()
    }

    /// All that the instance did, see [`crate::seen::journal_text`].
    #[must_use]
    pub fn journal(&self) -> String {
        crate::seen::journal_text(&self.kept().journal, &self.kept().graph)
    }

    /// The value of the workflow's variable with an id. `None`: never set, or gone.
    #[must_use]
    pub fn variable(&self, id: &str) -> Option<Value> {
        let instance = self.instance();
        let graph = &self.kept().graph;
        let (node, place) = graph.variable(id, dormouse_engine::graph::ROOT)?;
        let context = instance.contexts.values().find(|c| c.node == node)?;
        context.variables.get(&u32::try_from(place).ok()?).cloned()
    }

    /// The oldest open bookmark of an activity.
    #[must_use]
    pub fn bookmark(&self, activity_id: &str) -> BookmarkId {
        let instance = self.instance();
        let graph = &self.kept().graph;
        let is_there = |context| {
            instance
                .contexts
                .get(context)
                .is_some_and(|c| graph.node(c.node).id == activity_id)
        };
        let found = instance.bookmarks.iter().find(|b| is_there(&b.context));
        found
            .unwrap_or_else(|| panic!("{activity_id} does not wait: {instance:#?}"))
            .id
            .clone()
    }
}
