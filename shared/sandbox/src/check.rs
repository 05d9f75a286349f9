//! Expectations of a test, as data.

use serde_json::{Map, Value};

use crate::document::{Document, Entry, FileError};

/// One expectation.
#[derive(Debug, Clone)]
pub struct Check {
    /// Line, from 1.
    pub line: usize,
    /// What is expected.
    pub wanted: Wanted,
}

/// What is expected.
#[derive(Debug, Clone)]
pub enum Wanted {
    /// The sub-status; `Running` stands for every one that has not ended.
    Status(String),
    /// A workflow output has this value.
    Output(String, Value),
    /// A variable of the workflow has this value.
    Variable(String, Value),
    /// An activity completed.
    Ran(String),
    /// An activity was never started.
    NotRan(String),
    /// Exactly these activities wait.
    Waiting(Vec<String>),
    /// Number of incidents.
    Incidents(u64),
    /// An incident's message has this text.
    Incident(String),
    /// Exactly these lines were written.
    Lines(Vec<String>),
    /// An event was published.
    Event(String),
    /// Exactly these tasks are open.
    Tasks(Vec<String>),
    /// Number of instances of the workflow.
    Instances(u64),
    /// Number of HTTP requests that were made.
    Requests(u64),
    /// Something about the last answer to an HTTP request.
    Response(Answered),
}

/// What is expected of an answer to an HTTP request.
#[derive(Debug, Clone)]
pub enum Answered {
    /// The status.
    Status(u64),
    /// The body; an object has at least these properties.
    Body(Value),
    /// A header has this value.
    Header(String, String),
}

const NAMES: [&str; 13] = [
    "status",
    "output",
    "variables",
    "ran",
    "notRan",
    "waiting",
    "incidents",
    "lines",
    "events",
    "tasks",
    "instances",
    "requests",
    "response",
];

const STATUSES: [&str; 6] = [
    "Running",
    "Pending",
    "Suspended",
    "Finished",
    "Cancelled",
    "Faulted",
];

/// Reads the expectations of `expect`.
pub(crate) fn read(document: &Document) -> Result<Vec<Check>, FileError> {
    let mut checks = Vec::new();
    for entry in document.entries("expect")? {
        read_one(entry, &mut checks)?;
    }
    if checks.is_empty() {
        return Err(FileError::new(document.line, "`expect` names nothing"));
    }
    Ok(checks)
}

fn read_one(entry: &Entry, checks: &mut Vec<Check>) -> Result<(), FileError> {
    let Entry { line, name, value } = entry;
    let mut add = |wanted| {
        checks.push(Check {
            line: *line,
            wanted,
        });
    };
    match name.as_str() {
        "status" => {
            let text = value.text(name)?;
            let known = STATUSES.iter().find(|s| s.eq_ignore_ascii_case(&text));
            let known = known.ok_or_else(|| {
                let message = format!("`status` is one of {}", STATUSES.join(", "));
                FileError::new(value.line, message)
            })?;
            add(Wanted::Status((*known).to_owned()));
        }
        "output" => each(value.object(name)?, &mut add, Wanted::Output),
        "variables" => each(value.object(name)?, &mut add, Wanted::Variable),
        "ran" => value
            .texts(name)?
            .into_iter()
            .map(Wanted::Ran)
            .for_each(add),
        "notRan" => value
            .texts(name)?
            .into_iter()
            .map(Wanted::NotRan)
            .for_each(add),
        "waiting" => add(Wanted::Waiting(value.texts(name)?)),
        "incidents" => match value.count(name) {
            Ok(count) => add(Wanted::Incidents(count)),
            Err(_) => {
                let texts = value.texts(name)?;
                add(Wanted::Incidents(texts.len() as u64));
                texts.into_iter().map(Wanted::Incident).for_each(add);
            }
        },
        "lines" => add(Wanted::Lines(value.texts(name)?)),
        "events" => value
            .texts(name)?
            .into_iter()
            .map(Wanted::Event)
            .for_each(add),
        "tasks" => add(Wanted::Tasks(value.texts(name)?)),
        "instances" => add(Wanted::Instances(value.count(name)?)),
        "requests" => add(Wanted::Requests(value.count(name)?)),
        "response" => response(value, &mut add)?,
        _ => {
            let message = format!("`{name}` is not known; `expect` has {}", NAMES.join(", "));
            return Err(FileError::new(*line, message));
        }
    }
    Ok(())
}

fn each(
    values: Map<String, Value>,
    add: &mut impl FnMut(Wanted),
    make: fn(String, Value) -> Wanted,
) {
    for (name, value) in values {
        add(make(name, value));
    }
}

fn response(document: &Document, add: &mut impl FnMut(Wanted)) -> Result<(), FileError> {
    let mut add = |answered| add(Wanted::Response(answered));
    for entry in document.entries("response")? {
        let value = &entry.value;
        match entry.name.as_str() {
            "status" => add(Answered::Status(value.count("status")?)),
            "body" => add(Answered::Body(value.json())),
            "headers" => {
                for header in value.entries("headers")? {
                    let text = header.value.text("headers")?;
                    add(Answered::Header(header.name.clone(), text));
                }
            }
            other => {
                let message =
                    format!("`{other}` is not known; `response` has status, headers, body");
                return Err(FileError::new(entry.line, message));
            }
        }
    }
    Ok(())
}
