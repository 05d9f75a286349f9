//! A shell of the engine in memory. It holds instances, carries out their effects and moves the clock.

mod clock;
mod deliver;

use std::collections::VecDeque;

use dormouse_engine::call::{Answer, Call, HttpRequest, HttpResponse, Request};
use dormouse_engine::effect::Effect;
use dormouse_engine::graph::{Graph, SharedGraph};
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::{Bookmark, Instance, Start};
use dormouse_engine::journal::Entry;
use dormouse_engine::step::{Environment, Limits, Next, Stimulus, Transition, step};
use dormouse_engine::time::Timestamp;
use dormouse_expressions::Expressions;
use serde_json::{Map, Value};

use crate::library::Library;
use crate::mock::Mocks;

/// Effects carried out in answer to one stimulus. The bound ends instances that wake each other, or themselves, for ever;
/// what is left is carried out with the next stimulus.
const DELIVERIES_MAX: usize = 200;

/// Start of the virtual clock: 2026-01-01T00:00:00Z.
pub const BEGIN: Timestamp = Timestamp(1_767_225_600_000);

/// Makes a step. The tests of this repository put one here that checks the engine's laws.
pub type StepFn = fn(&Graph, Instance, &Stimulus, &Environment<'_>) -> Transition;

/// Gives the stimulus of an effect to an instance. The tests of this repository give each one twice.
pub type DeliverFn = fn(&mut Host, &InstanceId, Stimulus);

/// An instance with its history.
#[derive(Debug)]
pub struct Kept {
    /// Its id.
    pub id: InstanceId,
    /// The compiled definition.
    pub graph: SharedGraph,
    /// Its state.
    pub instance: Instance,
    /// Everything it did.
    pub journal: Vec<Entry>,
    /// Everything it asked for.
    pub effects: Vec<Effect>,
    /// Its last answer to an HTTP request.
    pub response: Option<HttpResponse>,
    /// Number of commits.
    pub commits: usize,
}

/// A task that an outside worker was asked to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Id that the worker completes it by.
    pub id: String,
    /// The task's name.
    pub name: String,
    /// Its payload.
    pub payload: Value,
}

/// Recipient of a stimulus.
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

/// A queued stimulus: no bookmark waited for it yet.
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
    /// The virtual time.
    pub now: Timestamp,
    /// Limits of bursts.
    pub limits: Limits,
    /// Timers fired by one move of the clock, and effects carried out for one stimulus.
    pub deliveries_max: usize,
    /// Definitions that can be run.
    pub library: Library,
    /// Instances in the order of their start.
    pub instances: Vec<Kept>,
    /// Lines of `WriteLine`, of all instances.
    pub lines: Vec<String>,
    /// Requested tasks.
    pub tasks: Vec<Task>,
    /// Names of published events.
    pub events: Vec<String>,
    /// HTTP requests that were made.
    pub requests: Vec<HttpRequest>,
    /// Answers of the network in turn, for requests that no mock answers. When none is left, no connection is made.
    pub answers: VecDeque<Answer>,
    /// Answers by activity.
    pub mocks: Mocks,
    /// Whether an HTTP request waits for the answer of the next burst.
    pub has_http_request: bool,
    /// How steps are made.
    pub step_with: StepFn,
    /// How effects reach instances.
    pub deliver_with: DeliverFn,
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
            deliveries_max: DELIVERIES_MAX,
            library: Library::default(),
            instances: Vec::new(),
            lines: Vec::new(),
            tasks: Vec::new(),
            events: Vec::new(),
            requests: Vec::new(),
            answers: VecDeque::new(),
            mocks: Mocks::default(),
            has_http_request: false,
            step_with: |graph, instance, stimulus, environment| {
                step(graph, instance, stimulus.clone(), environment)
            },
            deliver_with: |host, id, stimulus| {
                host.step(id, stimulus);
            },
            inbox: Vec::new(),
            pending: VecDeque::new(),
            depth: 0,
        }
    }
}

