//! The journal of an instance: Elsa's log records, in order.

use axum::Json as Answer;
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::context_text;
use dormouse_engine::journal::Line;
use dormouse_engine::sensitive::redact;
use dormouse_runtime::query::JOURNAL_LINES_MAX;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::ElsaJsonOrNone;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// Which lines.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct JournalRequest {
    filter: Option<Filter>,
    skip: Option<usize>,
    take: Option<usize>,
    page: Option<usize>,
    page_size: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Filter {
    activity_ids: Option<Vec<String>>,
    activity_node_ids: Option<Vec<String>>,
    excluded_activity_types: Option<Vec<String>>,
    event_names: Option<Vec<String>>,
}

impl Filter {
    fn takes(&self, line: &Line) -> bool {
        let is_in = |list: &Option<Vec<String>>, text: &str| {
            list.as_ref()
                .is_none_or(|l| l.is_empty() || l.iter().any(|x| x == text))
        };
        let excluded = self.excluded_activity_types.iter().flatten();
        is_in(&self.activity_ids, &line.activity_id)
            && is_in(&self.activity_node_ids, &line.activity_node_id)
            && is_in(&self.event_names, line.event.as_str())
            && !excluded.into_iter().any(|t| *t == line.activity_type)
    }

    fn takes_all(&self) -> bool {
        let is_empty = |list: &Option<Vec<String>>| list.as_ref().is_none_or(Vec::is_empty);
        is_empty(&self.activity_ids)
            && is_empty(&self.activity_node_ids)
            && is_empty(&self.excluded_activity_types)
            && is_empty(&self.event_names)
    }
}

/// `GET /workflow-instances/{id}/journal`
pub(super) async fn by_query(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
) -> Result<Answer<Value>, Refusal> {
    journal(&app, id, &query, JournalRequest::default()).await
}

/// `POST /workflow-instances/{id}/journal`
pub(super) async fn by_body(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
    ElsaJsonOrNone(request): ElsaJsonOrNone<JournalRequest>,
) -> Result<Answer<Value>, Refusal> {
    journal(&app, id, &query, request).await
}

/// `GET /workflow-instances/{id}/journal/{activity}`: the last line about an activity.
pub(super) async fn last_of_activity(
    Scoped(app): Scoped,
    Path((id, activity)): Path<(String, String)>,
) -> Result<Answer<Value>, Refusal> {
    let query = app.runtime().query();
    let total = query.journal(app.tenant(), &id, 0, 0).await?;
    let total = total.unwrap_or_default().total;
    let from = total.saturating_sub(JOURNAL_LINES_MAX as u64);
    let found = query.journal(app.tenant(), &id, from, JOURNAL_LINES_MAX);
    let found = found.await?;
    let lines = found.ok_or_else(|| Refusal::NoSuchInstance { id: id.clone() })?;
    let mut of_activity = lines.lines.iter().rev();
    let last = of_activity.find(|line| line.activity_id == activity);
    let last = last.ok_or(Operating::NoSuchActivityExecution { id: activity })?;
    Ok(Answer(record(&InstanceId::from(id.as_str()), last)))
}

async fn journal(
    app: &App,
    id: String,
    query: &Query,
    request: JournalRequest,
) -> Result<Answer<Value>, Refusal> {
    let size = query.read("pagesize")?.or(request.page_size);
    let take = query.read("take")?.or(request.take).or(size).unwrap_or(100);
    let take = take.clamp(1, app.config().page_items_max);
    let page = query.read("page")?.or(request.page).unwrap_or(0);
    let skip = query.read("skip")?.or(request.skip);
    let skip = skip.unwrap_or(page.saturating_mul(take));
    let filter = request.filter.unwrap_or_default();

    let runtime = app.runtime();
    // Without a filter the place in the list is the line's number. With one, lines are counted from the start.
    let (lines, total) = if filter.takes_all() {
        let found = runtime
            .query()
            .journal(app.tenant(), &id, skip as u64, take)
            .await?;
        let found = found.unwrap_or_default();
        (found.lines, found.total)
    } else {
        let found = runtime
            .query()
            .journal(app.tenant(), &id, 0, JOURNAL_LINES_MAX)
            .await?;
        let mut lines = found.unwrap_or_default().lines;
        lines.retain(|line| filter.takes(line));
        let total = lines.len() as u64;
        (lines.into_iter().skip(skip).take(take).collect(), total)
    };
    let instance = InstanceId::from(id.as_str());
    let items: Vec<Value> = lines.iter().map(|line| record(&instance, line)).collect();
    Ok(Answer(json!({ "items": items, "totalCount": total })))
}

/// A line as Elsa's log record.
pub(super) fn record(instance: &InstanceId, line: &Line) -> Value {
    let context = context_text(instance, line.context);
    let is_start = line.event.as_str() == "Started";
    // Lines of an earlier build were written as they were.
    let mut data = line.data.clone();
    redact(&mut data);
    json!({
        "id": format!("{instance}:{}", line.sequence),
        "workflowInstanceId": instance.as_str(),
        "activityInstanceId": context,
        "parentActivityInstanceId": line.owner.map(|owner| context_text(instance, owner)),
        "activityId": line.activity_id,
        "activityType": line.activity_type,
        "activityTypeVersion": line.activity_type_version,
        "activityName": line.activity_name.as_ref().filter(|_| line.activity_node_id.contains(':')),
        "activityNodeId": line.activity_node_id,
        "nodeId": line.activity_node_id,
        "timestamp": line.at.to_string(),
        "sequence": line.sequence,
        "eventName": line.event.as_str(),
        "message": data.get("exception").and_then(|e| e.get("message")),
        "source": null,
        "activityState": if is_start { data.clone() } else { Value::Null },
        "payload": if is_start { Value::Null } else { data },
    })
}
