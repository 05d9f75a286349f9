//! What every request passes before its handler, in this order: [`enter`] before it is known where it goes, the gate, and
//! [`proceed`] on the way to its route.
//!
//! The order is spelled out in these functions instead of one middleware for each step: whatever stands before the routes is cloned
//! with everything behind it for every request.

use axum::extract::{MatchedPath, OriginalUri, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::memory::Ledger;
use crate::refusal::Refusal;
use crate::router::API;
use crate::{headers, heavy, memory, origin, problem};

/// Paths that are answered while the node drains: what an operator asks of it.
const WHILE_DRAINING: [&str; 3] = ["/health/", "/metrics", "/elsa/api/admin/workflow-runtime/"];

/// Ends of the API's paths that start or change something on GET too, as in Elsa. A resume link shows a token.
const STARTS: [&str; 2] = ["/execute", "/alterations/workflows/retry"];

/// Admits a request to the routes, and completes the headers of its answer.
pub(crate) async fn enter(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let is_api = is_api(&request);
    let takes_problems = problem::is_accepted(request.headers());
    let mut demands_https = false;
    let response = match admit(&app, &mut request) {
        Ok((ledger, is_demanded)) => {
            demands_https = is_demanded;
            let response = next.run(request).await;
            drop(ledger);
            response
        }
        Err(refusal) => refusal.into_response(),
    };
    let mut response = headers::harden(response).await;
    if is_api {
        headers::keep_private(&mut response);
        if !takes_problems {
            problem::fall_silent(&mut response);
        }
    }
    if demands_https {
        headers::demand_https(&mut response);
    }
    response
}

fn admit(app: &App, request: &mut Request) -> Result<(Ledger, bool), Refusal> {
    origin::own_names_only(app, request)?;
    let demands_https = origin::encrypted_only(app, request)?;
    Ok((memory::account(app, request)?, demands_https))
}

/// Answers a request that the gate has let in.
pub(crate) async fn proceed(app: &App, request: Request, next: Next) -> Response {
    let path = whole_path(&request);
    let is_operators = WHILE_DRAINING.iter().any(|begin| path.starts_with(begin));
    if app.is_draining() && !is_operators {
        return Refusal::Draining.into_response();
    }
    if !path.starts_with(API) {
        return next.run(request).await;
    }
    match refuse_head(&request, path).and_then(|()| refuse_pages(app, &request)) {
        Ok(()) => heavy::run(app, request, next).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Refuses what a page of another origin sends, as far as it could change something.
fn refuse_pages(app: &App, request: &Request) -> Result<(), Refusal> {
    let matched = request.extensions().get::<MatchedPath>();
    let matched = matched.map(MatchedPath::as_str).unwrap_or_default();
    let starts = STARTS.iter().any(|end| matched.ends_with(end));
    let refuse = if starts && app.identity().authentication().is_open() {
        origin::no_pages_without_origin
    } else {
        origin::own_pages_only
    };
    refuse(app, request.method(), request.headers())
}

/// As in Elsa, no route of the API answers HEAD, but for the links that mail scanners look at: those tell that nothing
/// has happened.
fn refuse_head(request: &Request, path: &str) -> Result<(), Refusal> {
    let is_link = path.ends_with("/trigger") || path.ends_with("/resume");
    if request.method() == Method::HEAD && !is_link {
        return Err(Refusal::MethodNotAllowed {
            method: Method::HEAD.to_string(),
            path: path.to_owned(),
        });
    }
    Ok(())
}

fn is_api(request: &Request) -> bool {
    whole_path(request).starts_with(API)
}

/// The path that was asked for: that of nested routes has lost its beginning.
fn whole_path(request: &Request) -> &str {
    let original = request.extensions().get::<OriginalUri>();
    original.map_or_else(|| request.uri().path(), |OriginalUri(uri)| uri.path())
}
