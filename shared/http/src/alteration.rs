//! Alterations: instances changed by an operator, and failed activities run again.
//!
//! What Elsa puts off to plans and jobs is done at once here, in one commit for each instance, so there is no plan to
//! look at later.

use std::collections::BTreeSet;

use axum::routing::post;
use axum::{Json as Answer, Router};
use dormouse_engine::step::Change;
use dormouse_runtime::query::{InstanceFilter, ListedInstance, Paging};
use dormouse_runtime::{AlterOutcome, RuntimeError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::Json;
use crate::instance::list::TimestampFilter;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/alterations/run", post(run))
        .route("/alterations/dry-run", post(dry_run))
        .route("/alterations/submit", post(submit))
        .route("/alterations/workflows/retry", post(retry))
}

/// Which changes of which instances.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Run {
    alterations: Vec<Value>,
    workflow_instance_ids: Vec<String>,
}

/// An alteration as Elsa spells it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Alteration {
    r#type: String,
    variable_id: Option<String>,
    value: Value,
    activity_id: Option<String>,
    activity_instance_id: Option<String>,
}

impl Alteration {
    fn change(self) -> Result<Change, Refusal> {
        let kind = self.r#type.to_lowercase();
        let missing = |name: &'static str| Refusal::bad_parameter(name, "");
        match kind.as_str() {
            "modifyvariable" => Ok(Change::SetVariable {
                id: self.variable_id.ok_or_else(|| missing("variableId"))?,
                value: self.value,
            }),
            "cancelactivity" => match (self.activity_instance_id, self.activity_id) {
                (Some(id), _) => Ok(Change::CancelExecution { id }),
                (None, Some(activity_id)) => Ok(Change::CancelActivity { activity_id }),
                (None, None) => Err(missing("activityId")),
            },
            "cancel" => Ok(Change::Cancel),
            _ => Err(Operating::AlterationNotOffered { name: self.r#type }.into()),
        }
    }
}

fn changes(alterations: Vec<Value>) -> Result<Vec<Change>, Refusal> {
    let read = |value| crate::body::shape::<Alteration>(value)?.change();
    let changes: Vec<Change> = alterations
        .into_iter()
        .map(read)
        .collect::<Result<_, _>>()?;
    if changes.is_empty() {
        return Err(Refusal::bad_parameter("alterations", ""));
    }
    Ok(changes)
}

/// `POST /alterations/run`: all changes of an instance, or none; each instance by itself.
async fn run(Scoped(app): Scoped, Json(request): Json<Run>) -> Result<Answer<Value>, Refusal> {
    let changes = changes(request.alterations)?;
    let ids = bounded(&app, request.workflow_instance_ids)?;
    let mut results = Vec::new();
    for id in ids {
        let outcome = app.runtime().alter(app.tenant(), &id, changes.clone());
        results.push(result(&id, outcome.await, "altered")?);
    }
    Ok(Answer(json!({ "results": results })))
}

/// `POST /alterations/submit`: Elsa's plans, which are not kept here.
async fn submit(Json(_): Json<Value>) -> Refusal {
    Operating::PlansNotKept.into()
}

/// What became of an instance, as Elsa says it.
fn result(
    id: &str,
    outcome: Result<AlterOutcome, RuntimeError>,
    done: &'static str,
) -> Result<Value, Refusal> {
    let (is_successful, told) = match outcome {
        Ok(AlterOutcome::Altered(_)) => (true, done),
        Ok(AlterOutcome::Ended(_)) => (false, "nothing was changed: it has ended"),
        Ok(AlterOutcome::Deleted) => (false, "nothing was changed: it was deleted"),
        Ok(AlterOutcome::NotFound) => (false, "there is no such instance"),
        Ok(AlterOutcome::NotPossible(_)) => (
            false,
            "nothing was changed: it does not keep such a variable, or no such activity is running or has failed",
        ),
        Err(RuntimeError::InProgress { .. } | RuntimeError::LeaseLost { .. }) => (
            false,
            "nothing was changed: it is being worked on; try again",
        ),
        Err(error) => return Err(error.into()),
    };
    Ok(json!({
        "workflowInstanceId": id,
        "isSuccessful": is_successful,
        "log": { "logEntries": [{ "message": told }] },
    }))
}

fn bounded(app: &App, ids: Vec<String>) -> Result<Vec<String>, Refusal> {
    let max = app.config().page_items_max;
    if ids.len() > max {
        let told = format!("{} of them; the limit is {max}", ids.len());
        return Err(Refusal::bad_parameter("workflowInstanceIds", &told));
    }
    Ok(ids)
}

/// Which instances. Elsa's filter, as far as lists know it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Filter {
    empty_filter_selects_all: bool,
    workflow_instance_ids: Option<Vec<String>>,
    correlation_ids: Option<Vec<String>>,
    definition_ids: Option<Vec<String>>,
    names: Option<Vec<String>>,
    search_term: Option<String>,
    has_incidents: Option<bool>,
    is_system: Option<bool>,
    statuses: Option<Vec<String>>,
    sub_statuses: Option<Vec<String>>,
    timestamp_filters: Option<Vec<TimestampFilter>>,
    definition_version_ids: Option<Vec<String>>,
    activity_filters: Option<Vec<Value>>,
}

impl Filter {
    fn is_empty(&self) -> bool {
        let none = |list: &Option<Vec<String>>| list.as_ref().is_none_or(Vec::is_empty);
        none(&self.workflow_instance_ids)
            && none(&self.correlation_ids)
            && none(&self.definition_ids)
            && none(&self.names)
            && none(&self.statuses)
            && none(&self.sub_statuses)
            && self.search_term.as_ref().is_none_or(String::is_empty)
            && self.has_incidents.is_none()
            && self.is_system.is_none()
            && self.timestamp_filters.as_ref().is_none_or(Vec::is_empty)
    }

