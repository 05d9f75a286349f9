//! A file of workflow tests, as data.

mod case;
mod child;
mod mocks;
mod span;

use std::collections::BTreeSet;

use dormouse_engine::definition::Definition;
use dormouse_engine::instance::Start;
use dormouse_engine::time::Timestamp;
use serde_json::{Map, Value};

pub use span::span_ms;

use crate::check::Check;
use crate::document::{Document, Entry, FileError};
use crate::host::BEGIN;
use crate::mock::{Report, Rule, TaskMock};
use crate::request::Request;

/// A text with its line.
#[derive(Debug, Clone)]
pub struct Located {
    /// Line, from 1.
    pub line: usize,
    /// The text.
    pub text: String,
}

/// A file of workflow tests.
#[derive(Debug, Clone)]
pub struct TestFile {
    /// The definition under test, relative to the test file.
    pub workflow: Located,
    /// Other definitions that it needs.
    pub with: Vec<Located>,
    /// The cases, in their order.
    pub cases: Vec<Case>,
}

/// One test.
#[derive(Debug, Clone)]
pub struct Case {
    /// Line, from 1.
    pub line: usize,
    /// What it shows.
    pub name: String,
    /// Start of the virtual clock.
    pub now: Timestamp,
    /// Whether an instance is started first. If not, an event, a request or a due trigger starts it.
    pub is_started: bool,
    /// How it is started.
    pub start: Start,
    /// Answers to HTTP requests.
    pub rules: Vec<Rule>,
    /// Workers.
    pub tasks: Vec<TaskMock>,
    /// Definitions that stand in for children.
    pub children: Vec<Definition>,
    /// Steps, in their order.
    pub steps: Vec<Step>,
    /// Expectations after the last step.
    pub expect: Vec<Check>,
}

/// A step of a test.
#[derive(Debug, Clone)]
pub struct Step {
    /// Line, from 1.
    pub line: usize,
    /// What happens.
    pub act: Act,
}

/// Something that happens in a test.
#[derive(Debug, Clone)]
pub enum Act {
    /// Time passes, in milliseconds.
    Advance(i64),
    /// An event is published.
    Event {
        /// Its name.
        name: String,
        /// Its payload.
        payload: Value,
        /// Only instances with this correlation id receive it.
        correlation_id: Option<String>,
    },
    /// A worker reports on a task.
    Task {
        /// The task's name.
        name: String,
        /// Its result, or why it failed.
        report: Report,
    },
    /// The oldest bookmark of an activity is resumed.
    Resume {
        /// Id or name of the activity.
        activity: String,
        /// Its input.
        input: Map<String, Value>,
    },
    /// An HTTP request comes in.
    Request(Box<Request>),
    /// The instance is cancelled.
    Cancel,
    /// Faulted activities are retried.
    Retry,
    /// Expectations.
    Expect(Vec<Check>),
}

impl TestFile {
    /// Reads a file of tests.
    ///
    /// # Errors
    ///
    /// The first thing in it that is not as it should be.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let document = Document::parse(text)?;
        let entries = document.entries("test file")?;
        known(
            entries,
            "a test file",
            &["workflow", "with", "now", "mocks", "cases"],
        )?;
        let shared = Shared {
            now: moment(entries)?.unwrap_or(BEGIN),
            mocks: find(entries, "mocks"),
        };
        let workflow = find(entries, "workflow").ok_or_else(|| {
            FileError::new(
                document.line,
                "`workflow` is missing: the definition file under test",
            )
        })?;
        let with = match find(entries, "with") {
            None => Vec::new(),
            Some(list) if list.is_list() => {
                let items = list.items("with")?.iter();
                items
                    .map(|i| located(i, "with"))
                    .collect::<Result<_, _>>()?
            }
            Some(one) => vec![located(one, "with")?],
        };
        let list = find(entries, "cases")
            .ok_or_else(|| FileError::new(document.line, "`cases` is missing"))?;
        let mut cases = Vec::new();
        let mut names = BTreeSet::new();
        for item in list.items("cases")? {
            let case = Case::read(item, &shared)?;
            if !names.insert(case.name.clone()) {
                let message = format!("there are two cases named `{}`", case.name);
                return Err(FileError::new(case.line, message));
            }
            cases.push(case);
        }
        if cases.is_empty() {
            return Err(FileError::new(list.line, "there is no case"));
        }
        Ok(Self {
            workflow: located(workflow, "workflow")?,
            with,
            cases,
        })
    }
}

/// Settings of a file that cases take over.
struct Shared<'a> {
    now: Timestamp,
    mocks: Option<&'a Document>,
}

fn located(document: &Document, what: &str) -> Result<Located, FileError> {
    Ok(Located {
        line: document.line,
        text: document.text(what)?,
    })
}

/// The value of a name.
fn find<'a>(entries: &'a [Entry], name: &str) -> Option<&'a Document> {
    let mut entries = entries.iter();
    entries.find(|e| e.name == name).map(|e| &e.value)
}

/// The text of a name.
fn text(entries: &[Entry], name: &str) -> Result<Option<String>, FileError> {
    find(entries, name).map(|v| v.text(name)).transpose()
}

/// The JSON value of a name; null where it is missing.
fn json(entries: &[Entry], name: &str) -> Value {
    find(entries, name).map_or(Value::Null, Document::json)
}

fn moment(entries: &[Entry]) -> Result<Option<Timestamp>, FileError> {
    let Some(value) = find(entries, "now") else {
        return Ok(None);
    };
    let wrong = || {
        let message = "`now` takes a time such as 2026-03-02T09:00:00Z";
        FileError::new(value.line, message)
    };
    let read = Timestamp::parse(&value.text("now")?).ok_or_else(wrong)?;
    Ok(Some(read))
}

/// Refuses names that mean nothing, so that a misspelt expectation is not skipped.
fn known(entries: &[Entry], what: &str, names: &[&str]) -> Result<(), FileError> {
    let unknown = entries.iter().find(|e| !names.contains(&e.name.as_str()));
    unknown.map_or(Ok(()), |entry| {
        let message = format!(
            "`{}` is not known; {what} has {}",
            entry.name,
            names.join(", ")
        );
        Err(FileError::new(entry.line, message))
    })
}
