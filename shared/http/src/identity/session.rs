//! Signing in and staying signed in, as Elsa Studio does it.

use axum::Json as Answer;
use axum::http::{HeaderMap, StatusCode, header};
use dormouse_runtime::identity::{Principal, Tokens};
use dormouse_runtime::{AuditRecord, Tenant};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::ElsaJson;
use crate::client_address::ClientAddress;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// Who signs in.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Login {
    username: String,
    password: String,
    /// Not in Elsa, which finds the tenant by the request's host.
    tenant_id: Option<String>,
}

/// `POST /identity/login`. 200 whatever the password, as in Elsa; too many wrong ones are 429.
pub(super) async fn sign_in(
    Scoped(app): Scoped,
    client: ClientAddress,
    ElsaJson(login): ElsaJson<Login>,
) -> Result<Answer<Value>, Refusal> {
    let missing = [("username", &login.username), ("password", &login.password)];
    let missing = missing.into_iter().filter(|(_, text)| text.is_empty());
    let missing: Vec<_> = missing
        .map(|(name, _)| (name.into(), format!("'{name}' must not be empty.")))
        .collect();
    if !missing.is_empty() {
        return Err(Refusal::Invalid(missing));
    }
    // Before it is checked: of many at once, no more are tried than one after the other.
    if !app.passwords_limit().take(&client) {
        return Err(Refusal::TooManyAttempts);
    }
    let tenant = login.tenant_id.as_deref().map(Tenant::new).transpose();
    let tenant = tenant.ok().map(Option::unwrap_or_default);
    let identity = app.identity();
    let tokens = match &tenant {
        Some(tenant) => {
            let turn = app.known_clients().turn(&client);
            let tried = identity
                .sign_in(tenant, &login.username, &login.password, turn)
                .await;
            // What was not tried is no wrong password.
            tried.inspect_err(|_| app.passwords_limit().refund(&client))?
        }
        None => None,
    };
    if tokens.is_some() {
        app.passwords_limit().refund(&client);
        app.known_clients().remember(&client);
    }
    record(&app, &client, tokens.as_ref()).await?;
    Ok(Answer(answer(tokens)))
}

/// A successful sign-in belongs to its user. A failed one is recorded without the name that was typed, which may
/// well be a password.
pub(super) async fn record(
    app: &App,
    client: &ClientAddress,
    tokens: Option<&Tokens>,
) -> Result<(), Refusal> {
    let who = tokens.map_or_else(Principal::anonymous, |tokens| tokens.principal.clone());
    let record = AuditRecord {
        who: who.name.clone(),
        kind: who.kind.name().into(),
        action: "login".into(),
        subject: "/identity/login".into(),
        status: if tokens.is_some() { 200 } else { 401 },
        address: client.text(),
        ..AuditRecord::default()
    };
    Ok(app
        .runtime()
        .operations()
        .audit(&who.tenant, record)
        .await?)
}

/// `POST /identity/refresh-token`, with the refresh token as the bearer.
pub(super) async fn refresh(
    Scoped(app): Scoped,
    headers: HeaderMap,
) -> Result<Answer<Value>, Refusal> {
    let tokens = app.identity().refresh(bearer(&headers)).await?;
    match tokens {
        Some(tokens) => Ok(Answer(answer(Some(tokens)))),
        None => Err(Refusal::Unauthenticated),
    }
}

/// `POST /identity/logout`, with the access token or the refresh token as the bearer: ends the session, so that none of its
/// tokens counts any more, here at once and on other nodes within ten seconds. Not in Elsa.
pub(super) async fn sign_out(
    Scoped(app): Scoped,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    match app.identity().sign_out(bearer(&headers)).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Refusal::Unauthenticated),
    }
}

fn bearer(headers: &HeaderMap) -> &str {
    let header = headers.get(header::AUTHORIZATION);
    let header = header.and_then(|h| h.to_str().ok()).unwrap_or_default();
    header.split_once(' ').map_or("", |(_, token)| token.trim())
}

pub(super) fn answer(tokens: Option<Tokens>) -> Value {
    json!({
        "isAuthenticated": tokens.is_some(),
        "accessToken": tokens.as_ref().map(|t| &t.access),
        "refreshToken": tokens.as_ref().map(|t| &t.refresh),
    })
}

/// `GET /identity/me`: who is asking, for pages that show only what he may do. Not in Elsa.
pub(super) async fn me(Scoped(app): Scoped) -> Answer<Value> {
    let who = app.principal();
    let permissions: Vec<&str> = who.permissions.names().collect();
    Answer(json!({
        "name": who.name,
        "tenantId": who.tenant.as_str(),
        "permissions": permissions,
    }))
}
