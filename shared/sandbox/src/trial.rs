//! Runs the cases of a test file.

mod advance;
mod verdict;

use std::collections::BTreeSet;

use dormouse_engine::activity::event;
use dormouse_engine::activity::http_endpoint::template;
use dormouse_engine::definition::Definition;
use dormouse_engine::graph::{Node, Problem, Recurrence};
use dormouse_engine::id::InstanceId;
use dormouse_engine::step::{Environment, Stimulus};
use dormouse_engine::time::Timestamp;
use dormouse_engine::validate::validate;
use serde_json::{Map, Value};

use crate::coverage::{Coverage, Tally};
use crate::host::{BEGIN, Host, Kept, Recipient};
use crate::mock::{Mocks, Report, TaskMock};
use crate::request::Request;
use crate::test_file::{Act, Case};

/// Timers, tasks and occurrences of one `advance`; more is a loop.
const DELIVERIES_MAX: usize = 100_000;

/// Effects that are carried out for one stimulus; more wait for the next one.
const EFFECTS_MAX: usize = 10_000;

/// A definition under test, ready to run.
#[derive(Debug)]
pub struct Trial {
    host: Host,
    definition_id: String,
    tally: Tally,
}

/// A definition that cannot be tested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{definition_id} cannot be published: {}", .problems.iter().map(|p| format!("{}: {}", p.path, p.message)).collect::<Vec<_>>().join("; "))]
pub struct Unready {
    /// The definition.
    pub definition_id: String,
    /// Its errors.
    pub problems: Vec<Problem>,
}

/// The result of a case.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Unmet expectations; none if the case passed.
    pub failures: Vec<Failure>,
    /// Virtual time that passed, in milliseconds.
    pub virtual_ms: i64,
}

/// An unmet expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Line of the test file, from 1.
    pub line: usize,
    /// What was expected and what happened.
    pub message: String,
}

impl Failure {
    fn new(line: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { line, message }
    }
}

/// One case while it runs.
struct Run<'a> {
    host: &'a mut Host,
    definition_id: &'a str,
    main: Option<InstanceId>,
    /// The instance that answered the last HTTP request.
    answered: Option<InstanceId>,
    workers: Vec<TaskMock>,
    /// Tasks that a worker is at: when they are done, their ids and results.
    at_work: Vec<(Timestamp, String, Report)>,
    tasks_seen: usize,
    /// Recurring triggers with their next occurrence.
    recurring: Vec<(Timestamp, String, String, Recurrence)>,
}

impl Trial {
    /// Prepares a definition. Those that it uses come after it.
    ///
    /// # Errors
    ///
    /// One of the definitions has an error that keeps it from being published.
    pub fn new(definitions: Vec<Definition>) -> Result<Self, Unready> {
        let mut host = Host::default();
        host.deliveries_max = EFFECTS_MAX;
        let mut ids = Vec::new();
        for mut definition in definitions {
            definition.mark(true, true);
            let added = host.library.add(definition);
            ids.extend(added.definition_id.clone());
        }
        for definition_id in &ids {
            let Some(graph) = host.library.graph(definition_id, &host.expressions) else {
                continue;
            };
            let environment = Environment::new(BEGIN, &host.expressions);
            let mut problems = validate(&graph, &environment);
            problems.retain(|p| p.is_error);
            if !problems.is_empty() {
                return Err(Unready {
                    definition_id: definition_id.clone(),
                    problems,
                });
            }
        }
        let definition_id = ids.into_iter().next().unwrap_or_default();
        Ok(Self {
            host,
            definition_id,
            tally: Tally::default(),
        })
    }

