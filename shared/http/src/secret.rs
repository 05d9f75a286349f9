//! Secrets, as Elsa's module of that name has them. No route tells a value.

mod listed;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::routing::{get, post};
use axum::{Json as Answer, Router};
use dormouse_engine::time::Timestamp;
use dormouse_runtime::{KeyChanged, NewSecret, NewValue, SecretOutcome, SecretRefusal, SecretTest};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::ElsaJson;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;
use listed::{CONFIGURATION, ENCRYPTED, Filter, TEXT, model};

/// Secrets of a page, unless the query says it.
const PAGE: usize = 100;
/// The most secrets of a page.
const PAGE_MAX: usize = 200;

/// The server of a request about secrets. Where steps cannot name secrets, no route pretends that there are any.
struct OfSecrets(App);

impl FromRequestParts<App> for OfSecrets {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let Scoped(app) = Scoped::from_request_parts(parts, app).await?;
        match app.runtime().accounts().secrets().are_allowed() {
            true => Ok(Self(app)),
            false => Err(Operating::NotHere {
                module: "/secrets",
                reason: "the functions on AWS have no keys to seal values with; `dormouse serve` has secrets, also over a table of DynamoDB",
            }
            .into()),
        }
    }
}

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/secrets", get(list).post(create))
        .route("/secrets/descriptors", get(descriptors))
        .route("/secrets/picker", post(pick))
        .route("/secrets/{name}", get(read).post(update).delete(remove))
        .route("/secrets/{name}/revoke", post(revoke))
        .route("/secrets/{name}/rotate", post(rotate))
        .route("/secrets/{name}/test", post(test))
        .route("/secret-keys/rotate", post(change_key))
}

async fn found(app: &App, filter: &Filter) -> Result<Vec<Value>, Refusal> {
    let secrets = app
        .runtime()
        .accounts()
        .secrets()
        .list(app.tenant())
        .await?;
    let now = app.runtime().ports().clock.now();
    let models = secrets.iter().map(|secret| model(secret, now));
    Ok(models.filter(|model| filter.takes(model)).collect())
}

/// `GET /secrets`
async fn list(OfSecrets(app): OfSecrets, query: Query) -> Result<Answer<Value>, Refusal> {
    let several = |one: &str, more: &str| {
        let mut names = query.all(more);
        names.extend(query.text(one).map(str::to_owned));
        names
    };
    let filter = Filter {
        search: query.text("search").map(str::to_owned),
        type_names: several("typename", "typenames"),
        store_names: several("storename", "storenames"),
        scope: query.text("scope").map(str::to_owned),
        active_only: None,
        status: query.text("status").map(str::to_owned),
    };
    let found = found(&app, &filter).await?;
    let size = query.read::<usize>("pagesize")?.filter(|size| *size > 0);
    let size = size.unwrap_or(PAGE).min(PAGE_MAX);
    let page = query.read::<usize>("page")?.unwrap_or(0);
    let total = found.len();
    let items = found.into_iter().skip(page.saturating_mul(size)).take(size);
    let items: Vec<Value> = items.collect();
    Ok(Answer(json!({ "items": items, "totalCount": total })))
}

/// `POST /secrets/picker`
async fn pick(
    OfSecrets(app): OfSecrets,
    ElsaJson(mut filter): ElsaJson<Filter>,
) -> Result<Answer<Value>, Refusal> {
    if filter.active_only.unwrap_or(true) {
        filter.status = Some("Active".into());
    }
    let mut items = found(&app, &filter).await?;
    items.truncate(PAGE);
    Ok(Answer(json!({ "items": items, "canCreateInline": true })))
}

/// `GET /secrets/descriptors`
async fn descriptors(_: OfSecrets) -> Answer<Value> {
    Answer(json!({
        "types": [{
            "name": TEXT,
            "displayName": "Text",
            "description": "A password, a token, or any other text.",
            "uiHint": "secret-text",
            "supportedStoreNames": [ENCRYPTED, CONFIGURATION],
        }],
        "stores": [
            { "name": ENCRYPTED, "displayName": "Encrypted", "description": "Values are sealed in the table.",
              "capabilities": "Read, Write, Delete, Test", "isReadOnly": false },
            { "name": CONFIGURATION, "displayName": "Configuration",
              "description": "Values are kept where the server gets its settings, and read by reference.",
              "capabilities": "Read, Write, Test", "isReadOnly": true },
        ],
    }))
}

/// A value as a request brings it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Given {
    value: Option<String>,
    configuration_key: Option<String>,
    expires_at: Option<String>,
}

impl Given {
    fn value(&mut self, is_reference: bool) -> Result<NewValue, Refusal> {
        let reason = |reason: &str| Refusal::WrongShape {
            reason: reason.into(),
        };
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        if is_reference {
            let key = filled(self.configuration_key.take());
            return key
                .map(NewValue::Reference)
                .ok_or_else(|| reason("`configurationKey` says where the value is kept"));
        }
        let value = filled(self.value.take());
        value
            .map(NewValue::Text)
            .ok_or_else(|| reason("`value` is a text that is not empty"))
    }

    fn expires_at(&self) -> Result<Option<Timestamp>, Refusal> {
        let Some(text) = self.expires_at.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let read = Timestamp::parse(text).ok_or_else(|| Refusal::WrongShape {
            reason: "`expiresAt` is a time, such as `2027-01-31T00:00:00Z`".into(),
        });
        read.map(Some)
    }
}

/// A secret as a request describes it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Create {
    name: String,
    display_name: Option<String>,
    description: Option<String>,
    type_name: Option<String>,
    store_name: Option<String>,
    scope: Option<String>,
    tags: Vec<String>,
    #[serde(flatten)]
    given: Given,
}

