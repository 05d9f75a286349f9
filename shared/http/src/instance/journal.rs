//! The journal of an instance: Elsa's log records, in order.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::Json as Answer;
use dormouse_engine::id::{ContextId, InstanceId};
use dormouse_engine::instance::context_text;
use dormouse_engine::journal::{Event, Line};
use dormouse_engine::sensitive::redact;
use dormouse_runtime::query::JOURNAL_LINES_MAX;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::ElsaJsonOrNone;
use crate::exception;
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
        // As in Elsa, a list that is given and empty takes nothing.
        let is_in = |list: &Option<Vec<String>>, text: &str| {
            list.as_ref().is_none_or(|l| l.iter().any(|x| x == text))
        };
        let excluded = self.excluded_activity_types.iter().flatten();
        is_in(&self.activity_ids, &line.activity_id)
            && is_in(&self.activity_node_ids, &line.activity_node_id)
            && is_in(&self.event_names, &event_name(line))
            && !excluded.into_iter().any(|t| *t == line.activity_type)
    }

    fn takes_all(&self) -> bool {
        let excluded = self.excluded_activity_types.as_ref();
        self.activity_ids.is_none()
            && self.activity_node_ids.is_none()
            && excluded.is_none_or(Vec::is_empty)
            && self.event_names.is_none()
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
    // That it waits is no news of its own to Elsa here.
    let last =
        of_activity.find(|line| line.activity_id == activity && line.event != Event::Suspended);
    let last = last.ok_or(Operating::NoSuchActivityExecution { id: activity })?;
    Ok(Answer(record(&InstanceId::from(id.as_str()), last)))
}

/// Where a page begins and how long it is. As in Elsa, one of the two alone says nothing.
fn place(query: &Query, request: &JournalRequest) -> Result<(usize, usize), Refusal> {
    let skip = query.read("skip")?.or(request.skip);
    let take = query.read("take")?.or(request.take);
    let page = query.read("page")?.or(request.page);
    let size = query.read::<usize>("pagesize")?.or(request.page_size);
    Ok(match (skip, take, page, size) {
        (Some(skip), Some(take), ..) => (skip, take),
        (_, _, Some(page), Some(size)) => (page.saturating_mul(size), size),
        _ => (0, LINES),
    })
}

/// The lines of a page where nothing says how long it is.
const LINES: usize = 100;

/// The executions that scheduled others, as far as lines tell of it.
fn owners(lines: &[Line]) -> BTreeMap<ContextId, ContextId> {
    let told = lines.iter().filter_map(|l| Some((l.context, l.owner?)));
    told.collect()
}

/// What happened, in Elsa's words.
fn event_name(line: &Line) -> Cow<'static, str> {
    if line.event != Event::Altered {
        return line.event.as_str().into();
    }
    let is_of = |name: &str| line.data.get(name).is_some();
    let kind = if is_of("variable") {
        "ModifyVariable"
    } else if is_of("version") {
        "Migrate"
    } else if is_of("cancelled") {
        "CancelActivity"
    } else {
        "ScheduleActivity"
    };
    format!("Alteration {kind} succeeded").into()
}

async fn journal(
    app: &App,
    id: String,
    query: &Query,
    request: JournalRequest,
) -> Result<Answer<Value>, Refusal> {
    let (skip, take) = place(query, &request)?;
    let take = take.clamp(1, app.config().page_items_max);
    let filter = request.filter.unwrap_or_default();

    let runtime = app.runtime();
    // Without a filter the place in the list is the line's number. With one, lines are counted from the start.
    let (lines, total, owners) = if filter.takes_all() {
        // What comes before a page says who scheduled what goes on in it.
        let whole = skip.saturating_add(take).min(JOURNAL_LINES_MAX);
        let first = if skip < JOURNAL_LINES_MAX { 0 } else { skip };
        let found = runtime
            .query()
            .journal(app.tenant(), &id, first as u64, whole.max(take))
            .await?;
        let mut found = found.unwrap_or_default();
        let owners = owners(&found.lines);
        found.lines.drain(..(skip - first).min(found.lines.len()));
        found.lines.truncate(take);
        (found.lines, found.total, owners)
    } else {
        let found = runtime
            .query()
            .journal(app.tenant(), &id, 0, JOURNAL_LINES_MAX)
            .await?;
        let mut lines = found.unwrap_or_default().lines;
        let owners = owners(&lines);
        lines.retain(|line| filter.takes(line));
        let total = lines.len() as u64;
        let page = lines.into_iter().skip(skip).take(take);
        (page.collect(), total, owners)
    };
    let instance = InstanceId::from(id.as_str());
    let each = lines.into_iter().map(|mut line| {
        line.owner = line.owner.or(owners.get(&line.context).copied());
        record(&instance, &line)
    });
    let items: Vec<Value> = each.collect();
    Ok(Answer(json!({ "items": items, "totalCount": total })))
}

/// A line as Elsa's log record.
pub(super) fn record(instance: &InstanceId, line: &Line) -> Value {
    let context = context_text(instance, line.context);
    let is_start = line.event.as_str() == "Started";
    let message = line
        .data
        .get("exception")
        .and_then(|e| e.get("message")?.as_str());
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
        "nodeId": line.activity_node_id,
        "timestamp": line.at.to_string(),
        "sequence": line.sequence,
        "eventName": event_name(line),
        "message": message.map(exception::head),
        "source": null,
        "activityState": if is_start { data.clone() } else { Value::Null },
        "payload": if is_start { Value::Null } else { data },
    })
}
