//! Secrets from the command line: set, used by a workflow, changed, revoked, deleted; and nowhere in plain form.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use dormouse_tests::receiver::Receiver;
use serde_json::{Value, json};

use crate::process::{Ran, Server, folder, run};

const FIRST: &str = "mark-of-the-first-value";
const SECOND: &str = "mark-of-the-second \"value\"";

fn begin(data: &Path) -> Server {
    Server::start_with(data, &["--allow-private-egress"])
}

fn set(server: &Server, name: &str, value: &str) -> Ran {
    server.run_reading(&["secrets", "set", name], value.as_bytes())
}

/// Publishes a workflow that sends the secret `stripe:key` to the address.
fn publish(server: &Server, data: &Path, url: &str) {
    let script = |text: &str| json!({ "typeName": "Object", "expression": { "type": "JavaScript", "value": text } });
    let literal = |text: &str| json!({ "typeName": "String", "expression": { "type": "Literal", "value": text } });
    let workflow = json!({ "definitionId": "sends", "root": {
        "type": "Elsa.SendHttpRequest", "id": "call", "url": literal(url), "method": literal("POST"),
        "contentType": literal("application/json"),
        "content": script("({ key: await getSecret('Stripe:Key') })"),
    }});
    let file = data.join("sends.json");
    fs::write(&file, workflow.to_string()).unwrap();
    server.run(&["publish", file.to_str().unwrap()]).ended(0);
}

/// The value that the workflow sends now.
fn sent(server: &Server, receiver: &Receiver) -> Value {
    let before = receiver.received().len();
    server.run(&["start", "sends"]).ended(0);
    let received = receiver.received();
    assert_eq!(received.len(), before + 1);
    received[before].json()["key"].clone()
}

/// What the workflow's incident says.
fn incident(server: &Server) -> String {
    let started = server.run(&["start", "sends", "--json"]).ended(1).json();
    let id = started["workflowInstanceId"].as_str().unwrap();
    let shown = server.json(&["show", id]);
    assert_eq!(shown["instance"]["subStatus"], "Faulted", "{shown:#}");
    shown.to_string()
}

/// Fails if a file of the folder has one of the values.
fn is_in_no_file(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            is_in_no_file(&path);
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        for value in ["mark-of-the-first", "mark-of-the-second"] {
            let mut windows = bytes.windows(value.len());
            assert!(
                !windows.any(|part| part == value.as_bytes()),
                "{value} is in {path:?}"
            );
        }
    }
}

#[test]
fn a_secret_is_set_used_changed_revoked_and_deleted() {
    let data = folder();
    let receiver = Receiver::refusing(0);
    let server = begin(data.path());
    server
        .run(&["secrets", "list"])
        .ended(0)
        .says("There are none");
    publish(&server, data.path(), &receiver.url());
    let unset = incident(&server);
    assert!(unset.contains("there is no secret `stripe:key`"), "{unset}");
    // A line end, as `echo` writes it, is no part of the value.
    set(&server, "Stripe:Key", &format!("{FIRST}\n"))
        .ended(0)
        .says("Set stripe:key version 1")
        .lacks(FIRST);
    assert_eq!(sent(&server, &receiver), FIRST);
    set(&server, "stripe:key", SECOND)
        .ended(0)
        .says("version 2");
    assert_eq!(sent(&server, &receiver), SECOND);
    for args in [&["secrets", "list"][..], &["secrets", "list", "--json"]] {
        let listed = server.run(args).ended(0).says("stripe:key");
        listed.says("Encrypted").lacks("mark-of");
    }
    server
        .run(&["secrets", "rotate-key"])
        .ended(0)
        .says("Sealed 1 values with a new key");
    assert_eq!(sent(&server, &receiver), SECOND);
    server.run(&["secrets", "test", "stripe:key"]).ended(0);
    server.kill();

    let server = begin(data.path());
    assert_eq!(sent(&server, &receiver), SECOND);
    is_in_no_file(data.path());
    server
        .run(&["secrets", "revoke", "stripe:key"])
        .ended(0)
        .says("Revoked stripe:key");
    let revoked = incident(&server);
    assert!(
        revoked.contains("the secret `stripe:key` is revoked"),
        "{revoked}"
    );
    server.run(&["secrets", "test", "stripe:key"]).ended(1);
    set(&server, "stripe:key", FIRST)
        .ended(4)
        .complains("revoked");
    server.run(&["secrets", "delete", "stripe:key"]).ended(0);
    server
        .run(&["secrets", "delete", "stripe:key"])
        .ended(5)
        .complains("there is no secret `stripe:key`");
    set(&server, "stripe:key", FIRST).ended(0).says("version 1");
    assert_eq!(sent(&server, &receiver), FIRST);
    is_in_no_file(data.path());
}

