//! Running a workflow to its end in an account: time passes, events come, tasks are done.

#![allow(
    clippy::large_futures,
    reason = "one use case at a time, and nothing here is made to be quick"
)]

use std::collections::BTreeSet;

use dormouse_runtime::{
    DefinitionHandle, EventRequest, ResumeRequest, RuntimeError, StartOutcome, StartRequest,
};
use serde_json::{Map, Value};

use crate::account::{Account, OpenWait};
use crate::tally::{Phase, Tally};

/// After so many things that happened, a workflow is taken for one that never ends.
const STEPS_MAX: u32 = 5_000;

/// What those outside answer, by the name of the event or the task. Others are answered with nothing.
pub type Answers = Map<String, Value>;

/// Name under which [`Answers`] hold what names without an answer of their own are answered with.
pub const EVERY_OTHER: &str = "*";

/// What a run took.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// What was asked of the parts of AWS.
    pub tally: Tally,
    /// The same, phase by phase and item by item.
    pub phases: Vec<Phase>,
    /// Why it faulted: the activity and a sentence, for the instance and for those that it started.
    pub incidents: Vec<String>,
    /// Names of the events and tasks that were answered.
    pub asked: BTreeSet<String>,
    /// The most bytes that the instance took in the table while it waited; 0: it never waited.
    pub waiting_bytes: usize,
    /// Bytes that it takes in the table after its end.
    pub kept_bytes: usize,
    /// The engine's word for how it ended, or how it stands.
    pub sub_status: String,
    /// What it waits for that nobody here can give it.
    pub unanswered: Vec<String>,
}

/// Why a workflow could not be run.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
    /// A use case failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// There is no such definition, or it may not start.
    #[error("`{0}` cannot be started")]
    NotStarted(String),
    /// It goes on and on.
    #[error("the workflow did not come to an end in {STEPS_MAX} steps: its cost has no number")]
    Endless,
}

/// What starts a run.
#[derive(Debug, Clone)]
pub enum Start {
    /// A request.
    Request(Box<StartRequest>),
    /// The next occurrence of the definition's recurring trigger, from its schedule to the next one's.
    Occurrence {
        /// The definition.
        definition_id: String,
    },
}

/// Runs a published definition once, and tells what it took.
///
/// # Errors
///
/// [`CostError`]
pub async fn run(account: &Account, start: Start, answers: &Answers) -> Result<Ran, CostError> {
    account.take_phases();
    let stored = account.stored_bytes();
    let id = begin(account, start).await?;
    let (mut hopeless, mut asked) = (BTreeSet::new(), BTreeSet::new());
    let mut waiting_bytes = 0;
    for _ in 0..STEPS_MAX {
        account.settle().await?;
        let takes = account.stored_bytes().saturating_sub(stored);
        if !account.open_waits().is_empty() {
            waiting_bytes = waiting_bytes.max(takes);
        }
        if answer_one(account, answers, &mut hopeless, &mut asked).await? {
            continue;
        }
        // Nobody outside has anything to do, so time passes, until nothing is on its way any more.
        if !account.pass_time().await? {
            let incidents = account.incidents();
            let phases = account.take_phases();
            let (runtime, tenant) = (account.runtime(), account.tenant());
            let head = runtime.query().instance_head(tenant, &id).await?;
            account.take_phases();
            return Ok(Ran {
                tally: Tally::sum(&phases),
                phases,
                incidents,
                asked,
                waiting_bytes,
                kept_bytes: takes,
                sub_status: head.map(|head| head.summary.sub_status).unwrap_or_default(),
                unanswered: hopeless.into_iter().map(|(_, what)| what).collect(),
            });
        }
    }
    Err(CostError::Endless)
}

