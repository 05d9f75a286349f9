//! Looking after instances: retry, incidents, dead letters, alter, delete, import, logs, watch, lists and pictures.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{Server, dormouse, folder};

fn write(folder: &std::path::Path, name: &str, definition: &Value) -> String {
    let file = folder.join(name);
    std::fs::write(&file, definition.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Starts an approval and gives the instance's id.
fn approval(server: &Server, request: &str) -> String {
    let input = format!("Request={request}");
    let started = server.json(&["start", "approval", "-i", &input, "--correlation", request]);
    started["workflowInstanceId"].as_str().unwrap().to_owned()
}

#[test]
fn a_failed_instance_is_listed_and_retried() {
    let data = folder();
    let server = Server::start(data.path());
    server.run(&["incidents"]).ended(0).says("No incidents.");
    let file = write(
        data.path(),
        "breaks.json",
        &json!({ "definitionId": "breaks", "root": { "id": "break", "type": "Elsa.RunJavaScript",
            "script": { "typeName": "String", "expression": { "type": "Literal", "value": "throw new Error('no paper')" } } } }),
    );
    server.run(&["publish", &file]).ended(0);
    let started = server.run(&["start", "breaks", "--json"]).ended(1).json();
    let id = started["workflowInstanceId"].as_str().unwrap();
    let listed = server
        .run(&["incidents", "--definition", "breaks"])
        .ended(0);
    listed
        .says(id)
        .says("no paper")
        .says("dormouse retry INSTANCE");
    let first = server.json(&["incidents"]);
    server
        .run(&["incidents", "--definition", "others"])
        .ended(0)
        .says("No incidents.");
    server
        .run(&["retry", id])
        .ended(0)
        .says(&format!("Retried {id}; it is Faulted"));
    // The incident is that of the second attempt.
    let first = first["items"][0]["timestamp"].as_str().unwrap();
    let again = server.json(&["incidents"]);
    assert_eq!(again["items"].as_array().unwrap().len(), 1, "{again:#}");
    assert!(
        again["items"][0]["timestamp"].as_str().unwrap() > first,
        "{again:#}"
    );
    server
        .run(&["retry", id, "--activity", "nowhere"])
        .ended(4)
        .says("nothing was changed");
    server.run(&["retry", "nobody"]).ended(5);
}

#[test]
fn instances_are_altered_by_id_and_by_filter() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("approval");
    let (first, second) = (approval(&server, "a"), approval(&server, "b"));
    let selected = server.json(&[
        "alter",
        "--definition",
        "approval",
        "--correlation",
        "a",
        "--dry-run",
    ]);
    assert_eq!(selected["workflowInstanceIds"], json!([first]));
    server
        .run(&["alter", &first, "--cancel-activity", "decision"])
        .ended(0)
        .says(&format!("Altered {first}"));
    let shown = server.json(&["show", &first]);
    let open = shown["instance"]["workflowState"]["bookmarks"]
        .as_array()
        .unwrap();
    assert_eq!(open.len(), 1, "{open:#?}");
    server
        .run(&["alter", &first, "--migrate", "7"])
        .ended(4)
        .says("nothing was changed");
    // Nothing that could be meant for all by mistake.
    server
        .run(&["alter", "--cancel"])
        .ended(2)
        .complains("name instances, or a filter");
    server
        .run(&["alter", &first])
        .ended(2)
        .complains("name a change");
    let done = server.json(&["alter", "--definition", "approval", "--cancel"]);
    assert_eq!(done.as_array().unwrap().len(), 2, "{done:#}");
    for id in [&first, &second] {
        assert_eq!(
            server.json(&["show", id])["instance"]["subStatus"],
            "Cancelled"
        );
    }
}

#[test]
fn an_exported_instance_comes_back_after_it_was_deleted() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("approval");
    let id = approval(&server, "chair");
    let file = data.path().join("instance.json");
    let file = file.to_str().unwrap();
    server
        .run(&["export", &id, "--instance", "-o", file])
        .ended(0)
        .says("Wrote");
    server
        .run(&["import", file])
        .ended(4)
        .complains("instance.json");
    server
        .run(&["delete", "instances", &id])
        .ended(0)
        .says("Deleted");
    server.run(&["show", &id]).ended(5);
    server.run(&["delete", "instances", &id]).ended(5);
    std::fs::write(data.path().join("no.json"), "{}").unwrap();
    let no = data.path().join("no.json");
    server
        .run(&["import", no.to_str().unwrap()])
        .ended(2)
        .complains("no.json");
    server
        .run(&["import", file])
        .ended(0)
        .says(&format!("Imported {id}"));
    server
        .run(&["event", "Decision", "--input", r#"{"approved": true}"#])
        .ended(0)
        .says(&id);
    server.wait_for(&id, "Finished");
}

#[test]
fn a_definition_is_retracted_and_deleted_with_its_instances_only_when_told_so() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("approval");
    let id = approval(&server, "chair");
    server
        .run(&["retract", "approval"])
        .ended(0)
        .says("Retracted approval");
    assert_ne!(server.run(&["start", "approval"]).code, 0);
    server.run(&["show", &id]).ended(0).says("Suspended");
    server
        .run(&["delete", "definition", "approval"])
        .ended(4)
        .complains("has 1 instances")
        .complains("--with-instances");
    server
        .run(&["delete", "definition", "approval", "--with-instances"])
        .ended(0)
        .says("Deleted approval");
    server.run(&["show", &id]).ended(5);
    server.run(&["delete", "definition", "approval"]).ended(5);
    server.run(&["retract", "approval"]).ended(5);
}

#[test]
fn open_tasks_are_listed_with_the_ids_that_complete_them() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("order");
    server
        .run(&["list", "tasks"])
        .ended(0)
        .says("No open tasks.");
    server.json(&["start", "order", "-i", "OrderId=7"]);
    let tasks = server.json(&["list", "tasks", "--definition", "order"]);
    assert_eq!(tasks["items"].as_array().unwrap().len(), 2, "{tasks:#}");
    let one = server.json(&["list", "tasks", "--task", "charge-card"]);
    let one = one["items"].as_array().unwrap();
    assert_eq!(one.len(), 1, "{one:#?}");
    let id = one[0]["taskId"].as_str().unwrap();
    server
        .run(&["task", "complete", id, "--result", r#"{"ok": true}"#])
        .ended(0);
    server
        .run(&["list", "tasks"])
        .ended(0)
        .says("reserve-stock")
        .lacks("charge-card");
    server
        .run(&["list", "--task", "x"])
        .ended(2)
        .complains("--task is for");
}

#[test]
fn lists_are_read_to_their_end() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("approval");
    for n in 0..5 {
        approval(&server, &format!("r{n}"));
    }
    let page = server
        .run(&["list", "--limit", "2", "--page", "1"])
        .ended(0);
    page.says("2 of 5; the next: --page 2, everything: --all");
    let all = server.json(&["list", "--all", "--definition", "approval"]);
    assert_eq!(all["items"].as_array().unwrap().len(), 5);
    server.run(&["list", "--all"]).ended(0).lacks("--page");
    server.run(&["list", "--all", "--page", "1"]).ended(2);
}

#[test]
fn a_journal_is_followed_to_the_end_of_its_instance() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("hello");
    let started = server.json(&["start", "hello", "-i", "Name=Ada"]);
    let id = started["workflowInstanceId"].as_str().unwrap();
    let followed = server.run(&["logs", id, "--follow"]).ended(0);
    followed
        .says("Greet (WriteLine)")
        .says("Suspended Sleep (Delay)")
        .says("Goodbye (WriteLine)");
    let last = server
        .run(&["logs", id, "--tail", "1", "--json"])
        .ended(0)
        .json();
    assert_eq!(last["eventName"], "Completed");
    server.run(&["logs", "nobody"]).ended(5);
    // The wait of two seconds is told as its duration.
    let shown = server.run(&["show", id]).ended(0);
    let sleep = shown
        .out
        .lines()
        .find(|l| l.contains("Sleep (Delay)") && l.contains("Completed"));
    assert!(
        sleep.is_some_and(|l| l.contains("  2.") && l.contains(" s  ")),
        "{}",
        shown.out
    );
}