    /// The ids that it names, and what is asked of instances beside.
    fn read(self) -> Result<(Vec<String>, InstanceFilter), Refusal> {
        if self
            .definition_version_ids
            .is_some_and(|ids| !ids.is_empty())
        {
            return Err(Refusal::bad_parameter("definitionVersionIds", "set"));
        }
        if self.activity_filters.is_some_and(|all| !all.is_empty()) {
            return Err(Refusal::bad_parameter("activityFilters", "set"));
        }
        let mut filter = InstanceFilter {
            definition_ids: self.definition_ids.unwrap_or_default(),
            correlation_id: one("correlationIds", self.correlation_ids)?,
            statuses: self.statuses.unwrap_or_default(),
            sub_statuses: self.sub_statuses.unwrap_or_default(),
            name: one("names", self.names)?,
            search: self.search_term.filter(|text| !text.is_empty()),
            has_incidents: self.has_incidents,
            is_system: self.is_system,
            ..InstanceFilter::default()
        };
        for bound in self.timestamp_filters.unwrap_or_default() {
            bound.apply(&mut filter)?;
        }
        Ok((self.workflow_instance_ids.unwrap_or_default(), filter))
    }
}

/// At most one of something that lists can look for one of.
fn one(name: &'static str, many: Option<Vec<String>>) -> Result<Option<String>, Refusal> {
    let mut many = many.unwrap_or_default();
    if many.len() > 1 {
        return Err(Refusal::bad_parameter(name, "more than one"));
    }
    Ok(many.pop())
}

/// How many instances a dry run names.
const FOUND_MAX: usize = 10_000;

/// `POST /alterations/dry-run`: the instances that a filter takes. Beyond [`FOUND_MAX`] it says that there are more. An
/// empty filter takes none unless it says so, as in Elsa.
async fn dry_run(
    Scoped(app): Scoped,
    Json(filter): Json<Filter>,
) -> Result<Answer<Value>, Refusal> {
    let takes_none = filter.is_empty() && !filter.empty_filter_selects_all;
    let (ids, filter) = filter.read()?;
    let (found, has_more) = match takes_none {
        true => (Vec::new(), false),
        false if ids.is_empty() => listed(&app, &filter, FOUND_MAX).await?,
        false => (named(&app, bounded(&app, ids)?, &filter).await?, false),
    };
    Ok(Answer(
        json!({ "workflowInstanceIds": found, "hasMore": has_more }),
    ))
}

/// The ids of at most `bound` instances that match, and whether there are more.
async fn listed(
    app: &App,
    filter: &InstanceFilter,
    bound: usize,
) -> Result<(Vec<String>, bool), Refusal> {
    let mut paging = Paging {
        ascending: false,
        skip: 0,
        limit: app.config().page_items_max,
        cursor: None,
    };
    let mut found = Vec::new();
    loop {
        let page = app.runtime().instances(app.tenant(), filter, &paging);
        let page = page.await?;
        found.extend(page.instances.into_iter().map(|i| i.instance_id));
        let has_more = found.len() > bound || (found.len() == bound && page.cursor.is_some());
        paging.cursor = page.cursor;
        if has_more || paging.cursor.is_none() {
            found.truncate(bound);
            return Ok((found, has_more));
        }
    }
}

async fn named(
    app: &App,
    ids: Vec<String>,
    filter: &InstanceFilter,
) -> Result<Vec<String>, Refusal> {
    let ids: BTreeSet<String> = ids.into_iter().collect();
    let mut found = Vec::new();
    for instance_id in ids {
        let head = app.runtime().instance_head(app.tenant(), &instance_id);
        let Some(head) = head.await? else { continue };
        let listed = ListedInstance {
            instance_id,
            summary: head.summary,
        };
        if filter.matches(&listed) {
            found.push(listed.instance_id);
        }
    }
    Ok(found)
}

/// Which failed activities to run again.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Retry {
    workflow_instance_ids: Vec<String>,
    /// Empty: every failed one.
    activity_ids: Option<Vec<String>>,
}

/// `POST /alterations/workflows/retry`
async fn retry(Scoped(app): Scoped, Json(request): Json<Retry>) -> Result<Answer<Value>, Refusal> {
    let activities = request.activity_ids.unwrap_or_default();
    let ids = bounded(&app, request.workflow_instance_ids)?;
    let mut results = Vec::new();
    for id in ids {
        let outcome = app.runtime().retry(app.tenant(), &id, activities.clone());
        results.push(result(&id, outcome.await, "run again")?);
    }
    Ok(Answer(json!({ "results": results })))
}
