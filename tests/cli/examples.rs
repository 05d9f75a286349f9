//! The examples that are delivered with the binary, each run through all of its ways.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::process::{Server, example, folder, run};

/// Completes the open task of a name, and gives the answer.
fn complete(server: &Server, instance: &str, task: &str, result: &str) -> Value {
    let id = task_id(server, instance, task);
    server.json(&["task", "complete", &id, "--result", result])
}

/// Reports that the open task of a name failed, and gives the answer.
fn fail(server: &Server, instance: &str, task: &str) -> Value {
    let id = task_id(server, instance, task);
    server.json(&[
        "task",
        "fail",
        &id,
        "--type",
        "No",
        "--message",
        "it did not work",
    ])
}

fn task_id(server: &Server, instance: &str, task: &str) -> String {
    let shown = server.json(&["show", instance]);
    let open = shown["instance"]["workflowState"]["bookmarks"]
        .as_array()
        .unwrap()
        .clone();
    let bookmark = open.iter().find(|b| b["payload"]["TaskName"] == task);
    let bookmark = bookmark.unwrap_or_else(|| panic!("no task {task} among {open:#?}"));
    bookmark["payload"]["TaskId"].as_str().unwrap().to_owned()
}

#[test]
fn an_approval_is_granted_refused_or_runs_out_of_time() {
    let file = example("approval");
    run([
        "run",
        file.to_str().unwrap(),
        "-i",
        "Request=x",
        "-i",
        "Deadline=00:00:01",
    ])
    .ended(0)
    .says("\"x\" was refused by the deadline.")
    .says(r#"{"Outcome":"refused"}"#);
    let data = folder();
    let server = Server::start(data.path());
    server.publish("approval");
    for (approved, outcome) in [("true", "approved"), ("false", "refused")] {
        let started = server.json(&[
            "start",
            "approval",
            "-i",
            "Request=x",
            "--correlation",
            outcome,
        ]);
        let id = started["workflowInstanceId"].as_str().unwrap();
        let input = format!(r#"{{"approved": {approved}}}"#);
        server.json(&[
            "event",
            "Decision",
            "--correlation",
            outcome,
            "--input",
            &input,
        ]);
        let shown = server.wait_for(id, "Finished");
        assert_eq!(
            shown["instance"]["workflowState"]["output"]["Outcome"],
            outcome
        );
    }
}

#[test]
fn an_order_is_shipped_when_both_branches_worked() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("order");
    let started = server.json(&["start", "order", "-i", "OrderId=7", "-i", "Amount=12.5"]);
    let id = started["workflowInstanceId"].as_str().unwrap();
    complete(&server, id, "charge-card", r#"{"ok": true}"#);
    complete(&server, id, "reserve-stock", r#"{"ok": true}"#);
    let done = complete(&server, id, "ship", "null");
    assert_eq!(
        (&done["subStatus"], &done["output"]["Status"]),
        (&"Finished".into(), &"shipped".into())
    );
}

#[test]
fn an_order_undoes_exactly_what_was_done() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("order");
    for (done, failed, undo) in [
        ("reserve-stock", "charge-card", "release-stock"),
        ("charge-card", "reserve-stock", "refund"),
    ] {
        let started = server.json(&["start", "order", "-i", "OrderId=7"]);
        let id = started["workflowInstanceId"].as_str().unwrap();
        complete(&server, id, done, r#"{"receipt": 1}"#);
        let seen = fail(&server, id, failed);
        assert_eq!(seen["bookmarks"].as_array().unwrap().len(), 1, "{seen:#}");
        let last = complete(&server, id, undo, "null");
        assert_eq!(last["subStatus"], "Finished", "{last:#}");
        assert_eq!(last["output"]["Status"], "compensated");
    }
    let started = server.json(&["start", "order", "-i", "OrderId=8"]);
    let id = started["workflowInstanceId"].as_str().unwrap();
    let last = fail(&server, id, "charge-card");
    assert_eq!(last["output"]["Status"], "compensated", "nothing was done");
}

#[test]
fn a_cancelled_order_is_undone_before_it_ends() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("order");
    let started = server.json(&["start", "order", "-i", "OrderId=7"]);
    let id = started["workflowInstanceId"].as_str().unwrap();
    complete(&server, id, "reserve-stock", "null");
    complete(&server, id, "charge-card", "null");
    server
        .run(&["cancel", id])
        .ended(0)
        .says("it is cancelled once what it did is undone");
    complete(&server, id, "refund", "null");
    let last = task_id(&server, id, "release-stock");
    // The exit code says that the instance has not finished as meant.
    server
        .run(&["task", "complete", &last])
        .ended(1)
        .says("Status: Cancelled");
}

#[test]
fn a_report_is_written_when_its_time_has_come() {
    let file = example("daily-report");
    run(["run", file.to_str().unwrap(), "--trigger", "every-morning"])
        .ended(0)
        .says("Daily report: 42 sold. North 12. South 30.");
}

#[test]
fn a_report_waits_for_seven_in_the_morning_in_zurich() {
    let file = example("daily-report");
    let ran = run(["run", file.to_str().unwrap(), "--no-wait", "--json"]).ended(0);
    let due = ran.json()["bookmarks"][0]["due"]
        .as_str()
        .unwrap()
        .to_owned();
    // An hour later in winter than in summer, by UTC.
    assert!(
        due.ends_with("T06:00:00Z") || due.ends_with("T05:00:00Z"),
        "{due}"
    );
}

#[test]
fn a_published_cron_trigger_starts_instances_by_itself() {
    let data = folder();
    let text = std::fs::read_to_string(example("daily-report")).unwrap();
    let every_second = data.path().join("every-second.json");
    std::fs::write(
        &every_second,
        text.replace("0 0 7 * * MON-FRI", "* * * * * *"),
    )
    .unwrap();
    let server = Server::start(data.path());
    server
        .run(&["publish", every_second.to_str().unwrap()])
        .ended(0);
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let listed = server.json(&[
            "list",
            "--definition",
            "daily-report",
            "--status",
            "finished",
        ]);
        if listed["items"].as_array().unwrap().len() >= 3 {
            break;
        }
        assert!(Instant::now() < until, "{listed:#}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_parent_waits_for_all_of_its_children() {
    let (parent, child) = (example("onboarding"), example("grant-access"));
    let systems = r#"Systems=["wiki", "payroll", "door"]"#;
    run([
        "run",
        parent.to_str().unwrap(),
        child.to_str().unwrap(),
        "-i",
        "Person=Ada",
        "-i",
        systems,
    ])
    .ended(0)
    .says("Welcome! Your address is ada@mail, and 3 systems are ready.")
    .says(r#"{"Granted":3}"#);
}

#[test]
fn a_quote_is_answered_over_http() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("quote");
    let get = |path: &str| {
        let url = format!("{}/workflows/{path}", server.urls[0]);
        let output = std::process::Command::new("curl")
            .args(["-s", "-w", "\n%{http_code}", &url])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        get("quotes/Apple?quantity=3"),
        "{\"product\":\"Apple\",\"quantity\":3,\"price\":13.5}\n200"
    );
    assert_eq!(
        get("quotes/Apple"),
        "Say how many you want: ?quantity=3\n400"
    );
    assert!(get("nothing").ends_with("404"));
}

#[test]
fn a_workflow_reaches_the_inside_only_where_it_is_let() {
    let data = folder();
    let server = Server::start(data.path());
    let file = data.path().join("fetch.json");
    let url = format!("{}/health/live", server.urls[0]);
    let text = serde_json::json!({
        "definitionId": "fetch",
        "variables": [{ "id": "Code", "name": "Code", "typeName": "Int32" }],
        "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            { "id": "send", "type": "Elsa.SendHttpRequest",
              "url": { "typeName": "Uri", "expression": { "type": "Literal", "value": url } },
              "statusCode": { "typeName": "Int32", "memoryReference": { "id": "Code" } } },
            { "id": "tell", "type": "Elsa.WriteLine",
              "text": { "typeName": "String", "expression": { "type": "JavaScript", "value": "`answered ${getCode()}`" } } }
        ] }
    });
    std::fs::write(&file, text.to_string()).unwrap();
    let file = file.to_str().unwrap();
    run(["run", file]).ended(1).says("not a public address");
    run(["run", file, "--allow-private-egress"])
        .ended(0)
        .says("answered 200");
}
