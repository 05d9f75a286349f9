//! Telling what is wrong with a definition before it is saved.

use axum::Json as Answer;
use dormouse_engine::definition::Definition;
use dormouse_runtime::VersionOptions;
use serde_json::{Value, json};

use crate::body::Body;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `POST /workflow-definitions/validate`: all problems of the definition in the body. Not in Elsa.
pub(super) async fn validate(
    Scoped(app): Scoped,
    Body(bytes): Body,
) -> Result<Answer<Value>, Refusal> {
    let definition = Definition::from_json(&bytes)?;
    let problems = app
        .runtime()
        .definitions()
        .validate(app.tenant(), &definition)
        .await?;
    let is_valid = !problems.iter().any(|p| p.is_error);
    Ok(Answer(json!({ "isValid": is_valid, "problems": problems })))
}

/// `GET /workflow-definitions/validation/is-name-unique`
pub(super) async fn is_name_unique(
    Scoped(app): Scoped,
    query: Query,
) -> Result<Answer<Value>, Refusal> {
    let name = query.text("name").unwrap_or_default().trim();
    let own = query.text("definitionid");
    let all = app
        .runtime()
        .query()
        .definitions(app.tenant(), VersionOptions::Latest)
        .await?;
    let is_taken = all
        .iter()
        .any(|s| Some(s.definition_id.as_str()) != own && s.name.as_deref() == Some(name));
    Ok(Answer(json!({ "isUnique": !is_taken })))
}
