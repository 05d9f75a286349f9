//! What an endpoint offers: a path, methods, and what it asks of a request besides.

use serde_json::{Map, Value, json};

use crate::definition::convert::text_of;
use crate::definition::data_type::DataType;
use crate::definition::fields::Fields;
use crate::step::{Cx, Fault};
use crate::time::format_duration;

/// What is hashed for a path template and a method, both as [`normal_path`] and lower case make them.
#[must_use]
pub fn hashed(path: &str, method: &str) -> Value {
    json!({ "Path": path, "Method": method })
}

/// A path template as it is compared: lower case, with one slash in front and none at the end.
#[must_use]
pub fn normal_path(path: &str) -> String {
    format!("/{}", path.trim().trim_matches('/').to_lowercase())
}

/// The path template and the method that a trigger or bookmark of an endpoint keeps.
#[must_use]
pub fn route(payload: &Value) -> Option<(String, String)> {
    let fields = Fields::of(payload);
    Some((fields.text("Path")?, fields.text("Method")?))
}

/// The failure of an endpoint whose path is not known.
pub(super) fn pathless() -> Fault {
    Fault::new(
        "InvalidInput",
        "Trigger should have a payload: the HTTP endpoint has no path",
    )
}

/// What each method listens with: what is hashed, and what is kept.
pub(super) fn listening(
    cx: &mut Cx<'_, '_>,
    exposed: &[&str],
) -> Result<Vec<(Value, Value)>, Fault> {
    let path = cx.text("path")?.ok_or_else(pathless)?;
    if path.contains("//") {
        let message =
            format!("the path `{path}` has two slashes in a row, so no request can meet it");
        return Err(Fault::new("InvalidInput", message));
    }
    let path = normal_path(&path);
    let options = options(cx, exposed)?;
    let methods = list(cx, "supportedMethods")?;
    if methods.is_empty() {
        return Err(Fault::new(
            "InvalidInput",
            "Trigger should have a payload: the HTTP endpoint supports no method",
        ));
    }
    let listening = methods.into_iter().map(|method| {
        let hashed = hashed(&path, &method.trim().to_lowercase());
        let mut payload = hashed.as_object().cloned().unwrap_or_default();
        payload.extend(options.clone());
        (hashed, Value::Object(payload))
    });
    Ok(listening.collect())
}

/// What is asked of a request besides its path. What is not set is left out.
pub(super) fn options(cx: &mut Cx<'_, '_>, exposed: &[&str]) -> Result<Map<String, Value>, Fault> {
    let mut options = Map::new();
    let mut keep = |name: &str, value: Value| {
        let is_set = !matches!(&value, Value::Null | Value::Bool(false)) && value != json!([]);
        if is_set {
            options.insert(name.into(), value);
        }
    };
    keep("Authorize", cx.flag("authorize")?.into());
    keep(
        "Policy",
        cx.text("policy")?.filter(|p| !p.is_empty()).into(),
    );
    keep(
        "RequestTimeout",
        cx.duration_ms("requestTimeout")?
            .map(format_duration)
            .into(),
    );
    keep("RequestSizeLimit", cx.input("requestSizeLimit")?);
    keep("FileSizeLimit", cx.input("fileSizeLimit")?);
    keep("AllowedFileExtensions", cx.input("allowedFileExtensions")?);
    keep("BlockedFileExtensions", cx.input("blockedFileExtensions")?);
    keep("AllowedMimeTypes", cx.input("allowedMimeTypes")?);
    let is_raw = super::wanted(cx) == DataType::String;
    keep("RawContent", is_raw.into());
    keep("ExposedOutcomes", json!(exposed));
    Ok(options)
}

fn list(cx: &mut Cx<'_, '_>, name: &str) -> Result<Vec<String>, Fault> {
    Ok(match cx.input(name)? {
        Value::Array(values) => values.into_iter().map(text_of).collect(),
        Value::Null => Vec::new(),
        single @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            vec![text_of(single)]
        }
    })
}
