//! The shell of the engine, in memory: it keeps instances as bytes, does what they ask for, and moves the clock.
//!
//! Each step is held to the laws in `laws`, and each effect is delivered twice, as a real shell might.

mod deliver;
mod laws;
mod library;

use std::collections::VecDeque;

use dormouse_engine::call::{Answer, HttpRequest, HttpResponse, Request};
use dormouse_engine::effect::Effect;
use dormouse_engine::graph::SharedGraph;
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::{Bookmark, Instance, Start};
use dormouse_engine::journal::Entry;
use dormouse_engine::step::{Environment, Limits, Next, Stimulus};
use dormouse_engine::time::Timestamp;
use dormouse_expressions::Expressions;
use serde_json::{Map, Value};

pub use laws::lawful_step;
pub use library::Library;

/// How many effects are carried out in answer to one stimulus, so that instances that wake each other, or themselves,
/// for ever come to an end. What is left is carried out with the next stimulus.
const DELIVERIES_MAX: usize = 200;

/// When every test begins: 2026-01-01T00:00:00Z.
pub const BEGIN: Timestamp = Timestamp(1_767_225_600_000);

/// An instance as the host keeps it.
#[derive(Debug)]
pub struct Kept {
    /// Its id.
    pub id: InstanceId,
    /// What it runs.
    pub graph: SharedGraph,
    /// Its state, encoded.
    pub bytes: Vec<u8>,
    /// All it did.
    pub journal: Vec<Entry>,
    /// All it asked for.
    pub effects: Vec<Effect>,
    /// Its last answer to an HTTP request.
    pub response: Option<HttpResponse>,
    /// How often it was saved.
    pub commits: usize,
}

impl Kept {
    /// The state.
    #[must_use]
    pub fn instance(&self) -> Instance {
        Instance::decode(&self.bytes, &self.graph).expect("stored instances can be read")
    }
}

/// A task that an outside worker was asked to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// What the worker names when it is done.
    pub id: String,
    /// The task's name.
    pub name: String,
    /// With what.
    pub payload: Value,
}

/// Whom a stimulus is for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recipient {
    /// Only instances with this correlation id.
    pub correlation_id: Option<String>,
    /// Only this instance.
    pub instance: Option<InstanceId>,
}

impl Recipient {
    fn is(&self, instance: &Instance) -> bool {
        self.instance.as_ref().is_none_or(|id| *id == instance.id)
            && (self.correlation_id.is_none() || self.correlation_id == instance.correlation_id)
    }
}

/// A stimulus that nobody waited for yet.
#[derive(Debug, Clone)]
struct Letter {
    hash: String,
    to: Recipient,
    input: Map<String, Value>,
}

/// The shell.
#[derive(Debug)]
pub struct Host {
    /// Runs scripts.
    pub expressions: Expressions,
    /// The time.
    pub now: Timestamp,
    /// How far bursts may go.
    pub limits: Limits,
    /// What can be run.
    pub library: Library,
    /// Instances in the order of their start.
    pub instances: Vec<Kept>,
    /// What `WriteLine` wrote, of all instances.
    pub lines: Vec<String>,
    /// Tasks that were asked for.
    pub tasks: Vec<Task>,
    /// HTTP requests that were made.
    pub requests: Vec<HttpRequest>,
    /// What the network answers, in turn. When none is left, nobody can be reached.
    pub answers: VecDeque<Answer>,
    /// Whether an HTTP request waits for the answer of the next burst.
    pub has_http_request: bool,
    inbox: Vec<Letter>,
    pending: VecDeque<(InstanceId, Effect)>,
    depth: u32,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            expressions: Expressions::default(),
            now: BEGIN,
            limits: Limits::default(),
            library: Library::default(),
            instances: Vec::new(),
            lines: Vec::new(),
            tasks: Vec::new(),
            requests: Vec::new(),
            answers: VecDeque::new(),
            has_http_request: false,
            inbox: Vec::new(),
            pending: VecDeque::new(),
            depth: 0,
        }
    }
}

impl Host {
    /// The instance with an id.
    #[must_use]
    pub fn kept(&self, id: &InstanceId) -> Option<&Kept> {
        self.instances.iter().find(|k| &k.id == id)
    }

    /// The state of the instance with an id.
    #[must_use]
    pub fn instance(&self, id: &InstanceId) -> Instance {
        self.kept(id).expect("an instance of that id").instance()
    }

    /// The instances of a definition, oldest first.
    #[must_use]
    pub fn instances_of(&self, definition_id: &str) -> Vec<Instance> {
        let all = self.instances.iter().map(Kept::instance);
        all.filter(|i| i.definition_id == definition_id).collect()
    }

    /// Starts an instance of a definition's published version (else its latest). `None`: there is no such definition.
    pub fn start(&mut self, definition_id: &str, start: Start) -> Option<InstanceId> {
        let id = InstanceId::from(format!("instance-{}", self.instances.len() + 1));
        self.start_as(id, definition_id, start)
    }

