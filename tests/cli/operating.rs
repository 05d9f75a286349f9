//! What operators see: numbers for Prometheus, logs for programs, instances that go when their time has come.

use std::process::Stdio;

use dormouse_tests::http_client::Client;
use serde_json::Value;

use crate::process::{Server, dormouse, example, folder, run};

/// The port of a node's address.
fn port(url: &str) -> u16 {
    url.rsplit_once(':').unwrap().1.parse().unwrap()
}

#[test]
fn a_node_counts_what_it_does() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("hello");
    let started = server.json(&["start", "hello", "-i", "Name=Ada"]);
    server.wait_for(started["workflowInstanceId"].as_str().unwrap(), "Finished");
    let mut client = Client::new(port(&server.urls[0]));
    let refused = client.get("/metrics").unwrap();
    assert_eq!(refused.status, 401);
    let key = format!("Bearer {}", server.key());
    let headers = [("authorization", key.as_str())];
    let page = client.send("GET", "/metrics", &headers, b"").unwrap();
    let text = String::from_utf8(page.body.clone()).unwrap();
    for line in [
        "dormouse_instances_started_total 1",
        "dormouse_instances_completed_total 1",
        "dormouse_instances_active_change 0",
        "dormouse_timers_scheduled_total 1",
        "dormouse_timers_fired_total 1",
        "dormouse_lease_wait_seconds_count 0",
        "dormouse_burst_seconds_count 2",
    ] {
        assert!(text.lines().any(|l| l == line), "no `{line}` in\n{text}");
    }
}

#[test]
fn the_log_is_json_where_a_program_reads_it() {
    let data = folder();
    let log = folder();
    let file = log.path().join("log");
    let errors = std::fs::File::create(&file).unwrap();
    let mut server = dormouse()
        .args([
            "serve",
            "--json",
            "--port",
            "0",
            "--authentication",
            "none",
            "--log",
            "info",
            "--log-format",
            "json",
        ])
        .arg("--data")
        .arg(data.path())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .unwrap();
    let mut hello = String::new();
    let out = server.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut hello).unwrap();
    let hello: Value = serde_json::from_str(&hello).unwrap();
    let url = hello["urls"][0].as_str().unwrap().to_owned();
    let file_of = example("hello");
    run(["publish", file_of.to_str().unwrap(), "--url", &url]).ended(0);
    let started = run(["start", "hello", "--json", "--url", &url]);
    let id = started.ended(0).json()["workflowInstanceId"].clone();
    let id = id.as_str().unwrap().to_owned();
    let begin = std::time::Instant::now();
    while !std::fs::read_to_string(&file)
        .unwrap()
        .contains("timer executed")
    {
        assert!(begin.elapsed().as_secs() < 30, "no timer was executed");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    // Nobody else was at work, so there was no lease.
    assert!(!text.contains("lease acquired"), "{text}");
    let executed = lines.iter().find(|l| l["message"] == "timer executed");
    let executed = executed.unwrap_or_else(|| panic!("{text}"));
    assert!(
        executed["timer"].as_str().unwrap().starts_with(&id),
        "{executed}"
    );
    assert_eq!(executed["level"], "INFO");
    assert!(executed["late_ms"].is_i64(), "{executed}");
}

#[test]
fn a_pause_outlives_the_server_and_its_timers_fire_after_it() {
    let data = folder();
    let server = Server::start_with(data.path(), &["--nodes", "2"]);
    server.publish("hello");
    let waits = server.json(&["start", "hello", "-i", "Name=Ada"]);
    let waits = waits["workflowInstanceId"].as_str().unwrap().to_owned();
    let paused = server.json(&["pause", "--reason", "moving house"]);
    assert_eq!(paused["state"]["pauseReasonText"], "moving house");
    let refused = server.run(&["start", "hello", "-i", "Name=Ada"]).ended(4);
    for said in ["ManageWorkflowRuntime", "dormouse unpause"] {
        assert!(refused.err.contains(said), "{}", refused.err);
    }
    server.kill();

    let server = Server::start_with(data.path(), &["--nodes", "2"]);
    for node in 0..2 {
        server
            .run_at(node, &["start", "hello", "-i", "Name=Ada"])
            .ended(4);
    }
    // Longer than its timer.
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    let shown = server.json(&["show", &waits]);
    assert_eq!(shown["instance"]["subStatus"], "Suspended");
    let ended = server.run(&["unpause"]).ended(0);
    assert!(ended.out.contains("Not paused"), "{}", ended.out);
    server.wait_for(&waits, "Finished");
    server.run(&["start", "hello", "-i", "Name=Ada"]).ended(0);
}
