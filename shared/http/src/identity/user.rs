//! Local users.

use axum::Json as Answer;
use axum::http::StatusCode;
use dormouse_runtime::identity::{UserChange, UserOutcome};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::body::ElsaJson;
use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// What a user is to be. Elsa's names.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct UserRequest {
    name: Option<String>,
    password: Option<String>,
    roles: Option<Vec<String>>,
}

/// `GET /identity/users`
pub(super) async fn list(Scoped(app): Scoped) -> Result<Answer<Value>, Refusal> {
    let users = app.runtime().accounts().users(app.tenant()).await?;
    let items: Vec<Value> = users
        .iter()
        .map(|user| json!({ "id": user.name, "name": user.name, "roles": user.roles }))
        .collect();
    let count = items.len();
    // Elsa's member is `users`.
    Ok(Answer(
        json!({ "users": items, "items": items, "totalCount": count }),
    ))
}

/// `POST /identity/users`. Without a password one is made up, and told this once.
pub(super) async fn create(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<UserRequest>,
) -> Result<Answer<Value>, Refusal> {
    let change = UserChange {
        name: request.name.unwrap_or_default(),
        password: request.password,
        roles: Some(request.roles.unwrap_or_default()),
    };
    let outcome = app.identity().put_user(app.principal(), change, true);
    answer(outcome.await?, "")
}

/// `PUT /identity/users/{id}`
pub(super) async fn update(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    ElsaJson(request): ElsaJson<UserRequest>,
) -> Result<Answer<Value>, Refusal> {
    let is_same = |name: &String| name.trim().eq_ignore_ascii_case(id.trim());
    if !request.name.as_ref().is_none_or(is_same) {
        let reason = "a user's name is the id too and stays; make a new user".to_owned();
        return Err(Refusal::WrongShape { reason });
    }
    let change = UserChange {
        name: id.clone(),
        password: request.password,
        roles: request.roles,
    };
    let outcome = app.identity().put_user(app.principal(), change, false);
    answer(outcome.await?, &id)
}

/// `DELETE /identity/users/{id}`
pub(super) async fn delete(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    let outcome = app.identity().delete_user(app.principal(), &id).await?;
    answer(outcome, &id).map(|_| StatusCode::NO_CONTENT)
}

fn answer(outcome: UserOutcome, id: &str) -> Result<Answer<Value>, Refusal> {
    let wrong = |reason: &str| Refusal::WrongShape {
        reason: reason.to_owned(),
    };
    match outcome {
        UserOutcome::Done(user, password) => Ok(Answer(json!({
            "id": user.name,
            "name": user.name,
            "roles": user.roles,
            "password": password,
        }))),
        UserOutcome::Taken => Err(Refusal::NameTaken),
        UserOutcome::BadName => Err(wrong(
            "`name` needs 1 to 100 letters, digits or characters of `-_.@+`",
        )),
        UserOutcome::BadPassword => Err(wrong(
            "`password` needs 10 characters, and at most 256 bytes",
        )),
        // Elsa tells both alike: there is nothing to find out by trying names.
        UserOutcome::NoSuchRole | UserOutcome::NotYours => Err(Refusal::MoreThanYours),
        UserOutcome::Yourself => Err(Refusal::Yourself),
        UserOutcome::NotFound => Err(Refusal::NoSuchIdentity { id: id.to_owned() }),
    }
}
