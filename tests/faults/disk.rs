//! Disks that are full: by the server's own limit, by the file system's, by the operating system's for one process.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dormouse_tests::api::{complete_task, journal, look, publish, seen};
use dormouse_tests::chance::Chance;
use dormouse_tests::flow::flow;
use dormouse_tests::http_client::Client;
use dormouse_tests::primitives::{delay, set, task};
use dormouse_tests::server::Server;
use dormouse_tests::{js, workflow};
use serde_json::json;

use super::{BINARY, until};

/// How many instances sleep while the disk fills up, and are due while it is full.
const SLEEPERS: usize = 40;

/// How long a disk stays full after the sleepers are due: timers are tried many times.
const FULL: Duration = Duration::from_secs(6);

/// What an instance carries with it, in bytes.
const LOAD_BYTES: usize = 100_000;

/// What was acknowledged before the disk was full.
struct Kept {
    /// Instances that wait for a task, with its id.
    waiting: Vec<(String, String)>,
    /// Instances that sleep, and mean to wake up meanwhile.
    sleeping: Vec<String>,
    /// The status of the first start that was refused.
    status: u16,
}

/// Starts instances that carry much until one is refused.
fn fill(client: &mut Client) -> Kept {
    publish(
        client,
        workflow(
            "heavy",
            flow(
                "keep > work > after",
                [
                    set("load", js("getInput('Load')")).id("keep"),
                    task("work").id("work"),
                ],
            ),
        )
        .variable("load", "String", "")
        .json(),
    );
    publish(
        client,
        workflow(
            "sleeper",
            flow("sleep > awake", [delay("00:00:02").id("sleep")]),
        )
        .json(),
    );
    let mut chance = Chance::new();
    let path = |name: &str| format!("/elsa/api/workflow-definitions/{name}/execute");
    let mut kept = Kept {
        waiting: Vec::new(),
        sleeping: Vec::new(),
        status: 0,
    };
    for _ in 0..SLEEPERS {
        let response = client.post(&path("sleeper"), &json!({})).unwrap();
        kept.sleeping
            .push(seen(&response.json()["workflowState"]).id);
    }
    for number in 0..500 {
        // Nothing that could be made smaller.
        let digits =
            (0..LOAD_BYTES).map(|_| char::from(b'!' + u8::try_from(chance.below(90)).unwrap()));
        let load: String = digits.filter(|c| !matches!(c, '"' | '\\')).collect();
        let body = json!({ "input": { "Load": load } });
        let response = client
            .post_once(&path("heavy"), &format!("heavy-{number}"), &body)
            .unwrap();
        if !response.is_success() {
            kept.status = response.status;
            return kept;
        }
        let state = seen(&response.json()["workflowState"]);
        let task = format!("{}.{}", state.id, state.bookmarks[0]);
        kept.waiting.push((state.id, task));
    }
    panic!("500 instances fit all the same");
}

/// Everything that was acknowledged goes on to its end, once.
fn goes_on(server: &Server, kept: &Kept) {
    let mut client = server.client(0);
    for (_, task) in &kept.waiting {
        until(server, || {
            complete_task(&mut client, task).unwrap().is_success()
        });
    }
    let waited = kept.waiting.iter().map(|(id, _)| (id, "work"));
    let slept = kept.sleeping.iter().map(|id| (id, "sleep"));
    for (id, activity) in waited.chain(slept) {
        until(server, || {
            let seen = look(&mut client, id).unwrap();
            seen.expect("it was acknowledged").sub_status == "Finished"
        });
        let lines = journal(&mut client, id).unwrap();
        for event in ["Started", "Resumed", "Completed"] {
            let is_it =
                |l: &&serde_json::Value| l["activityId"] == activity && l["eventName"] == event;
            assert_eq!(
                lines.iter().filter(is_it).count(),
                1,
                "{id} {activity} {event}: {lines:#?}"
            );
        }
    }
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

fn serve(binary: &Path, data: &Path, log: &Path, more: &[&str]) -> Server {
    let args = [&["--data", data.to_str().unwrap()], more].concat();
    Server::start_with(binary, &args, &[], log, 1)
}

#[test]
fn a_table_at_its_limit_refuses_what_it_cannot_keep_and_goes_on_with_a_higher_one() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("server.log"));
    let binary = Path::new(BINARY);
    let mut server = serve(binary, &data, &log, &["--max-data-mb", "6"]);
    let kept = fill(&mut server.client(0));
    assert_eq!(kept.status, 507);
    server.kill();
    let server = serve(binary, &data, &log, &[]);
    goes_on(&server, &kept);
}

