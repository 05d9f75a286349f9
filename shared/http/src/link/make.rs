//! Making a link to a bookmark.

use axum::Json as Answer;
use axum::extract::OriginalUri;
use axum::http::{HeaderMap, StatusCode, header};
use dormouse_runtime::{LinkForm, LinkMade, LinkRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::BASE;
use crate::app::App;
use crate::body::Json;
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
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
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
            let base = public_url(&app, uri.authority().map(|a| a.as_str()), &headers);
            let url = format!("{base}{BASE}/{}", secret.text());
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

/// Where people reach this server: as configured, else as the one who asks for the link does.
fn public_url(app: &App, authority: Option<&str>, headers: &HeaderMap) -> String {
    if let Some(url) = app.public_url() {
        return url.to_owned();
    }
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok());
    let host = host.or(authority).unwrap_or("localhost");
    let is_local = app.config().is_local;
    format!("{}://{host}", if is_local { "http" } else { "https" })
}
