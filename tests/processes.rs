//! Three servers, each a process of its own, over one DynamoDB-compatible table, itself a process: killed, paused,
//! stopped, started again, with clocks minutes apart, all under load. Nothing acknowledged is lost, nothing happens
//! twice, nothing is stuck. `DORMOUSE_SOAK_S` says how long each test makes trouble (8 s unless told).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails with a sentence"
)]

#[path = "processes/fleet.rs"]
mod fleet;

use std::time::{Duration, Instant};

use dormouse_tests::chance::Chance;
use dormouse_tests::database::serve_if_asked;
use dormouse_tests::faketime::Faketime;
use dormouse_tests::load::Load;
use dormouse_tests::soak;

use fleet::Fleet;

/// How many starts and resumes are under way at once.
const WORKERS: usize = 4;

/// How long a request waits for an answer before it is tried at another server.
const PATIENCE: Duration = Duration::from_secs(4);

#[test]
fn servers_that_are_killed_or_paused_lose_nothing_and_do_nothing_twice() {
    serve_if_asked();
    let mut fleet = Fleet::start(
        "servers_that_are_killed_or_paused_lose_nothing_and_do_nothing_twice",
        [&[], &[], &[]],
    );
    let load = Load::new(fleet.ports(), PATIENCE);
    load.publish();
    let (mut kills, mut pauses) = (0, 0);
    let mut chance = Chance::new();
    load.during(WORKERS, || {
        let begin = Instant::now();
        // Longer than a lease, so that others take over what the paused one still means to do.
        fleet.servers[0].pause();
        while begin.elapsed() < soak() || pauses == 0 {
            std::thread::sleep(Duration::from_millis(chance.between(200, 900)));
            // The first one is paused, so one of the others goes, and at times both.
            let victim = 1 + chance.below(2);
            fleet.servers[victim].kill();
            kills += 1;
            if chance.below(4) == 0 {
                fleet.servers[3 - victim].kill();
                fleet.servers[3 - victim].start_again();
                kills += 1;
            }
            fleet.servers[victim].start_again();
            if begin.elapsed() > Duration::from_secs(11) * (pauses + 1) {
                fleet.servers[0].go_on();
                pauses += 1;
                std::thread::sleep(Duration::from_millis(500));
                fleet.servers[0].pause();
            }
        }
        fleet.servers[0].go_on();
    });
    let outcome = load.outcome();
    println!("killed {kills}, paused beyond a lease {pauses}: {outcome}");
    outcome.is_clean(&fleet.log());
    assert!(outcome.started > 20, "too little load to say anything");
}

#[test]
fn servers_that_are_replaced_one_after_the_other_fail_no_request() {
    serve_if_asked();
    let mut fleet = Fleet::start(
        "servers_that_are_replaced_one_after_the_other_fail_no_request",
        [&[], &[], &[]],
    );
    let load = Load::new(fleet.ports(), PATIENCE);
    load.publish();
    let mut rounds = 0;
    load.during(WORKERS, || {
        let begin = Instant::now();
        while begin.elapsed() < soak() || rounds == 0 {
            for server in &mut fleet.servers {
                let status = server.stop();
                assert!(status.success(), "{status}; it wrote:\n{}", server.log());
                server.start_again();
            }
            rounds += 1;
        }
    });
    let outcome = load.outcome();
    println!("three servers replaced {rounds} times: {outcome}");
    outcome.is_clean(&fleet.log());
    assert!(outcome.started > 20, "too little load to say anything");
}

#[test]
fn a_database_that_is_killed_and_comes_back_is_gone_on_with() {
    serve_if_asked();
    let mut fleet = Fleet::start(
        "a_database_that_is_killed_and_comes_back_is_gone_on_with",
        [&[], &[], &[]],
    );
    // A table that refuses connections for a second is not the caller's fault, so some hear of it.
    let load = Load::new(fleet.ports(), PATIENCE);
    load.publish();
    let mut kills = 0;
    let mut chance = Chance::new();
    load.during(WORKERS, || {
        let begin = Instant::now();
        while begin.elapsed() < soak() {
            std::thread::sleep(Duration::from_millis(chance.between(300, 1_500)));
            fleet.database.kill();
            kills += 1;
            if kills == 1 {
                let mut client = fleet.servers[0].client(0);
                let mut status = |path| client.get(path).unwrap().status;
                assert_eq!(status("/health/live"), 200);
                assert_eq!(status("/health/ready"), 503);
            }
            std::thread::sleep(Duration::from_millis(chance.between(0, 1_500)));
            fleet.database.start_again();
        }
    });
    let outcome = load.outcome();
    println!("database killed {kills}: {outcome}");
    outcome.is_clean(&fleet.log());
    assert!(outcome.started > 20, "too little load to say anything");
}

#[test]
fn servers_whose_clocks_are_minutes_apart_lose_nothing_and_do_nothing_twice() {
    serve_if_asked();
    let Some(faketime) = Faketime::find() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let clocks = ["-60", "+120"].map(|shift| faketime.clock(folder.path(), shift));
    let [behind, ahead] = clocks.each_ref().map(|clock| clock.variables());
    let mut fleet = Fleet::start(
        "servers_whose_clocks_are_minutes_apart_lose_nothing_and_do_nothing_twice",
        [&behind, &ahead, &[]],
    );
    let load = Load::new(fleet.ports(), PATIENCE).with_wrong_clocks();
    load.publish();
    let mut kills = 0;
    load.during(WORKERS, || {
        let begin = Instant::now();
        while begin.elapsed() < soak() {
            std::thread::sleep(Duration::from_millis(1_000));
            // Whoever is ahead takes every lease for one that ran out, in the middle of a burst.
            fleet.servers[2].kill();
            kills += 1;
            fleet.servers[2].start_again();
        }
    });
    let outcome = load.outcome();
    println!(
        "one clock a minute behind, one two minutes ahead, the third server killed {kills}: {outcome}"
    );
    outcome.is_clean(&fleet.log());
    assert!(outcome.started > 20, "too little load to say anything");
}