/// `POST /secrets`
async fn create(
    OfSecrets(app): OfSecrets,
    ElsaJson(mut request): ElsaJson<Create>,
) -> Result<Answer<Value>, Refusal> {
    let is = |given: &Option<String>, name: &str| {
        given
            .as_deref()
            .is_some_and(|g| g.eq_ignore_ascii_case(name))
    };
    let is_reference = is(&request.store_name, CONFIGURATION);
    let has_store =
        request.store_name.is_none() || is_reference || is(&request.store_name, ENCRYPTED);
    if !has_store || !(request.type_name.is_none() || is(&request.type_name, TEXT)) {
        let reason = "secrets have the type `Text`, and the store `Encrypted` or `Configuration`";
        return Err(Refusal::WrongShape {
            reason: reason.into(),
        });
    }
    let value = request.given.value(is_reference)?;
    let new = NewSecret {
        expires_at: request.given.expires_at()?,
        name: request.name.clone(),
        display_name: request.display_name,
        description: request.description,
        scope: request.scope,
        tags: request.tags,
    };
    let secrets = app.runtime().accounts().secrets();
    told(
        &app,
        &request.name,
        secrets.create(app.tenant(), new, value).await?,
    )
}

/// `GET /secrets/{name}`
async fn read(
    OfSecrets(app): OfSecrets,
    Path(name): Path<String>,
) -> Result<Answer<Value>, Refusal> {
    match app
        .runtime()
        .accounts()
        .secrets()
        .get(app.tenant(), &name)
        .await?
    {
        Some(secret) => Ok(Answer(model(&secret, app.runtime().ports().clock.now()))),
        None => Err(refusal(name, SecretRefusal::NotFound)),
    }
}

/// What people read of a secret.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Update {
    display_name: Option<String>,
    description: Option<String>,
}

/// `POST /secrets/{name}`
async fn update(
    OfSecrets(app): OfSecrets,
    Path(name): Path<String>,
    ElsaJson(request): ElsaJson<Update>,
) -> Result<Answer<Value>, Refusal> {
    let secrets = app.runtime().accounts().secrets();
    let texts = (request.display_name, request.description);
    let changed = secrets.describe(app.tenant(), &name, texts.0, texts.1);
    told(&app, &name, changed.await?)
}

/// `POST /secrets/{name}/rotate`: another value, for the store that the secret has.
async fn rotate(
    OfSecrets(app): OfSecrets,
    Path(name): Path<String>,
    ElsaJson(mut request): ElsaJson<Given>,
) -> Result<Answer<Value>, Refusal> {
    let secrets = app.runtime().accounts().secrets();
    let Some(secret) = secrets.get(app.tenant(), &name).await? else {
        return Err(refusal(name, SecretRefusal::NotFound));
    };
    let value = request.value(secret.is_reference)?;
    let expires_at = request.expires_at()?;
    let changed = secrets.rotate(app.tenant(), &name, &value, expires_at);
    told(&app, &name, changed.await?)
}

/// `POST /secrets/{name}/revoke`
async fn revoke(
    OfSecrets(app): OfSecrets,
    Path(name): Path<String>,
) -> Result<Answer<Value>, Refusal> {
    let changed = app
        .runtime()
        .accounts()
        .secrets()
        .revoke(app.tenant(), &name)
        .await?;
    told(&app, &name, changed)
}

/// `DELETE /secrets/{name}`
async fn remove(
    OfSecrets(app): OfSecrets,
    Path(name): Path<String>,
) -> Result<StatusCode, Refusal> {
    let secrets = app.runtime().accounts().secrets();
    match secrets.delete(app.tenant(), &name).await? {
        SecretOutcome::Done(_) => Ok(StatusCode::NO_CONTENT),
        SecretOutcome::Refused(why) => Err(refusal(name, why)),
    }
}

/// `POST /secrets/{name}/test`: whether the value can be read, and not what it is.
async fn test(
    OfSecrets(app): OfSecrets,
    Path(name): Path<String>,
) -> Result<Answer<Value>, Refusal> {
    let error = match app
        .runtime()
        .accounts()
        .secrets()
        .test(app.tenant(), &name)
        .await?
    {
        SecretTest::Readable => None,
        SecretTest::Unreadable => Some("The value is revoked, has expired, or cannot be read."),
        SecretTest::NotFound => return Err(refusal(name, SecretRefusal::NotFound)),
    };
    Ok(Answer(
        json!({ "succeeded": error.is_none(), "error": error }),
    ))
}

/// `POST /secret-keys/rotate`: another key for all values of all tenants.
async fn change_key(OfSecrets(app): OfSecrets) -> Result<Answer<Value>, Refusal> {
    if *app.tenant() != dormouse_runtime::Tenant::default() {
        return Err(Operating::NotYourDeployment.into());
    }
    match app.runtime().accounts().secrets().change_key().await? {
        KeyChanged::Done { resealed } => Ok(Answer(json!({ "resealed": resealed }))),
        KeyChanged::Unreadable { count } => Err(Operating::SecretsUnreadable { count }.into()),
        KeyChanged::NotSealed => Err(refusal(String::new(), SecretRefusal::NotSealed)),
    }
}

fn told(app: &App, name: &str, outcome: SecretOutcome) -> Result<Answer<Value>, Refusal> {
    match outcome {
        SecretOutcome::Done(secret) => {
            Ok(Answer(model(&secret, app.runtime().ports().clock.now())))
        }
        SecretOutcome::Refused(why) => Err(refusal(name.to_owned(), why)),
    }
}

fn refusal(name: String, why: SecretRefusal) -> Refusal {
    Operating::Secret { name, why }.into()
}
