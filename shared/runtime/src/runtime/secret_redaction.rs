//! Takes the values of secrets out of what comes back from outside.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_engine::call::Answer;
use dormouse_engine::sensitive::REDACTED;
use dormouse_store::Tenant;
use memchr::memmem;
use serde_json::{Map, Value};

use crate::error::RuntimeError;
use crate::port::{Share, compute};
use crate::runtime::Runtime;

/// Shorter values are not looked for in what comes back: they would be found everywhere.
const MARK_LENGTH_MIN: usize = 4;

/// How a value is written where it is put.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    /// As it is.
    Plain,
    /// Within a text of JSON.
    Json,
    /// Percent-encoded.
    Percent,
}

impl Form {
    const ALL: [Self; 3] = [Self::Plain, Self::Json, Self::Percent];

    pub(crate) fn of(self, value: &str) -> String {
        match self {
            Self::Plain => value.to_owned(),
            Self::Json => {
                let quoted = Value::String(value.to_owned()).to_string();
                let inner = quoted.get(1..quoted.len().saturating_sub(1));
                inner.unwrap_or_default().to_owned()
            }
            Self::Percent => form_urlencoded::byte_serialize(value.as_bytes())
                .collect::<String>()
                .replace('+', "%20"),
        }
    }
}

/// What came back, and may have values of secrets in it.
pub(crate) trait Redact: Send + 'static {
    /// Takes them out.
    fn redact(&mut self, redaction: &Redaction);
}

impl Redact for Value {
    fn redact(&mut self, redaction: &Redaction) {
        let _is_found = redaction.json(self);
    }
}

impl Redact for Answer {
    fn redact(&mut self, redaction: &Redaction) {
        redaction.answer(self);
    }
}

impl Runtime {
    /// Takes the values of secrets out of what came back. In the tenant's turn on the threads that compute: there may be
    /// many values, and much to look through.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Compute`]: what came back is lost.
    pub(crate) async fn redacted<T: Redact>(
        &self,
        tenant: &Tenant,
        redaction: &Redaction,
        mut told: T,
    ) -> Result<T, RuntimeError> {
        if redaction.0.is_empty() {
            return Ok(told);
        }
        let share = Share::new(tenant.as_str(), "");
        let redaction = redaction.clone();
        let work = async move {
            told.redact(&redaction);
            told
        };
        Ok(compute(self.ports().compute.as_ref(), share, work).await?)
    }
}

/// Texts that must not come back. Not printable, so that no log gets them by accident.
#[derive(Clone, Default)]
pub(crate) struct Redaction(Arc<BTreeSet<String>>);

impl Redaction {
    /// Adds a value in each form that it is sent in.
    pub(crate) fn add_value(&mut self, value: &str) {
        for form in Form::ALL {
            self.add(form.of(value));
        }
    }

    /// Adds a text as it is.
    pub(crate) fn add(&mut self, mark: String) {
        if mark.len() >= MARK_LENGTH_MIN {
            Arc::make_mut(&mut self.0).insert(mark);
        }
    }

    /// The marks that a text contains, the longest first: one may be a part of another.
    fn found(&self, bytes: &[u8]) -> Vec<&str> {
        let marks = self.0.iter().map(String::as_str);
        let mut found: Vec<&str> = marks
            .filter(|mark| memmem::find(bytes, mark.as_bytes()).is_some())
            .collect();
        found.sort_by_key(|mark| std::cmp::Reverse(mark.len()));
        found
    }

    fn text(&self, text: &mut String) {
        for mark in self.found(text.as_bytes()) {
            *text = text.replace(mark, REDACTED);
        }
    }

    /// Takes them out of every text of a value, the names of its members, and numbers that are one. Whether there were any.
    fn json(&self, value: &mut Value) -> bool {
        // Only those that stand somewhere in the whole, written as its texts are there, are looked for in its parts.
        let whole = value.to_string();
        let is_there = |mark: &&String| {
            let written = Form::Json.of(mark);
            memmem::find(whole.as_bytes(), written.as_bytes()).is_some()
        };
        let found: BTreeSet<String> = self.0.iter().filter(is_there).cloned().collect();
        let is_found = !found.is_empty();
        if is_found {
            Self(Arc::new(found)).part(value);
        }
        is_found
    }

