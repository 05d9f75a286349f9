//! Redaction of credentials in everything that is read by others than the workflow: journals, executions, exports,
//! answers. The workflow itself still gets the headers of its request.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::call::{HttpRequest, Request};
use crate::instance::{Context, Instance, Memory, Undoable, Wait};

/// Stands where a credential was.
pub const REDACTED: &str = "[redacted]";

/// Headers that carry credentials.
const NAMES: [&str; 4] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
];

/// Prefix of this product's API keys: `dm_`, 16 hexadecimal digits, `_`, 43 characters of URL-safe Base64.
const KEY_PREFIX: &str = "dm_";
const KEY_ID_LENGTH: usize = 16;
const KEY_SECRET_LENGTH: usize = 43;

/// Names that this process redacts besides, in lower case.
static CONFIGURED: OnceLock<BTreeSet<String>> = OnceLock::new();

/// Redacts values under these names too, for the rest of the process: names of headers, in any case. To be called once, before
/// the first step; false means that it was called before, and nothing has changed.
pub fn redact_also(names: impl IntoIterator<Item = String>) -> bool {
    let names = names.into_iter().map(|name| name.trim().to_lowercase());
    CONFIGURED
        .set(names.filter(|name| !name.is_empty()).collect())
        .is_ok()
}

/// Whether values under a name are credentials. Names of headers have no case.
#[must_use]
pub fn is_sensitive(name: &str) -> bool {
    NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
        || CONFIGURED
            .get()
            .is_some_and(|names| !names.is_empty() && names.contains(&name.to_lowercase()))
}

/// Replaces the credentials in a value: texts under sensitive names, be it `{"cookie": "…"}`,
/// `{"name": "cookie", "value": "…"}` or `["cookie", "…"]`, and the secrets of API keys in any text.
pub fn redact(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => redact_line(text),
        Value::Array(items) => {
            if let [Value::String(name), second] = items.as_mut_slice()
                && is_sensitive(name)
            {
                hide(second);
                return;
            }
            items.iter_mut().for_each(redact);
        }
        Value::Object(map) => redact_map(map),
    }
}

/// Replaces the credentials in the values of a map.
pub fn redact_map(map: &mut Map<String, Value>) {
    let named = map.iter().any(|(key, value)| {
        let is_name = ["name", "key"].iter().any(|k| key.eq_ignore_ascii_case(k));
        is_name && value.as_str().is_some_and(is_sensitive)
    });
    for (name, value) in map.iter_mut() {
        let is_its_value = named && name.to_lowercase().starts_with("value");
        match is_its_value || is_sensitive(name) {
            true => hide(value),
            false => redact(value),
        }
    }
}

/// Replaces the credentials in a text: those of JSON in it, and the secrets of API keys.
pub fn redact_line(text: &mut String) {
    redact_json_text(text);
    redact_text(text);
}

/// Replaces the secrets of API keys in a text; their ids stay, for they say whose key it was.
pub fn redact_text(text: &mut String) {
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(KEY_PREFIX)) {
        let id = from + found + KEY_PREFIX.len();
        let secret = id + KEY_ID_LENGTH + 1;
        from = id;
        let bytes = text.as_bytes();
        let is_id = bytes
            .get(id..id + KEY_ID_LENGTH)
            .is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit));
        let is_of_secret = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        let is_secret = bytes
            .get(secret..secret + KEY_SECRET_LENGTH)
            .is_some_and(|secret| secret.iter().all(is_of_secret));
        if is_id && is_secret && bytes.get(secret - 1) == Some(&b'_') {
            text.replace_range(secret..secret + KEY_SECRET_LENGTH, REDACTED);
        }
    }
}