    /// Runs a case.
    pub fn run(&mut self, case: &Case) -> Outcome {
        let mocks = Mocks {
            rules: case.rules.clone(),
            is_strict: true,
            unanswered: Vec::new(),
        };
        self.host.reset(case.now, mocks);
        self.host.library.stand_in(case.children.clone());
        let mut run = Run {
            host: &mut self.host,
            definition_id: &self.definition_id,
            main: None,
            answered: None,
            workers: case.tasks.clone(),
            at_work: Vec::new(),
            tasks_seen: 0,
            recurring: Vec::new(),
        };
        let failures = match run.play(case) {
            Ok(()) => Vec::new(),
            Err(failures) => failures,
        };
        let virtual_ms = self.host.now.0.saturating_sub(case.now.0);
        self.tally.note(&self.host.instances, &self.definition_id);
        self.host.library.stand_in(Vec::new());
        Outcome {
            failures,
            virtual_ms,
        }
    }

    /// Activities and outcomes of the definition under test that the cases so far have run.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let library = &self.host.library;
        let graph = library.graph(&self.definition_id, &self.host.expressions);
        match (library.find(&self.definition_id), graph) {
            (Some(definition), Some(graph)) => self.tally.coverage(definition, &graph),
            _ => Coverage::default(),
        }
    }
}

