//! Answers of the outside world, as a test file gives them.

use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::graph::Node;
use serde_json::{Map, Value};

/// Answers HTTP requests of activities.
#[derive(Debug, Clone, Default)]
pub struct Mocks {
    /// Rules in their order. The first one that fits answers.
    pub rules: Vec<Rule>,
    /// Whether a request without a rule is noted in `unanswered` and fails.
    pub is_strict: bool,
    /// Requests that no rule fits.
    pub unanswered: Vec<String>,
}

/// An answer, and the requests that it is for.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Type, id or name of the activity.
    pub activity: String,
    /// The URL; `*` stands for any text.
    pub url: Option<String>,
    /// The method.
    pub method: Option<String>,
    /// Headers with exactly these values.
    pub headers: Map<String, Value>,
    /// The JSON body has at least these properties.
    pub body: Option<Value>,
    /// How often it answers; without a number, always.
    pub times: Option<u64>,
    /// The answer.
    pub answer: Answer,
}

/// A worker that completes tasks of a name.
#[derive(Debug, Clone)]
pub struct TaskMock {
    /// The task's name.
    pub name: String,
    /// The payload has at least these properties.
    pub when: Option<Value>,
    /// Time until it is done.
    pub after_ms: i64,
    /// How often it works; without a number, always.
    pub times: Option<u64>,
    /// What it reports.
    pub report: Report,
}

/// What a worker reports of a task.
#[derive(Debug, Clone)]
pub enum Report {
    /// It is done, with a result.
    Done(Value),
    /// It failed: `{type, message, retryable}`.
    Failed(Value),
}

impl Mocks {
    /// The answer to a request of an activity. `None`: there is no rule, and none is needed.
    pub(crate) fn answer(&mut self, node: &Node, request: &HttpRequest) -> Option<Answer> {
        let rule = self.rules.iter_mut().find(|r| r.fits(node, request));
        if let Some(rule) = rule {
            rule.times = rule.times.map(|times| times.saturating_sub(1));
            return Some(rule.answer.clone());
        }
        self.is_strict.then(|| {
            let name = node.name.as_deref().unwrap_or(&node.id);
            let (method, url) = (&request.method, &request.url);
            let message = format!("no mock answers {method} {url} of {name}");
            self.unanswered.push(message.clone());
            Answer::FailedToConnect { message }
        })
    }
}

impl Rule {
    fn fits(&self, node: &Node, request: &HttpRequest) -> bool {
        let is_activity = is_named(node, &self.activity);
        let has_url = self.url.as_ref().is_none_or(|p| is_like(p, &request.url));
        let method = self.method.as_ref();
        let has_method = method.is_none_or(|m| m.eq_ignore_ascii_case(&request.method));
        let has_headers = self.headers.iter().all(|(name, wanted)| {
            let sent = request.headers.iter();
            let mut sent = sent.filter(|(n, _)| n.eq_ignore_ascii_case(name));
            sent.any(|(_, value)| wanted.as_str() == Some(value))
        });
        let has_body = self.body.as_ref().is_none_or(|wanted| {
            let body = request.body.as_deref().unwrap_or_default();
            let sent = serde_json::from_slice(body)
                .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(body)));
            has_at_least(&sent, wanted)
        });
        let is_left = self.times != Some(0);
        is_left && is_activity && has_url && has_method && has_headers && has_body
    }
}

/// Whether an activity has a type, an id or a name.
pub(crate) fn is_named(node: &Node, text: &str) -> bool {
    node.type_name.eq_ignore_ascii_case(text)
        || node.id == text
        || node.name.as_deref() == Some(text)
}

/// Whether a text is like a pattern in which `*` stands for any text.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

/// Whether a value is equal to another one, or an object with at least its properties.
pub(crate) fn has_at_least(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => wanted.iter().all(|(name, wanted)| {
            let found = value.get(name);
            found.is_some_and(|value| has_at_least(value, wanted))
        }),
        (value, wanted) => is_equal(value, wanted),
    }
}

/// Whether two values are equal; 1 and 1.0 are.
pub(crate) fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, a)| b.get(name).is_some_and(|b| is_equal(a, b)))
        }
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("*/crm/*", "https://x.example/crm/7", true),
            ("*/crm/*", "https://x.example/erp/7", false),
            ("https://x/*", "https://x/", true),
            ("a*b*a", "aba", true),
            ("a*a", "a", false),
            ("abc", "abcd", false),
        ] {
            assert_eq!(is_like(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn an_object_may_have_more_than_is_wanted() {
        let sent = json!({ "a": 1, "b": { "c": [1, 2], "d": null } });
        assert!(has_at_least(
            &sent,
            &json!({ "a": 1.0, "b": { "c": [1, 2] } })
        ));
        assert!(!has_at_least(&sent, &json!({ "b": { "c": [1] } })));
        assert!(!has_at_least(&sent, &json!({ "e": null })));
    }
}