#[test]
fn what_is_no_secret_is_rejected_with_its_reason() {
    let data = folder();
    let server = begin(data.path());
    set(&server, "1", "value")
        .ended(2)
        .complains("no name of a secret");
    set(&server, "a/b", "value")
        .ended(2)
        .complains("no name of a secret");
    set(&server, "empty", "").ended(2).complains("`value`");
    set(&server, "long", &"x".repeat(65_537))
        .ended(2)
        .complains("65,536 bytes");
    server
        .run_reading(&["secrets", "set", "binary"], b"\xff\xfe")
        .ended(1)
        .complains("UTF-8");
    let at = ["secrets", "set", "late", "--expires-at", "soon"];
    server
        .run_reading(&at, b"value")
        .ended(2)
        .complains("expiresAt");
    server.run(&["secrets", "revoke", "nobody"]).ended(5);
    server.run(&["secrets", "test", "nobody"]).ended(5);
    // A reference to a variable that the server does not have.
    let nowhere = ["secrets", "set", "elsewhere", "--reference", "No:Where"];
    server.run(&nowhere).ended(0);
    server
        .run(&["secrets", "test", "elsewhere"])
        .ended(1)
        .says("cannot be read");
    set(&server, "elsewhere", "value")
        .ended(4)
        .complains("Configuration")
        .complains("dormouse secrets delete elsewhere");
    server
        .run(&["secrets", "list"])
        .ended(0)
        .says("elsewhere")
        .lacks("late");
}

#[test]
fn keys_of_secrets_are_private_and_a_lost_key_is_told() {
    let data = folder();
    let receiver = Receiver::refusing(0);
    let server = begin(data.path());
    publish(&server, data.path(), &receiver.url());
    set(&server, "stripe:key", FIRST).ended(0);
    server.kill();

    let keys = data.path().join("secrets.key");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&keys), 0o600);
    // The data folder is mended; a file elsewhere is the operator's.
    let elsewhere = folder();
    let open = elsewhere.path().join("keys");
    fs::copy(&keys, &open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    let place = data.path().to_str().unwrap();
    let serve = ["serve", "--port", "0", "--data", place, "--secrets-key"];
    run(serve.iter().copied().chain(open.to_str()))
        .ended(2)
        .complains("others can read the keys of secrets")
        .complains("chmod 600");
    let kept = fs::read(&keys).unwrap();
    fs::remove_file(&keys).unwrap();
    let server = begin(data.path());
    let lost = incident(&server);
    assert!(
        lost.contains("does not have the key that sealed it"),
        "{lost}"
    );
    assert!(receiver.received().is_empty());
    server
        .run(&["secrets", "rotate-key"])
        .ended(4)
        .complains("1 values open with none of the keys");
    server.kill();

    // The key of a backup, as a further line.
    let mut both = fs::read(&keys).unwrap();
    both.extend(kept);
    fs::write(&keys, both).unwrap();
    let server = begin(data.path());
    assert_eq!(sent(&server, &receiver), FIRST);
}

#[test]
fn a_server_killed_while_keys_and_values_change_loses_none() {
    let data = folder();
    let server = begin(data.path());
    for n in 0..20 {
        set(&server, &format!("secret-{n}"), FIRST).ended(0);
    }
    server.kill();
    for round in 0..6 {
        let server = begin(data.path());
        let until = Instant::now() + Duration::from_millis(40 + 35 * round);
        std::thread::scope(|scope| {
            let change = |args: &'static [&'static str]| {
                let server = &server;
                move || {
                    while Instant::now() < until {
                        // The last one finds no server.
                        let _ran = server.run_reading(args, SECOND.as_bytes());
                    }
                }
            };
            scope.spawn(change(&["secrets", "rotate-key"]));
            scope.spawn(change(&["secrets", "rotate-key"]));
            scope.spawn(change(&["secrets", "set", "secret-7"]));
            scope.spawn(|| {
                std::thread::sleep(until.saturating_duration_since(Instant::now()));
                server.kill_now();
            });
        });
        drop(server);
        let server = begin(data.path());
        for n in 0..20 {
            let name = format!("secret-{n}");
            server.run(&["secrets", "test", &name]).ended(0);
        }
        server.run(&["secrets", "rotate-key"]).ended(0);
    }
}
