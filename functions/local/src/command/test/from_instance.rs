//! `dormouse test --from-instance`: a case made of what an instance did.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use dormouse_engine::definition::fields::Fields;
use dormouse_engine::time::Timestamp;
use serde_json::{Map, Value, json};

use crate::client::{Client, segment};
use crate::command::show::journal;
use crate::command::{items, text};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Types that wait for a time; the clock wakes them.
const TIMES: [&str; 4] = ["Elsa.Delay", "Elsa.Timer", "Elsa.StartAt", "Elsa.Cron"];

/// Types that call others, whose answers become mocks.
const CALLS: [&str; 2] = ["Elsa.SendHttpRequest", "Elsa.FlowSendHttpRequest"];

/// A case under construction.
#[derive(Default)]
struct Draft {
    now: Timestamp,
    steps: Vec<String>,
    mocks: BTreeMap<String, Vec<Value>>,
    ran: BTreeSet<String>,
    /// Activities that wait.
    suspended: BTreeSet<String>,
}

/// Writes a test file with one case that does to a new instance what was done to this one.
pub(crate) async fn from_instance(
    id: &str,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let path = segment(id);
    let instance = client.get(&format!("/workflow-instances/{path}")).await?;
    let version = segment(text(&instance, "definitionVersionId"));
    let definition = client
        .get(&format!("/workflow-definitions/by-id/{version}"))
        .await?;
    let mut literals = BTreeMap::new();
    names(
        definition.get("root").unwrap_or(&Value::Null),
        &mut literals,
    );
    let begin = Timestamp::parse(text(&instance, "createdAt")).unwrap_or_default();
    let mut draft = Draft {
        now: begin,
        ..Draft::default()
    };
    for line in journal(&path, 0, client).await? {
        draft.take(&line, &literals);
    }
    let file = draft.file(&instance, begin);
    screen.value(&json!({ "workflowInstanceId": id, "test": file }));
    screen.text(&file);
    Ok(Exit::Ok)
}

/// Names of events and tasks that activities wait for, where the definition has them as literals.
fn names(value: &Value, found: &mut BTreeMap<String, String>) {
    let fields = Fields::of(value);
    if let Some(id) = fields.text("id") {
        let literal = ["eventName", "taskName"].iter().find_map(|name| {
            let expression = fields.object(name).object("expression");
            let is_literal = expression.text("type").as_deref() == Some("Literal");
            expression.text("value").filter(|_| is_literal)
        });
        found.extend(literal.map(|literal| (id, literal)));
    }
    match value {
        Value::Object(entries) => entries.values().for_each(|inner| names(inner, found)),
        Value::Array(all) => all.iter().for_each(|inner| names(inner, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl Draft {
    /// Takes a line of the journal.
    fn take(&mut self, line: &Value, literals: &BTreeMap<String, String>) {
        let (id, kind) = (text(line, "activityId"), text(line, "activityType"));
        let outputs = line.get("payload").and_then(|p| p.get("outputs"));
        let output = |name: &str| {
            let value = outputs.and_then(|o| o.get(name)).cloned();
            value.unwrap_or_default()
        };
        match text(line, "eventName") {
            "Suspended" => {
                self.suspended.insert(id.to_owned());
            }
            "Canceled" => {
                self.suspended.remove(id);
            }
            "Faulted" if self.suspended.remove(id) => {
                self.advance(line);
                self.fail(line, literals);
            }
            "Completed" => {
                if self.suspended.remove(id) {
                    self.advance(line);
                    let result = output("Result");
                    self.wake(id, kind, &result, literals);
                }
                if CALLS.contains(&kind) {
                    let answer =
                        json!({ "status": output("StatusCode"), "body": output("ParsedContent") });
                    let mock = json!({ "times": 1, "answer": answer });
                    self.mocks.entry(id.to_owned()).or_default().push(mock);
                }
                if kind != "Elsa.Workflow" {
                    self.ran.insert(id.to_owned());
                }
            }
            _ => {}
        }
    }

    /// Lets the time pass that passed before a line.
    fn advance(&mut self, line: &Value) {
        let at = Timestamp::parse(text(line, "timestamp")).unwrap_or(self.now);
        let ms = at.0.saturating_sub(self.now.0);
        if ms > 0 {
            self.steps.push(format!("advance: {ms}ms"));
            self.now = at;
        }
    }

    /// The step of a worker who reports that a task failed. The end of a time comes by itself.
    fn fail(&mut self, line: &Value, literals: &BTreeMap<String, String>) {
        let exception = line.get("payload").and_then(|p| p.get("exception"));
        let Some(exception) = exception.filter(|e| text(e, "type") != "Timeout") else {
            return;
        };
        let name = literals.get(text(line, "activityId"));
        if let ("Elsa.RunTask", Some(name)) = (text(line, "activityType"), name) {
            let fails =
                json!({ "type": text(exception, "type"), "message": text(exception, "message") });
            self.steps
                .push(format!("{{ task: {}, fails: {fails} }}", json!(name)));
        }
    }

    /// The step that wakes an activity.
    fn wake(&mut self, id: &str, kind: &str, result: &Value, literals: &BTreeMap<String, String>) {
        let name = literals.get(id).map(|name| json!(name));
        let step = match (kind, name) {
            _ if TIMES.contains(&kind) => return,
            ("Elsa.Event", Some(name)) => format!("{{ event: {name}, payload: {result} }}"),
            ("Elsa.RunTask", Some(name)) => format!("{{ task: {name}, result: {result} }}"),
            ("Elsa.Event", None) => {
                format!("{{ event: NAME, payload: {result} }} # its name is computed")
            }
            ("Elsa.RunTask", None) => {
                format!("{{ task: NAME, result: {result} }} # its name is computed")
            }
            // Calls and children are mocked.
            (kind, _)
                if CALLS.contains(&kind)
                    || kind.ends_with("Workflow")
                    || kind.ends_with("Workflows") =>
            {
                return;
            }
            _ => format!("{{ resume: {} }}", json!(id)),
        };
        self.steps.push(step);
    }

    /// The test file. JSON is YAML, so values are written as JSON.
    fn file(&self, instance: &Value, begin: Timestamp) -> String {
        let state = instance.get("workflowState").unwrap_or(&Value::Null);
        let object = |name: &str| {
            let object = state.get(name).and_then(Value::as_object).cloned();
            object.unwrap_or_default()
        };
        let id = text(instance, "id");
        let mut out = format!(
            "workflow: {}.json\n\ncases:\n  - name: as the instance {id}\n    now: {begin}\n",
            text(instance, "definitionId"),
        );
        let mut put = |name: &str, value: Value| {
            let _infallible = writeln!(out, "    {name}: {value}");
        };
        let input: Map<String, Value> = object("input");
        if !input.is_empty() {
            put("input", input.into());
        }
        if !text(instance, "correlationId").is_empty() {
            put("correlation", text(instance, "correlationId").into());
        }
        if !self.mocks.is_empty() {
            put("mocks", json!(self.mocks));
        }
        if !self.steps.is_empty() {
            out.push_str("    steps:\n");
        }
        for step in &self.steps {
            let _infallible = writeln!(out, "      - {step}");
        }
        let waiting = items(state, "bookmarks").iter();
        let waiting: BTreeSet<&str> = waiting.map(|b| text(b, "activityId")).collect();
        let expect = json!({
            "status": text(instance, "subStatus"),
            "output": object("output"),
            "waiting": waiting,
            "ran": self.ran,
            "incidents": items(state, "incidents").len(),
        });
        let _infallible = writeln!(out, "    expect: {expect}");
        out
    }
}
