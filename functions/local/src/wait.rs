//! Description of an open bookmark, and the command that ends the wait.

use serde_json::Value;

use crate::moment;
use crate::screen::Screen;
use crate::text_table::TextTable;

/// Writes what an instance waits for, one line each, with the command that ends each wait.
pub(crate) fn tell(screen: &Screen, instance_id: &str, bookmarks: &[Value]) {
    table(screen, Some(instance_id), bookmarks);
}

/// Writes what an instance waits for that no command reaches.
pub(crate) fn tell_only(screen: &Screen, bookmarks: &[Value]) {
    table(screen, None, bookmarks);
}

fn table(screen: &Screen, instance_id: Option<&str>, bookmarks: &[Value]) {
    if bookmarks.is_empty() {
        return;
    }
    screen.line("Waiting at:");
    let mut table = TextTable::plain();
    for bookmark in bookmarks {
        let text = |name: &str| bookmark.get(name).and_then(Value::as_str);
        let activity = text("activityName").or(text("activityId")).unwrap_or("?");
        let (what, how) = describe(instance_id.unwrap_or_default(), bookmark);
        let how = instance_id.map(|_| how).unwrap_or_default();
        table.row([String::new(), screen.bold(activity), what, screen.dim(&how)]);
    }
    screen.table(&table);
}

/// Description of a bookmark, and the command that ends the wait.
fn describe(instance_id: &str, bookmark: &Value) -> (String, String) {
    let text = |name: &str| {
        bookmark
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let payload = |name: &str| {
        let value = bookmark.get("payload").and_then(|p| p.get(name));
        value.and_then(Value::as_str).unwrap_or_default()
    };
    let resume = format!("dormouse resume {instance_id} {}", text("id"));
    // Of an activity whose type is data.
    match payload("For") {
        "task" => {
            let what = match (payload("TakenBy"), payload("Queue")) {
                ("", "") => format!("for the handler of {}", payload("Type")),
                ("", queue) => format!("for a worker of the queue {queue}"),
                (worker, _) => format!("for the answer of {worker}"),
            };
            return (
                what,
                format!("dormouse task complete {}", payload("TaskId")),
            );
        }
        what @ ("end" | "heartbeat" | "pause") => {
            let when = moment::relative(text("due"), moment::now());
            let what = match what {
                "end" => "the end of the attempt",
                "heartbeat" => "the next heartbeat",
                _ => "the next attempt",
            };
            return (format!("until {what} ({when})"), String::new());
        }
        _ => {}
    }
    match text("name") {
        "Elsa.Event" => {
            let name = payload("EventName");
            (
                format!("for the event {name}"),
                format!("dormouse event {name}"),
            )
        }
        "Elsa.RunTask" => {
            let (id, name) = (payload("TaskId"), payload("TaskName"));
            let what = format!("for the task {name}").trim_end().to_owned();
            (what, format!("dormouse task complete {id}"))
        }
        "Elsa.HttpEndpoint" => {
            let (method, path) = (payload("Method").to_uppercase(), payload("Path"));
            (
                format!("for an HTTP request: {method} /workflows{path}"),
                String::new(),
            )
        }
        "Elsa.DispatchWorkflow" | "Elsa.ExecuteWorkflow" | "Elsa.BulkDispatchWorkflows" => {
            ("for a child to end".to_owned(), String::new())
        }
        name => match (text("due"), text("waitsFor")) {
            ("", "call") => ("for an answer".to_owned(), String::new()),
            ("", _) => (format!("for {name}"), resume),
            (due, _) => {
                let when = moment::relative(due, moment::now());
                (format!("until {due} ({when})"), resume)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_wait_names_the_command_that_ends_it() {
        let event = json!({ "name": "Elsa.Event", "payload": { "EventName": "Paid" } });
        assert_eq!(describe("i", &event).1, "dormouse event Paid");
        let task = json!({ "name": "Elsa.RunTask", "payload": { "TaskId": "i-3" } });
        assert_eq!(describe("i", &task).1, "dormouse task complete i-3");
        let own = json!({ "name": "Acme.Work", "payload": { "For": "task", "TaskId": "i-4", "Queue": "q" } });
        assert_eq!(
            describe("i", &own),
            (
                "for a worker of the queue q".to_owned(),
                "dormouse task complete i-4".to_owned()
            )
        );
        let delay = json!({ "name": "Elsa.Delay", "id": "b", "due": "2026-01-01T00:00:00Z", "waitsFor": "timer" });
        assert_eq!(describe("i", &delay).1, "dormouse resume i b");
    }
}
