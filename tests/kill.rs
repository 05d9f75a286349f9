//! The real server killed with -9 at random moments under load: nothing acknowledged is lost, nothing happens twice,
//! nothing is stuck. `DORMOUSE_KILL_ROUNDS` says how often (20 unless told).
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::too_many_lines,
    clippy::indexing_slicing,
    reason = "a test fails with a sentence"
)]

#[path = "kill/activities.rs"]
mod activities;

use std::path::Path;
use std::time::Duration;

use dormouse_tests::load::Load;
use dormouse_tests::server::Server;

const BINARY: &str = env!("CARGO_BIN_EXE_dormouse");
const NODES: u16 = 3;
const WORKERS: usize = 6;

#[test]
fn what_was_acknowledged_survives_kill_9_and_happens_once() {
    let rounds: u32 = std::env::var("DORMOUSE_KILL_ROUNDS")
        .ok()
        .and_then(|r| r.parse().ok())
        .unwrap_or(20);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let args = ["--data", data.to_str().unwrap(), "--allow-private-egress"];
    let log = folder.path().join("server.log");
    let mut server = Server::start_with(Path::new(BINARY), &args, &[], &log, NODES);
    let ports = (0..NODES).map(|node| server.port + node);
    let load = Load::new(ports.collect(), Duration::from_secs(60));
    load.publish();
    load.during(WORKERS, || {
        // Which moment is hit is chance anyway; the pauses only have to differ.
        for round in 0..rounds {
            std::thread::sleep(Duration::from_millis(150 + u64::from(round * 7_919 % 450)));
            server.kill();
            server.start_again();
        }
    });
    let outcome = load.outcome();
    println!("rounds {rounds}, {outcome}");
    outcome.is_clean(&server.log());
    assert!(
        outcome.started > rounds as usize,
        "too little load to say anything: {}",
        outcome.started
    );
}
