//! What a workflow answers to the HTTP request that waits for it.

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dormouse_engine::call::HttpResponse;
use dormouse_engine::instance::SubStatus;
use dormouse_runtime::BurstReport;
use dormouse_runtime::query::InstanceHead;
use serde_json::{Value, json};

use crate::headers::is_of_workflow;
use crate::instance::accepted::accepted;

/// What a page that a workflow answers with may do in a browser: everything that a page needs, but not as this
/// origin, which is the console's too. A second policy of the workflow's own can only forbid more.
const SANDBOX: HeaderValue = HeaderValue::from_static(
    "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts",
);

/// The workflow's answer as a response. What cannot be a header, or is not a workflow's to set, is left out.
pub(crate) fn response(answer: HttpResponse) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = (status, Body::from(answer.body)).into_response();
    for (name, value) in answer.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_str(&value);
        if let (Ok(name), Ok(value)) = (name, value)
            && is_of_workflow(&name)
        {
            response.headers_mut().append(name, value);
        }
    }
    let policy = header::CONTENT_SECURITY_POLICY;
    response.headers_mut().append(policy, SANDBOX);
    response
}

/// The answer of a burst: the workflow's own; else 200 without a body, or 500 if the workflow failed.
pub(super) fn of(report: BurstReport) -> Response {
    let id = HeaderValue::from_str(report.instance.id.as_str());
    let mut answer = match report.response {
        Some(own) => response(own),
        None if report.instance.sub_status == SubStatus::Faulted => {
            let incident = report.instance.incidents.last();
            let body = json!({
                "errorMessage": "The workflow has faulted.",
                "workflowInstanceId": report.instance.id.as_str(),
                "activityId": incident.map(|i| &i.activity_id),
            });
            (StatusCode::INTERNAL_SERVER_ERROR, Json(body)).into_response()
        }
        None if report.goes_on => {
            let id = report.instance.id.as_str();
            let mut answer = Json(json!({ "workflowInstanceId": id })).into_response();
            accepted(&mut answer, id);
            answer
        }
        None => StatusCode::OK.into_response(),
    };
    if let Ok(id) = id {
        let name = HeaderName::from_static("x-elsa-workflow-instance-id");
        answer.headers_mut().insert(name, id);
    }
    answer
}

/// The answer to a request that more than one workflow listens for, in Elsa's words.
pub(super) fn ambiguous(path: &str, workflows: Vec<Value>) -> Response {
    tracing::error!(
        path,
        "more than one workflow listens; give each its own path"
    );
    let body = json!({
        "errorMessage": "The call is ambiguous and matches multiple workflows.",
        "workflows": workflows,
    });
    (StatusCode::INTERNAL_SERVER_ERROR, Json(body)).into_response()
}

/// The answer to a request that has waited as long as its endpoint lets it.
pub(super) fn too_late() -> Response {
    let body = json!({ "errorMessage": "The request took longer than its endpoint allows." });
    (StatusCode::INTERNAL_SERVER_ERROR, Json(body)).into_response()
}

/// The answer to a request that was made before under the same key or instance id. What was answered then is not
/// kept; the instance is.
///
/// Its status is told to those who may read instances.
pub(super) fn again(head: &InstanceHead, tells_status: bool) -> impl IntoResponse + use<> {
    let summary = &head.summary;
    let answer = match tells_status {
        true => json!({
            "workflowInstanceId": head.instance_id,
            "status": summary.status,
            "subStatus": summary.sub_status,
            "isRepeated": true,
        }),
        false => json!({ "workflowInstanceId": head.instance_id, "isRepeated": true }),
    };
    Json(answer)
}
