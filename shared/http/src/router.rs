//! The table of all routes.

use axum::extract::{OriginalUri, Request};
use axum::http::Method;
use axum::middleware;
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use tower::ServiceExt as _;

use crate::app::App;
use crate::refusal::Refusal;
use crate::{
    absent, activity_execution, activity_test, activity_type, administration, alteration, bookmark,
    dead_letter, definition, descriptor, event, gate, health, identity, instance, link, metrics,
    openapi, schedule, script, secret, stage, task, webhook, workflow,
};

/// The prefix of Elsa's API.
pub(crate) const API: &str = "/elsa/api";

/// Everything that the server answers.
pub fn router(app: App) -> Router {
    let api = Router::new()
        .route("/package/version", get(version))
        .merge(definition::routes())
        .merge(instance::routes())
        .merge(descriptor::routes())
        .merge(script::routes())
        .merge(openapi::routes())
        .merge(activity_execution::routes())
        .merge(activity_test::routes())
        .merge(activity_type::routes())
        .merge(alteration::routes())
        .merge(bookmark::routes())
        .merge(task::routes())
        .merge(schedule::routes())
        .merge(event::routes())
        .merge(dead_letter::routes())
        .merge(link::routes())
        .merge(identity::routes())
        .merge(webhook::routes())
        .merge(secret::routes())
        .merge(absent::routes());
    let router = Router::new()
        .nest(API, api)
        .merge(workflow::routes())
        .merge(link::visits())
        .merge(identity::visits())
        .merge(webhook::addresses())
        .merge(administration::routes())
        .merge(health::routes())
        .merge(metrics::routes())
        .route_layer(middleware::from_fn_with_state(
            app.clone(),
            gate::enter_or_refuse,
        ))
        .method_not_allowed_fallback(wrong_method)
        .fallback(nowhere)
        .layer(middleware::from_fn_with_state(app.clone(), stage::enter))
        .with_state(app);
    let without_slash = router.clone();
    router.fallback(move |request| find_without_slash(without_slash, request))
}

/// What is nowhere may be a route of the API with a slash at its end, which Elsa does not mind.
async fn find_without_slash(router: Router, mut request: Request) -> Response {
    let uri = request.uri();
    let path = uri
        .path()
        .strip_suffix('/')
        .filter(|path| path.starts_with(API));
    if let Some(path) = path {
        let query = uri.query().map(|query| format!("?{query}"));
        let shorter = format!("{path}{}", query.unwrap_or_default());
        if let Ok(shorter) = shorter.parse() {
            request.extensions_mut().remove::<OriginalUri>();
            *request.uri_mut() = shorter;
        }
    }
    let Ok(response) = router.oneshot(request).await;
    response
}

async fn version() -> Json<serde_json::Value> {
    Json(json!({ "packageVersion": env!("CARGO_PKG_VERSION") }))
}

async fn nowhere(OriginalUri(uri): OriginalUri) -> Refusal {
    Refusal::NoSuchRoute {
        path: uri.path().to_owned(),
    }
}

async fn wrong_method(method: Method, OriginalUri(uri): OriginalUri) -> Refusal {
    Refusal::MethodNotAllowed {
        method: method.to_string(),
        path: uri.path().to_owned(),
    }
}
