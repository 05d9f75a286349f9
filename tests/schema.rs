//! The running server against its own OpenAPI document: schemathesis asks every route whatever the document allows, and
//! some of what it does not. Nothing is a 5xx, and every answer is of the status, the type and the shape that is written.
//!
//! The test installs schemathesis by `.ci/schemathesis.sh`. Where it cannot be had, it says so and passes, unless `CI` is
//! `true`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may fail"
)]

#[allow(dead_code, reason = "the tier of the command line uses more of it")]
#[path = "cli/process.rs"]
mod process;

use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_tests::http_client::{Client, Response};
use serde_json::json;

use process::{Server, folder};

/// How long it may ask, in seconds.
const TIME_S: &str = "75";

/// What is checked of every answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
    response_schema_conformance,unsupported_method,allow_header_conformance,ignored_auth";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The installed program. `None`: the test is skipped, and has said so.
fn schemathesis() -> Option<PathBuf> {
    let installed = Command::new("bash")
        .arg(root().join(".ci/schemathesis.sh"))
        .output()
        .expect("bash runs the script");
    if installed.status.success() {
        return Some(root().join(".venv/schemathesis/bin/schemathesis"));
    }
    let why = String::from_utf8_lossy(&installed.stderr);
    let is_required = std::env::var("CI").is_ok_and(|v| v == "true");
    assert!(!is_required, "schemathesis cannot be installed: {why}");
    eprintln!("SKIPPED: schemathesis cannot be installed: {why}");
    None
}

/// A workflow `order` with an instance `waiting`.
fn furnish(server: &Server) {
    let text = |value: &str| json!({ "typeName": "String", "expression": { "type": "Literal", "value": value } });
    let model = json!({
        "definitionId": "order", "name": "Order",
        "variables": [{ "id": "n", "name": "N", "typeName": "Int32", "value": "1", "storageDriverTypeName": "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core" }],
        "root": { "type": "Elsa.Sequence", "id": "all", "activities": [
            { "type": "Elsa.WriteLine", "id": "hello", "text": text("hello") },
            { "type": "Elsa.Event", "id": "go", "eventName": text("Go") },
        ] },
    });
    let credential = format!("ApiKey {}", server.key().trim());
    let headers = [
        ("content-type", "application/json"),
        ("authorization", credential.as_str()),
    ];
    let port = server.urls[0].rsplit(':').next().unwrap();
    let mut client = Client::new(port.parse().unwrap());
    for (path, body) in [
        (
            "workflow-definitions",
            json!({ "model": model, "publish": true }),
        ),
        (
            "workflow-instances",
            json!({ "definitionId": "order", "id": "waiting" }),
        ),
    ] {
        let path = format!("/elsa/api/{path}");
        let answer = client.send("POST", &path, &headers, body.to_string().as_bytes());
        assert!(
            answer.as_ref().is_ok_and(Response::is_success),
            "{answer:?}"
        );
    }
}

#[test]
fn every_answer_is_as_the_openapi_document_says() {
    let Some(schemathesis) = schemathesis() else {
        return;
    };
    let data = folder();
    let server = Server::start(data.path());
    furnish(&server);
    let ran = Command::new(schemathesis)
        .arg("--config-file")
        .arg(root().join("tests/schema/schemathesis.toml"))
        .args(["--no-color", "run"])
        .arg(format!("{}/elsa/api/openapi.json", server.urls[0]))
        .args([
            "--header",
            &format!("Authorization: ApiKey {}", server.key().trim()),
        ])
        .args(["--checks", CHECKS])
        .args(["--phases", "coverage,fuzzing"])
        .args(["--max-time", TIME_S, "--request-timeout", "20"])
        .args([
            "--generation-deterministic",
            "--suppress-health-check",
            "all",
        ])
        .args(["--warnings", "off", "--continue-on-failure"])
        // What it remembers of a run, such as examples that failed, goes with the test's folder.
        .current_dir(data.path())
        .output()
        .expect("schemathesis runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    let summary = said.rsplit("= SUMMARY =").next().unwrap_or_default();
    eprintln!("{summary}");
    assert!(
        ran.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    // One that asked for nothing has shown nothing.
    let cases = summary
        .lines()
        .find(|line| line.contains(" generated"))
        .unwrap();
    let count: u32 = cases.trim().split(' ').next().unwrap().parse().unwrap();
    assert!(count > 500, "{cases}");
}
