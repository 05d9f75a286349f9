//! Listing instances.

use axum::Json as Answer;
use axum::response::{IntoResponse, Response};
use dormouse_engine::time::Timestamp;
use dormouse_runtime::query::{InstanceFilter, ListedInstance, Paging, Summary};
use serde::Deserialize;
use serde_json::{Value, json};

use super::model;
use crate::app::App;
use crate::body::ElsaJsonOrNone;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// How many instances are counted for `totalCount` before the count is given as "at least".
const COUNT_BOUND: usize = 10_000;

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

/// What a list is in the order of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Created,
    Updated,
    Finished,
    Name,
}

impl Order {
    fn parse(text: &str) -> Result<Self, Refusal> {
        match text.to_ascii_lowercase().as_str() {
            "created" | "createdat" => Ok(Self::Created),
            "updatedat" | "updated" => Ok(Self::Updated),
            "finished" | "finishedat" => Ok(Self::Finished),
            "name" => Ok(Self::Name),
            _ => Err(Refusal::bad_parameter("orderBy", text)),
        }
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
    let order = request.order_by.as_deref().map(Order::parse).transpose()?;
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
    let (filter, bounds) = filter(request)?;
    let (items, total, is_exact) = if order == Order::Created && bounds.is_empty() {
        let runtime = app.runtime();
        let found = runtime
            .query()
            .instances(app.tenant(), &filter, &paging)
            .await?;
        let total = runtime
            .query()
            .count_instances(app.tenant(), &filter, COUNT_BOUND);
        let total = total.await?;
        (found.instances, total.count, total.exact)
    } else {
        sorted(app, &filter, &bounds, order, &paging).await?
    };
    let items: Vec<Value> = items
        .iter()
        .map(|i| model::summary(&i.instance_id, &i.summary).into())
        .collect();
    Ok(Answer(json!({
        "items": items,
        "totalCount": total,
        "isTotalExact": is_exact,
        "page": page,
        "pageSize": limit,
    }))
    .into_response())
}

/// A page in an order that is not the lists' own, or within bounds that they do not know: of the newest
/// [`COUNT_BOUND`] instances.
async fn sorted(
    app: &App,
    filter: &InstanceFilter,
    bounds: &[Bound],
    order: Order,
    paging: &Paging,
) -> Result<(Vec<ListedInstance>, u64, bool), Refusal> {
    let mut all: Vec<ListedInstance> = Vec::new();
    let mut next = Paging {
        ascending: false,
        skip: 0,
        limit: app.config().page_items_max,
        cursor: None,
    };
    loop {
        let found = app
            .runtime()
            .query()
            .instances(app.tenant(), filter, &next)
            .await?;
        all.extend(found.instances);
        next.cursor = found.cursor;
        if next.cursor.is_none() || all.len() >= COUNT_BOUND {
            break;
        }
    }
    let is_exact = next.cursor.is_none();
    all.retain(|one| bounds.iter().all(|bound| bound.has(&one.summary)));
    match order {
        Order::Created => all.sort_by_key(|one| one.summary.created_ms),
        Order::Updated => all.sort_by_key(|one| one.summary.updated_ms),
        Order::Finished => all.sort_by_key(|one| one.summary.finished_ms),
        Order::Name => all.sort_by(|a, b| a.summary.name.cmp(&b.summary.name)),
    }
    if !paging.ascending {
        all.reverse();
    }
    let total = all.len() as u64;
    let page = all.into_iter().skip(paging.skip).take(paging.limit);
    Ok((page.collect(), total, is_exact))
}

fn filter(request: ListRequest) -> Result<(InstanceFilter, Vec<Bound>), Refusal> {
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
    let mut bounds = Vec::new();
    for bound in request.timestamp_filters.unwrap_or_default() {
        match Column::of(&bound.column) {
            Some(column) => bounds.push(bound.of_column(column)?),
            None => bound.apply(&mut filter)?,
        }
    }
    Ok((filter, bounds))
}

/// A time that no list is in the order of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Updated,
    Finished,
}

impl Column {
    fn of(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "updatedat" => Some(Self::Updated),
            "finishedat" => Some(Self::Finished),
            _ => None,
        }
    }
}

/// A bound on such a time.
#[derive(Debug)]
struct Bound {
    column: Column,
    from_ms: Option<i64>,
    until_ms: Option<i64>,
}

impl Bound {
    fn has(&self, summary: &Summary) -> bool {
        let at = match self.column {
            Column::Updated => Some(summary.updated_ms),
            Column::Finished => summary.finished_ms,
        };
        at.is_some_and(|at| {
            self.from_ms.is_none_or(|from| at >= from)
                && self.until_ms.is_none_or(|until| at < until)
        })
    }
}

impl TimestampFilter {
    fn of_column(&self, column: Column) -> Result<Bound, Refusal> {
        let (from_ms, until_ms) = self.range()?;
        Ok(Bound {
            column,
            from_ms,
            until_ms,
        })
    }

    /// Bounds the time of creation, the one that the lists are in the order of.
    pub(crate) fn apply(&self, filter: &mut InstanceFilter) -> Result<(), Refusal> {
        if !self.column.eq_ignore_ascii_case("CreatedAt") {
            return Err(Refusal::bad_parameter(
                "timestampFilters.column",
                &self.column,
            ));
        }
        let (from, until) = self.range()?;
        filter.created_from_ms = filter.created_from_ms.max(from);
        filter.created_until_ms = match (filter.created_until_ms, until) {
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
