//! Two who want the same: a port, a folder, a bookmark, a key.

use std::fs;

use crate::process::{Server, folder, run};

#[test]
fn a_data_folder_has_one_server_at_a_time() {
    let data = folder();
    let server = Server::start(data.path());
    let folder = data.path().to_str().unwrap();
    run(["serve", "--port", "0", "--data", folder])
        .ended(4)
        .complains("is in use by another process")
        .complains("stop that one");
    run([
        "run",
        "--data",
        folder,
        crate::process::example("hello").to_str().unwrap(),
    ])
    .ended(4)
    .complains("is in use by another process");
    server.run(&["list"]).ended(0);
}

#[test]
fn a_port_in_use_is_told_and_nothing_is_created() {
    let data = folder();
    let server = Server::start(data.path());
    let port = server.urls[0].rsplit(':').next().unwrap();
    let other = folder().path().join("never");
    run(["serve", "--port", port, "--data", other.to_str().unwrap()])
        .ended(4)
        .complains(&format!("the port {port} is in use"))
        .complains("--port");
    assert!(!other.exists());
    run([
        "serve",
        "--port",
        "65535",
        "--nodes",
        "2",
        "--data",
        other.to_str().unwrap(),
    ])
    .ended(2)
    .complains("no port after 65535");
}

#[test]
fn a_damaged_data_folder_is_told_and_left_as_it_is() {
    let data = folder();
    Server::start(data.path()).kill();
    let file = data.path().join("dormouse.sqlite");
    for companion in ["dormouse.sqlite-wal", "dormouse.sqlite-shm"] {
        let _missing = fs::remove_file(data.path().join(companion));
    }
    fs::write(
        &file,
        "this is no table at all, and it is long enough to be taken for one".repeat(100),
    )
    .unwrap();
    let before = fs::read(&file).unwrap();
    run([
        "serve",
        "--port",
        "0",
        "--data",
        data.path().to_str().unwrap(),
    ])
    .ended(6)
    .complains("restore the data folder from a backup");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_bookmark_is_resumed_once_and_the_second_hears_so() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("approval");
    let started = server.json(&["start", "approval", "-i", "Request=x"]);
    let id = started["workflowInstanceId"].as_str().unwrap();
    server
        .run(&["resume", id])
        .ended(4)
        .complains("does not wait at exactly one bookmark");
    let bookmarks = started["bookmarks"].as_array().unwrap();
    let deadline = bookmarks
        .iter()
        .find(|b| b["name"] == "Elsa.Delay")
        .unwrap();
    let deadline = deadline["id"].as_str().unwrap();
    let resumed = server.json(&["resume", id, deadline]);
    assert_eq!(resumed["output"]["Outcome"], "refused");
    server
        .run(&["resume", id, deadline])
        .ended(4)
        .complains("has ended (Finished)");
    server
        .run(&["cancel", id])
        .ended(0)
        .says("had ended already");
}

#[test]
fn a_task_is_completed_once_and_the_second_worker_hears_so() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("order");
    let started = server.json(&["start", "order", "-i", "OrderId=7"]);
    let bookmarks = started["bookmarks"].as_array().unwrap();
    let task = bookmarks[0]["payload"]["TaskId"].as_str().unwrap();
    let complete = ["task", "complete", task, "--result", r#"{"ok": true}"#];
    server.run(&complete).ended(0).says("Completed the task");
    server
        .run(&complete)
        .ended(4)
        .complains("was resumed before");
}

#[test]
fn a_start_repeated_under_its_key_finds_the_first() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("hello");
    let first = server.json(&["start", "hello", "--key", "k-1"]);
    let second = server.json(&["start", "hello", "--key", "k-1"]);
    assert_eq!(first["workflowInstanceId"], second["workflowInstanceId"]);
    assert_eq!(
        (&first["isRepeated"], &second["isRepeated"]),
        (&false.into(), &true.into())
    );
    server
        .run(&["start", "hello", "--key", "k-1"])
        .ended(0)
        .says("Was started before");
    assert_eq!(server.json(&["list"])["totalCount"], 1);
}

#[test]
fn a_full_disk_refuses_what_is_new_and_keeps_what_was_acknowledged() {
    let data = folder();
    let server = Server::start_with(data.path(), &["--max-data-mb", "1"]);
    server.publish("approval");
    // Digits that do not pack well.
    let digits = (1..8_000_u32).map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761)));
    let padding = format!("Request={}", digits.collect::<String>());
    let mut kept = Vec::new();
    let refused = loop {
        let ran = server.run(&["start", "approval", "--json", "-i", &padding]);
        if ran.code != 0 {
            break ran;
        }
        let id = ran.json()["workflowInstanceId"]
            .as_str()
            .unwrap()
            .to_owned();
        kept.push(id);
        assert!(kept.len() < 200, "a megabyte is never full");
    };
    refused.ended(6).complains("the disk is full");
    server.kill();
    let server = Server::start(data.path());
    for id in &kept {
        server.run(&["show", id]).ended(0).says("Suspended");
    }
    server
        .run(&["start", "approval", "-i", "Request=x"])
        .ended(0);
}
