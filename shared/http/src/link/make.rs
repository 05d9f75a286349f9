//! Making a link to a bookmark.

use axum::Json as Answer;
use axum::http::StatusCode;
use dormouse_runtime::{LinkForm, LinkMade, LinkRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::BASE;
use crate::body::Json;
use crate::origin::Here;
use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// How the link is to be.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MakeRequest {
    expires_in_ms: Option<i64>,
    #[serde(flatten)]
    form: LinkForm,
}

/// `POST /workflow-instances/{id}/bookmarks/{bookmark}/links`. The address is told this once; only its digest is kept.
pub(super) async fn make(
    Scoped(app): Scoped,
    Path((id, bookmark)): Path<(String, String)>,
    Here(here): Here,
    Json(request): Json<MakeRequest>,
) -> Result<(StatusCode, Answer<Value>), Refusal> {
    let request = LinkRequest {
        instance_id: id.clone(),
        bookmark_id: bookmark,
        expires_in_ms: request.expires_in_ms,
        form: request.form,
    };
    match app.runtime().links().make(app.tenant(), request).await? {
        LinkMade::Made { secret, expires } => {
            let url = format!("{here}{BASE}/{}", secret.text());
            let body = json!({ "url": url, "expiresAt": expires.to_string() });
            Ok((StatusCode::CREATED, Answer(body)))
        }
        LinkMade::Bad(bad) => Err(Refusal::WrongShape {
            reason: bad.to_string(),
        }),
        LinkMade::NotOpen(open) => Err(Refusal::BookmarkGone {
            instance_id: id,
            open,
        }),
        LinkMade::NotFound => Err(Refusal::NoSuchInstance { id }),
    }
}
