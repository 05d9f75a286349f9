//! What a handler answers, and whether it fits its type.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::ActivityType;
use crate::definition::data_type::DataType;
use crate::sensitive::REDACTED;

/// The most characters of the name of an error.
const KIND_CHARS_MAX: usize = 200;
/// The most characters of the sentence of an error.
const MESSAGE_CHARS_MAX: usize = 4_000;

/// What a handler answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It is done.
    Done {
        /// What it gives, by name.
        outputs: Map<String, Value>,
        /// The way out. `None`: the type's only one, or `Done`.
        outcome: Option<String>,
    },
    /// It could not be done.
    Failed(Failure),
}

/// Shorter texts of a sensitive input are not looked for in an error, in bytes: they are parts of other words.
const SECRET_BYTES_MIN: usize = 4;

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A stable name.
    pub kind: String,
    /// A sentence.
    pub message: String,
    /// Whether another attempt may fare better.
    pub is_retryable: bool,
}

impl Failure {
    /// A failure after which another attempt may fare better.
    #[must_use]
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        let message: String = message.into();
        Self {
            kind: kind.chars().take(KIND_CHARS_MAX).collect(),
            message: message.chars().take(MESSAGE_CHARS_MAX).collect(),
            is_retryable: true,
        }
    }

    /// The same, and no attempt may fare better.
    #[must_use]
    pub fn for_good(mut self) -> Self {
        self.is_retryable = false;
        self
    }

    /// The same without what its words quote of secrets: the journal, the incident and whatever catches the error tell them.
    #[must_use]
    pub fn without<'a>(mut self, secrets: impl Iterator<Item = &'a Value>) -> Self {
        let mut texts = BTreeSet::new();
        secrets.for_each(|secret| add_texts(secret, &mut texts));
        let mut texts: Vec<String> = texts.into_iter().collect();
        // One may be a part of another.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        for text in texts {
            self.message = self.message.replace(&text, REDACTED);
            self.kind = self.kind.replace(&text, REDACTED);
        }
        self
    }

    /// As an answer tells it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::json!({ "type": self.kind, "message": self.message, "retryable": self.is_retryable })
    }
}

/// Adds the texts in a value that are long enough to be told from other words.
fn add_texts(value: &Value, texts: &mut BTreeSet<String>) {
    let text = match value {
        Value::Null | Value::Bool(_) => return,
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => return items.iter().for_each(|item| add_texts(item, texts)),
        Value::Object(members) => {
            return members.values().for_each(|member| add_texts(member, texts));
        }
    };
    if text.len() >= SECRET_BYTES_MIN {
        texts.insert(text);
    }
}

impl Answer {
    /// Reads `{outputs, outcome}` or `{error: {type, message, retryable}}`; nothing at all is done without outputs.
    /// What is neither is a failure that says so.
    #[must_use]
    pub fn read(json: &Value) -> Self {
        match Self::try_read(json) {
            Ok(answer) => answer,
            Err(message) => Self::Failed(Failure::new("InvalidAnswer", message)),
        }
    }

    fn try_read(json: &Value) -> Result<Self, String> {
        let members = match json {
            Value::Object(members) => members,
            Value::Null => {
                return Ok(Self::Done {
                    outputs: Map::new(),
                    outcome: None,
                });
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err("the answer is no JSON object with `outputs` or `error`".into());
            }
        };
        let get = |name: &str| members.get(name).filter(|value| !value.is_null());
        if let Some(error) = get("error") {
            return read_error(error).map(Self::Failed);
        }
        let known = ["outputs", "outcome", "error"];
        if let Some(other) = members.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(format!(
                "the answer has `{}`, and only `outputs`, `outcome` and `error` mean something",
                shown(other)
            ));
        }
        let outputs = match get("outputs") {
            None => Map::new(),
            Some(Value::Object(outputs)) => outputs.clone(),
            Some(_) => return Err("`outputs` of the answer is no object".into()),
        };
        let outcome = match get("outcome") {
            None => None,
            Some(Value::String(outcome)) => Some(outcome.clone()),
            Some(_) => return Err("`outcome` of the answer is no text".into()),
        };
        Ok(Self::Done { outputs, outcome })
    }
}

fn read_error(error: &Value) -> Result<Failure, String> {
    let Value::Object(members) = error else {
        return Err("`error` of the answer is no object".into());
    };
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    let kind = text("type").filter(|kind| !kind.is_empty());
    let failure = Failure::new(
        kind.unwrap_or("TaskFailed"),
        text("message").unwrap_or("the handler did not say why"),
    );
    let is_final = members.get("retryable") == Some(&Value::Bool(false));
    Ok(if is_final {
        failure.for_good()
    } else {
        failure
    })
}

fn shown(text: &str) -> String {
    text.chars().take(64).collect()
}

