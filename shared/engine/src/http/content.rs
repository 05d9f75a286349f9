//! Bodies as values, by their content type and by what the value is bound to.

use serde_json::{Value, json};

use super::file::File;
use super::json_error::JsonError;
use crate::definition::convert::convert;
use crate::definition::data_type::DataType;

/// A body that says it is JSON and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MalformedJson {
    pub(crate) message: String,
    pub(crate) line: usize,
}

/// A body as text, whatever its bytes.
pub(crate) fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

/// A body as a value. JSON becomes what `wanted` says, and its own text where text is wanted; `text/…` and XML are
/// text; anything else is a file. No body is null.
pub(crate) fn content(
    media_type: &str,
    file_name: &str,
    body: &[u8],
    wanted: &DataType,
) -> Result<Value, MalformedJson> {
    if body.is_empty() {
        return Ok(Value::Null);
    }
    if media_type.contains("json") {
        if *wanted == DataType::String {
            return Ok(Value::String(text(body)));
        }
        let parsed: Value = serde_json::from_slice(body).map_err(|e| malformed(body, &e))?;
        return Ok(convert(parsed.clone(), wanted).unwrap_or(parsed));
    }
    if media_type.contains("xml") || media_type.starts_with("text/") {
        return Ok(json!(text(body)));
    }
    let file = File {
        field: String::new(),
        name: file_name.to_owned(),
        content_type: media_type.to_owned(),
        bytes: body.to_vec(),
    };
    Ok(file.value())
}

fn malformed(body: &[u8], error: &serde_json::Error) -> MalformedJson {
    match JsonError::find(body) {
        Some(found) => MalformedJson {
            message: found.sentence_at("$"),
            line: found.line,
        },
        // It is nested too deep.
        None => MalformedJson {
            message: error.to_string(),
            line: error.line().saturating_sub(1),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_becomes_what_is_wanted() {
        let json = |body: &str, wanted| content("application/json", "", body.as_bytes(), &wanted);
        assert_eq!(json("{\"a\": 1}", DataType::Object), Ok(json!({ "a": 1 })));
        assert_eq!(
            json("{\"a\": 1}", DataType::String),
            Ok(json!("{\"a\": 1}"))
        );
        assert_eq!(json("\"5\"", DataType::Integer), Ok(json!(5)));
        assert_eq!(json("", DataType::Object), Ok(Value::Null));
        let error = content(
            "application/problem+json",
            "",
            b"{\n\"a\":",
            &DataType::Object,
        )
        .unwrap_err();
        assert_eq!(error.line, 1);
    }

    #[test]
    fn text_is_text_and_the_rest_are_files() {
        let object = DataType::Object;
        assert_eq!(content("text/html", "", b"<p>", &object), Ok(json!("<p>")));
        assert_eq!(
            content("application/xml", "", b"<p/>", &object),
            Ok(json!("<p/>"))
        );
        let file = content("image/png", "a.png", &[1, 2], &object).unwrap();
        assert_eq!(file["fileName"], json!("a.png"));
        assert_eq!(file["length"], json!(2));
    }
}
