//! Listing instances.

use axum::Json as Answer;
use axum::response::{IntoResponse, Response};
use dormouse_engine::time::Timestamp;
use dormouse_runtime::port::{Share, compute};
use dormouse_runtime::query::{InstanceFilter, Order, Paging};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{attributes, model};
use crate::app::App;
use crate::body::ElsaJsonOrNone;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// Where the last page may begin in another order than that of creation: all before it is held in memory.
const SORTED_MAX: usize = 20_000;

/// Elsa's filter. Names as in its requests.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ListRequest {
    page: Option<i64>,
    page_size: Option<i64>,
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
    search_attributes: Option<Map<String, Value>>,
    order_by: Option<String>,
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
        search_attributes: Some(attributes::of_parameters(&query.all("searchattribute"))?),
        order_by: text("orderby"),
        order_direction: text("orderdirection"),
        timestamp_filters: None,
    };
    list(&app, request).await
}

/// `POST /workflow-instances`: a list too.
pub(super) async fn by_body(
    Scoped(app): Scoped,
    ElsaJsonOrNone(request): ElsaJsonOrNone<ListRequest>,
) -> Result<Response, Refusal> {
    list(&app, request).await
}

fn order(text: &str) -> Result<Order, Refusal> {
    match text.to_ascii_lowercase().as_str() {
        "created" | "createdat" => Ok(Order::Created),
        "updatedat" | "updated" => Ok(Order::Updated),
        "finished" | "finishedat" => Ok(Order::Finished),
        "name" => Ok(Order::Name),
        _ => Err(Refusal::bad_parameter("orderBy", text)),
    }
}

async fn list(app: &App, request: ListRequest) -> Result<Response, Refusal> {
    if request.page.is_some_and(|page| page < 0) {
        let told = "Page must be greater than or equal to 1.";
        return Err(Refusal::invalid("generalErrors", told));
    }
    if request.page_size.is_some_and(|size| size < 1) {
        let told = "Page size must be greater than or equal to 1.";
        return Err(Refusal::invalid("generalErrors", told));
    }
    let number = |n: Option<i64>| n.and_then(|n| usize::try_from(n).ok());
    let take = request.take.or(number(request.page_size)).unwrap_or(25);
    let limit = take.clamp(1, app.config().page_items_max);
    let page = number(request.page).unwrap_or(0);
    let order = request.order_by.as_deref().map(order).transpose()?;
    let order = order.unwrap_or(Order::Created);
    let direction = request.order_direction.as_deref();
    let ascending = match direction.map(str::to_ascii_lowercase).as_deref() {
        Some("ascending" | "0") => true,
        Some("descending" | "1") => false,
        Some(other) => return Err(Refusal::bad_parameter("orderDirection", other)),
        None => order == Order::Name,
    };
    let paging = Paging {
        ascending,
        skip: request.skip.unwrap_or(page.saturating_mul(limit)),
        limit,
        cursor: None,
    };
    let filter = filter(request)?;
    if order != Order::Created && paging.skip > SORTED_MAX {
        let told = format!(
            "{}: in another order than that of creation, pages begin at {SORTED_MAX} at most; narrow the filter",
            paging.skip
        );
        return Err(Refusal::bad_parameter("page", &told));
    }
    let is_long = app.runtime().query().looks_at_each(&filter, order);
    let share = Share::new(&app.tenant().to_string(), "find");
    let asked = app.clone();
    let finding = async move {
        let query = asked.runtime().query();
        query
            .find_instances(asked.tenant(), &filter, order, &paging)
            .await
    };
    let found = if is_long {
        compute(app.compute(), share, finding).await??
    } else {
        finding.await?
    };
    let items: Vec<Value> = found
        .instances
        .iter()
        .map(|i| model::summary(&i.instance_id, &i.summary).into())
        .collect();
    Ok(Answer(json!({
        "items": items,
        "totalCount": found.total.count,
        "isTotalExact": found.total.exact,
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
        attributes: attributes::of_member(request.search_attributes)?,
        ..InstanceFilter::default()
    };
    for bound in request.timestamp_filters.unwrap_or_default() {
        bound.apply(&mut filter)?;
    }
    Ok(filter)
}

impl TimestampFilter {
    /// Bounds one of the times of an instance.
    pub(crate) fn apply(&self, filter: &mut InstanceFilter) -> Result<(), Refusal> {
        let (from, until) = self.range()?;
        let (least, most) = match self.column.to_ascii_lowercase().as_str() {
            "createdat" => (&mut filter.created_from_ms, &mut filter.created_until_ms),
            "updatedat" => (&mut filter.updated_from_ms, &mut filter.updated_until_ms),
            "finishedat" => (&mut filter.finished_from_ms, &mut filter.finished_until_ms),
            _ => {
                let column = "timestampFilters.column";
                return Err(Refusal::bad_parameter(column, &self.column));
            }
        };
        *least = (*least).max(from);
        *most = match (*most, until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Ok(())
    }

    /// The first ms that it takes, and the first one after that which it does not.
    fn range(&self) -> Result<(Option<i64>, Option<i64>), Refusal> {
        let bad_time = || Refusal::bad_parameter("timestampFilters.timestamp", &self.timestamp);
        let at = Timestamp::parse(&self.timestamp).ok_or_else(bad_time)?.0;
        Ok(match self.operator.as_str() {
            "Is" => (Some(at), Some(at + 1)),
            "LessThan" => (None, Some(at)),
            "LessThanOrEqual" => (None, Some(at + 1)),
            "GreaterThan" => (Some(at + 1), None),
            "GreaterThanOrEqual" => (Some(at), None),
            other => return Err(Refusal::bad_parameter("timestampFilters.operator", other)),
        })
    }
}
