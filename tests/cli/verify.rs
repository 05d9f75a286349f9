//! `dormouse verify`: the six checks against a real cluster of three nodes that is killed and restarted under load,
//! and against nodes that are no cluster.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dormouse_tests::server::Server as Cluster;
use serde_json::Value;

use crate::process::{Server, folder, run};

/// A command that asks for something by a file, and waits until it is done: the server stays the test's own child.
fn ask(file: &Path) -> String {
    let file = file.display();
    format!("touch {file}; while [ -e {file} ]; do sleep 0.02; done")
}

/// Kills or stops the server when asked to, and starts it again.
fn obey(cluster: &mut Cluster, kill: &Path, restart: &Path, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        if kill.exists() {
            cluster.kill();
            cluster.start_again();
            std::fs::remove_file(kill).unwrap();
        }
        if restart.exists() {
            assert!(cluster.stop().success());
            cluster.start_again();
            std::fs::remove_file(restart).unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_cluster_passes_all_six_checks_and_nothing_stays_behind() {
    let folder = folder();
    let binary = Path::new(env!("CARGO_BIN_EXE_dormouse"));
    let mut cluster = Cluster::start(binary, &folder.path().join("data"), 3);
    let urls: Vec<String> = (0..3)
        .map(|node| format!("http://127.0.0.1:{}", cluster.port + node))
        .collect();
    let (kill, restart) = (folder.path().join("kill"), folder.path().join("restart"));
    let is_over = AtomicBool::new(false);
    let verified = std::thread::scope(|scope| {
        scope.spawn(|| obey(&mut cluster, &kill, &restart, &is_over));
        let (kill, restart) = (ask(&kill), ask(&restart));
        let mut args = vec!["verify", "--json", "--lease-ms", "20000"];
        args.extend(["--kill", &kill, "--restart", &restart]);
        args.extend(urls.iter().map(String::as_str));
        let verified = run(args);
        is_over.store(true, Ordering::Relaxed);
        verified
    });
    let answer = verified.ended(0).json();
    assert_eq!(answer["passed"], true, "{answer:#}");
    let checks = answer["checks"].as_array().unwrap();
    assert_eq!(checks.len(), 6);
    assert!(
        checks.iter().all(|c| c["verdict"] == "passed"),
        "{answer:#}"
    );
    for kind in ["definitions", "instances"] {
        let listed = run(["list", kind, "--json", "--url", &urls[0]]);
        let listed = listed.ended(0).json();
        assert_eq!(listed["items"], Value::Array(Vec::new()), "{listed:#}");
    }
}

#[test]
fn nodes_that_are_no_cluster_fail() {
    let (one, other) = (folder(), folder());
    let servers =
        [&one, &other].map(|data| Server::start_with(data.path(), &["--authentication", "none"]));
    let urls = servers.iter().map(|server| server.urls[0].as_str());
    let verified = run(["verify"].into_iter().chain(urls));
    verified
        .ended(1)
        .says("concurrent resumes")
        .says("failed")
        .says("skipped");
    run(["verify", "http://127.0.0.1:1"]).ended(3);
}
