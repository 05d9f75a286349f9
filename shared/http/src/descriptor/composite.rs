//! Workflows used as activities, as activity types: every version of each, the published one in the toolbox.

use std::collections::BTreeMap;

use dormouse_engine::activity::composite;
use dormouse_engine::definition::Definition;
use dormouse_engine::definition::fields::Fields;
use dormouse_engine::definition::name::{type_key, type_name, type_name_modern};
use dormouse_runtime::{DefinitionView, VersionOptions};
use serde_json::{Value, json};

use super::activity::model;
use crate::app::App;
use crate::refusal::Refusal;

/// All versions of all workflows that can be used as activities.
pub(crate) struct Composites(Vec<DefinitionView>);

impl Composites {
    /// Reads them. Definitions that are not to be used as activities are known by the index and not read.
    pub(crate) async fn read(app: &App) -> Result<Self, Refusal> {
        let runtime = app.runtime();
        let listed = runtime
            .query()
            .definitions(app.tenant(), VersionOptions::AllVersions)
            .await?;
        let mut ids: Vec<String> = listed
            .into_iter()
            .filter(|summary| summary.usable_as_activity)
            .map(|summary| summary.definition_id)
            .collect();
        ids.dedup();
        let mut found = Vec::new();
        for id in ids {
            let mut versions = runtime
                .query()
                .definition_versions(app.tenant(), &id)
                .await?;
            versions.retain(|v| v.definition.options.usable_as_activity);
            versions.reverse();
            found.extend(versions);
        }
        Ok(Self(found))
    }

    /// Their descriptors, old versions first. A workflow whose name Elsa's releases spell in two ways has both.
    pub(crate) fn descriptors(&self) -> Vec<Value> {
        let mut published: BTreeMap<&str, &DefinitionView> = BTreeMap::new();
        for view in self.0.iter().filter(|view| view.is_published) {
            published.insert(&view.definition_id, view);
        }
        let mut items = Vec::new();
        for view in &self.0 {
            let newest = published.get(view.definition_id.as_str()).copied();
            let mut descriptor = composite::descriptor(&view.definition);
            descriptor.is_hidden = !view.is_published;
            let old_name = descriptor.type_name.clone();
            items.push(told(model(&descriptor), view, newest));
            descriptor.type_name = type_name_modern(&descriptor.display_name);
            descriptor.is_hidden = true;
            if descriptor.type_name != old_name {
                items.push(told(model(&descriptor), view, newest));
            }
        }
        items
    }

    /// The type and version under which an activity's workflow is listed: the version it names, else the newest
    /// there is. Nothing: no such workflow.
    pub(crate) fn type_for(&self, activity: &Value) -> Option<(String, u32)> {
        let fields = Fields::of(activity);
        let written = fields.text("type").unwrap_or_default();
        let definition_id = fields.text("workflowDefinitionId");
        let version = fields.integer("version").unwrap_or(1);
        let is_it = |view: &&DefinitionView| match &definition_id {
            Some(id) => *id == view.definition_id,
            None => type_key(&name(&view.definition)) == type_key(&written),
        };
        let all: Vec<_> = self.0.iter().filter(is_it).collect();
        let named = all.iter().find(|view| i64::from(view.version) == version);
        let view = named.or(all.last())?;
        let shown = name(&view.definition);
        let is_listed = written == type_name(&shown) || written == type_name_modern(&shown);
        let listed = if is_listed {
            written
        } else {
            type_name(&shown)
        };
        Some((listed, view.version))
    }
}

fn name(definition: &Definition) -> String {
    definition.name.clone().unwrap_or_default()
}

/// With what an activity of the type needs to name its workflow.
fn told(mut model: Value, view: &DefinitionView, newest: Option<&DefinitionView>) -> Value {
    let newest = newest.unwrap_or(view);
    let more = json!({
        "namespace": "WorkflowDefinitions",
        "customProperties": { "RootType": "WorkflowDefinitionActivity" },
        "constructionProperties": {
            "WorkflowDefinitionId": view.definition_id,
            "WorkflowDefinitionVersionId": view.version_id,
            "LatestAvailablePublishedVersion": newest.version,
            "LatestAvailablePublishedVersionId": newest.version_id,
        },
    });
    if let (Value::Object(model), Value::Object(more)) = (&mut model, more) {
        model.extend(more);
    }
    model
}
