//! HTTP workflows: requests under `/workflows` that start or resume instances and are answered by them.

mod answer;
mod request;

use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use dormouse_engine::activity::http_endpoint::{HTTP_ENDPOINT, hashed, normal_path, template};
use dormouse_engine::graph::stimulus_hash;
use dormouse_engine::http::Rules;
use dormouse_runtime::query::Waiting;
use dormouse_runtime::{DefinitionHandle, ResumeRequest, StartOutcome, StartRequest};
use futures_util::future::{Either, select};

use crate::access::READ_INSTANCES;
use crate::app::App;
use crate::instance::start::idempotency_key;
use crate::refusal::Refusal;
use crate::scoped::Scoped;
use request::WorkflowRequest;
use serde_json::json;

pub(crate) use answer::response;

/// Below this path lie the paths of HTTP workflows.
const BASE: &str = "/workflows";

/// How often a trigger that was replaced between finding and starting it is looked up again.
const LOOKUPS_MAX: usize = 3;

/// The routes, relative to the root.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(BASE, any(handle))
        .route("/workflows/", any(handle))
        .route("/workflows/{*path}", any(handle))
}

/// Who listens for a request.
struct Listeners {
    waiting: Waiting,
    request: WorkflowRequest,
}

impl Listeners {
    /// Refuses a request that nobody listens for, and one whose sender may not ask.
    fn refuse_strangers(&self, app: &App) -> Result<(), Refusal> {
        let triggers = self.waiting.triggers.iter();
        let triggers = triggers.map(|t| t.trigger.payload.as_ref());
        let bookmarks = self.waiting.bookmarks.iter();
        let bookmarks = bookmarks.filter(|b| self.request.is_for(b));
        let bookmarks = bookmarks.map(|b| b.found_by.payload.as_ref());
        let payloads: Vec<&[u8]> = triggers.chain(bookmarks).collect();
        match payloads.as_slice() {
            [] => Err(Refusal::NoWorkflowListens {
                path: self.request.path.clone(),
            }),
            [only] => {
                let rules = Rules::of(&Waiting::payload(only));
                self.request.endpoint(app, &rules).map_or(Ok(()), Err)
            }
            // Which of them is meant is for later.
            _ => Ok(()),
        }
    }
}

/// Answers a request. A client that a workflow's path means nothing to, or that may not ask, gets a bare status, as
/// from Elsa; one that asks for problem JSON gets that.
async fn handle(scoped: Scoped, request: Request) -> Response {
    let accept = request.headers().get(header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok());
    let reads_problems = accept.is_some_and(|text| text.contains("problem+json"));
    let mut response = match serve(scoped, request).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    };
    let is_problem = response.headers().get(header::CONTENT_TYPE)
        == Some(&HeaderValue::from_static("application/problem+json"));
    let is_bare = matches!(
        response.status(),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND
    );
    if is_problem && is_bare && !reads_problems {
        response.headers_mut().remove(header::CONTENT_TYPE);
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = Body::empty();
    }
    response
}

async fn serve(Scoped(app): Scoped, request: Request) -> Result<Response, Refusal> {
    let head = WorkflowRequest::head(&app, &request, BASE)?;
    let mut found = find(&app, head).await?;
    // A body costs memory and time: who is turned away anyway is so before it is read.
    found.refuse_strangers(&app)?;
    found.request.read_body(&app, request).await?;
    for _ in 0..LOOKUPS_MAX {
        match run(&app, found).await? {
            Ran::Answered(response) => return Ok(response),
            Ran::Again(back) => found = find(&app, back).await?,
        }
    }
    Err(Refusal::NoWorkflowListens {
        path: found.request.path,
    })
}

/// What became of a request.
enum Ran {
    Answered(Response),
    /// The trigger was replaced just now: look again.
    Again(WorkflowRequest),
}

/// Finds who listens: for the path as it is written first, then for the templates that it matches, the most
/// literal one first. Elsa takes whichever comes first in a map without order.
async fn find(app: &App, mut request: WorkflowRequest) -> Result<Listeners, Refusal> {
    let literal = normal_path(&request.path);
    let mut waiting = look(app, &literal, &request.method).await?;
    if waiting.is_empty() {
        let routes = app.runtime().query().routes(app.tenant()).await?;
        let templates = routes
            .iter()
            .filter(|route| route.method == request.method)
            .map(|route| route.template.as_str());
        for (template, route_data) in template::matches(&request.path, templates) {
            waiting = look(app, &template, &request.method).await?;
            if !waiting.is_empty() {
                request.route_data = route_data;
                break;
            }
        }
    }
    Ok(Listeners {
        waiting: waiting.0,
        request,
    })
}

/// What waits at a template.
struct Found(Waiting);

impl Found {
    fn is_empty(&self) -> bool {
        self.0.triggers.is_empty() && self.0.bookmarks.is_empty()
    }
}

