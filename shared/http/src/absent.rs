//! What Elsa's clients ask for and there is none of here: lists with nothing in them, and for modules that a stock Elsa
//! does not load either an honest 501.

use axum::extract::Request;
use axum::routing::{any, get};
use axum::{Json as Answer, Router};
use serde_json::{Value, json};

use crate::app::App;
use crate::refusal::{Operating, Refusal};

/// The modules that Studio or Elsa's client ask for: the beginning of their paths, and why they are not here.
pub(crate) const MODULES: [(&str, &str); 8] = [
    ("/ai", "there is no assistant"),
    (
        "/dashboard",
        "the numbers are at /metrics and in the console",
    ),
    ("/diagnostics", "logs and traces go to your own collector"),
    (
        "/external-authentication",
        "tokens of your identity provider are taken as they are; see --authentication jwt",
    ),
    ("/labels", "definitions have no labels"),
    (
        "/shells",
        "a server is one shell, and is restarted to reload it",
    ),
    (
        "/tenants",
        "a tenant is made by its first key; see `dormouse key --tenant`",
    ),
    ("/workflow-contexts", "there are no workflow contexts"),
];

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    let mut router = Router::new()
        .route("/resilience/strategies", get(none))
        .route("/resilience/retries/{id}", get(no_retries));
    for (module, _) in MODULES {
        router = router
            .route(module, any(absent))
            .route(&format!("{module}/{{*rest}}"), any(absent));
    }
    router
}

/// `GET /resilience/strategies`: an activity names its own.
async fn none() -> Answer<Value> {
    Answer(json!({ "items": [], "count": 0 }))
}

/// `GET /resilience/retries/{activityInstanceId}`: retries are lines of the journal.
async fn no_retries() -> Answer<Value> {
    Answer(json!({ "items": [], "totalCount": 0, "links": [] }))
}

async fn absent(request: Request) -> Refusal {
    let path = request.uri().path();
    let is_of = |module: &str| {
        let rest = path.strip_prefix(module);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let module = MODULES.iter().find(|(module, _)| is_of(module));
    let (name, reason) = module.copied().unwrap_or_default();
    Operating::NotHere {
        module: name,
        reason,
    }
    .into()
}
