//! Importing a definition: always a draft, whatever the file says, as in Elsa.

use axum::Json as Answer;
use axum::extract::Path;
use axum::http::StatusCode;
use dormouse_engine::definition::Definition;
use dormouse_runtime::SaveOutcome;
use serde_json::Value;

use super::model;
use crate::app::App;
use crate::body::Body;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

type Imported = Result<(StatusCode, Answer<Value>), Refusal>;

/// `POST` or `PUT /workflow-definitions/import`
pub(super) async fn import(Scoped(app): Scoped, Body(bytes): Body) -> Imported {
    let definition = Definition::from_json(&bytes)?;
    take(&app, definition).await
}

/// `POST` or `PUT /workflow-definitions/{id}/import`
pub(super) async fn import_as(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    Body(bytes): Body,
) -> Imported {
    let mut raw = Definition::from_json(&bytes)?.raw().clone();
    raw.retain(|name, _| !name.eq_ignore_ascii_case("definitionId"));
    raw.insert("definitionId".into(), id.into());
    take(&app, Definition::from_value(raw.into())?).await
}

async fn take(app: &App, definition: Definition) -> Imported {
    let id = definition.definition_id.clone();
    let status = if id.is_some() {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    match app
        .runtime()
        .import_definition(app.tenant(), definition)
        .await?
    {
        SaveOutcome::Saved { definition, .. } => {
            let answer = model::definition(app, &definition).await?;
            Ok((status, Answer(answer)))
        }
        SaveOutcome::ReadOnly => Err(Refusal::DefinitionReadOnly {
            id: id.unwrap_or_default(),
        }),
    }
}
