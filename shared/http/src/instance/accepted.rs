//! The answer to work that goes on after it: 202, and where to look.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

/// Makes the answer about an instance that goes on by itself: it took longer than a request may wait.
pub(crate) fn accepted(answer: &mut Response, instance_id: &str) {
    *answer.status_mut() = StatusCode::ACCEPTED;
    let place = format!("/elsa/api/workflow-instances/{instance_id}");
    if let Ok(place) = HeaderValue::from_str(&place) {
        answer.headers_mut().insert(header::LOCATION, place);
    }
    let soon = HeaderValue::from_static("1");
    answer.headers_mut().insert(header::RETRY_AFTER, soon);
}
