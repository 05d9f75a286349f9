//! The same for many instances at once: cancel, delete. Each is done by itself; the answer counts.

use axum::Json as Answer;
use dormouse_runtime::query::{InstanceFilter, Paging};
use dormouse_runtime::{
    DefinitionHandle, DeleteOutcome, ResumeOutcome, RuntimeError, VersionOptions,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::ElsaJson;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// Which instances: by their ids, or all of a definition.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Which {
    ids: Option<Vec<String>>,
    definition_id: Option<String>,
    workflow_definition_id: Option<String>,
    workflow_definition_ids: Option<Vec<String>>,
    definition_version_id: Option<String>,
    version_options: Option<VersionOptions>,
}

impl Which {
    /// Names the version that the options mean, if they mean one.
    async fn of_version(mut self, app: &App) -> Result<Self, Refusal> {
        if let (Some(id), Some(version)) = (&self.definition_id, self.version_options.take())
            && version != VersionOptions::AllVersions
        {
            let handle = DefinitionHandle::Definition {
                id: id.clone(),
                version,
            };
            let found = app
                .runtime()
                .query()
                .definition(app.tenant(), &handle)
                .await?;
            // An id that no version has: there is no such version.
            self.definition_version_id = Some(found.map_or_else(String::new, |v| v.version_id));
        }
        Ok(self)
    }

    /// Their ids. What a definition has is found page by page, and what ends in between is not there any more.
    async fn ids(self, app: &App, statuses: &[&str]) -> Result<Vec<String>, Refusal> {
        let max = app.config().page_items_max;
        let mut ids = self.ids.unwrap_or_default();
        if ids.len() > max {
            let told = format!("{} of them; the limit is {max}", ids.len());
            return Err(Refusal::bad_parameter("ids", &told));
        }
        let mut definitions = self.workflow_definition_ids.unwrap_or_default();
        definitions.extend(self.workflow_definition_id.or(self.definition_id));
        definitions.retain(|id| !id.is_empty());
        if definitions.is_empty() {
            return Ok(ids);
        }
        let filter = InstanceFilter {
            definition_ids: definitions,
            statuses: statuses.iter().map(|s| (*s).to_owned()).collect(),
            ..InstanceFilter::default()
        };
        let mut paging = Paging {
            ascending: false,
            skip: 0,
            limit: max,
            cursor: None,
        };
        loop {
            let runtime = app.runtime();
            let page = runtime
                .query()
                .instances(app.tenant(), &filter, &paging)
                .await?;
            let version = self.definition_version_id.as_ref();
            let of_version = page.instances.into_iter().filter(|found| {
                version.is_none_or(|id| *id == found.summary.definition_version_id)
            });
            ids.extend(of_version.map(|found| found.instance_id));
            paging.cursor = page.cursor;
            if paging.cursor.is_none() {
                return Ok(ids);
            }
        }
    }
}

/// `POST /bulk-actions/cancel/workflow-instances`
pub(super) async fn cancel(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<Which>,
) -> Result<Answer<Value>, Refusal> {
    if request.definition_id.is_some() != request.version_options.is_some() {
        let told =
            "VersionOptions and DefinitionId should either both be empty or both be not empty";
        return Err(Refusal::invalid("versionOptions", told));
    }
    let request = request.of_version(&app).await?;
    let mut cancelled = 0;
    for id in request.ids(&app, &["Running"]).await? {
        match app.runtime().instances().cancel(app.tenant(), &id).await {
            Ok(ResumeOutcome::Resumed(_)) => cancelled += 1,
            Ok(
                ResumeOutcome::Ended(_)
                | ResumeOutcome::BookmarkGone(_)
                | ResumeOutcome::Seen(_)
                | ResumeOutcome::NotYet
                | ResumeOutcome::Deleted
                | ResumeOutcome::NotFound,
            ) => {}
            // One that is worked on right now is left out of the count; the others go on.
            Err(RuntimeError::InProgress { .. } | RuntimeError::LeaseLost { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Answer(json!({ "cancelled": cancelled })))
}

/// `POST /bulk-actions/delete/workflow-instances`, also under its old name that ends in `by-id`.
pub(super) async fn delete(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<Which>,
) -> Result<Answer<Value>, Refusal> {
    let mut deleted = 0;
    for id in request.ids(&app, &[]).await? {
        match app.runtime().instances().delete(app.tenant(), &id).await? {
            DeleteOutcome::Deleted => deleted += 1,
            DeleteOutcome::Already | DeleteOutcome::NotFound => {}
        }
    }
    Ok(Answer(json!({ "deleted": deleted })))
}