async fn look(app: &App, template: &str, method: &str) -> Result<Found, Refusal> {
    let hash = stimulus_hash(HTTP_ENDPOINT, &hashed(template, method));
    Ok(Found(
        app.runtime().query().waiting(app.tenant(), &hash).await?,
    ))
}

async fn run(app: &App, found: Listeners) -> Result<Ran, Refusal> {
    let Listeners {
        mut waiting,
        request,
    } = found;
    let path = request.path.clone();
    waiting.bookmarks.retain(|b| request.is_for(b));
    if waiting.triggers.len() > 1 {
        let all = waiting.triggers.iter();
        let all = all.map(|t| json!({ "WorkflowDefinitionId": t.definition_id }));
        return Ok(Ran::Answered(answer::ambiguous(&path, all.collect())));
    }
    if let Some(trigger) = waiting.triggers.into_iter().next() {
        if let Some(answer) = request.turned_away(app, &trigger.trigger.payload) {
            return Ok(Ran::Answered(answer));
        }
        let mut start = StartRequest::new(DefinitionHandle::published(&trigger.definition_id));
        start.trigger_activity_id = Some(trigger.trigger.activity_id);
        start.trigger_generation = Some(trigger.generation);
        start.instance_id = request.instance_id.clone();
        start.idempotency_key = idempotency_key(&request.headers);
        start.correlation_id = request.correlation_id.clone();
        start.input = request.input();
        start.has_http_request = true;
        // As in Elsa, an activation strategy does not turn requests away.
        start.ignores_activation = true;
        let limit = Rules::of(&Waiting::payload(&trigger.trigger.payload)).timeout_ms();
        let work = Box::pin(app.runtime().instances().start(app.tenant(), start));
        return match within(app, limit, work).await {
            Some(outcome) => started(app, trigger.definition_id, outcome?, request),
            None => Ok(Ran::Answered(answer::too_late())),
        };
    }
    if waiting.bookmarks.len() > 1 {
        let all = waiting.bookmarks.iter();
        let all = all.map(|b| json!({ "WorkflowInstanceId": b.instance_id }));
        return Ok(Ran::Answered(answer::ambiguous(&path, all.collect())));
    }
    let Some(bookmark) = waiting.bookmarks.into_iter().next() else {
        return Err(Refusal::NoWorkflowListens { path });
    };
    if let Some(answer) = request.turned_away(app, &bookmark.found_by.payload) {
        return Ok(Ran::Answered(answer));
    }
    let id = bookmark.instance_id;
    let mut resume = ResumeRequest::bookmark(&id, bookmark.bookmark_id, request.input());
    resume.stamp = Some(bookmark.stamp);
    resume.has_http_request = true;
    let limit = Rules::of(&Waiting::payload(&bookmark.found_by.payload)).timeout_ms();
    let work = Box::pin(app.runtime().instances().resume(app.tenant(), resume));
    let Some(outcome) = within(app, limit, work).await else {
        return Ok(Ran::Answered(answer::too_late()));
    };
    let report = crate::instance::resume_report(id, outcome?)?;
    Ok(Ran::Answered(answer::of(Arc::unwrap_or_clone(report))))
}

/// Waits for work, at most so long. What was begun goes on without the request.
async fn within<T>(app: &App, limit_ms: Option<u64>, work: impl Future<Output = T>) -> Option<T> {
    let Some(limit_ms) = limit_ms else {
        return Some(work.await);
    };
    let clock = &app.runtime().ports().clock;
    match select(pin!(work), clock.sleep(limit_ms)).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}

fn started(
    app: &App,
    definition_id: String,
    outcome: StartOutcome,
    request: WorkflowRequest,
) -> Result<Ran, Refusal> {
    match outcome {
        StartOutcome::Started(report) => Ok(Ran::Answered(answer::of(*report))),
        StartOutcome::AlreadyStarted(head) => {
            let may_read = app.principal().permissions.allow(READ_INSTANCES);
            match may_read || head.summary.definition_id == definition_id {
                true => Ok(Ran::Answered(
                    answer::again(&head, may_read).into_response(),
                )),
                // A caller may name any instance; what it is is not for strangers.
                false => Err(Refusal::NoWorkflowListens { path: request.path }),
            }
        }
        StartOutcome::Stale => Ok(Ran::Again(request)),
        StartOutcome::Deleted { instance_id } => {
            Err(match app.principal().permissions.allow(READ_INSTANCES) {
                true => Refusal::InstanceDeleted { id: instance_id },
                false => Refusal::NoWorkflowListens { path: request.path },
            })
        }
        StartOutcome::NotAllowed { holder } => Err(Refusal::StartRefused {
            id: definition_id,
            holder,
        }),
        StartOutcome::NotFound => Err(Refusal::NoWorkflowListens { path: request.path }),
    }
}
