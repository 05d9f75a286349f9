//! Schedules: recurring triggers with their next occurrences, timers of instances, and leaving out one occurrence.

use axum::routing::{get, post};
use axum::{Json as Answer, Router};
use dormouse_engine::graph::Recurrence;
use dormouse_engine::time::{Timestamp, format_duration};
use dormouse_runtime::{InstanceTimer, Overlap, Schedule, SkipOutcome};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::Json;
use crate::query::Query;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// The most entries of one page.
const ITEMS_MAX: usize = 200;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/schedules", get(list))
        .route("/schedules/timers", get(timers))
        .route("/schedules/skip", post(skip))
}

fn limit(query: &Query) -> Result<usize, Refusal> {
    let limit = query.read::<usize>("pagesize")?.unwrap_or(50);
    Ok(limit.clamp(1, ITEMS_MAX))
}

/// `GET /schedules`: by definition and activity; `cursor` in the answer leads to the next page.
async fn list(Scoped(app): Scoped, query: Query) -> Result<Answer<Value>, Refusal> {
    let timers = app.runtime().timers();
    let (cursor, limit) = (query.text("cursor"), limit(&query)?);
    let page = timers.schedules(app.tenant(), cursor, limit).await?;
    let items: Vec<Value> = page.schedules.iter().map(schedule).collect();
    Ok(Answer(json!({ "items": items, "cursor": page.cursor })))
}

/// `GET /schedules/timers`: soonest first. `areListed` is false where a scheduler outside has them.
async fn timers(Scoped(app): Scoped, query: Query) -> Result<Answer<Value>, Refusal> {
    let timers = app.runtime().timers();
    let (cursor, limit) = (query.text("cursor"), limit(&query)?);
    let page = timers.instance_timers(app.tenant(), cursor, limit).await?;
    let items: Vec<Value> = page.timers.iter().map(timer).collect();
    Ok(Answer(json!({
        "items": items,
        "cursor": page.cursor,
        "areListed": page.are_listed,
    })))
}

/// The occurrence to leave out.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Skip {
    definition_id: String,
    activity_id: String,
    /// Its time, so that a repeated request does not leave out another one.
    occurrence: String,
}

/// `POST /schedules/skip`
async fn skip(Scoped(app): Scoped, Json(request): Json<Skip>) -> Result<Answer<Value>, Refusal> {
    let Skip {
        definition_id,
        activity_id,
        occurrence,
    } = request;
    let bad_time = || Refusal::bad_parameter("occurrence", &occurrence);
    let nominal = Timestamp::parse(&occurrence).ok_or_else(bad_time)?;
    let runtime = app.runtime();
    let of = (definition_id.as_str(), activity_id.as_str());
    let skipped = runtime.timers().skip_occurrence(app.tenant(), of, nominal);
    let next = match skipped.await? {
        SkipOutcome::Skipped(next) => next,
        SkipOutcome::Started { instance_id } => {
            return Err(Operating::OccurrenceStarted { instance_id }.into());
        }
        SkipOutcome::NotNext { next } => {
            let next = next.to_string();
            return Err(Operating::NotTheNextOccurrence { next }.into());
        }
        SkipOutcome::NotFound => {
            return Err(Operating::NoSuchSchedule {
                definition_id,
                activity_id,
            }
            .into());
        }
    };
    Ok(Answer(json!({
        "skipped": nominal.to_string(),
        "next": next.map(|next| next.to_string()),
    })))
}

fn schedule(schedule: &Schedule) -> Value {
    let (kind, expression, zone) = match &schedule.recurrence {
        Recurrence::At { at } => ("at", at.to_string(), None),
        Recurrence::Every { interval_ms } => ("every", format_duration(*interval_ms), None),
        Recurrence::Cron { expression, zone } => ("cron", expression.clone(), Some(zone)),
    };
    let overlap = match schedule.overlap {
        Overlap::Allow => "allow",
        Overlap::Skip => "skip",
        Overlap::BufferOne => "bufferOne",
        Overlap::CancelPrevious => "cancelPrevious",
    };
    let next = schedule.next.iter().map(ToString::to_string);
    json!({
        "definitionId": schedule.definition_id,
        "activityId": schedule.activity_id,
        "kind": kind,
        "expression": expression,
        "zone": zone,
        "overlapPolicy": overlap,
        "nextOccurrences": next.collect::<Vec<_>>(),
    })
}

fn timer(timer: &InstanceTimer) -> Value {
    json!({
        "due": timer.due.to_string(),
        "workflowInstanceId": timer.instance_id,
        "bookmarkId": timer.bookmark_id,
        "definitionId": timer.summary.definition_id,
        "name": timer.summary.name,
        "correlationId": timer.summary.correlation_id,
    })
}
