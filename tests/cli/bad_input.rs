//! Wrong input of every kind: each its own sentence and exit code, and never a panic.

use std::fs;

use crate::process::{Server, example, folder, run, run_with};

#[test]
fn wrong_words_are_told_with_what_would_be_right() {
    run(["startt", "x"])
        .ended(2)
        .complains("unrecognized subcommand");
    run(["start"]).ended(2).complains("<DEFINITION>");
    run(["serve", "--nodes", "0"]).ended(2).complains("1..=64");
    run(["serve", "--host", "nowhere", "--port", "0"])
        .ended(2)
        .complains("not an IP address");
    run(["list", "--limit", "5000"])
        .ended(2)
        .complains("1..=1000");
    run(["start", "x", "--input", "[1]"])
        .ended(2)
        .complains("JSON object");
    run(["start", "x", "--input", "{"])
        .ended(2)
        .complains("not JSON");
    run(["start", "x", "-i", "novalue"])
        .ended(2)
        .complains("write -i novalue=VALUE");
    run(["start", "x", "--input", "@/no/such/file"])
        .ended(2)
        .complains("/no/such/file");
    run(["list", "--status", "Fauled"])
        .ended(2)
        .complains("Suspended, Finished, Faulted");
    run(["start", "x", "--key", ""])
        .ended(2)
        .complains("the idempotency key is empty");
    run(["event", "x", "--key", ""])
        .ended(2)
        .complains("the idempotency key is empty");
    run(["event", ""])
        .ended(2)
        .complains("the name of the event is empty");
    run(["--help"]).ended(0).says("Exit codes:");
}

#[test]
fn inputs_that_a_workflow_does_not_declare_and_activities_that_are_unknown_are_told() {
    let hello = example("hello");
    let hello = hello.to_str().unwrap();
    let given = ["-i", "Nmae=Ada", "--no-wait"];
    let says = "declares no input `Nmae`; it declares Name";
    run([&["run", hello][..], &given].concat())
        .ended(0)
        .complains(says)
        .says("Hello, world!");
    let strict = [&["run", "--strict", hello][..], &given].concat();
    run(strict).ended(2).complains(says);

    let folder = folder();
    let odd = folder.path().join("odd.json");
    let definition = r#"{ "definitionId": "odd", "inputs": [{ "name": "Amount", "type": "Decimal" }],
        "root": { "type": "Acme.Nope", "id": "a" } }"#;
    fs::write(&odd, definition).unwrap();
    let odd = odd.to_str().unwrap();
    run(["run", odd, "-i", "Amount=abc"])
        .ended(2)
        .complains("the input `Amount` is a Decimal");
    run(["run", odd, "-i", "Amount=3"])
        .ended(1)
        .complains("no activity type `Acme.Nope`");
    run(["run", "--strict", odd])
        .ended(2)
        .complains("no activity type `Acme.Nope`");

    let data = crate::process::folder();
    let server = Server::start(data.path());
    server
        .run(&["publish", "--strict", odd])
        .ended(2)
        .complains("saved as a draft");
    server
        .run(&["publish", odd])
        .ended(0)
        .complains("no activity type `Acme.Nope`");
    server
        .run(&["start", "odd", "-i", "Amount=abc"])
        .ended(2)
        .complains("the input `Amount` is a Decimal");
}

#[test]
fn options_of_the_server_stand_where_they_mean_something() {
    run(["run", "--help"]).ended(0).lacks("--api-key");
    run(["list", "--help"]).ended(0).says("--api-key");
    run(["--url", "ftp://x", "list"]).ended(2);
}

