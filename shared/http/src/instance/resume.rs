//! Resuming an instance at a bookmark.

use std::sync::Arc;

use axum::Json as Answer;
use axum::response::{IntoResponse, Response};
use dormouse_engine::instance::Wait;
use dormouse_runtime::{BurstReport, ResumeOutcome, ResumeRequest};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::accepted::accepted;
use super::model;
use crate::app::App;
use crate::body::Json;
use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// What to resume.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Resume {
    /// The bookmark; may be left out where the instance waits at exactly one.
    bookmark_id: Option<String>,
    /// What the activity receives, by name.
    input: Option<Map<String, Value>>,
}

/// `POST /workflow-instances/{id}/resume`. The guides use it; Elsa itself has tokens only.
pub(super) async fn resume(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    Json(request): Json<Resume>,
) -> Result<Response, Refusal> {
    let bookmark = match request.bookmark_id {
        Some(bookmark) => bookmark,
        None => only_bookmark(&app, &id).await?,
    };
    let input = request.input.unwrap_or_default();
    let request = ResumeRequest::bookmark(&id, bookmark, input);
    let outcome = app
        .runtime()
        .instances()
        .resume(app.tenant(), request)
        .await?;
    answer(id, outcome)
}

/// The bookmark that a person can mean without naming it: the only one, calls of the server's own aside.
async fn only_bookmark(app: &App, id: &str) -> Result<String, Refusal> {
    let found = app.runtime().query().instance(app.tenant(), id).await?;
    let instance = found
        .ok_or_else(|| Refusal::NoSuchInstance { id: id.to_owned() })?
        .instance;
    if instance.is_ended() {
        return Err(Refusal::InstanceEnded {
            id: id.to_owned(),
            sub_status: instance.sub_status.as_str().to_owned(),
        });
    }
    let open: Vec<String> = instance
        .bookmarks
        .iter()
        .filter(|b| match b.wait {
            Wait::Stimulus { .. } | Wait::Timer { .. } | Wait::Direct => true,
            Wait::Call(_) => false,
        })
        .map(|b| b.id.as_str().to_owned())
        .collect();
    match <[String; 1]>::try_from(open) {
        Ok([only]) => Ok(only),
        Err(open) => Err(Refusal::WhichBookmark {
            instance_id: id.to_owned(),
            open,
        }),
    }
}

/// What is answered to a resume of the instance `id`.
pub(crate) fn answer(id: String, outcome: ResumeOutcome) -> Result<Response, Refusal> {
    let report = report(id, outcome)?;
    let mut answer = Answer(resumed(&report)).into_response();
    if report.goes_on {
        accepted(&mut answer, report.instance.id.as_str());
    }
    Ok(answer)
}

/// What a resume of the instance `id` has done, unless it has done nothing.
pub(crate) fn report(id: String, outcome: ResumeOutcome) -> Result<Arc<BurstReport>, Refusal> {
    match outcome {
        ResumeOutcome::Resumed(report) => Ok(report),
        ResumeOutcome::BookmarkGone(head) | ResumeOutcome::Seen(head) => {
            Err(Refusal::BookmarkGone {
                instance_id: head.instance_id,
                open: head.bookmarks.into_keys().collect(),
            })
        }
        ResumeOutcome::NotYet => Err(Refusal::BookmarkNotYetOpen { instance_id: id }),
        ResumeOutcome::Ended(head) => Err(Refusal::InstanceEnded {
            id: head.instance_id,
            sub_status: head.summary.sub_status,
        }),
        ResumeOutcome::Deleted => Err(Refusal::InstanceDeleted { id }),
        ResumeOutcome::NotFound => Err(Refusal::NoSuchInstance { id }),
    }
}

fn resumed(report: &BurstReport) -> Value {
    let instance = &report.instance;
    let bookmarks = instance.bookmarks.iter();
    json!({
        "workflowInstanceId": instance.id.as_str(),
        "status": instance.status().as_str(),
        "subStatus": instance.sub_status.as_str(),
        "output": instance.output,
        "incidentCount": instance.incidents.len(),
        "bookmarks": bookmarks.map(|b| model::bookmark(b, instance, &report.graph)).collect::<Vec<_>>(),
        "lines": report.lines,
    })
}
