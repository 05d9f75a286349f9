//! Exporting a definition as a file.

use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use dormouse_runtime::DefinitionView;
use serde_json::Value;

use super::{model, read};
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `GET` or `POST /workflow-definitions/{id}/export`
pub(super) async fn export(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
) -> Result<impl IntoResponse, Refusal> {
    let view = read::find(&app, &id, &query).await?;
    let (file, text) = file_of(&view);
    Ok((
        [
            (
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/json"),
            ),
            (header::CONTENT_DISPOSITION, disposition(&file)),
            (
                HeaderName::from_static("access-control-expose-headers"),
                HeaderValue::from_static("content-disposition"),
            ),
        ],
        text,
    ))
}

/// A version as a file: its name and its text.
pub(super) fn file_of(view: &DefinitionView) -> (String, String) {
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
    HeaderValue::from_str(&format!("attachment; filename=\"{file}\""))
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