impl Run<'_> {
    fn play(&mut self, case: &Case) -> Result<(), Vec<Failure>> {
        self.begin(case)?;
        for step in &case.steps {
            if let Act::Expect(checks) = &step.act {
                self.verify(checks)?;
            } else {
                let acted = self.act(&step.act);
                acted.map_err(|message| vec![Failure::new(step.line, message)])?;
            }
            self.unmocked(step.line)?;
        }
        self.verify(&case.expect)
    }

    fn begin(&mut self, case: &Case) -> Result<(), Vec<Failure>> {
        let fail = |message: String| vec![Failure::new(case.line, message)];
        let graph = self
            .host
            .library
            .graph(self.definition_id, &self.host.expressions)
            .ok_or_else(|| fail(format!("there is no workflow `{}`", self.definition_id)))?;
        for name in case.start.input.keys() {
            if !graph
                .inputs
                .iter()
                .any(|i| i.name.eq_ignore_ascii_case(name))
            {
                return Err(fail(format!("the workflow declares no input `{name}`")));
            }
        }
        if let Some(id) = &case.start.trigger_activity_id
            && graph.by_activity_id(id).is_none()
        {
            return Err(fail(format!("there is no activity `{id}` to start at")));
        }
        self.known_mocks(case).map_err(fail)?;
        if case.is_started {
            self.main = self.host.start(self.definition_id, case.start.clone());
            self.settle();
            return self.unmocked(case.line);
        }
        let environment = Environment::new(self.host.now, &self.host.expressions);
        for (definition_id, trigger) in self.host.library.triggers(&environment) {
            if let Some(recurrence) = trigger.recurrence {
                let first = recurrence.first(self.host.now);
                let id = trigger.activity_id;
                let occurrence = first.map(|at| (at, definition_id, id, recurrence));
                self.recurring.extend(occurrence);
            }
        }
        Ok(())
    }

    /// Refuses mocks of activities that no definition has: they would never answer.
    fn known_mocks(&self, case: &Case) -> Result<(), String> {
        let library = &self.host.library;
        let ids = library.versions().iter();
        let ids = ids.filter_map(|d| d.definition_id.as_deref());
        let graphs: Vec<_> = ids
            .filter_map(|id| library.graph(id, &self.host.expressions))
            .collect();
        for rule in &case.rules {
            let mut nodes = graphs.iter().flat_map(|graph| &graph.nodes);
            if !nodes.any(|node| crate::mock::is_named(node, &rule.activity)) {
                let name = &rule.activity;
                return Err(format!(
                    "no activity has the type, id or name `{name}` of a mock"
                ));
            }
        }
        Ok(())
    }

    /// Fails the case for HTTP requests that no mock answered.
    fn unmocked(&mut self, line: usize) -> Result<(), Vec<Failure>> {
        let unanswered = std::mem::take(&mut self.host.mocks.unanswered);
        let failures: Vec<Failure> = unanswered
            .into_iter()
            .map(|message| Failure::new(line, message))
            .collect();
        match failures.is_empty() {
            true => Ok(()),
            false => Err(failures),
        }
    }

    fn act(&mut self, act: &Act) -> Result<(), String> {
        match act {
            Act::Advance(ms) => self.advance(*ms)?,
            Act::Event {
                name,
                payload,
                correlation_id,
            } => {
                let input = Map::from_iter([(event::PAYLOAD.to_owned(), payload.clone())]);
                let to = Recipient {
                    correlation_id: correlation_id.clone(),
                    instance: None,
                };
                self.host
                    .send(event::EVENT, &event::hashed(name), &to, &input);
            }
            Act::Task { name, report } => self.complete(name, report)?,
            Act::Resume { activity, input } => self.resume(activity, input)?,
            Act::Request(request) => self.request(request)?,
            Act::Cancel => self.steer(Stimulus::Cancel, "cancelled")?,
            Act::Retry => {
                let activity_ids = Vec::new();
                self.steer(Stimulus::Retry { activity_ids }, "retried")?;
            }
            Act::Expect(_) => {}
        }
        self.settle();
        Ok(())
    }

    /// The instance under test: the one that was started, else the first one of the definition.
    fn kept(&self) -> Result<&Kept, String> {
        let mut all = self.host.instances.iter();
        let found = match &self.main {
            Some(id) => all.find(|k| k.id == *id),
            None => all.find(|k| k.instance.definition_id == self.definition_id),
        };
        found.ok_or_else(|| format!("no instance of {} was started", self.definition_id))
    }

    fn steer(&mut self, stimulus: Stimulus, what: &str) -> Result<(), String> {
        let id = self.kept()?.id.clone();
        if self.host.step(&id, stimulus) {
            return Ok(());
        }
        let status = self.kept()?.instance.sub_status.as_str();
        Err(format!("nothing is {what}: the instance is {status}"))
    }

    fn resume(&mut self, activity: &str, input: &Map<String, Value>) -> Result<(), String> {
        let kept = self.kept()?;
        let waiting = waiting(kept);
        let found = waiting.iter().find(|(node, _)| is_named(node, activity));
        let Some((_, bookmark)) = found else {
            let places = places(kept);
            return Err(format!("`{activity}` does not wait; {places}"));
        };
        let (id, bookmark) = (kept.id.clone(), bookmark.clone());
        let input = input.clone();
        self.host.step(&id, Stimulus::Resume { bookmark, input });
        Ok(())
    }

    fn request(&mut self, request: &Request) -> Result<(), String> {
        let templates = self.host.templates(&request.method);
        let found = template::matches(&request.path, templates.iter().map(String::as_str));
        let Some((template, values)) = found.into_iter().next() else {
            let (method, path) = (request.method.to_uppercase(), &request.path);
            return Err(format!("no workflow listens for {method} {path}"));
        };
        let request = request.clone().matching(&template, Value::Object(values));
        self.answered = self.host.request(&request);
        Ok(())
    }
}

/// The activities that an instance waits at, oldest bookmark first.
fn waiting(kept: &Kept) -> Vec<(&Node, dormouse_engine::id::BookmarkId)> {
    let bookmarks = kept.instance.bookmarks.iter();
    let each = bookmarks.filter_map(|b| {
        let context = kept.instance.contexts.get(&b.context)?;
        Some((kept.graph.node(context.node), b.id.clone()))
    });
    each.collect()
}

/// A sentence about where an instance waits.
fn places(kept: &Kept) -> String {
    let names: BTreeSet<&str> = waiting(kept).iter().map(|(n, _)| shown(n)).collect();
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] => format!(
            "it waits nowhere and is {}",
            kept.instance.sub_status.as_str()
        ),
        names => format!("it waits at {}", names.join(", ")),
    }
}

/// The name of an activity, else its id.
fn shown(node: &Node) -> &str {
    node.name.as_deref().unwrap_or(&node.id)
}

/// Whether an activity has a name or an id.
fn is_named(node: &Node, text: &str) -> bool {
    node.id == text || node.name.as_deref() == Some(text)
}
