//! Dead letters: what was given up on, to be listed, delivered anew or deleted.

use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use dormouse_engine::time::Timestamp;
use dormouse_runtime::Replay;
use dormouse_runtime::query::{DeadLetter, Letter};
use serde_json::{Value, json};

use crate::app::App;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// How many letters are counted before the count is given as it is.
const COUNT_BOUND: u64 = 10_000;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/bookmark-queue/dead-letters", get(list).post(list))
        .route("/bookmark-queue/dead-letters/{id}", get(one).delete(delete))
        .route("/bookmark-queue/dead-letters/{id}/replay", post(replay))
}

/// Newest first; `cursor` in the answer leads to the next page.
async fn list(Scoped(app): Scoped, query: Query) -> Result<Json<Value>, Refusal> {
    let limit = query
        .read::<u32>("pagesize")?
        .unwrap_or(100)
        .clamp(1, 1_000);
    let cursor = query.text("cursor").map(str::to_owned);
    let page = app
        .runtime()
        .dead_letters()
        .list(app.tenant(), limit, cursor)
        .await?;
    let runtime = app.runtime();
    let total = runtime
        .dead_letters()
        .count(app.tenant(), COUNT_BOUND)
        .await?;
    let items: Vec<Value> = page.letters.iter().map(model).collect();
    Ok(Json(
        json!({ "items": items, "totalCount": total, "cursor": page.cursor }),
    ))
}

async fn one(Scoped(app): Scoped, Path(id): Path<String>) -> Result<Json<Value>, Refusal> {
    let found = app.runtime().dead_letters().get(app.tenant(), &id).await?;
    let letter = found.ok_or(Operating::NoSuchDeadLetter { id })?;
    Ok(Json(model(&letter)))
}

/// `mayRepeat=true` also replays an event that some of its recipients may have had.
async fn replay(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<Value>, Refusal> {
    let may_repeat = query.read::<bool>("mayrepeat")?.unwrap_or(false);
    let runtime = app.runtime();
    match runtime
        .dead_letters()
        .replay(app.tenant(), &id, may_repeat)
        .await?
    {
        Replay::Done => Ok(Json(json!({ "replayed": true, "queueItemId": id }))),
        Replay::Missing => Err(Operating::NoSuchDeadLetter { id }.into()),
        Replay::Forgotten { stimulus } => Err(Operating::MayRepeat { id, stimulus }.into()),
    }
}

async fn delete(Scoped(app): Scoped, Path(id): Path<String>) -> Result<StatusCode, Refusal> {
    if app
        .runtime()
        .dead_letters()
        .delete(app.tenant(), &id)
        .await?
    {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Operating::NoSuchDeadLetter { id }.into())
    }
}

fn model(letter: &DeadLetter) -> Value {
    let mut out = json!({
        "id": letter.id,
        "deadLetteredAt": Timestamp(letter.at_ms).to_string(),
        "reason": letter.reason,
        "deliveryAttempts": letter.attempts,
    });
    let more = match &letter.letter {
        Letter::Stimulus { stimulus, id, hash } => json!({
            "kind": "stimulus",
            "stimulusId": id,
            "stimulusHash": hash,
            "workflowInstanceId": stimulus.instance_id,
            "bookmarkId": stimulus.bookmark_id,
            "correlationId": stimulus.correlation_id,
            "activityInstanceId": stimulus.activity_instance_id,
            "createdAt": Timestamp(stimulus.created_ms).to_string(),
            "payload": text(&stimulus.payload),
        }),
        Letter::Effects {
            source, effects, ..
        } => json!({
            "kind": "effects",
            "workflowInstanceId": source,
            "payload": effects.iter().map(|effect| text(&effect.body)).collect::<Vec<_>>(),
        }),
        Letter::Message(bytes) => json!({ "kind": "message", "payload": text(bytes) }),
    };
    if let (Value::Object(out), Value::Object(more)) = (&mut out, more) {
        out.extend(more);
    }
    out
}

/// The runtime's own formats are JSON; what came from outside and could not be read may be anything.
fn text(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| String::from_utf8_lossy(bytes).into())
}
