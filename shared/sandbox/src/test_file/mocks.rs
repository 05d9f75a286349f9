//! The mocks of a test file.

use std::collections::BTreeMap;

use dormouse_engine::call::Answer;
use dormouse_engine::definition::Definition;
use serde_json::{Map, Value, json as value};

use super::{child, find, json, known, span_ms, text};
use crate::document::{Document, Entry, FileError};
use crate::mock::{Report, Rule, TaskMock};

/// The mocks of a file or a case.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) rules: Vec<Rule>,
    pub(super) tasks: Vec<TaskMock>,
    pub(super) children: Vec<Definition>,
}

/// Reads mocks: by activity for HTTP requests, by `task:NAME` for workers, by `workflow:ID` for children.
pub(super) fn read(document: &Document, read: &mut Read) -> Result<(), FileError> {
    for entry in document.entries("mocks")? {
        if let Some(id) = entry.name.strip_prefix("workflow:") {
            let id = id.trim();
            let is_same = |d: &Definition| d.definition_id.as_deref() == Some(id);
            if !read.children.iter().any(is_same) {
                read.children.push(child::read(id, &entry.value)?);
            }
            continue;
        }
        for one in each(&entry.value)? {
            match entry.name.strip_prefix("task:") {
                Some(name) => read.tasks.push(task(name.trim(), one)?),
                None => read.rules.push(rule(&entry.name, one)?),
            }
        }
    }
    Ok(())
}

/// The mocks of one name: a list, or a single one.
fn each(document: &Document) -> Result<&[Document], FileError> {
    match document.is_list() {
        true => document.items("mocks"),
        false => Ok(std::slice::from_ref(document)),
    }
}

fn rule(activity: &str, document: &Document) -> Result<Rule, FileError> {
    let entries = document.entries("mocks")?;
    known(
        entries,
        "a mock of an activity",
        &["when", "times", "answer", "fails", "timesOut"],
    )?;
    let none = Vec::new();
    let when = find(entries, "when").map(|w| w.entries("when"));
    let when = when.transpose()?.unwrap_or(&none);
    known(when, "`when`", &["url", "method", "headers", "body"])?;
    Ok(Rule {
        activity: activity.to_owned(),
        url: text(when, "url")?,
        method: text(when, "method")?,
        headers: find(when, "headers")
            .map(|h| h.object("headers"))
            .transpose()?
            .unwrap_or_default(),
        body: find(when, "body").map(Document::json),
        times: times(entries)?,
        answer: answer(document, entries)?,
    })
}

fn answer(document: &Document, entries: &[Entry]) -> Result<Answer, FileError> {
    if let Some(message) = text(entries, "fails")? {
        return Ok(Answer::FailedToConnect { message });
    }
    if find(entries, "timesOut").is_some() {
        return Ok(Answer::TimedOut);
    }
    let answer = find(entries, "answer").ok_or_else(|| {
        let message = "a mock needs `answer`, `fails` or `timesOut`";
        FileError::new(document.line, message)
    })?;
    let entries = answer.entries("answer")?;
    known(entries, "`answer`", &["status", "headers", "body"])?;
    let status = find(entries, "status").map_or(Ok(200), |status| {
        let number = status.count("status")?;
        u16::try_from(number)
            .ok()
            .filter(|n| (100..600).contains(n))
            .ok_or_else(|| FileError::new(status.line, "`status` takes 100 to 599"))
    })?;
    let given = find(entries, "headers").map(|h| h.object("headers"));
    let given = given.transpose()?.unwrap_or_default();
    let mut headers = headers(&given);
    let body = match json(entries, "body") {
        Value::Null => Vec::new(),
        Value::String(text) => text.into_bytes(),
        value @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            let json = || vec!["application/json".to_owned()];
            headers.entry("content-type".into()).or_insert_with(json);
            value.to_string().into_bytes()
        }
    };
    Ok(Answer::Http {
        status,
        headers,
        body,
    })
}

fn headers(given: &Map<String, Value>) -> BTreeMap<String, Vec<String>> {
    let plain = |value: &Value| {
        let text = value.as_str().map(str::to_owned);
        text.unwrap_or_else(|| value.to_string())
    };
    let each = given.iter().map(|(name, value)| {
        let values = value.as_array().map(|v| v.iter().map(plain).collect());
        (
            name.to_lowercase(),
            values.unwrap_or_else(|| vec![plain(value)]),
        )
    });
    each.collect()
}

fn task(name: &str, document: &Document) -> Result<TaskMock, FileError> {
    let entries = document.entries("mocks")?;
    known(
        entries,
        "a mock of a task",
        &["when", "times", "after", "result", "fails"],
    )?;
    let after_ms = match find(entries, "after") {
        None => 0,
        Some(after) => span(after, "after")?,
    };
    Ok(TaskMock {
        name: name.to_owned(),
        when: find(entries, "when").map(Document::json),
        after_ms,
        times: times(entries)?,
        report: report(entries)?,
    })
}

/// `result`, or `fails`: a message, or an object with `type`, `message` and `retryable`.
pub(super) fn report(entries: &[Entry]) -> Result<Report, FileError> {
    let Some(fails) = find(entries, "fails") else {
        return Ok(Report::Done(json(entries, "result")));
    };
    if find(entries, "result").is_some() {
        let message = "a worker reports either a `result` or that it `fails`";
        return Err(FileError::new(fails.line, message));
    }
    Ok(Report::Failed(match fails.json() {
        Value::Object(mut error) => {
            known(
                fails.entries("fails")?,
                "`fails`",
                &["type", "message", "retryable"],
            )?;
            error.entry("message").or_insert_with(|| "it failed".into());
            Value::Object(error)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            value!({ "message": fails.text("fails")? })
        }
    }))
}

fn times(entries: &[Entry]) -> Result<Option<u64>, FileError> {
    find(entries, "times").map(|t| t.count("times")).transpose()
}

/// A length of time.
pub(super) fn span(document: &Document, what: &str) -> Result<i64, FileError> {
    let text = document.text(what)?;
    span_ms(&text).ok_or_else(|| {
        let message = format!("`{what}` takes a length of time such as 3d, 2h30m or 1.00:00:00");
        FileError::new(document.line, message)
    })
}
