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
use crate::tally::Tally;

/// After so many things that happened, a workflow is taken for one that never ends.
const STEPS_MAX: u32 = 5_000;

/// What those outside answer, by the name of the event or the task. Others are answered with nothing.
pub type Answers = Map<String, Value>;

/// What a run took.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// What was asked of the parts of AWS.
    pub tally: Tally,
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

/// Runs a published definition once, and tells what it took.
///
/// # Errors
///
/// [`CostError`]
pub async fn run(
    account: &Account,
    request: StartRequest,
    answers: &Answers,
) -> Result<Ran, CostError> {
    let definition = match &request.definition {
        DefinitionHandle::Definition { id, .. } | DefinitionHandle::Version { id } => id.clone(),
    };
    account.take_tally();
    let (runtime, tenant) = (account.runtime(), account.tenant());
    let started = account.api(runtime.start(tenant, request)).await?;
    let StartOutcome::Started(report) = started else {
        return Err(CostError::NotStarted(definition));
    };
    let id = report.instance.id.to_string();
    let mut hopeless = BTreeSet::new();
    for _ in 0..STEPS_MAX {
        account.settle().await?;
        if answer_one(account, answers, &mut hopeless).await? {
            continue;
        }
        // Nobody outside has anything to do, so time passes, until nothing is on its way any more.
        if !account.pass_time().await? {
            let tally = account.take_tally();
            let head = runtime.instance_head(tenant, &id).await?;
            account.take_tally();
            return Ok(Ran {
                tally,
                sub_status: head.map(|head| head.summary.sub_status).unwrap_or_default(),
                unanswered: hopeless.into_iter().map(|(_, what)| what).collect(),
            });
        }
    }
    Err(CostError::Endless)
}

/// Answers one open wait as somebody outside would. False: there is none to answer.
async fn answer_one(
    account: &Account,
    answers: &Answers,
    hopeless: &mut BTreeSet<(String, String)>,
) -> Result<bool, CostError> {
    let (runtime, tenant) = (account.runtime(), account.tenant());
    for wait in account.open_waits() {
        let place = format!("{}/{}", wait.instance_id, wait.bookmark.id);
        if wait.ends_by_itself() || hopeless.iter().any(|(known, _)| *known == place) {
            continue;
        }
        match kind(&wait) {
            Kind::Event(name) => {
                let event = EventRequest {
                    payload: answers.get(&name).cloned().unwrap_or_default(),
                    instance_id: Some(wait.instance_id),
                    name,
                    ..EventRequest::default()
                };
                account.api(runtime.publish_event(tenant, event)).await?;
            }
            Kind::Task { id, name } => {
                let result = answers.get(&name).cloned().unwrap_or_default();
                let done = runtime.complete_task(tenant, &id, result);
                account.api(done).await?;
            }
            Kind::Link => {
                let (instance, bookmark) = (wait.instance_id, wait.bookmark.id.to_string());
                let request = ResumeRequest::bookmark(instance, bookmark, Map::new());
                account.api(runtime.resume(tenant, request)).await?;
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
