//! Finding: search attributes, schedules, timers, and open tasks to the last one.

use serde_json::{Value, json};

use crate::process::{Server, folder};

fn literal(of: &str, value: &str) -> Value {
    json!({ "typeName": of, "expression": { "type": "Literal", "value": value } })
}

fn publish(server: &Server, folder: &std::path::Path, definition: &Value) {
    let name = definition["definitionId"].as_str().unwrap();
    let file = folder.join(format!("{name}.json"));
    std::fs::write(&file, definition.to_string()).unwrap();
    server.run(&["publish", file.to_str().unwrap()]).ended(0);
}

#[test]
fn instances_are_found_by_search_attributes() {
    let data = folder();
    let server = Server::start(data.path());
    let order = json!({
        "definitionId": "order", "inputs": [{ "name": "Region", "type": "String" }],
        "customProperties": { "searchAttributes": [{ "name": "Region", "input": "Region" }] },
        "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            { "id": "wait", "type": "Elsa.Event", "eventName": literal("String", "paid") },
        ] },
    });
    publish(&server, data.path(), &order);
    for region in ["EU", "US", "EU"] {
        let input = format!("Region={region}");
        server.json(&["start", "order", "-i", &input]);
    }
    let found = server.json(&["list", "--attribute", "Region=EU"]);
    assert_eq!(found["totalCount"], 2, "{found:#}");
    assert_eq!(
        found["items"][0]["searchAttributes"],
        json!({ "Region": "EU" })
    );
    server
        .run(&["list", "--attribute", "Region=nowhere"])
        .ended(0)
        .says("No instances.");
    server
        .run(&["list", "--attribute", "Region"])
        .ended(2)
        .complains("`--attribute Region` should be NAME=VALUE");
    server
        .run(&["alter", "--attribute", "Region=US", "--cancel"])
        .ended(0);
    let left = server.json(&["list", "--status", "suspended"]);
    assert_eq!(left["totalCount"], 2, "{left:#}");
}

#[test]
fn schedules_are_listed_and_skipped_and_timers_told() {
    let data = folder();
    let server = Server::start(data.path());
    server
        .run(&["schedules", "list"])
        .ended(0)
        .says("No schedules.");
    let report = json!({
        "definitionId": "report", "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            { "id": "monthly", "type": "Elsa.Cron", "cronExpression": literal("String", "0 0 3 1 * *"),
              "customProperties": { "canStartWorkflow": true } },
        ] },
    });
    publish(&server, data.path(), &report);
    server
        .run(&["schedules", "list"])
        .ended(0)
        .says("cron 0 0 3 1 * *")
        .says("allow");
    let before = server.json(&["schedules", "list"]);
    let next = before["items"][0]["nextOccurrences"].clone();
    server
        .run(&["schedules", "skip", "report"])
        .ended(0)
        .says(next[0].as_str().unwrap())
        .says(&format!(
            "the next occurrence is that of {}",
            next[1].as_str().unwrap()
        ));
    let after = server.json(&["schedules", "list"]);
    assert_eq!(after["items"][0]["nextOccurrences"][0], next[1]);
    server
        .run(&["schedules", "skip", "nothing"])
        .ended(5)
        .complains("`dormouse schedules list` lists all");

    let later = json!({
        "definitionId": "later", "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            { "id": "later", "type": "Elsa.Delay", "timeSpan": literal("TimeSpan", "2.00:00:00") },
        ] },
    });
    publish(&server, data.path(), &later);
    server
        .run(&["schedules", "timers"])
        .ended(0)
        .says("No instance waits for a timer.");
    let started = server.json(&["start", "later", "--correlation", "c-7"]);
    let id = started["workflowInstanceId"].as_str().unwrap();
    server
        .run(&["schedules", "timers"])
        .ended(0)
        .says(id)
        .says("c-7")
        .says("in 1 d 23 h");
}

#[test]
fn open_tasks_are_listed_to_the_last_one() {
    let data = folder();
    let server = Server::start(data.path());
    let review = json!({
        "definitionId": "review", "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            { "id": "ask", "type": "Elsa.RunTask", "taskName": literal("String", "Review") },
        ] },
    });
    publish(&server, data.path(), &review);
    let started: Vec<String> = (0..7)
        .map(|n| {
            let started = server.json(&["start", "review", "--correlation", &format!("c{n}")]);
            started["workflowInstanceId"].as_str().unwrap().to_owned()
        })
        .collect();
    let instances = |found: &Value| -> Vec<String> {
        let items = found["items"].as_array().unwrap().iter();
        items
            .map(|task| task["workflowInstanceId"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        instances(&server.json(&["list", "tasks", "--all"])),
        started
    );
    assert_eq!(
        instances(&server.json(&["list", "tasks", "--limit", "3"])),
        started[..3]
    );
    let one = server.json(&["list", "tasks", "--correlation", "c4"]);
    assert_eq!(instances(&one), started[4..5]);
    server
        .run(&["list", "tasks", "--limit", "3"])
        .ended(0)
        .says("there are more; --limit NUMBER shows more of them, --all every one");
}
