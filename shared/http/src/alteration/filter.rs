//! Which instances alterations are for: Elsa's filter.

use std::collections::BTreeSet;

use dormouse_runtime::query::{ActivityExecution, InstanceFilter};
use dormouse_runtime::{DefinitionHandle, Selection};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::app::App;
use crate::instance::attributes;
use crate::instance::list::TimestampFilter;
use crate::refusal::Refusal;

/// Which instances. Elsa's filter, as far as lists know it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Filter {
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
    search_attributes: Option<Map<String, Value>>,
    timestamp_filters: Option<Vec<TimestampFilter>>,
    definition_version_ids: Option<Vec<String>>,
    activity_filters: Option<Vec<Value>>,
}

/// Which activities an instance must have run.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ActivityFilter {
    id: Option<String>,
    activity_id: Option<String>,
    node_id: Option<String>,
    name: Option<String>,
    r#type: Option<String>,
    status: Option<String>,
}

impl ActivityFilter {
    /// Whether an execution is one that is meant.
    pub(super) fn takes(&self, execution: &ActivityExecution) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted
                .as_ref()
                .is_none_or(|w| w.eq_ignore_ascii_case(found))
        };
        is(&self.id, &execution.id)
            && is(&self.activity_id, &execution.activity_id)
            && is(&self.node_id, &execution.activity_node_id)
            && is(
                &self.name,
                execution.activity_name.as_deref().unwrap_or_default(),
            )
            && is(&self.r#type, &execution.activity_type)
            && is(&self.status, &format!("{:?}", execution.status))
    }
}

impl Filter {
    /// Takes the filters by activity out of it.
    pub(super) fn take_activities(&mut self) -> Result<Vec<ActivityFilter>, Refusal> {
        let all = self.activity_filters.take().unwrap_or_default();
        all.into_iter().map(crate::body::shape).collect()
    }

    fn is_empty(&self) -> bool {
        let none = |list: &Option<Vec<String>>| list.as_ref().is_none_or(Vec::is_empty);
        none(&self.workflow_instance_ids)
            && none(&self.correlation_ids)
            && none(&self.definition_ids)
            && none(&self.names)
            && none(&self.statuses)
            && none(&self.sub_statuses)
            && none(&self.definition_version_ids)
            && self.search_term.as_ref().is_none_or(String::is_empty)
            && self.has_incidents.is_none()
            && self.is_system.is_none()
            && self.search_attributes.as_ref().is_none_or(Map::is_empty)
            && self.timestamp_filters.as_ref().is_none_or(Vec::is_empty)
    }

    /// Which instances that is. An empty filter takes none unless it says so, as in Elsa.
    pub(super) async fn selection(self, app: &App) -> Result<Selection, Refusal> {
        let takes_none = self.is_empty() && !self.empty_filter_selects_all;
        if self.activity_filters.is_some_and(|all| !all.is_empty()) {
            return Err(Refusal::bad_parameter("activityFilters", "set"));
        }
        if takes_none {
            return Ok(Selection::Nothing);
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
            attributes: attributes::of_member(self.search_attributes)?,
            ..InstanceFilter::default()
        };
        for bound in self.timestamp_filters.unwrap_or_default() {
            bound.apply(&mut filter)?;
        }
        if let Some(id) = one("definitionVersionIds", self.definition_version_ids)? {
            let handle = DefinitionHandle::Version { id };
            let version = app
                .runtime()
                .query()
                .definition(app.tenant(), &handle)
                .await?;
            let ids = &mut filter.definition_ids;
            match version {
                Some(view) if ids.is_empty() || ids.contains(&view.definition_id) => {
                    filter.version = Some(view.version);
                    *ids = vec![view.definition_id];
                }
                Some(_) | None => return Ok(Selection::Nothing),
            }
        }
        let ids: BTreeSet<String> = self
            .workflow_instance_ids
            .unwrap_or_default()
            .into_iter()
            .collect();
        let max = app.config().page_items_max;
        if ids.len() > max {
            let told = format!("{} of them; the limit is {max}", ids.len());
            return Err(Refusal::bad_parameter("workflowInstanceIds", &told));
        }
        Ok(match ids.is_empty() {
            true => Selection::Matching(filter),
            false => Selection::Named { ids, filter },
        })
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