#[test]
fn a_full_disk_refuses_what_it_cannot_keep_and_there_is_no_need_to_restart() {
    let Some(disk) = Disk::mount("size=16m") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let ballast = disk.0.join("ballast");
    fs::write(&ballast, vec![7; 8 << 20]).unwrap();
    let log = folder.path().join("server.log");
    let server = serve(Path::new(BINARY), &disk.0.join("data"), &log, &[]);
    let kept = fill(&mut server.client(0));
    assert_eq!(kept.status, 507);
    let mut monitor = server.client(0);
    let is_full = |monitor: &mut Client| {
        let ready = monitor.get("/health/ready").unwrap();
        assert!(monitor.get("/health/live").unwrap().is_success());
        let is_full = ready.status == 503;
        assert!(is_full || ready.is_success(), "{}", ready.status);
        assert!(!is_full || String::from_utf8_lossy(&ready.body).contains("the disk is full"));
        is_full
    };
    let begin = Instant::now();
    while begin.elapsed() < FULL {
        assert!(is_full(&mut monitor));
        std::thread::sleep(Duration::from_millis(200));
    }
    fs::remove_file(&ballast).unwrap();
    until(&server, || !is_full(&mut monitor));
    goes_on(&server, &kept);
    assert!(
        !server.log().contains("dead letter"),
        "a timer was given up because the disk was full"
    );
}

#[test]
fn a_file_that_may_not_grow_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("server.log"));
    // The limit is in blocks of 512 bytes. Beyond it a write fails as if the disk were broken.
    let limited = folder.path().join("limited");
    let script = format!("#!/bin/sh\ntrap '' XFSZ\nulimit -f 8000\nexec '{BINARY}' \"$@\"\n");
    fs::write(&limited, script).unwrap();
    fs::set_permissions(&limited, fs::Permissions::from_mode(0o755)).unwrap();
    let mut server = serve(&limited, &data, &log, &[]);
    let kept = fill(&mut server.client(0));
    assert!(kept.status >= 500, "{}", kept.status);
    std::thread::sleep(FULL);
    server.kill();
    let server = serve(Path::new(BINARY), &data, &log, &[]);
    goes_on(&server, &kept);
}

#[test]
fn a_disk_that_can_only_be_read_is_told_before_anything_begins() {
    let Some(disk) = Disk::mount("size=1m,ro") else {
        return;
    };
    let data = disk.0.join("data");
    let served = Command::new(BINARY)
        .args(["serve", "--port", "0", "--data", data.to_str().unwrap()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&served.stderr);
    assert_eq!(served.status.code(), Some(6), "{said}");
    assert!(said.contains("cannot create the data folder"), "{said}");
    assert!(said.contains("choose another folder"), "{said}");
}

/// A small file system of the test's own, in memory. Unmounted when it is dropped.
struct Disk(PathBuf);

impl Disk {
    /// `None`, after a loud word, where this user may not mount.
    fn mount(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap().keep();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "dormouse-test"])
            .arg(&folder)
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        fs::remove_dir(&folder).unwrap();
        eprintln!("SKIPPED: this user may not mount a small file system to fill");
        None
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Whoever still has a file open there keeps it alive until then.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
        let _ = fs::remove_dir(&self.0);
    }
}
