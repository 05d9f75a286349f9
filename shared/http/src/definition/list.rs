//! Listing definitions.

use axum::Json;
use dormouse_runtime::{DefinitionHandle, DefinitionSummary, VersionOptions};
use serde_json::{Value, json};

use super::model;
use crate::app::App;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `GET /workflow-definitions`
pub(super) async fn list(Scoped(app): Scoped, query: Query) -> Result<Json<Value>, Refusal> {
    let mut found = matches(&app, &query).await?;
    order(&mut found, &query)?;
    let total = found.len();
    let (skip, take) = page(&query, app.config().page_items_max)?;
    let items: Vec<Value> = found
        .iter()
        .skip(skip)
        .take(take)
        .map(model::summary)
        .collect();
    Ok(Json(
        json!({ "items": items, "totalCount": total, "links": model::list_links() }),
    ))
}

/// `GET /workflow-definitions/query/count`
pub(super) async fn count(Scoped(app): Scoped) -> Result<Json<Value>, Refusal> {
    let found = app
        .runtime()
        .query()
        .definitions(app.tenant(), VersionOptions::Latest)
        .await?;
    Ok(Json(json!({ "count": found.len() })))
}

/// Which part of a list: a page, or skip and take.
fn page(query: &Query, max: usize) -> Result<(usize, usize), Refusal> {
    let size = query.read::<usize>("pagesize")?;
    let take = query
        .read::<usize>("take")?
        .or(size)
        .unwrap_or(max)
        .min(max);
    // Elsa begins at the first page where there is none before it.
    let page = query.read::<i32>("page")?.unwrap_or(0);
    let page = usize::try_from(page).unwrap_or(0);
    let skip = query.read::<usize>("skip")?;
    Ok((skip.unwrap_or(page.saturating_mul(take)), take))
}

async fn matches(app: &App, query: &Query) -> Result<Vec<DefinitionSummary>, Refusal> {
    let ids = query.all("ids");
    if !ids.is_empty() {
        return by_version_ids(app, &ids).await;
    }
    let version = match query.text("versionoptions") {
        None => VersionOptions::AllVersions,
        Some(text) => text
            .parse()
            .map_err(|_| Refusal::bad_parameter("versionOptions", text))?,
    };
    let definition_ids = query.all("definitionids");
    let search = query.text("searchterm").map(|t| t.trim().to_lowercase());
    let is_system = query.read::<bool>("issystem")?;
    let mut found = match (version, definition_ids.as_slice()) {
        // Every version of some definitions: Studio's version history.
        (VersionOptions::AllVersions, [_, ..]) => every_version(app, &definition_ids).await?,
        _ => {
            app.runtime()
                .query()
                .definitions(app.tenant(), version)
                .await?
        }
    };
    found.retain(|s| {
        let has = |text: Option<&String>| {
            let lower = text.map(|t| t.to_lowercase());
            search
                .as_ref()
                .is_none_or(|s| lower.is_some_and(|l| l.contains(s)))
        };
        (definition_ids.is_empty() || definition_ids.contains(&s.definition_id))
            && is_system.is_none_or(|wanted| wanted == s.is_system)
            && (has(s.name.as_ref()) || has(s.description.as_ref()) || has(Some(&s.definition_id)))
    });
    Ok(found)
}

async fn every_version(app: &App, ids: &[String]) -> Result<Vec<DefinitionSummary>, Refusal> {
    let mut found = Vec::new();
    for id in ids {
        let versions = app
            .runtime()
            .query()
            .definition_versions(app.tenant(), id)
            .await?;
        found.extend(versions.iter().map(summary_of));
    }
    Ok(found)
}

async fn by_version_ids(app: &App, ids: &[String]) -> Result<Vec<DefinitionSummary>, Refusal> {
    let mut found = Vec::new();
    for id in ids.iter().take(app.config().page_items_max) {
        let handle = DefinitionHandle::version(id);
        let view = app
            .runtime()
            .query()
            .definition(app.tenant(), &handle)
            .await?;
        found.extend(view.as_ref().map(summary_of));
    }
    Ok(found)
}

fn summary_of(view: &dormouse_runtime::DefinitionView) -> DefinitionSummary {
    let definition = &view.definition;
    let tool_version = definition.property("toolVersion").and_then(Value::as_str);
    DefinitionSummary {
        definition_id: view.definition_id.clone(),
        version_id: view.version_id.clone(),
        version: view.version,
        name: definition.name.clone(),
        description: definition.description.clone(),
        tool_version: tool_version.map(str::to_owned),
        is_latest: view.is_latest,
        is_published: view.is_published,
        is_readonly: definition.is_readonly,
        is_system: definition.is_system,
        usable_as_activity: definition.options.usable_as_activity,
        created_at: view.created_at,
    }
}

/// Elsa's orders: by name from the first, by time and version from the last.
fn order(found: &mut [DefinitionSummary], query: &Query) -> Result<(), Refusal> {
    let name = |s: &DefinitionSummary| s.name.as_deref().unwrap_or_default().to_lowercase();
    let by = query.text("orderby").map(str::to_lowercase);
    let direction = query.text("orderdirection").map(str::to_lowercase);
    let is_descending = match direction.as_deref() {
        Some("descending" | "1") => Some(true),
        Some("ascending" | "0") => Some(false),
        Some(other) => return Err(Refusal::bad_parameter("orderDirection", other)),
        None => None,
    };
    match by.as_deref() {
        Some("created" | "createdat") => found.sort_by_key(|s| s.created_at),
        Some("version") => found.sort_by_key(|s| s.version),
        Some("name") | None => found.sort_by_key(|s| (name(s), s.version)),
        Some(other) => return Err(Refusal::bad_parameter("orderBy", other)),
    }
    let is_by_name = matches!(by.as_deref(), Some("name") | None);
    if is_descending.unwrap_or(!is_by_name) {
        found.reverse();
    }
    Ok(())
}