#[test]
fn changes_are_watched_as_they_happen() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("approval");
    let mut watching = dormouse()
        .args([
            "watch",
            "--json",
            "--every-ms",
            "100",
            "--url",
            &server.urls[0],
        ])
        .env("DORMOUSE_DATA", data.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let id = approval(&server, "chair");
    let first = next();
    assert_eq!(
        (&first["id"], &first["subStatus"]),
        (&json!(id), &json!("Suspended"))
    );
    server.json(&["cancel", &id]);
    assert_eq!(next()["subStatus"], "Cancelled");
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn an_instance_is_drawn_with_the_state_of_its_activities() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("approval");
    let id = approval(&server, "chair");
    server
        .run(&["show", &id, "--graph", "mermaid"])
        .ended(0)
        .says("flowchart LR\n  n0[\"Ask\"]:::done\n")
        .says("[\"WaitForDecision\"]:::running")
        .says("-->|\"True\"|");
    let svg = server.json(&["show", &id, "--graph", "svg"]);
    let svg = svg["graph"].as_str().unwrap();
    assert!(svg.starts_with("<svg "), "{svg}");
    assert_eq!(svg.matches("<rect class=\"box").count(), 10, "{svg}");
    assert_eq!(svg.matches("box running").count(), 2, "{svg}");
}

