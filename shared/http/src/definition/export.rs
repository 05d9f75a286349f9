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
    let name = view.definition.name.as_deref();
    let name = file_name(name.unwrap_or(&view.definition_id));
    (name, to_text(&model::file(view)))
}

fn to_text(value: &Value) -> String {
    // A `Value` always has a text.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// `workflow-definition-hello-world.json`, from letters and digits only.
fn file_name(name: &str) -> String {
    let words: Vec<String> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    format!("workflow-definition-{}.json", words.join("-"))
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
            file_name("Hello \"World\"/../x\r\n"),
            "workflow-definition-hello-world-x.json"
        );
    }
}