/// Starts the instance; answers its id.
async fn begin(account: &Account, start: Start) -> Result<String, CostError> {
    match start {
        Start::Request(request) => {
            let definition = match &request.definition {
                DefinitionHandle::Definition { id, .. } | DefinitionHandle::Version { id } => {
                    id.clone()
                }
            };
            let (runtime, tenant) = (account.runtime(), account.tenant());
            let bytes = size(&Value::Object(request.input.clone()));
            let started = runtime.instances().start(tenant, *request);
            match account.request("start", bytes, started).await? {
                StartOutcome::Started(report) => Ok(report.instance.id.to_string()),
                StartOutcome::AlreadyStarted(_)
                | StartOutcome::NotAllowed { .. }
                | StartOutcome::Deleted { .. }
                | StartOutcome::NotFound
                | StartOutcome::Stale => Err(CostError::NotStarted(definition)),
            }
        }
        Start::Occurrence { definition_id } => {
            for _ in 0..STEPS_MAX {
                if !account.recurs(&definition_id) {
                    break;
                }
                account.pass_time_to_occurrence().await?;
                if let Some(id) = account.began() {
                    return Ok(id);
                }
            }
            Err(CostError::NotStarted(definition_id))
        }
    }
}

/// Bytes of a value as JSON.
fn size(value: &Value) -> usize {
    value.to_string().len()
}

/// Answers one open wait as somebody outside would. False: there is none to answer.
async fn answer_one(
    account: &Account,
    answers: &Answers,
    hopeless: &mut BTreeSet<(String, String)>,
    asked: &mut BTreeSet<String>,
) -> Result<bool, CostError> {
    let (runtime, tenant) = (account.runtime(), account.tenant());
    for wait in account.open_waits() {
        let place = format!("{}/{}", wait.instance_id, wait.bookmark.id);
        if wait.ends_by_itself() || hopeless.iter().any(|(known, _)| *known == place) {
            continue;
        }
        match kind(&wait) {
            Kind::Event(name) => {
                asked.insert(name.clone());
                let payload = answer(answers, &name);
                let bytes = size(&payload);
                let event = EventRequest {
                    payload,
                    instance_id: Some(wait.instance_id),
                    name,
                    ..EventRequest::default()
                };
                let published = runtime.stimuli().publish_event(tenant, event);
                account.request("event", bytes, published).await?;
            }
            Kind::Task { id, name } => {
                asked.insert(name.clone());
                let result = answer(answers, &name);
                let bytes = size(&result);
                let done = runtime.instances().complete_task(tenant, &id, result);
                account.request("task", bytes, done).await?;
            }
            Kind::Link => {
                let (instance, bookmark) = (wait.instance_id, wait.bookmark.id.to_string());
                let request = ResumeRequest::bookmark(instance, bookmark, Map::new());
                account
                    .request("link", 0, runtime.instances().resume(tenant, request))
                    .await?;
            }
            // Its own end is what ends the wait.
            Kind::Child => continue,
            Kind::Http(what) => {
                hopeless.insert((place, what));
                continue;
            }
        }
        // One that waits on although it was answered is answered once.
        hopeless.retain(|(known, _)| *known != place);
        return Ok(true);
    }
    Ok(false)
}

/// What a name is answered with: its own answer, or that of every name without one.
fn answer(answers: &Answers, name: &str) -> Value {
    let found = answers.get(name).or_else(|| answers.get(EVERY_OTHER));
    found.cloned().unwrap_or_default()
}

/// Who ends a wait.
enum Kind {
    Event(String),
    Task { id: String, name: String },
    Link,
    Child,
    Http(String),
}

fn kind(wait: &OpenWait) -> Kind {
    let bookmark = &wait.bookmark;
    let payload = |name: &str| {
        let text = bookmark.payload.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    match bookmark.name.as_str() {
        "Elsa.Event" => Kind::Event(payload("EventName")),
        "Elsa.RunTask" => Kind::Task {
            id: payload("TaskId"),
            name: payload("TaskName"),
        },
        "Elsa.DispatchWorkflow" | "Elsa.ExecuteWorkflow" | "Elsa.BulkDispatchWorkflows" => {
            Kind::Child
        }
        "Elsa.HttpEndpoint" => Kind::Http(format!("an HTTP request at {}", payload("Path"))),
        _ => Kind::Link,
    }
}