    fn part(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if self.0.contains(&number.to_string()) {
                    *value = REDACTED.into();
                }
            }
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.part(item)),
            Value::Object(members) => {
                let clean = |(mut name, mut member): (String, Value)| {
                    self.text(&mut name);
                    self.part(&mut member);
                    (name, member)
                };
                let members: Map<String, Value> =
                    std::mem::take(members).into_iter().map(clean).collect();
                *value = Value::Object(members);
            }
        }
    }

    fn bytes(&self, bytes: &mut Vec<u8>) {
        let marks = self.found(bytes);
        if marks.is_empty() {
            return;
        }
        let (mut clean, mut rest) = (Vec::with_capacity(bytes.len()), bytes.as_slice());
        while let Some((first, others)) = rest.split_first() {
            let after = |mark: &&str| rest.strip_prefix(mark.as_bytes());
            match marks.iter().find_map(after) {
                Some(after) => {
                    clean.extend_from_slice(REDACTED.as_bytes());
                    rest = after;
                }
                None => {
                    clean.push(*first);
                    rest = others;
                }
            }
        }
        *bytes = clean;
    }

    fn answer(&self, answer: &mut Answer) {
        match answer {
            Answer::Http { headers, body, .. } => {
                let values = headers.values_mut().flatten();
                values.for_each(|value| self.text(value));
                // What is JSON is read later, whichever way its texts are escaped: `\u002b` for `+`, `\/` for `/`.
                if let Ok(mut value) = serde_json::from_slice(body)
                    && self.json(&mut value)
                {
                    *body = value.to_string().into_bytes();
                }
                self.bytes(body);
            }
            Answer::FailedToConnect { message }
            | Answer::Refused { message }
            | Answer::NotStarted { message } => self.text(message),
            Answer::TimedOut | Answer::Executed { .. } | Answer::Found => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redaction(values: &[&str]) -> Redaction {
        let mut redaction = Redaction::default();
        for value in values {
            redaction.add_value(value);
        }
        redaction
    }

    #[test]
    fn a_value_is_found_in_texts_names_and_numbers_in_each_form() {
        let redaction = redaction(&["pass\"word", "24680", "long value", "long"]);
        let mut value = json!({
            "pass\"word": [1, { "a": "x pass\"word y" }],
            "url": "https://a.example/?q=pass%22word&v=long%20value",
            "quoted": "{\"a\":\"pass\\\"word\"}",
            "pin": 24680,
            "other": 246_801,
            "text": "long value",
        });
        redaction.json(&mut value);
        assert_eq!(
            value,
            json!({
                "[redacted]": [1, { "a": "x [redacted] y" }],
                "url": "https://a.example/?q=[redacted]&v=[redacted]",
                "quoted": "{\"a\":\"[redacted]\"}",
                "pin": "[redacted]",
                "other": 246_801,
                "text": "[redacted]",
            })
        );
    }

    #[test]
    fn a_value_is_found_where_only_one_form_of_it_stands() {
        let redaction = redaction(&["pass\"word"]);
        for text in ["pass\"word", "pass\\\"word", "pass%22word"] {
            let mut value = json!({ "a": text });
            redaction.json(&mut value);
            assert_eq!(value, json!({ "a": "[redacted]" }), "{text}");
        }
    }

    #[test]
    fn a_value_is_found_in_json_however_its_text_is_escaped() {
        let redaction = redaction(&["wJalr/XUtn+FEMI"]);
        let body = br#"{"a":"wJalr\/XUtn\u002bFEMI","\u0077Jalr/XUtn+FEMI":1}"#;
        let mut answer = Answer::Http {
            status: 200,
            headers: std::collections::BTreeMap::new(),
            body: body.to_vec(),
        };
        redaction.answer(&mut answer);
        let Answer::Http { body, .. } = answer else {
            panic!("it is another answer");
        };
        assert_eq!(body, br#"{"a":"[redacted]","[redacted]":1}"#);
    }

    #[test]
    fn short_values_are_left_and_bytes_that_are_no_text_are_searched() {
        let redaction = redaction(&["abc", "abcd"]);
        let mut body = b"\xff abc abcd \xfe".to_vec();
        redaction.bytes(&mut body);
        assert_eq!(body, b"\xff abc [redacted] \xfe");
    }
}