impl Host {
    /// Forgets all instances and their history. Definitions, compiled graphs and scripts stay.
    pub fn reset(&mut self, now: Timestamp, mocks: Mocks) {
        self.now = now;
        self.mocks = mocks;
        self.instances.clear();
        self.lines.clear();
        self.tasks.clear();
        self.events.clear();
        self.requests.clear();
        self.answers.clear();
        self.inbox.clear();
        self.pending.clear();
    }

    /// The instance with an id.
    #[must_use]
    pub fn kept(&self, id: &InstanceId) -> Option<&Kept> {
        self.instances.iter().find(|k| &k.id == id)
    }

    /// The instances of a definition, oldest first.
    #[must_use]
    pub fn instances_of(&self, definition_id: &str) -> Vec<Instance> {
        let all = self.instances.iter().map(|k| &k.instance);
        all.filter(|i| i.definition_id == definition_id)
            .cloned()
            .collect()
    }

    /// The open bookmarks of an instance.
    #[must_use]
    pub fn bookmarks(&self, id: &InstanceId) -> Vec<Bookmark> {
        self.kept(id)
            .map(|k| k.instance.bookmarks.clone())
            .unwrap_or_default()
    }

    /// Number of effects that wait to be carried out.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
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
        self.instances.push(Kept {
            id: id.clone(),
            graph,
            instance,
            journal: Vec::new(),
            effects: Vec::new(),
            response: None,
            commits: 0,
        });
        self.step(&id, Stimulus::Start);
        Some(id)
    }

    /// Gives an instance a stimulus, and carries out everything that follows from it. `false`: nothing changed.
    pub fn step(&mut self, id: &InstanceId, stimulus: Stimulus) -> bool {
        self.depth += 1;
        let is_changed = self.burst(id, stimulus);
        if self.depth == 1 {
            self.deliver_all();
        }
        self.depth -= 1;
        is_changed
    }

    fn burst(&mut self, id: &InstanceId, first: Stimulus) -> bool {
        let mut stimulus = first;
        let mut activities_before = 0;
        let mut is_changed = false;
        loop {
            let environment = Environment {
                limits: self.limits,
                has_http_request: self.has_http_request,
                activities_before,
                ..Environment::new(self.now, &self.expressions)
            };
            let Some(kept) = self.instances.iter_mut().find(|k| &k.id == id) else {
                return is_changed;
            };
            let before = kept.instance.clone();
            let transition = (self.step_with)(&kept.graph, before, &stimulus, &environment);
            is_changed |= transition.is_changed;
            activities_before += transition.activities;
            kept.instance = transition.instance;
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
                    let Some(Call { bookmark, request }) = calls.into_iter().next() else {
                        return is_changed;
                    };
                    let answer = self.perform(id, &bookmark, request);
                    Stimulus::Answered { bookmark, answer }
                }
            };
        }
    }

    /// Makes a call in the outside world.
    fn perform(
        &mut self,
        id: &InstanceId,
        bookmark: &dormouse_engine::id::BookmarkId,
        request: Request,
    ) -> Answer {
        match request {
            Request::Http(request) => {
                let kept = self.instances.iter().find(|k| &k.id == id);
                let node = kept.and_then(|k| {
                    let context = k.instance.bookmark(bookmark)?.context;
                    let context = k.instance.contexts.get(&context)?;
                    Some(k.graph.node(context.node))
                });
                let answer = node.and_then(|node| self.mocks.answer(node, &request));
                self.requests.push(request);
                answer
                    .or_else(|| self.answers.pop_front())
                    .unwrap_or(Answer::FailedToConnect {
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
                let started =
                    self.start_as(child.instance.clone(), &child.definition_id, child.start);
                match started.and_then(|id| self.kept(&id)) {
                    None => Answer::NotStarted {
                        message: no_such_workflow(&child.definition_id),
                    },
                    Some(child) => Answer::Executed {
                        sub_status: child.instance.sub_status,
                        output: child.instance.output.clone(),
                    },
                }
            }
        }
    }
}

/// Message for the parent of a child without a definition.
fn no_such_workflow(definition_id: &str) -> String {
    format!("there is no published workflow `{definition_id}`")
}