    fn start_as(
        &mut self,
        id: InstanceId,
        definition_id: &str,
        start: Start,
    ) -> Option<InstanceId> {
        if self.kept(&id).is_some() {
            return Some(id);
        }
        let graph = self.library.graph(definition_id, &self.expressions)?;
        let seed = 7 + self.instances.len() as u64;
        let instance = Instance::new(&graph, id.clone(), start, self.now, seed);
        let bytes = instance.encode(&graph);
        self.instances.push(Kept {
            id: id.clone(),
            graph,
            bytes,
            journal: Vec::new(),
            effects: Vec::new(),
            response: None,
            commits: 0,
        });
        self.step(&id, Stimulus::Start);
        Some(id)
    }

    /// Gives an instance a stimulus, and does all that follows from it. `false`: it changed nothing.
    pub fn step(&mut self, id: &InstanceId, stimulus: Stimulus) -> bool {
        self.depth += 1;
        let is_changed = self.burst(id, stimulus);
        self.depth -= 1;
        if self.depth == 0 {
            self.depth += 1;
            self.deliver_all();
            self.depth -= 1;
        }
        is_changed
    }

    fn burst(&mut self, id: &InstanceId, first: Stimulus) -> bool {
        let mut stimulus = first;
        let mut activities_before = 0;
        let mut is_changed = false;
        loop {
            let place = self
                .instances
                .iter()
                .position(|k| &k.id == id)
                .expect("a known instance");
            let environment = Environment {
                limits: self.limits,
                has_http_request: self.has_http_request,
                activities_before,
                ..Environment::new(self.now, &self.expressions)
            };
            let kept = &mut self.instances[place];
            let transition = lawful_step(&kept.graph, kept.instance(), &stimulus, &environment);
            is_changed |= transition.is_changed;
            activities_before += transition.activities;
            kept.bytes = transition.instance.encode(&kept.graph);
            kept.commits += usize::from(transition.is_changed);
            kept.journal.extend(transition.journal);
            kept.effects.extend(transition.effects.iter().cloned());
            if transition.response.is_some() {
                kept.response = transition.response;
            }
            self.lines.extend(transition.lines);
            self.pending
                .extend(transition.effects.into_iter().map(|e| (id.clone(), e)));
            stimulus = match transition.next {
                Next::Rest => return is_changed,
                Next::Continue => Stimulus::Continue,
                // One after the other: each answer is committed before the next call is made.
                Next::Call(calls) => {
                    let call = calls
                        .into_iter()
                        .next()
                        .expect("a step asks for calls or rests");
                    let answer = self.perform(call.request);
                    Stimulus::Answered {
                        bookmark: call.bookmark,
                        answer,
                    }
                }
            };
        }
    }

    /// The open bookmarks of an instance.
    #[must_use]
    pub fn bookmarks(&self, id: &InstanceId) -> Vec<Bookmark> {
        self.instance(id).bookmarks
    }

    /// Moves the clock, firing every timer on the way at its own time.
    pub fn advance_ms(&mut self, ms: i64) {
        let until = self.now.plus_ms(ms);
        for _ in 0..DELIVERIES_MAX {
            let next = self.next_timer().filter(|(due, ..)| *due <= until);
            let Some((due, id, bookmark)) = next else {
                break;
            };
            self.now = self.now.max(due);
            let (bookmark, input) = (bookmark.id, Map::new());
            self.step(&id, Stimulus::Resume { bookmark, input });
        }
        self.now = until;
    }

    fn next_timer(&self) -> Option<(Timestamp, InstanceId, Bookmark)> {
        let all = self.instances.iter().flat_map(|k| {
            let bookmarks = k.instance().bookmarks.into_iter();
            bookmarks.filter_map(|b| Some((b.due()?, k.id.clone(), b)))
        });
        all.min_by_key(|(due, ..)| *due)
    }

    /// Resumes whatever bookmarks an instance has until it has none, as Elsa's own tests do.
    pub fn resume_all(&mut self, id: &InstanceId, input: &Map<String, Value>) {
        for _ in 0..1_000 {
            let Some(bookmark) = self.bookmarks(id).into_iter().next() else {
                return;
            };
            self.now = self.now.max(bookmark.due().unwrap_or(self.now));
            self.step(
                id,
                Stimulus::Resume {
                    bookmark: bookmark.id,
                    input: input.clone(),
                },
            );
        }
        panic!("{id} still waits after 1000 resumes");
    }

    /// Makes a call in the outside world.
    fn perform(&mut self, request: Request) -> Answer {
        match request {
            Request::Http(request) => {
                self.requests.push(request);
                self.answers.pop_front().unwrap_or(Answer::FailedToConnect {
                    message: "nobody answers in this test".into(),
                })
            }
            Request::FindWorkflow { definition_id } => match self.library.find(&definition_id) {
                Some(_) => Answer::Found,
                None => Answer::NotStarted {
                    message: no_such_workflow(&definition_id),
                },
            },
            Request::ExecuteWorkflow(child) => {
                match self.start_as(child.instance.clone(), &child.definition_id, child.start) {
                    None => Answer::NotStarted {
                        message: no_such_workflow(&child.definition_id),
                    },
                    Some(id) => {
                        let child = self.instance(&id);
                        Answer::Executed {
                            sub_status: child.sub_status,
                            output: child.output,
                        }
                    }
                }
            }
        }
    }
}

/// What a parent is told of a child that nobody knows.
fn no_such_workflow(definition_id: &str) -> String {
    format!("there is no published workflow `{definition_id}`")
}
