//! The cases of a test file.

use dormouse_engine::instance::Start;
use serde_json::{Map, Value};

use super::{Act, Case, Shared, Step, find, json, known, mocks, moment, text};
use crate::check;
use crate::document::{Document, Entry, FileError};
use crate::request::{Request, request};

const CASE: [&str; 10] = [
    "name",
    "now",
    "start",
    "trigger",
    "input",
    "correlation",
    "mocks",
    "steps",
    "expect",
    "about",
];

/// What a step can be, and what else it has.
const STEPS: [(&str, &[&str]); 8] = [
    ("advance", &[]),
    ("event", &["payload", "correlation"]),
    ("task", &["result", "fails"]),
    ("resume", &["input"]),
    ("request", &[]),
    ("cancel", &[]),
    ("retry", &[]),
    ("expect", &[]),
];

impl Case {
    pub(super) fn read(document: &Document, shared: &Shared<'_>) -> Result<Self, FileError> {
        let entries = document.entries("case")?;
        known(entries, "a case", &CASE)?;
        let name = text(entries, "name")?
            .ok_or_else(|| FileError::new(document.line, "a case needs a `name`"))?;
        let mut read = mocks::Read::default();
        // The case's own mocks come first.
        for one in [find(entries, "mocks"), shared.mocks].into_iter().flatten() {
            mocks::read(one, &mut read)?;
        }
        let steps = match find(entries, "steps") {
            None => Vec::new(),
            Some(list) => {
                let items = list.items("steps")?.iter();
                items.map(step).collect::<Result<_, _>>()?
            }
        };
        let expect = match find(entries, "expect") {
            None => Vec::new(),
            Some(expect) => check::read(expect)?,
        };
        if expect.is_empty() && !steps.iter().any(|s| matches!(s.act, Act::Expect(_))) {
            let message = format!("the case `{name}` expects nothing, so it cannot fail");
            return Err(FileError::new(document.line, message));
        }
        let input = find(entries, "input").map(|i| i.object("input"));
        let start = find(entries, "start").map(|s| s.flag("start"));
        Ok(Self {
            line: document.line,
            name,
            now: moment(entries)?.unwrap_or(shared.now),
            is_started: start.transpose()?.unwrap_or(true),
            start: Start {
                input: input.transpose()?.unwrap_or_default(),
                correlation_id: text(entries, "correlation")?,
                trigger_activity_id: text(entries, "trigger")?,
                ..Start::default()
            },
            rules: read.rules,
            tasks: read.tasks,
            children: read.children,
            steps,
            expect,
        })
    }
}

fn step(document: &Document) -> Result<Step, FileError> {
    let entries = document.entries("step")?;
    let kinds = STEPS
        .iter()
        .filter(|(kind, _)| find(entries, kind).is_some());
    let [(kind, more)] = kinds.collect::<Vec<_>>()[..] else {
        let names = STEPS.map(|(kind, _)| kind).join(", ");
        let message = format!("a step is one of {names}");
        return Err(FileError::new(document.line, message));
    };
    let names: Vec<&str> = std::iter::once(*kind).chain(more.iter().copied()).collect();
    known(entries, &format!("the step `{kind}`"), &names)?;
    let empty = Document::parse("{}")?;
    let value = find(entries, kind).unwrap_or(&empty);
    let act = match *kind {
        "advance" => Act::Advance(mocks::span(value, kind)?),
        "event" => Act::Event {
            name: value.text(kind)?,
            payload: json(entries, "payload"),
            correlation_id: text(entries, "correlation")?,
        },
        "task" => Act::Task {
            name: value.text(kind)?,
            report: mocks::report(entries)?,
        },
        "resume" => Act::Resume {
            activity: value.text(kind)?,
            input: find(entries, "input")
                .map(|i| i.object("input"))
                .transpose()?
                .unwrap_or_default(),
        },
        "request" => Act::Request(Box::new(http_request(value)?)),
        "cancel" => Act::Cancel,
        "retry" => Act::Retry,
        _ => Act::Expect(check::read(value)?),
    };
    Ok(Step {
        line: document.line,
        act,
    })
}

fn http_request(document: &Document) -> Result<Request, FileError> {
    let entries = document.entries("request")?;
    known(
        entries,
        "`request`",
        &["method", "path", "query", "headers", "body"],
    )?;
    let path = text(entries, "path")?
        .ok_or_else(|| FileError::new(document.line, "a request needs a `path`"))?;
    let path = format!("/{}", path.trim_matches('/'));
    let method = text(entries, "method")?.unwrap_or_else(|| "GET".into());
    let mut made = request(&method, &path);
    for name in ["query", "headers"] {
        made = made.with(name, texts(entries, name)?);
    }
    let content_type = find(entries, "headers").and_then(|h| {
        let given = h.object("headers").ok()?;
        let mut given = given.into_iter();
        let found = given.find(|(n, _)| n.eq_ignore_ascii_case("content-type"))?;
        found.1.as_str().map(str::to_owned)
    });
    Ok(match json(entries, "body") {
        Value::Null => made,
        Value::String(text) => made.body(
            content_type.as_deref().unwrap_or("text/plain"),
            text.as_bytes(),
        ),
        body @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            let content_type = content_type.as_deref().unwrap_or("application/json");
            made.body(content_type, body.to_string().as_bytes())
        }
    })
}

/// Values that travel as text, as those of queries and headers do.
fn texts(entries: &[Entry], name: &str) -> Result<Map<String, Value>, FileError> {
    let given = find(entries, name).map(|g| g.object(name)).transpose()?;
    let given = given.unwrap_or_default().into_iter();
    let each = given.map(|(name, value)| match value {
        value @ (Value::String(_) | Value::Array(_)) => (name, value),
        value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            (name, value.to_string().into())
        }
    });
    Ok(each.collect())
}
