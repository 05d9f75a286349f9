//! The real engine, store and runtime in a simulated world: crashes, races, lost answers, late and doubled messages.
//!
//! `DORMOUSE_SIMULATION_S` says for how long to run fresh seeds, `DORMOUSE_SEED` from which on and `DORMOUSE_SEEDS` how
//! many; the same seed gives the same run. A seed that fails is made smaller and printed with its trace and with the
//! `DORMOUSE_PLAN` that runs it alone.
#![allow(
    clippy::type_complexity,
    clippy::too_many_lines,
    clippy::large_futures,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails with a sentence"
)]

#[path = "simulation/cluster.rs"]
mod cluster;
#[path = "simulation/corpus.rs"]
mod corpus;
#[path = "simulation/draw.rs"]
mod draw;
#[path = "simulation/drawn.rs"]
mod drawn;
#[path = "simulation/drivers.rs"]
mod drivers;
#[path = "simulation/fate.rs"]
mod fate;
#[path = "simulation/found.rs"]
mod found;
#[path = "simulation/gatherings.rs"]
mod gatherings;
#[path = "simulation/generator.rs"]
mod generator;
#[path = "simulation/hardness.rs"]
mod hardness;
#[path = "simulation/history.rs"]
mod history;
#[path = "simulation/index.rs"]
mod index;
#[path = "simulation/inspector.rs"]
mod inspector;
#[path = "simulation/ledger.rs"]
mod ledger;
#[path = "simulation/model.rs"]
mod model;
#[path = "simulation/node.rs"]
mod node;
#[path = "simulation/nodes.rs"]
mod nodes;
#[path = "simulation/operators.rs"]
mod operators;
#[path = "simulation/people.rs"]
mod people;
#[path = "simulation/plan.rs"]
mod plan;
#[path = "simulation/publishers.rs"]
mod publishers;
#[path = "simulation/queue.rs"]
mod queue;
#[path = "simulation/recipe.rs"]
mod recipe;
#[path = "simulation/rules.rs"]
mod rules;
#[path = "simulation/run.rs"]
mod run;
#[path = "simulation/sabotage.rs"]
mod sabotage;
#[path = "simulation/scheduler.rs"]
mod scheduler;
#[path = "simulation/search.rs"]
mod search;
#[path = "simulation/shrink.rs"]
mod shrink;
#[path = "simulation/sleep.rs"]
mod sleep;
#[path = "simulation/special.rs"]
mod special;
#[path = "simulation/spending.rs"]
mod spending;
#[path = "simulation/table.rs"]
mod table;
#[path = "simulation/watch.rs"]
mod watch;
#[path = "simulation/workshop.rs"]
mod workshop;
#[path = "simulation/world.rs"]
mod world;

use plan::{Plan, Size};
use run::run;
use sabotage::Sabotage;
use search::{Search, number};
use workshop::Workshop;

#[test]
fn every_promise_is_kept_whatever_goes_wrong() {
    if let Ok(text) = std::env::var("DORMOUSE_PLAN") {
        let plan: Plan = serde_json::from_str(&text).expect("a plan as a failing run prints it");
        let outcome = run(&mut Workshop::new(), &plan, None, true);
        outcome.trace.iter().for_each(|line| println!("{line}"));
        assert!(outcome.wrong.is_empty(), "{:#?}", outcome.wrong);
        return;
    }
    let report = Search::of_environment().go();
    println!("{report}");
    assert_eq!(report.failed, 0, "see the seeds above");
    assert!(
        report.given_up * 100 <= report.seeds,
        "too many runs took too long"
    );
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for size in [Size::Small, Size::Large] {
        for seed in 1..10 {
            let plan = Plan::draw(seed, size);
            let one = run(&mut Workshop::new(), &plan, None, true);
            let other = run(&mut Workshop::new(), &plan, None, true);
            assert_eq!(one.trace, other.trace, "seed {seed}");
            assert_eq!(one.hash, other.hash, "seed {seed}");
        }
    }
}

#[test]
fn every_planted_bug_is_found() {
    let most = number("DORMOUSE_BUG_SEEDS").unwrap_or(5_000);
    let only = std::env::var("DORMOUSE_BUG").ok();
    let mut missed = Vec::new();
    for bug in Sabotage::ALL {
        let name = format!("{bug:?}");
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        match search::first_failure(bug, most) {
            Some((seeds, wrong)) => println!("{name:<22} {seeds:>6} seeds: {wrong}"),
            None => missed.push(name),
        }
    }
    assert!(missed.is_empty(), "not found in {most} seeds: {missed:?}");
}
