//! Exporting a definition as a file.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use dormouse_engine::http::{File, archive, content_disposition};
use dormouse_runtime::{DefinitionHandle, DefinitionView};
use serde_json::Value;

use super::{model, read};
use crate::path::Path;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `GET` or `POST /workflow-definitions/{id}/export`; with `includeConsumingWorkflows` an archive of it and of all that
/// use it, through others too.
pub(super) async fn export(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, Refusal> {
    let view = read::find(&app, &id, &query).await?;
    let has_consumers = query.read::<bool>("includeconsumingworkflows")?;
    if has_consumers != Some(true) {
        let (file, text) = file_of(&view);
        return Ok(attachment("application/json", &file, text.into_bytes()));
    }
    let mut views = vec![view];
    let consumers = app.runtime().query().consumers(app.tenant(), &id).await?;
    for consumer in consumers.unwrap_or_default() {
        let handle = DefinitionHandle::latest(consumer);
        views.extend(
            app.runtime()
                .query()
                .definition(app.tenant(), &handle)
                .await?,
        );
    }
    zip_of(&views)
}

/// An archive with a file for each version.
pub(super) fn zip_of(views: &[DefinitionView]) -> Result<Response, Refusal> {
    let files = views.iter().map(|view| {
        let (name, text) = file_of(view);
        File {
            name,
            bytes: text.into_bytes(),
            ..File::default()
        }
    });
    let files: Vec<File> = files.collect();
    // Not reached: hundreds of definitions of 4 MiB are what an archive can hold.
    let zip = archive(&files).ok_or(Refusal::BodyTooLarge { limit: usize::MAX })?;
    Ok(attachment(
        "application/octet-stream",
        "workflow-definitions.zip",
        zip,
    ))
}

fn attachment(kind: &'static str, file: &str, bytes: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, disposition(file)),
        (
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("content-disposition"),
        ),
    ];
    (headers, bytes).into_response()
}

/// A version as a file: its name and its text.
fn file_of(view: &DefinitionView) -> (String, String) {
    let name = view.definition.name.as_deref().map(str::trim);
    let name = name.filter(|name| !name.is_empty());
    let name = file_name(
        name.unwrap_or(&view.definition_id),
        &view.definition_id,
        &view.version_id,
    );
    (name, to_text(&model::file(view)))
}

fn to_text(value: &Value) -> String {
    // A `Value` always has a text.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// `workflow-definition-hello-world-{definition}-{version}.json`, as Elsa names it. What a folder could take badly is a
/// dash.
fn file_name(name: &str, definition_id: &str, version_id: &str) -> String {
    let whole = format!("{}-{definition_id}-{version_id}", dashed(name));
    let is_bad = |c: char| c.is_control() || matches!(c, '/' | '\\');
    let safe: String = whole
        .chars()
        .map(|c| if is_bad(c) { '-' } else { c })
        .collect();
    format!("workflow-definition-{safe}.json")
}

/// `HelloWorld` and `Hello World` as `hello-world`.
fn dashed(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len());
    for (place, c) in chars.iter().copied().enumerate() {
        let before = place.checked_sub(1).and_then(|place| chars.get(place));
        let after = chars.get(place + 1);
        let follows_small = before.is_some_and(|b| b.is_lowercase() || b.is_ascii_digit());
        let ends_capitals =
            before.is_some_and(|b| b.is_uppercase()) && after.is_some_and(|a| a.is_lowercase());
        if c.is_uppercase() && (follows_small || ends_capitals) {
            out.push('-');
        }
        match c {
            '_' => out.push('-'),
            c if c.is_whitespace() => out.push('-'),
            c => out.extend(c.to_lowercase()),
        }
    }
    out
}

fn disposition(file: &str) -> HeaderValue {
    HeaderValue::from_str(&content_disposition(file))
        .unwrap_or_else(|_| HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_has_nothing_that_a_header_or_a_folder_could_take_badly() {
        assert_eq!(
            file_name("HelloWorld \"A\"/../x\r\n", "d\\1", "v"),
            "workflow-definition-hello-world-\"a\"-..-x---d-1-v.json"
        );
    }
}
