//! Requests that occupy a processor: they parse, check, pack or unpack definitions and instances, or run scripts to try them.
//! They run on the threads for computing, so that those that serve stay free.

use axum::body::Body;
use axum::extract::{FromRequest, MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use dormouse_runtime::identity::Principal;
use dormouse_runtime::port::{Share, compute};

use crate::app::App;
use crate::body::{Body as Bytes, Read};
use crate::refusal::Refusal;
use crate::router::API;

/// Has a heavy request answered by a thread for computing, once its body is there: a body that comes slowly occupies no thread.
pub(crate) async fn run(app: &App, request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>();
    let path = path.map(MatchedPath::as_str).unwrap_or_default().to_owned();
    if app.compute().is_none() || !is_heavy(request.method(), &path) {
        return next.run(request).await;
    }
    match compute_answer(app, &path, request, next).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    }
}

async fn compute_answer(
    app: &App,
    path: &str,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let who = request.extensions().get::<Principal>();
    let tenant = who.map(|who| who.tenant.to_string()).unwrap_or_default();
    let (mut parts, body) = request.into_parts();
    let asked = Request::from_parts(parts.clone(), body);
    let Bytes(bytes) = Bytes::from_request(asked, app).await?;
    parts.extensions.insert(Read(bytes));
    let request = Request::from_parts(parts, Body::empty());
    let share = Share::new(&tenant, path);
    Ok(compute(app.compute(), share, next.run(request)).await?)
}

/// Whether a route occupies a processor. Those that run instances do not belong here: they wait for others too.
fn is_heavy(method: &Method, path: &str) -> bool {
    let path = path.strip_prefix(API).unwrap_or(path);
    let changes = !matches!(*method, Method::GET | Method::HEAD | Method::DELETE);
    let runs = ["/execute", "/dispatch", "/bulk-dispatch"];
    let is_of_definitions =
        path.starts_with("/workflow-definitions") && !runs.iter().any(|end| path.ends_with(end));
    let packs = ["/export", "/import"]
        .iter()
        .any(|part| path.contains(part));
    let tries = ["/tests/activities", "/alterations/dry-run"].contains(&path);
    let is_bulk =
        path.starts_with("/bulk-actions/publish") || path.starts_with("/bulk-actions/retract");
    (changes && (is_of_definitions || tries || is_bulk)) || packs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_parses_or_packs_is_heavy_and_what_runs_instances_is_not() {
        let heavy = |method: Method, path: &str| is_heavy(&method, &format!("{API}{path}"));
        for path in [
            "/workflow-definitions",
            "/workflow-definitions/import-files",
            "/workflow-definitions/{id}/publish",
            "/workflow-instances/import",
            "/bulk-actions/export/workflow-instances",
            "/tests/activities",
        ] {
            assert!(heavy(Method::POST, path), "{path}");
        }
        assert!(heavy(Method::GET, "/workflow-instances/{id}/export"));
        for path in [
            "/workflow-definitions/{id}/execute",
            "/workflow-definitions/{id}/bulk-dispatch",
            "/workflow-instances",
            "/alterations/run",
        ] {
            assert!(!heavy(Method::POST, path), "{path}");
        }
        assert!(!heavy(Method::GET, "/workflow-definitions"));
    }
}
