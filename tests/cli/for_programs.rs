//! `--json`: one value on the standard output, errors as JSON on the error stream.

use serde_json::Value;

use crate::process::{Server, example, folder, run};

#[test]
fn every_command_answers_with_one_json_value() {
    let data = folder();
    let server = Server::start(data.path());
    let file = example("approval");
    let published = server.json(&["publish", file.to_str().unwrap()]);
    let model = &published["published"][0]["workflowDefinition"];
    assert_eq!(
        (model["version"].as_u64(), &model["isPublished"]),
        (Some(1), &Value::Bool(true))
    );

    let started = server.json(&["start", "approval", "-i", "Request=x", "--name", "first"]);
    let id = started["workflowInstanceId"].as_str().unwrap();
    let listed = server.json(&["list", "--search", "first"]);
    assert_eq!(listed["items"][0]["id"], id);
    assert_eq!(listed["items"][0]["subStatus"], "Suspended");
    let definitions = server.json(&["list", "definitions"]);
    assert_eq!(definitions["items"][0]["definitionId"], "approval");
    let shown = server.json(&["show", id]);
    assert_eq!(shown["instance"]["workflowState"]["id"], id);
    assert!(shown["journal"].as_array().unwrap().len() > 3);
    let event = server.json(&["event", "Nobody", "--input", "1"]);
    assert_eq!(event["delivered"]["isKept"], true);
    assert_eq!(server.json(&["cancel", id])[0]["subStatus"], "Cancelled");

    let exported = server.json(&["export", "approval"]);
    let own: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(exported["root"], own["root"]);
    let target = data.path().join("out.json");
    server
        .run(&["export", "approval", "-o", target.to_str().unwrap()])
        .ended(0)
        .says("Wrote");
    run(["validate", target.to_str().unwrap()]).ended(0);
}

#[test]
fn errors_are_json_on_the_error_stream() {
    let failed = run(["list", "--json", "--url", "http://127.0.0.1:1"]).ended(3);
    assert_eq!(failed.out, "");
    let error: Value = serde_json::from_str(&failed.err).unwrap();
    assert_eq!(error["error"]["code"], "unreachable");
    assert!(
        error["error"]["help"]
            .as_str()
            .unwrap()
            .contains("dormouse serve")
    );
}

#[test]
fn whoever_stops_reading_causes_no_noise() {
    let mut child = crate::process::dormouse()
        .arg("--help")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