/// Why outputs and an outcome do not fit a type. `None`: they do.
#[must_use]
pub fn misfit(
    ty: &ActivityType,
    outputs: &Map<String, Value>,
    outcome: Option<&str>,
) -> Option<String> {
    for (name, value) in outputs {
        let Some(declared) = ty.outputs.iter().find(|output| output.name == *name) else {
            let names: Vec<&str> = ty.outputs.iter().map(|o| o.name.as_str()).collect();
            return Some(format!(
                "there is no output `{}`; the outputs of {} are: {}",
                shown(name),
                ty.type_name,
                listed(&names)
            ));
        };
        if !fits(value, &declared.data_type) {
            return Some(format!(
                "the output `{name}` is a {}, which `{}` gave as {}",
                declared.type_name,
                ty.type_name,
                kind_of(value)
            ));
        }
    }
    let names: Vec<&str> = ty.outcomes.iter().map(String::as_str).collect();
    match outcome {
        Some("Done") if names.is_empty() => None,
        Some(outcome) if names.contains(&outcome) => None,
        Some(outcome) => Some(format!(
            "there is no outcome `{}`; the outcomes of {} are: {}",
            shown(outcome),
            ty.type_name,
            if names.is_empty() {
                "Done".into()
            } else {
                listed(&names)
            }
        )),
        None if names.len() > 1 && !names.contains(&"Done") => Some(format!(
            "the answer names no outcome; the outcomes of {} are: {}",
            ty.type_name,
            listed(&names)
        )),
        None => None,
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.join(", ")
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Whether a value is of a type as JSON has it. Nothing fits every type.
fn fits(value: &Value, wanted: &DataType) -> bool {
    if value.is_null() {
        return true;
    }
    match wanted {
        DataType::Object | DataType::Node => true,
        DataType::Boolean => value.is_boolean(),
        DataType::Byte | DataType::Short | DataType::Integer | DataType::Long => {
            value.is_i64() || value.is_u64()
        }
        DataType::Single | DataType::Number | DataType::Decimal => value.is_number(),
        DataType::String
        | DataType::JoinMode
        | DataType::Guid
        | DataType::DateTime
        | DataType::DateTimeOffset
        | DataType::TimeSpan
        | DataType::Bytes => value.is_string(),
        DataType::Json | DataType::JsonObject | DataType::Map => value.is_object(),
        DataType::StringMap => value
            .as_object()
            .is_some_and(|members| members.values().all(Value::is_string)),
        DataType::List(inner) => value
            .as_array()
            .is_some_and(|items| items.iter().all(|item| fits(item, inner))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ty() -> ActivityType {
        let json = json!({
            "type": "Acme.Odd", "handler": { "kind": "worker", "queue": "q" },
            "outputs": [
                { "name": "count", "type": "Int32" }, { "name": "tags", "type": "String[]" },
                { "name": "any", "type": "Object" },
            ],
            "outcomes": ["Fine", "Bad"],
        });
        super::super::read(&json, 1).unwrap()
    }

    #[test]
    fn what_is_no_answer_is_told_as_one() {
        for (answer, why) in [
            (json!("<html>"), "no JSON object"),
            (json!([1]), "no JSON object"),
            (json!({ "output": {} }), "`output`"),
            (json!({ "outputs": [] }), "`outputs`"),
            (json!({ "outcome": 3 }), "`outcome`"),
            (json!({ "error": "no" }), "`error`"),
        ] {
            let Answer::Failed(failure) = Answer::read(&answer) else {
                panic!("{answer}");
            };
            assert_eq!(failure.kind, "InvalidAnswer");
            assert!(failure.message.contains(why), "{answer}: {failure:?}");
        }
    }

    #[test]
    fn an_error_is_retryable_unless_it_says_otherwise() {
        let read = |error: Value| match Answer::read(&json!({ "error": error })) {
            Answer::Failed(failure) => failure,
            done @ Answer::Done { .. } => panic!("{done:?}"),
        };
        assert_eq!(read(json!({})).kind, "TaskFailed");
        assert!(read(json!({ "type": "Busy", "message": "m" })).is_retryable);
        assert!(!read(json!({ "type": "Bad", "retryable": false })).is_retryable);
        let long = read(json!({ "type": "x".repeat(999), "message": "é".repeat(9_999) }));
        assert_eq!(long.kind.len(), KIND_CHARS_MAX);
        assert_eq!(long.message.chars().count(), MESSAGE_CHARS_MAX);
    }

    #[test]
    fn outputs_and_outcomes_must_be_those_of_the_type() {
        let ty = ty();
        let check = |outputs: Value, outcome: Option<&str>| {
            misfit(&ty, outputs.as_object().unwrap(), outcome).unwrap_or_default()
        };
        let fine = json!({ "count": 3, "tags": ["a"], "any": { "x": 1 } });
        assert_eq!(check(fine, Some("Fine")), "");
        assert_eq!(check(json!({ "count": null }), Some("Bad")), "");
        assert!(check(json!({ "count": "3" }), Some("Fine")).contains("Int32"));
        assert!(check(json!({ "count": 3.5 }), Some("Fine")).contains("a number"));
        assert!(check(json!({ "tags": [1] }), Some("Fine")).contains("String[]"));
        assert!(check(json!({ "cuont": 3 }), Some("Fine")).contains("count, tags, any"));
        assert!(check(json!({}), Some("Done")).contains("Fine, Bad"));
        assert!(check(json!({}), None).contains("names no outcome"));
    }
}
