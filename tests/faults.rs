//! One server over its data folder, and what the machine may do to it: freeze it, stop it, kill it in the middle of a
//! call, fill its disk, turn its clock. Nothing acknowledged is lost, nothing happens twice, nothing is stuck.
//! `DORMOUSE_SOAK_S` says how long each test makes trouble (8 s unless told).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails with a sentence"
)]

#[path = "faults/busy.rs"]
mod busy;
#[path = "faults/disk.rs"]
mod disk;

use std::path::Path;
use std::time::{Duration, Instant};

use dormouse_tests::api::{journal, look, publish, seen, start};
use dormouse_tests::chance::Chance;
use dormouse_tests::faketime::Faketime;
use dormouse_tests::load::Load;
use dormouse_tests::server::Server;
use dormouse_tests::sink::{Manners, Sink};
use dormouse_tests::{activity, soak, workflow};

const BINARY: &str = env!("CARGO_BIN_EXE_dormouse");
const NODES: u16 = 3;
const WORKERS: usize = 4;

/// How long a request waits for an answer before it is tried at another node.
const PATIENCE: Duration = Duration::from_secs(4);

fn server(folder: &Path, variables: &[(&str, &str)]) -> Server {
    let data = folder.join("data");
    let args = ["--data", data.to_str().unwrap(), "--allow-private-egress"];
    let log = folder.join("server.log");
    Server::start_with(Path::new(BINARY), &args, variables, &log, NODES)
}

fn load(server: &Server) -> Load {
    let ports = (0..NODES).map(|node| server.port + node);
    Load::new(ports.collect(), PATIENCE)
}

#[test]
fn a_server_that_is_frozen_stopped_and_killed_loses_nothing_and_does_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = server(folder.path(), &[]);
    let load = load(&server);
    load.publish();
    let (mut freezes, mut stops, mut kills) = (0, 0, 0);
    let mut chance = Chance::new();
    load.during(WORKERS, || {
        let begin = Instant::now();
        while begin.elapsed() < soak() {
            server.pause();
            // Longer than a lease: all of them have run out when it goes on.
            let long = if freezes == 0 { 5_500 } else { 300 };
            std::thread::sleep(Duration::from_millis(long));
            server.go_on();
            freezes += 1;
            std::thread::sleep(Duration::from_millis(chance.between(200, 800)));
            let status = server.stop();
            assert!(status.success(), "{status}; it wrote:\n{}", server.log());
            server.start_again();
            stops += 1;
            std::thread::sleep(Duration::from_millis(chance.between(200, 800)));
            server.kill();
            server.start_again();
            kills += 1;
        }
    });
    let outcome = load.outcome();
    println!("frozen {freezes}, stopped {stops}, killed {kills}: {outcome}");
    outcome.is_clean(&server.log());
    assert!(outcome.started > 20, "too little load to say anything");
}

#[test]
fn a_call_in_the_hands_of_a_killed_server_is_made_again_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = server(folder.path(), &[]);
    let sink = Sink::start_with(Manners::IgnoresTheFirst);
    let call = |name: &str| {
        activity("Elsa.SendHttpRequest")
            .id("call")
            .input("url", format!("{}/{name}", sink.url()).as_str())
            .input("method", "POST")
    };
    let mut client = server.client(0);
    for (name, root) in [
        ("burst", call("burst")),
        ("background", call("background").background()),
    ] {
        publish(&mut client, workflow(name, root).json());
    }
    let port = server.port;
    // It is answered when the call is, which is never.
    std::thread::spawn(move || {
        let mut client = dormouse_tests::http_client::Client::new(port);
        let _killed = start(&mut client, "burst", "k-burst");
    });
    let started = start(&mut client, "background", "k-background").unwrap();
    let background = seen(&started.json()["workflowState"]).id;
    for name in ["burst", "background"] {
        until(&server, || sink.calls(name).count == 1);
    }
    server.kill();
    server.start_again();
    let mut client = server.client(1);
    // Half of what the call's hold had left: without a word from the folder's lock it would last 110 s.
    until(&server, || {
        look(&mut client, &background)
            .unwrap()
            .is_some_and(|seen| seen.sub_status == "Finished")
    });
    let burst = start(&mut client, "burst", "k-burst").unwrap().json();
    let burst = seen(&burst["workflowState"]).id;
    until(&server, || {
        look(&mut client, &burst)
            .unwrap()
            .is_some_and(|seen| seen.sub_status == "Finished")
    });
    for (name, id) in [("burst", burst), ("background", background)] {
        let calls = sink.calls(name);
        assert_eq!(
            (calls.count, calls.keys),
            (2, 1),
            "{name}: the same call twice"
        );
        let lines = journal(&mut client, &id).unwrap();
        let completed =
            |l: &&serde_json::Value| l["activityId"] == "call" && l["eventName"] == "Completed";
        assert_eq!(lines.iter().filter(completed).count(), 1, "{lines:#?}");
    }
}

#[track_caller]
fn until(server: &Server, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(
            begin.elapsed() < Duration::from_secs(55),
            "{}",
            server.log()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_clock_that_jumps_back_and_forth_loses_nothing_and_repeats_nothing() {
    let Some(faketime) = Faketime::find() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let clock = faketime.clock(folder.path(), "+0");
    let mut server = server(folder.path(), &clock.variables());
    // A delay over a jump took as long as it should, but not by the clock that the journal's times are from.
    let load = load(&server).with_wrong_clocks();
    load.publish();
    let mut jumps = 0;
    load.during(WORKERS, || {
        let begin = Instant::now();
        while begin.elapsed() < soak() {
            for shift in ["+3600", "+600", "+7200", "+0"] {
                clock.set(shift);
                jumps += 1;
                std::thread::sleep(Duration::from_millis(1_200));
            }
            // A server that begins an hour before the last one ended has its outbox and its leases all the same.
            clock.set("+3600");
            std::thread::sleep(Duration::from_millis(1_200));
            server.kill();
            clock.set("+0");
            server.start_again();
            jumps += 2;
        }
        // What was to happen at a time happens when the clock says so, and by now it has said so.
        clock.set("+10000");
    });
    let outcome = load.outcome();
    println!("the clock jumped {jumps} times by up to two hours: {outcome}");
    outcome.is_clean(&server.log());
    assert!(outcome.started > 20, "too little load to say anything");
}
