//! The first ten minutes with Dormouse, a kill -9 among them.

use crate::process::{Server, example, folder, run};

#[test]
fn a_workflow_that_waits_survives_kill_9_and_finishes_once() {
    let data = folder();
    let server = Server::start(data.path());
    server.run(&["list"]).ended(0).says("No instances");
    let file = example("approval");
    server
        .run(&["publish", file.to_str().unwrap()])
        .ended(0)
        .says("Published approval version 1");
    let request = ["-i", "Request=New laptop", "--correlation", "r-1"];
    let started = server.json(&[&["start", "approval"], &request[..]].concat());
    let id = started["workflowInstanceId"].as_str().unwrap();
    assert_eq!(started["subStatus"], "Suspended");
    assert_eq!(started["bookmarks"].as_array().unwrap().len(), 2);
    server
        .run(&["show", id])
        .ended(0)
        .says("for the event Decision")
        .says("until 20")
        .says("WaitForDecision (Event)");
    server.kill();

    let server = Server::start(data.path());
    server.run(&["list"]).ended(0).says(id).says("Suspended");
    let decision = ["event", "Decision", "--correlation", "r-1"];
    let input = ["--input", r#"{"approved": true, "by": "Ada"}"#];
    server
        .run(&[&decision[..], &input].concat())
        .ended(0)
        .says(&format!("Resumed {id}"));
    let shown = server.wait_for(id, "Finished");
    let state = &shown["instance"]["workflowState"];
    assert_eq!(state["output"]["Outcome"], "approved");
    assert_eq!(state["bookmarks"].as_array().unwrap().len(), 0);
    server
        .run(&["show", id])
        .ended(0)
        .says("Finished")
        .says("Outcome = \"approved\"");

    // No bookmark waits for a second decision: it is queued, and the instance stays as it is.
    server
        .run(&[&decision[..], &input].concat())
        .ended(0)
        .says("No instance waits");
    assert_eq!(server.json(&["show", id])["journal"], shown["journal"]);
}

#[test]
fn a_timer_set_before_kill_9_fires_after_it() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("hello");
    let started = server.json(&["start", "hello"]);
    let id = started["workflowInstanceId"].as_str().unwrap();
    assert_eq!(started["lines"][0], "Hello, world!");
    server.kill();
    let server = Server::start(data.path());
    let shown = server.wait_for(id, "Finished");
    let journal = shown["journal"].as_array().unwrap();
    let goodbyes = journal
        .iter()
        .filter(|l| l["activityId"] == "goodbye" && l["eventName"] == "Completed");
    assert_eq!(goodbyes.count(), 1);
}

#[cfg(unix)]
#[test]
fn a_server_that_is_asked_to_stop_ends_well_and_says_what_was_written() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("hello");
    server.json(&["start", "hello", "-i", "Name=Ada"]);
    let (code, said) = server.stop();
    assert_eq!(code, 0);
    assert!(said.contains("Hello, Ada!"), "{said}");
    // The folder is free again.
    Server::start(data.path())
        .run(&["list"])
        .ended(0)
        .says("hello");
}

#[test]
fn run_needs_no_server_and_waits_for_timers() {
    let file = example("hello");
    run(["run", file.to_str().unwrap(), "-i", "Name=Ada"])
        .ended(0)
        .says("Hello, Ada!")
        .says("Good night.")
        .says("Status: Finished");
}

#[test]
fn run_stops_where_somebody_is_needed_and_tells_how_to_go_on() {
    let data = folder();
    let (file, data_text) = (example("order"), data.path().to_str().unwrap());
    let ran = run([
        "run",
        file.to_str().unwrap(),
        "-i",
        "OrderId=7",
        "--data",
        data_text,
    ]);
    ran.ended(0)
        .says("Order 7 received.")
        .says("for the task reserve-stock")
        .says("Status: Suspended")
        .says("dormouse serve --data");
    let server = Server::start(data.path());
    server
        .run(&["list", "--status", "suspended"])
        .ended(0)
        .says("order v1");
}

#[test]
fn nodes_of_one_process_share_everything() {
    let data = folder();
    let server = Server::start_with(data.path(), &["--nodes", "3"]);
    assert_eq!(server.urls.len(), 3);
    server.publish("approval");
    let on = |node: usize, args: &[&str]| {
        let ran = server.run_at(node, &[args, &["--json"]].concat());
        ran.ended(0).json()
    };
    let started = on(1, &["start", "approval", "-i", "Request=x"]);
    let id = started["workflowInstanceId"].as_str().unwrap();
    let bookmarks = started["bookmarks"].as_array().unwrap();
    let event = bookmarks
        .iter()
        .find(|b| b["name"] == "Elsa.Event")
        .unwrap();
    let bookmark = event["id"].as_str().unwrap();
    let resumed = on(
        2,
        &[
            "resume",
            id,
            bookmark,
            "-i",
            r#"Payload={"approved": true}"#,
        ],
    );
    assert_eq!(resumed["subStatus"], "Finished", "{resumed:#}");
}
