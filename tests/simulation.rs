//! The real engine, store and runtime in a simulated world: crashes, races, lost answers, late and doubled messages.
//!
//! `DORMOUSE_SEEDS` says how many seeds to run, `DORMOUSE_SEED` from which on; the same seed gives the same run.
//! A seed that fails prints how to run it alone with its trace (`DORMOUSE_TRACE=1`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test fails with a sentence"
)]

#[path = "simulation/check.rs"]
mod check;
#[path = "simulation/cluster.rs"]
mod cluster;
#[path = "simulation/load.rs"]
mod load;
#[path = "simulation/ports.rs"]
mod ports;
#[path = "simulation/world.rs"]
mod world;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use cluster::{Cluster, Shape};
use dormouse_expressions::Expressions;
use world::{Faults, Owner, World};

/// What one seed gave.
struct Outcome {
    wrong: Vec<String>,
    hash: u64,
    calls: u64,
    crashes: u64,
    trace: Vec<String>,
}

fn run(seed: u64, expressions: &Arc<Expressions>, is_traced: bool) -> Outcome {
    let world = World::new(seed, Faults::default(), is_traced);
    let shape = Shape {
        nodes: 2 + usize::try_from(world.below(2)).unwrap(),
        has_queue: world.chance(500),
    };
    let cluster = Cluster::new(world.clone(), shape, expressions.clone());
    until_done(&world, {
        let cluster = cluster.clone();
        async move { load::publish(&cluster).await }
    });
    let skew_ms = if world.chance(300) { 120_000 } else { 0 };
    world.set_faults(faults(&world, skew_ms));
    cluster.drive();
    let ledger = load::Ledger::default();
    let left = load::begin(&cluster, &ledger, 2 + world.below(5));
    world.run(|| *left.lock().unwrap() == 0);
    // The storm is over: what is left must come to rest by itself, within a few sweeps.
    world.set_faults(Faults::default());
    for number in 0..shape.nodes {
        if world.is_dead(number) {
            cluster.restart(number);
        }
    }
    // A sweep a minute; what is not at rest after ten of them never will be.
    for _ in 0..10 {
        let sweep = world.now_ms() + 61_000;
        world.run(|| world.now_ms() >= sweep);
        if cluster.is_at_rest() {
            break;
        }
    }
    let wrong = Arc::new(Mutex::new(Vec::new()));
    until_done(&world, {
        let (cluster, wrong) = (cluster.clone(), wrong.clone());
        async move {
            let found = check::check(&cluster, &ledger, skew_ms).await;
            wrong.lock().unwrap().extend(found);
        }
    });
    let (calls, crashes) = world.counts();
    let wrong = std::mem::take(&mut *wrong.lock().unwrap());
    Outcome {
        wrong,
        hash: world.hash(),
        calls,
        crashes,
        trace: world.trace(),
    }
}

/// What goes wrong in this run: some runs are calm, some are wild.
fn faults(world: &World, skew_ms: i64) -> Faults {
    let scale = [0, 5, 20, 60][usize::try_from(world.below(4)).unwrap()];
    Faults {
        refused: world.below(scale + 1),
        lost: world.below(scale + 1),
        slow: world.below(scale * 2 + 1),
        crash: world.below(scale / 2 + 1),
        twice: world.below(scale * 5 + 1),
        skew_ms,
    }
}

fn until_done(world: &World, work: impl Future<Output = ()> + Send + 'static) {
    let is_done = Arc::new(Mutex::new(false));
    let flag = is_done.clone();
    world.spawn(Owner::Outside, async move {
        work.await;
        *flag.lock().unwrap() = true;
    });
    world.run(|| *is_done.lock().unwrap());
    assert!(*is_done.lock().unwrap(), "nothing can go on any more");
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn every_promise_is_kept_whatever_goes_wrong() {
    let is_traced = std::env::var_os("DORMOUSE_TRACE").is_some();
    let count = number("DORMOUSE_SEEDS").unwrap_or(500);
    // A fresh range each time, so that each run looks where none has looked.
    let first = number("DORMOUSE_SEED").unwrap_or_else(|| {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap();
        since.as_secs() * 1_000_000
    });
    let expressions = Arc::new(Expressions::default());
    let begin = Instant::now();
    let (mut calls, mut crashes, mut failed) = (0, 0, 0);
    for seed in first..first + count {
        let outcome = run(seed, &expressions, is_traced);
        calls += outcome.calls;
        crashes += outcome.crashes;
        if !outcome.wrong.is_empty() {
            failed += 1;
            println!("seed {seed}: {:#?}", outcome.wrong);
            println!(
                "DORMOUSE_SEED={seed} DORMOUSE_SEEDS=1 DORMOUSE_TRACE=1 cargo test -p dormouse-tests --test simulation"
            );
            outcome.trace.iter().for_each(|line| println!("{line}"));
        }
        assert!(
            failed < 5,
            "five seeds of {} failed; enough to look at",
            seed - first + 1
        );
    }
    let seconds = begin.elapsed().as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = count as f64 / seconds;
    println!(
        "{count} seeds from {first}: {calls} port calls, {crashes} deaths of nodes, {rate:.0} seeds/s, failed {failed}"
    );
    assert_eq!(failed, 0);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let expressions = Arc::new(Expressions::default());
    for seed in 1..20 {
        let (one, other) = (run(seed, &expressions, true), run(seed, &expressions, true));
        assert_eq!(one.trace, other.trace, "seed {seed}");
        assert_eq!(
            (one.hash, one.calls),
            (other.hash, other.calls),
            "seed {seed}"
        );
    }
}
