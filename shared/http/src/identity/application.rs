//! Applications and their API keys.

use axum::Json as Answer;
use axum::http::StatusCode;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::identity::{Application, ApplicationMade, NewApplication};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::body::Json;
use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// What an application is to be.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ApplicationRequest {
    name: String,
    roles: Vec<String>,
    /// Not in Elsa, whose applications have roles only.
    permissions: Vec<String>,
    /// Not in Elsa.
    expires_in_ms: Option<i64>,
}

/// `GET /identity/applications`
pub(super) async fn list(Scoped(app): Scoped) -> Result<Answer<Value>, Refusal> {
    let found = app.runtime().accounts().applications(app.tenant()).await?;
    let items: Vec<Value> = found.iter().map(|a| model(a).into()).collect();
    let count = items.len();
    Ok(Answer(json!({ "items": items, "totalCount": count })))
}

/// `POST /identity/applications`. The key is told this once; only its digest is kept.
pub(super) async fn create(
    Scoped(app): Scoped,
    Json(request): Json<ApplicationRequest>,
) -> Result<Answer<Value>, Refusal> {
    let wrong = |reason: &str| Refusal::WrongShape {
        reason: reason.to_owned(),
    };
    if request.name.len() > 200 {
        return Err(wrong("the `name` of an application has at most 200 bytes"));
    }
    if request.expires_in_ms.is_some_and(|ms| ms <= 0) {
        return Err(wrong("`expiresInMs` must be more than 0"));
    }
    let new = NewApplication {
        name: request.name,
        roles: request.roles,
        permissions: request.permissions,
        expires_in_ms: request.expires_in_ms,
    };
    match app
        .identity()
        .make_application(app.principal(), new)
        .await?
    {
        ApplicationMade::Made(application, key) => {
            let mut body = model(&application);
            body.insert("apiKey".into(), key.text().into());
            body.insert("clientSecret".into(), key.secret.text().into());
            Ok(Answer(body.into()))
        }
        ApplicationMade::NoSuchRole => Err(wrong("`roles` names a role that does not exist")),
        ApplicationMade::NotYours => Err(Refusal::MoreThanYours),
    }
}

/// `DELETE /identity/applications/{id}`: its key counts no more.
pub(super) async fn delete(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    match app
        .identity()
        .delete_application(app.principal(), &id)
        .await?
    {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Refusal::NoSuchIdentity { id }),
    }
}

fn model(application: &Application) -> Map<String, Value> {
    let expires = application.expires_ms.map(|ms| Timestamp(ms).to_string());
    Map::from_iter([
        ("id".to_owned(), json!(application.id)),
        ("clientId".to_owned(), json!(application.id)),
        ("name".to_owned(), json!(application.name)),
        ("roles".to_owned(), json!(application.roles)),
        ("permissions".to_owned(), json!(application.permissions)),
        (
            "createdAt".to_owned(),
            json!(Timestamp(application.created_ms).to_string()),
        ),
        ("expiresAt".to_owned(), json!(expires)),
    ])
}