#[test]
fn a_dead_letter_is_listed_replayed_and_deleted() {
    let data = folder();
    let server = Server::start(data.path());
    server
        .run(&["dead-letters", "list"])
        .ended(0)
        .says("No dead letters.");
    for name in ["First", "Second"] {
        server
            .run(&["event", name, "--input", "1", "--keep", "1"])
            .ended(0);
    }
    let until = Instant::now() + Duration::from_secs(90);
    let letters = loop {
        let listed = server.json(&["dead-letters", "list"]);
        if listed["items"].as_array().unwrap().len() == 2 {
            break listed["items"].as_array().unwrap().clone();
        }
        assert!(Instant::now() < until, "{listed:#}");
        std::thread::sleep(Duration::from_millis(200));
    };
    let id = |place: usize| letters[place]["id"].as_str().unwrap();
    server
        .run(&["dead-letters", "list", "--limit", "1"])
        .ended(0)
        .says("1 of 2; everything: --all");
    server
        .run(&["dead-letters", "replay", id(0)])
        .ended(0)
        .says("Replayed");
    server
        .run(&["dead-letters", "delete", id(1)])
        .ended(0)
        .says("Deleted");
    server.run(&["dead-letters", "delete", id(1)]).ended(5);
    server.run(&["dead-letters", "list"]).ended(0).lacks(id(1));
}

#[test]
fn a_definition_that_is_refused_is_told_with_its_problems() {
    let data = folder();
    let server = Server::start(data.path());
    let file = write(
        data.path(),
        "twice.json",
        &json!({ "definitionId": "twice", "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            { "id": "a", "type": "Elsa.WriteLine" }, { "id": "a", "type": "Elsa.WriteLine" } ] } }),
    );
    server
        .run(&["publish", &file])
        .ended(2)
        .complains("root.activities[1]: the activity id `a` is used more than once");
    let told = server.run(&["publish", &file, "--json"]).ended(2).json();
    let problems = &told["refused"][0]["problems"];
    assert_eq!(problems[0]["path"], "root.activities[1]", "{told:#}");
}

#[test]
fn a_published_file_keeps_its_version_id() {
    let data = folder();
    let server = Server::start(data.path());
    let definition = json!({ "id": "order-7", "definitionId": "order", "version": 1,
        "root": { "id": "a", "type": "Elsa.WriteLine" } });
    let file = write(data.path(), "order.json", &definition);
    let version = |server: &Server| {
        let answer = server.json(&["publish", &file]);
        let model = &answer["published"][0]["workflowDefinition"];
        (
            model["id"].as_str().unwrap().to_owned(),
            model["version"].as_u64(),
            model["isPublished"].clone(),
        )
    };
    assert_eq!(
        version(&server),
        ("order-7".to_owned(), Some(1), json!(true))
    );
    // A second version is another one.
    let (id, number, _) = version(&server);
    assert_ne!(id, "order-7");
    assert_eq!(number, Some(2));
}
