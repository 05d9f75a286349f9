//! Saving a definition, and publishing it in the same request.

use axum::Json as Answer;
use dormouse_engine::definition::Definition;
use dormouse_runtime::{Edit, SaveOutcome};
use serde::Deserialize;
use serde_json::Value;

use super::{canvas, import, model, publish};
use crate::access::PUBLISH_TOO;
use crate::body::ElsaJson;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// What to save.
#[derive(Debug, Deserialize)]
pub(super) struct SaveRequest {
    /// The definition. One without a definition id is new.
    model: Value,
    /// Whether to publish it too.
    publish: Option<bool>,
}

/// `POST /workflow-definitions`
pub(super) async fn save(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<SaveRequest>,
) -> Result<Answer<Value>, Refusal> {
    if request.publish == Some(true) {
        app.require(PUBLISH_TOO)?;
    }
    let mut model = request.model;
    let edit = Edit {
        by: Some(app.principal().name.clone()),
        base: model::take_content(&mut model),
    };
    model::check(&model)?;
    model::give_root(&mut model);
    canvas::restore(&mut model)?;
    let definition = Definition::from_value(model)?;
    import::expect_strategies(&definition)?;
    let problems = app
        .runtime()
        .definitions()
        .validate(app.tenant(), &definition)
        .await?;
    // As in Elsa, what is to be published and cannot be is not saved either.
    let is_refused = problems.iter().any(|problem| problem.is_error)
        && app.runtime().config().fail_on_validation_errors;
    if request.publish == Some(true) && is_refused {
        return Err(Refusal::InvalidDefinition(problems));
    }
    let id = definition.definition_id.clone().unwrap_or_default();
    let saved = app
        .runtime()
        .definitions()
        .save_edit(app.tenant(), definition, edit)
        .await?;
    match saved {
        SaveOutcome::ReadOnly => Err(Refusal::DefinitionReadOnly { id }),
        SaveOutcome::Stale(stale) => Err(Operating::StaleEdit { id, stale }.into()),
        SaveOutcome::Saved { definition, .. } if request.publish == Some(true) => {
            publish::answer(&app, &definition.definition_id).await
        }
        SaveOutcome::Saved { definition, .. } => {
            let found = app
                .runtime()
                .query()
                .consumers(app.tenant(), &definition.definition_id)
                .await?;
            let consumers = found.map_or(0, |list| list.len());
            let saved = model::saved(&app, &definition, false, consumers, &problems);
            Ok(Answer(saved.await?))
        }
    }
}
