//! The gate before the routes: who asks, whether they may, and what is recorded of it.

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use dormouse_engine::http::Rules;
use dormouse_runtime::AuditRecord;
use dormouse_runtime::identity::{Asking, Identity, Kind, Principal};

use crate::access::{Access, Rule, Ruled, rule_of};
use crate::app::App;
use crate::client_address::ClientAddress;
use crate::origin;
use crate::refusal::Refusal;
use crate::router::API;
use crate::stage;

/// Before every route: lets in whom the table of rules lets in, and records what it says is to be recorded.
pub(crate) async fn enter_or_refuse(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    match enter(&app, request).await {
        Ok((request, rule, who)) => {
            let Some(name) = rule.and_then(|rule| rule.audit) else {
                return stage::proceed(&app, request, next).await;
            };
            let (mut parts, body) = request.into_parts();
            let Ok(client) = ClientAddress::from_request_parts(&mut parts, &app).await;
            let path = parts.uri.path().to_owned();
            let request = Request::from_parts(parts, body);
            let response = stage::proceed(&app, request, next).await;
            // Links record themselves, and where nobody is asked there is nobody to record.
            if who.kind != Kind::Unasked && name != "login" && who.is_known() {
                let record = AuditRecord {
                    who: who.name.clone(),
                    kind: who.kind.name().into(),
                    action: name.to_owned(),
                    subject: path,
                    status: response.status().as_u16(),
                    address: client.text(),
                    ..AuditRecord::default()
                };
                return recorded(&app, &who, record, response).await;
            }
            response
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// The answer, once its record is safe. What was done stays done if it is not; who did it is told so.
pub(crate) async fn recorded(
    app: &App,
    who: &Principal,
    record: AuditRecord,
    response: Response,
) -> Response {
    match app.runtime().operations().audit(&who.tenant, record).await {
        Ok(()) => response,
        Err(error) => {
            tracing::error!(cause = %error, "what was done could not be recorded");
            match response.status().is_success() {
                true => Refusal::NotRecorded.into_response(),
                false => response,
            }
        }
    }
}

async fn enter(
    app: &App,
    mut request: Request,
) -> Result<(Request, Option<&'static Rule>, Principal), Refusal> {
    let path = request.extensions().get::<MatchedPath>();
    let path = path.map(MatchedPath::as_str).unwrap_or_default().to_owned();
    let ruled = rule_of(request.method(), &path);
    let who = match ask(app, request.headers()).await? {
        Asking::Known(principal) => Ok(principal),
        Asking::Nobody => Err("there is none"),
        Asking::Refused(reason) => Err(reason),
    };
    let (rule, who) = match (ruled, who) {
        // A credential that is not one of ours may be a workflow's own business.
        (Ruled::By(rule), Err(_)) if rule.access == Access::Anybody => {
            (Some(rule), Principal::anonymous())
        }
        (_, Err(reason)) => {
            tracing::info!(reason, "a credential that does not count");
            return Err(Refusal::Unauthenticated);
        }
        (Ruled::By(rule), Ok(who)) => match rule.access {
            Access::Any(any_of) if !who.permissions.allow(any_of) => {
                return Err(Refusal::Forbidden { any_of });
            }
            Access::Any(_) | Access::Known | Access::Anybody => (Some(rule), who),
        },
        (Ruled::OtherMethods | Ruled::Not, Ok(who)) if who.kind == Kind::Unasked => (None, who),
        (Ruled::OtherMethods, Ok(_)) => {
            return Err(Refusal::MethodNotAllowed {
                method: request.method().to_string(),
                path: request.uri().path().to_owned(),
            });
        }
        // A route that nobody wrote a rule for.
        (Ruled::Not, Ok(_)) => return Err(Refusal::Forbidden { any_of: &[] }),
    };
    // Signing out and renewing ask for the token itself.
    let is_of_workflow = !path.starts_with(API);
    if is_of_workflow && !matches!(who.kind, Kind::Unasked | Kind::Anonymous) {
        // It is ours and has done its work. A workflow must not see it: whoever reads a journal would become its owner.
        request.headers_mut().remove(header::AUTHORIZATION);
    }
    request.extensions_mut().insert(who.clone());
    Ok((request, rule, who))
}

async fn ask(app: &App, headers: &HeaderMap) -> Result<Asking, Refusal> {
    let header = match headers.get(header::AUTHORIZATION) {
        None => None,
        Some(value) => match value.to_str() {
            Ok(text) => Some(text),
            Err(_) => return Ok(Asking::Refused("it is not text")),
        },
    };
    Ok(app.identity().who(header).await?)
}

/// Removes a credential that has the form of one of ours, whether it counts or not: an expired key, or one that is shown
/// where nobody is asked.
pub(crate) fn drop_own_credential(headers: &mut HeaderMap) {
    let text = headers.get(header::AUTHORIZATION);
    let text = text.and_then(|value| value.to_str().ok());
    if text.is_some_and(Identity::is_own_credential) {
        headers.remove(header::AUTHORIZATION);
    }
}

/// Why somebody may not use an endpoint of a workflow, if so. A policy is a permission of its name.
///
/// Where nobody is asked for a credential, no web page of another origin may use an endpoint that demands one: its author
/// did not mean it for everybody, and a browser of the network would be the way in.
pub(crate) fn endpoint(
    app: &App,
    rules: &Rules,
    method: &Method,
    headers: &HeaderMap,
) -> Option<Refusal> {
    if !rules.is_authorized_only && rules.policy.is_none() {
        return None;
    }
    let who = app.principal();
    if who.kind == Kind::Unasked {
        return origin::no_pages_without_origin(app, method, headers).err();
    }
    if !who.is_known() {
        return Some(Refusal::Unauthenticated);
    }
    match &rules.policy {
        Some(policy) if !who.permissions.allow(&[policy.as_str()]) => Some(Refusal::PolicyNotMet {
            policy: policy.clone(),
        }),
        Some(_) | None => None,
    }
}
