//! Importing a definition: always a draft, whatever the file says, as in Elsa.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json as Answer, Router};
use dormouse_engine::definition::Definition;
use dormouse_engine::http::multipart;
use dormouse_runtime::SaveOutcome;
use serde_json::{Value, json};

use super::model;
use crate::app::App;
use crate::body::{Body, ElsaBody, parse};
use crate::memory::Ledger;
use crate::path::Path;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;
use crate::unzip;

/// How much larger than a request all that its archives hold may be.
const UNPACKED_TIMES_MAX: usize = 8;

/// The routes, relative to the API's prefix.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/workflow-definitions/import", post(import).put(import))
        .route("/workflow-definitions/import-files", post(import_files))
        .route(
            "/workflow-definitions/{id}/import",
            post(import_as).put(import_as),
        )
}

type Imported = Result<(StatusCode, Answer<Value>), Refusal>;

/// `POST` or `PUT /workflow-definitions/import`
async fn import(Scoped(app): Scoped, ElsaBody(bytes): ElsaBody) -> Imported {
    let mut model = parse(&bytes)?;
    model::check(&model)?;
    model::give_root(&mut model);
    take(&app, Definition::from_value(model)?).await
}

/// `POST` or `PUT /workflow-definitions/{id}/import`
async fn import_as(Scoped(app): Scoped, Path(id): Path<String>, Body(bytes): Body) -> Imported {
    let mut raw = Definition::from_json(&bytes)?.raw().clone();
    raw.retain(|name, _| !name.eq_ignore_ascii_case("definitionId"));
    raw.insert("definitionId".into(), id.into());
    take(&app, Definition::from_value(raw.into())?).await
}

/// How many files one request may bring, those in archives counted one by one.
const FILES_MAX: usize = 1_000;

/// `POST /workflow-definitions/import-files`: definitions as JSON files, and archives of them, in a form. All are read
/// before the first is saved.
async fn import_files(
    Scoped(app): Scoped,
    headers: HeaderMap,
    ledger: Ledger,
    Body(bytes): Body,
) -> Result<Response, Refusal> {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|k| k.to_str().ok()).unwrap_or_default();
    let mut definitions = Vec::new();
    for file in multipart(kind, &bytes).files {
        let is_archive = file.extension() == ".zip" || file.bytes.starts_with(b"PK\x03\x04");
        let texts = if is_archive {
            let limit = app
                .config()
                .body_bytes_max
                .saturating_mul(UNPACKED_TIMES_MAX);
            unzip::json_files(&file.bytes, limit)
                .ok_or(Operating::NotAnArchive { name: file.name })?
        } else {
            vec![file.bytes]
        };
        for text in texts {
            ledger.take_json(&text, app.config().parsed_bytes_max)?;
            definitions.push(Definition::from_json(&text)?);
        }
        if definitions.len() > FILES_MAX {
            let told = format!("more than {FILES_MAX} definitions");
            return Err(Refusal::bad_parameter("files", &told));
        }
    }
    let count = definitions.len();
    if count == 0 {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    for definition in definitions {
        let _saved = take(&app, definition).await?;
    }
    Ok(Answer(json!({ "count": count })).into_response())
}

/// Rejects a definition whose variables have defaults that are no text, as Elsa does: it keeps them as text.
fn expect_texts(definition: &Definition) -> Result<(), Refusal> {
    let variables = definition.raw().get("variables");
    let variables = variables.and_then(Value::as_array).into_iter().flatten();
    for (place, variable) in variables.enumerate() {
        let token = match variable.get("value") {
            None | Some(Value::Null | Value::String(_)) => continue,
            Some(Value::Bool(true)) => "True",
            Some(Value::Bool(false)) => "False",
            Some(Value::Number(_)) => "Number",
            Some(Value::Array(_)) => "StartArray",
            Some(Value::Object(_)) => "StartObject",
        };
        let told = format!("Cannot get the value of a token type '{token}' as a string.");
        return Err(Refusal::bad_parameter(
            "variables",
            &format!("{place}: {told}"),
        ));
    }
    Ok(())
}

/// Rejects a definition with a strategy that there is not, as Elsa does.
pub(super) fn expect_strategies(definition: &Definition) -> Result<(), Refusal> {
    const KNOWN: [(&str, &[&str]); 2] = [
        (
            "activationStrategyType",
            &[
                "AllowAlways",
                "Singleton",
                "Correlation",
                "CorrelatedSingleton",
            ],
        ),
        ("incidentStrategyType", &["Fault", "ContinueWithIncidents"]),
    ];
    let options = definition.raw().get("options");
    for (name, known) in KNOWN {
        let given = options.and_then(|options| options.get(name));
        let Some(given) = given
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
        else {
            continue;
        };
        let class = given.split(',').next().unwrap_or_default();
        let class = class.rsplit('.').next().unwrap_or_default().trim();
        let class = class.trim_end_matches("Strategy");
        // Elsa knows activation strategies by their whole names only.
        let is_short = name == "activationStrategyType" && !given.contains('.');
        if is_short || !known.iter().any(|known| known.eq_ignore_ascii_case(class)) {
            let told = format!(
                "Unknown serialization type alias '{given}'. Only registered aliases and supported compound aliases can be deserialized."
            );
            return Err(Refusal::bad_parameter(name, &told));
        }
    }
    Ok(())
}

async fn take(app: &App, definition: Definition) -> Imported {
    expect_texts(&definition)?;
    expect_strategies(&definition)?;
    let id = definition.definition_id.clone();
    let status = if id.is_some() {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    match app
        .runtime()
        .definitions()
        .import(app.tenant(), definition)
        .await?
    {
        SaveOutcome::Saved { definition, .. } => {
            let answer = model::definition(app, &definition).await?;
            Ok((status, Answer(answer)))
        }
        // It names no content that it is made over.
        SaveOutcome::ReadOnly | SaveOutcome::Stale(_) => Err(Refusal::DefinitionReadOnly {
            id: id.unwrap_or_default(),
        }),
    }
}