#[test]
fn a_dynamodb_table_that_cannot_be_used_is_told_with_what_would_help() {
    run(["serve", "--create-table"])
        .ended(2)
        .complains("add --table dynamodb");
    let dynamodb = |more: &[&'static str]| [&["serve", "--table", "dynamodb"], more].concat();
    run(dynamodb(&[])).ended(2).complains("DORMOUSE_TABLE");
    run(dynamodb(&["--table-name", "x", "--max-data-mb", "1"]))
        .ended(2)
        .complains("leave it out");
    let ran = run_with(
        dynamodb(&["--table-name", "x", "--port", "0"]),
        &[
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
            ("AWS_REGION", "eu-central-1"),
            ("AWS_ACCESS_KEY_ID", "any"),
            ("AWS_SECRET_ACCESS_KEY", "thing"),
        ],
    );
    if cfg!(feature = "aws") {
        ran.ended(6)
            .complains("`x` at http://127.0.0.1:9 does not answer");
    } else {
        ran.ended(2).complains("--features aws");
    }
}

#[test]
fn no_server_is_told_with_how_to_start_one() {
    for url in ["http://127.0.0.1:1", "http://127.0.0.1:1/"] {
        run(["list", "--url", url])
            .ended(3)
            .complains("no server answers")
            .complains("dormouse serve");
    }
    run(["list", "--url", "ftp://x"])
        .ended(2)
        .complains("not an absolute http");
}

#[test]
fn files_that_are_no_definitions_are_told_all_at_once() {
    let folder = folder();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let bad = [
        file("a.json", "{"),
        file("b.json", "[]"),
        file("c.json", "{\"name\": \"x\"}"),
    ];
    let ran = run(["publish", &bad[0], &bad[1], &bad[2]]).ended(2);
    ran.complains("3 files cannot be used")
        .complains("a.json")
        .complains("c.json");
    let nested = file("deep.json", &format!("{{\"root\": {}", "[".repeat(1_000)));
    run(["validate", &nested]).ended(2).complains("deep.json");
    let large = file(
        "large.json",
        &format!("{{\"root\": \"{}\"}}", "x".repeat(5 << 20)),
    );
    run(["validate", &large]).ended(2).complains("the limit is");
    run(["publish", "/no/such/file.json"])
        .ended(2)
        .complains("/no/such/file.json");
}

#[test]
fn every_problem_of_a_definition_is_told_with_its_path() {
    let folder = folder();
    let path = folder.path().join("bad.json");
    let text = r#"{"definitionId": "bad", "root": {"type": "Elsa.Flowchart", "id": "f", "activities": [
        {"id": "a", "type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "1 +"}}},
        {"id": "a", "type": "Acme.Unknown"},
        {"id": "c", "type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Python", "value": "1"}}}
    ], "connections": [{"source": {"activity": "a"}, "target": {"activity": "nowhere"}}]}}"#;
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let problems = run(["validate", path, "--json"]).ended(2).json();
    let codes: Vec<&str> = problems["files"][0]["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["code"].as_str().unwrap())
        .collect();
    assert!(codes.len() >= 4, "{codes:?}");
    run(["validate", path])
        .ended(2)
        .says("root.activities[0].text")
        .says("JavaScript")
        .says("Liquid");

    let data = crate::process::folder();
    let server = Server::start(data.path());
    server
        .run(&["publish", path])
        .ended(2)
        .complains("not published");
    server
        .run(&["start", "bad"])
        .ended(5)
        .complains("no such workflow definition");
}

#[test]
fn what_does_not_exist_is_told_by_name() {
    let data = folder();
    let server = Server::start(data.path());
    server
        .run(&["start", "nothing"])
        .ended(5)
        .complains("`nothing`");
    server
        .run(&["show", "nobody"])
        .ended(5)
        .complains("`nobody`");
    server
        .run(&["resume", "nobody", "b"])
        .ended(5)
        .complains("`nobody`");
    server
        .run(&["cancel", "nobody"])
        .ended(5)
        .complains("`nobody`");
    server
        .run(&["export", "nothing"])
        .ended(5)
        .complains("`nothing`");
    server
        .run(&["task", "complete", "nothing-1"])
        .ended(5)
        .complains("no task");
    server
        .run(&["show", "a/../b?c#d"])
        .ended(5)
        .complains("a/../b?c#d");
    server
        .run(&["alter", "nobody", "--cancel"])
        .ended(5)
        .complains("`nobody`");
    server
        .run(&["retry", "nobody"])
        .ended(5)
        .complains("`nobody`");
    server.publish("hello");
    // It would start at its beginning, as in Elsa.
    server
        .run(&["start", "hello", "--trigger", "nowhere"])
        .ended(5)
        .complains("`nowhere`");
    assert_eq!(server.json(&["list"])["items"], serde_json::json!([]));
    server
        .run(&["start", "hello", "--trigger", "sleep"])
        .ended(0);
    let long = "x".repeat(3_000);
    server
        .run(&["show", &long])
        .ended(2)
        .complains("instance id");
}

#[test]
fn a_workflow_that_fails_says_so_by_the_exit_code() {
    let folder = folder();
    let path = folder.path().join("fails.json");
    let text = r#"{"definitionId": "fails", "root": {"id": "f", "type": "Elsa.Fault",
        "message": {"typeName": "String", "expression": {"type": "Literal", "value": "out of cheese"}}}}"#;
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    run(["run", path])
        .ended(1)
        .says("Faulted")
        .says("out of cheese");
    let server = Server::start(folder.path());
    server.run(&["publish", path]).ended(0);
    server
        .run(&["start", "fails"])
        .ended(1)
        .says("dormouse show");
}

#[test]
fn examples_are_valid_one_by_one_and_together() {
    let folder = example("hello").parent().unwrap().to_owned();
    let checked = run(["validate", folder.to_str().unwrap(), "--json"])
        .ended(0)
        .json();
    let files = checked["files"].as_array().unwrap();
    assert!(files.len() >= 6);
    for file in files {
        assert_eq!(file["problems"], serde_json::json!([]), "{file:#}");
    }
}
