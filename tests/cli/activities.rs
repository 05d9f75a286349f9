//! Activities of one's own, as a newcomer makes them: a type from a file, a workflow, a worker in Python; a command.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::process::{Server, example, folder, run};

/// A file with JSON in a folder.
fn file(folder: &std::path::Path, name: &str, json: &Value) -> String {
    let path = folder.join(name);
    std::fs::write(&path, json.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_card_is_charged_by_a_worker_without_dependencies() {
    let data = folder();
    let server = Server::start(data.path());
    let ty = example("charge-card/charge-card");
    server
        .run(&["activity", "publish", ty.to_str().unwrap()])
        .ended(0)
        .says("Published Acme.ChargeCard version 1");
    server
        .run(&["activity", "list"])
        .ended(0)
        .says("Acme.ChargeCard")
        .says("worker");
    let shown = server.json(&["activity", "show", "Acme.ChargeCard"]);
    assert_eq!(
        (&shown["version"], &shown["timeoutMs"]),
        (&json!(1), &json!(60_000))
    );
    server.publish("charge-card/workflow");
    let start = |amount: &str, card: &str| {
        let (amount, card) = (format!("Amount={amount}"), format!("Card={card}"));
        let started = server.json(&["start", "charge", "-i", &amount, "-i", &card]);
        started["workflowInstanceId"].as_str().unwrap().to_owned()
    };
    let (paid, declined) = (start("12.5", "4242"), start("5000", "4242"));
    let invalid = start("1", "none");
    let open = server.json(&["list", "tasks", "--task", "Acme.ChargeCard"]);
    assert_eq!(open["items"].as_array().map(Vec::len), Some(3), "{open:#}");
    let script = example("charge-card/worker").with_extension("py");
    let worked = Command::new("python3")
        .arg(script)
        .arg("3")
        .env("DORMOUSE_URL", &server.urls[0])
        .env_remove("DORMOUSE_API_KEY")
        .env("DORMOUSE_DATA", data.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(worked.status.success(), "{worked:?}");
    let shown = server.wait_for(&paid, "Finished");
    let receipt = &shown["instance"]["workflowState"]["output"]["Receipt"];
    assert_eq!(receipt["charged"], 12.5, "{shown:#}");
    server.wait_for(&declined, "Finished");
    let failed = server.wait_for(&invalid, "Faulted");
    assert!(failed.to_string().contains("InvalidCard"), "{failed:#}");
    server
        .run(&["activity", "delete", "Acme.ChargeCard"])
        .ended(0);
    server
        .run(&["activity", "show", "Acme.ChargeCard"])
        .ended(5)
        .complains("no activity type `Acme.ChargeCard`");
    start("1", "4242");
}

#[test]
fn what_is_no_activity_type_is_refused_with_its_file() {
    let data = folder();
    let server = Server::start(data.path());
    let kinds = json!({ "type": "Acme.X", "handler": { "kind": "lambda", "function": "charge" } });
    for (json, says) in [
        (json!({ "root": {} }), "has a `type`"),
        (kinds, "--allow-lambda"),
        (
            json!({ "type": "Acme.X", "handler": { "kind": "command", "command": ["cat"] } }),
            "--allow-commands",
        ),
        (
            json!({ "type": "Elsa.If", "handler": { "kind": "worker", "queue": "q" } }),
            "built-in",
        ),
    ] {
        let path = file(data.path(), "type.json", &json);
        let ran = server.run(&["activity", "publish", &path]);
        assert_ne!(ran.code, 0, "{ran:?}");
        ran.complains(says);
    }
    server
        .run(&["activity", "publish", "/there/is/none.json"])
        .ended(2);
}

#[test]
fn a_command_runs_where_it_is_allowed_and_nowhere_else() {
    let data = folder();
    let answer = r#"cat > /dev/null; echo '{"outputs": {"said": "hello"}}'"#;
    let ty = json!({
        "type": "Acme.Say", "outputs": [{ "name": "said", "type": "String" }],
        "handler": { "kind": "command", "command": ["sh", "-c", answer] },
    });
    let ty = file(data.path(), "say.json", &ty);
    let workflow = json!({
        "definitionId": "say", "name": "say",
        "variables": [{ "id": "said", "name": "Said", "typeName": "String" }],
        "root": { "type": "Elsa.Sequence", "id": "all", "activities": [
            { "id": "say", "type": "Acme.Say", "said": { "typeName": "String", "memoryReference": { "id": "said" } } },
            { "id": "line", "type": "Elsa.WriteLine", "text": { "typeName": "String", "expression": { "type": "Variable", "value": { "id": "said" } } } },
        ]},
    });
    let workflow = file(data.path(), "workflow.json", &workflow);
    run(["run", &workflow, "--activity", &ty])
        .ended(2)
        .complains("commands are not allowed");
    run(["run", &workflow, "--activity", &ty, "--allow-commands"])
        .ended(0)
        .says("hello");
}
