//! Listing instances. The same address starts one, as the guides have it: a body that names a definition and no
//! page, order or filter of a list is a start.

use axum::Json as Answer;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use dormouse_engine::time::Timestamp;
use dormouse_runtime::query::{InstanceFilter, Paging};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{model, start};
use crate::access::{EXECUTE, READ_INSTANCES};
use crate::app::App;
use crate::body::{Json, shape};
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// How many instances are counted for `totalCount` before the count is given as "at least".
const COUNT_BOUND: usize = 10_000;

/// Elsa's filter. Names as in its requests.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListRequest {
    page: Option<usize>,
    page_size: Option<usize>,
    skip: Option<usize>,
    take: Option<usize>,
    search_term: Option<String>,
    definition_id: Option<String>,
    definition_ids: Option<Vec<String>>,
    correlation_id: Option<String>,
    parent_workflow_instance_id: Option<String>,
    name: Option<String>,
    version: Option<u32>,
    has_incidents: Option<bool>,
    is_system: Option<bool>,
    status: Option<String>,
    statuses: Option<Vec<String>>,
    sub_status: Option<String>,
    sub_statuses: Option<Vec<String>>,
    order_direction: Option<String>,
    timestamp_filters: Option<Vec<TimestampFilter>>,
}

/// One bound on a time.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TimestampFilter {
    column: String,
    operator: String,
    timestamp: String,
}

/// What only a list's request has.
const LIST_ONLY: [&str; 12] = [
    "page",
    "pageSize",
    "skip",
    "take",
    "searchTerm",
    "definitionIds",
    "statuses",
    "subStatuses",
    "hasIncidents",
    "orderBy",
    "orderDirection",
    "timestampFilters",
];

/// `GET /workflow-instances`
pub(super) async fn by_query(Scoped(app): Scoped, query: Query) -> Result<Response, Refusal> {
    let text = |name: &str| query.text(name).map(str::to_owned);
    let many = |name: &str| Some(query.all(name));
    let request = ListRequest {
        page: query.read("page")?,
        page_size: query.read("pagesize")?,
        skip: query.read("skip")?,
        take: query.read("take")?,
        search_term: text("searchterm"),
        definition_id: text("definitionid"),
        definition_ids: many("definitionids"),
        correlation_id: text("correlationid"),
        parent_workflow_instance_id: text("parentworkflowinstanceid"),
        name: text("name"),
        version: query.read("version")?,
        has_incidents: query.read("hasincidents")?,
        is_system: query.read("issystem")?,
        status: text("status"),
        statuses: many("statuses"),
        sub_status: text("substatus"),
        sub_statuses: many("substatuses"),
        order_direction: text("orderdirection"),
        timestamp_filters: None,
    };
    list(&app, request).await
}

/// `POST /workflow-instances`
pub(super) async fn or_start(
    Scoped(app): Scoped,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Result<Response, Refusal> {
    let is_list = LIST_ONLY.iter().any(|name| body.get(name).is_some());
    let names_definition = body.get("definitionId").is_some_and(Value::is_string);
    if names_definition && !is_list {
        app.require(EXECUTE)?;
        return start::start(&app, &headers, shape(body)?).await;
    }
    app.require(READ_INSTANCES)?;
    list(&app, shape(body)?).await
}

async fn list(app: &App, request: ListRequest) -> Result<Response, Refusal> {
    let take = request.take.or(request.page_size).unwrap_or(25);
    let limit = take.clamp(1, app.config().page_items_max);
    let page = request.page.unwrap_or(0);
    let paging = Paging {
        ascending: request
            .order_direction
            .as_deref()
            .is_some_and(|d| d.eq_ignore_ascii_case("ascending")),
        skip: request.skip.unwrap_or(page.saturating_mul(limit)),
        limit,
        cursor: None,
    };
    let filter = filter(request)?;
    let found = app
        .runtime()
        .query()
        .instances(app.tenant(), &filter, &paging)
        .await?;
    let total = app
        .runtime()
        .query()
        .count_instances(app.tenant(), &filter, COUNT_BOUND)
        .await?;
    let items: Vec<Value> = found
        .instances
        .iter()
        .map(|i| model::summary(&i.instance_id, &i.summary).into())
        .collect();
    Ok(Answer(json!({
        "items": items,
        "totalCount": total.count,
        "isTotalExact": total.exact,
        "page": page,
        "pageSize": limit,
    }))
    .into_response())
}

fn filter(request: ListRequest) -> Result<InstanceFilter, Refusal> {
    let one_or_many = |one: Option<String>, many: Option<Vec<String>>| {
        let mut all = many.unwrap_or_default();
        all.extend(one.filter(|text| !text.is_empty()));
        all
    };
    let set = |text: Option<String>| text.filter(|text| !text.is_empty());
    let mut filter = InstanceFilter {
        definition_ids: one_or_many(request.definition_id, request.definition_ids),
        version: request.version,
        correlation_id: set(request.correlation_id),
        statuses: one_or_many(request.status, request.statuses),
        sub_statuses: one_or_many(request.sub_status, request.sub_statuses),
        name: set(request.name),
        search: set(request.search_term),
        parent_id: set(request.parent_workflow_instance_id),
        has_incidents: request.has_incidents,
        is_system: request.is_system,
        created_from_ms: None,
        created_until_ms: None,
    };
    for bound in request.timestamp_filters.unwrap_or_default() {
        bound.apply(&mut filter)?;
    }
    Ok(filter)
}

impl TimestampFilter {
    /// Only the time of creation can be asked for: the lists are in its order, and no other needs a scan.
    pub(crate) fn apply(&self, filter: &mut InstanceFilter) -> Result<(), Refusal> {
        if !self.column.eq_ignore_ascii_case("CreatedAt") {
            return Err(Refusal::bad_parameter(
                "timestampFilters.column",
                &self.column,
            ));
        }
        let bad_time = || Refusal::bad_parameter("timestampFilters.timestamp", &self.timestamp);
        let at = Timestamp::parse(&self.timestamp).ok_or_else(bad_time)?.0;
        let (from, until) = match self.operator.as_str() {
            "Is" => (Some(at), Some(at + 1)),
            "LessThan" => (None, Some(at)),
            "LessThanOrEqual" => (None, Some(at + 1)),
            "GreaterThan" => (Some(at + 1), None),
            "GreaterThanOrEqual" => (Some(at), None),
            other => return Err(Refusal::bad_parameter("timestampFilters.operator", other)),
        };
        filter.created_from_ms = filter.created_from_ms.max(from);
        filter.created_until_ms = match (filter.created_until_ms, until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Ok(())
    }
}