/// Replaces the credentials in a text that is JSON, as `JSON.stringify` makes it of headers.
fn redact_json_text(text: &mut String) {
    let is_structure = matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['));
    if !is_structure {
        return;
    }
    let lower = text.to_ascii_lowercase();
    let configured = CONFIGURED.get().into_iter().flatten().map(String::as_str);
    if !NAMES
        .into_iter()
        .chain(configured)
        .any(|name| lower.contains(name))
    {
        return;
    }
    let Ok(before) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let mut after = before.clone();
    redact(&mut after);
    if after != before {
        *text = after.to_string();
    }
}

/// Replaces the texts of a credential. What is no text under such a name is something else, a count of cookies perhaps.
fn hide(value: &mut Value) {
    match value {
        Value::String(text) if !text.is_empty() => REDACTED.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(map) => redact_map(map),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn redact_request(request: &mut HttpRequest) {
    for (name, value) in &mut request.headers {
        if is_sensitive(name) {
            REDACTED.clone_into(value);
        }
    }
}

fn redact_context(context: &mut Context) {
    context.variables.values_mut().for_each(redact);
    redact_locals(&mut context.locals);
    for recorded in &mut context.outputs {
        match is_sensitive(&recorded.output) {
            true => hide(&mut recorded.value),
            false => redact(&mut recorded.value),
        }
    }
    match &mut context.memory {
        Memory::Json(value) => redact(value),
        Memory::Retry(retry) => redact_request(&mut retry.request),
        Memory::None | Memory::Count(_) | Memory::Flow(_) => {}
    }
    if let Some(guarded) = &mut context.guarded {
        redact_map(&mut guarded.inputs);
    }
    context
        .left_to_undo_mut()
        .iter_mut()
        .for_each(redact_undoable);
}

fn redact_undoable(undoable: &mut Undoable) {
    redact_map(&mut undoable.inputs);
    redact_map(&mut undoable.outputs);
}

fn redact_locals(locals: &mut [(String, Value)]) {
    for (name, value) in locals {
        match is_sensitive(name) {
            true => hide(value),
            false => redact(value),
        }
    }
}

impl Instance {
    /// Replaces the credentials in what an instance that has ended still keeps, and nobody needs any more. Its output stays: it is
    /// for whoever waits for its end.
    pub(crate) fn redact_remains(&mut self) {
        redact_map(&mut self.input);
        redact(&mut self.last_result);
        self.variables.values_mut().for_each(redact);
        self.contexts.values_mut().for_each(redact_context);
        self.undoable.iter_mut().for_each(redact_undoable);
        for incident in &mut self.incidents {
            redact_text(&mut incident.message);
        }
    }

    /// Replaces the credentials in everything that the instance keeps. It is for copies that leave: an instance that went on from
    /// one would send [`REDACTED`] where it sent a credential.
    pub fn redact(&mut self) {
        for map in [&mut self.input, &mut self.output, &mut self.properties] {
            redact_map(map);
        }
        redact(&mut self.last_result);
        self.variables.values_mut().for_each(redact);
        self.contexts.values_mut().for_each(redact_context);
        self.undoable.iter_mut().for_each(redact_undoable);
        for work in &mut self.queue {
            redact_locals(&mut work.locals);
        }
        for bookmark in &mut self.bookmarks {
            redact(&mut bookmark.payload);
            if let Wait::Call(request) = &mut bookmark.wait
                && let Request::Http(request) = request.as_mut()
            {
                redact_request(request);
            }
        }
        for incident in &mut self.incidents {
            redact_text(&mut incident.message);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_under_sensitive_names_are_redacted_in_every_notation() {
        let mut value = json!({
            "headers": { "Authorization": "Basic x", "COOKIE": ["a=1", "b=2"], "accept": "*/*" },
            "list": [{ "name": "Set-Cookie", "value": "a=1" }, ["proxy-authorization", "Basic y"]],
            "cookie": 7, "authorization": { "amount": 5 }, "empty": { "cookie": "" },
            "line": "{\"cookie\":\"a=1\"}",
        });
        redact(&mut value);
        let expected = json!({
            "headers": { "Authorization": REDACTED, "COOKIE": [REDACTED, REDACTED], "accept": "*/*" },
            "list": [{ "name": "Set-Cookie", "value": REDACTED }, ["proxy-authorization", REDACTED]],
            "cookie": 7, "authorization": { "amount": 5 }, "empty": { "cookie": "" },
            "line": "{\"cookie\":\"[redacted]\"}",
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn the_secrets_of_api_keys_are_redacted_in_any_text() {
        let key = format!("dm_00000000000000ff_{}", "Aa-_".repeat(11).split_at(43).0);
        let mut text = format!("dm_ x {key} dm_y {key}.");
        redact_text(&mut text);
        let hidden = format!("dm_00000000000000ff_{REDACTED}");
        assert_eq!(text, format!("dm_ x {hidden} dm_y {hidden}."));
        for other in ["dm_", "dm_00000000000000ff_short", "é dm_é", ""] {
            let mut text = other.to_owned();
            redact_text(&mut text);
            assert_eq!(text, other);
        }
    }
}
