//! The real engine, store and runtime in small scenarios, in every order of their calls: two nodes, one instance,
//! one death, one lost answer, leases that run out at any moment. And with bugs on purpose, each of which is found.
//!
//! The tier runs the use cases themselves over a table in memory; each call waits until the explorer grants it. A state that occurred
//! before (table, time, and all that each node has seen) is not explored again. Each scenario runs in both ways of committing: rows
//! together with the head, as by the embedded table, and before it, as by DynamoDB's. CI explores one kind of fault at a time;
//! `DORMOUSE_EXHAUSTIVE=wide` combines them. Queues and large states are not covered.
#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::type_complexity,
    clippy::too_many_lines,
    clippy::large_futures,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test fails with a sentence"
)]

#[path = "exhaustive/effects.rs"]
mod effects;
#[path = "exhaustive/explorer.rs"]
mod explorer;
#[path = "exhaustive/law.rs"]
mod law;
#[path = "exhaustive/meeting.rs"]
mod meeting;
#[path = "exhaustive/node.rs"]
mod node;
#[path = "exhaustive/plant.rs"]
mod plant;
#[path = "exhaustive/play.rs"]
mod play;
#[path = "exhaustive/resuming.rs"]
mod resuming;
#[path = "exhaustive/sound.rs"]
mod sound;
#[path = "exhaustive/starting.rs"]
mod starting;
#[path = "exhaustive/world.rs"]
mod world;

use std::time::Instant;

use explorer::{Scenario, explore};
use plant::Plant;

/// Each scenario in both ways of committing: rows together with the head, and before it.
fn holds(mut scenario: Scenario) {
    for commits_whole in [true, false] {
        scenario.shape.commits_whole = commits_whole;
        let begin = Instant::now();
        let found = explore(&scenario);
        let seconds = begin.elapsed().as_secs_f64();
        let how = if commits_whole {
            "with the head"
        } else {
            "row by row"
        };
        println!(
            "{}, {how}: {} runs, {} states, {} ends, {seconds:.1} s, {:?}",
            scenario.name, found.runs, found.states, found.ends, scenario.budget
        );
        if let Some((wrong, trace)) = found.broken {
            panic!("{}, {how}: {wrong:#?} after {trace:#?}", scenario.name);
        }
        // Fewer would mean that the clients did not meet at all.
        assert!(found.ends > 1 && found.states > 50, "{}", scenario.name);
    }
}

/// Says where a bug on purpose was found. `None`: it was not.
fn finds(plant: Plant, mut scenario: Scenario) -> Option<String> {
    scenario.shape.plant = plant;
    let found = explore(&scenario);
    let (wrong, trace) = found.broken?;
    let (runs, choices, what) = (found.runs, trace.len(), wrong.join("; "));
    Some(format!(
        "{plant:?} in run {runs} of “{}”, after {choices} choices: {what}",
        scenario.name
    ))
}

macro_rules! explored {
    ($($name:ident: $scenario:expr;)*) => {$(
        #[test]
        fn $name() {
            holds($scenario);
        }
    )*};
}

explored! {
    two_resumes_of_one_bookmark_wake_it_once: resuming::twice();
    a_resume_or_a_cancellation_wins_but_not_both: resuming::against_cancel();
    what_was_deleted_does_not_come_back: resuming::against_delete();
    an_event_and_its_bookmark_meet_in_every_order: meeting::crossing();
    an_event_meets_the_one_of_two_attempts_that_is_made: meeting::crossing_two_attempts();
    an_event_sent_twice_meets_its_bookmark_once: meeting::crossing_twice();
    an_event_delivered_in_the_background_meets_its_bookmark: meeting::crossing_in_background();
    of_two_events_for_one_bookmark_one_is_kept: meeting::two_events();
    one_event_sent_twice_counts_once: meeting::one_event_twice();
    two_starts_under_one_key_are_one: starting::under_one_key();
    of_two_starts_of_a_singleton_one_runs: starting::of_a_singleton();
    no_start_after_a_publish_uses_the_old_version: starting::while_publishing();
    a_sweep_beside_a_delivery_does_nothing_twice: effects::swept();
    a_parent_hears_of_its_childs_end_in_every_order: effects::awaited();
    a_timer_before_its_commit_is_visible_is_not_lost: effects::early_timer();
    a_late_commit_is_refused_after_its_attempt_was_fenced: effects::frozen_commit();
    two_firings_of_one_occurrence_are_one: effects::one_occurrence();
    a_call_that_is_cut_off_is_repeated_under_its_key: effects::call();
}

#[test]
fn every_bug_on_purpose_is_found() {
    let plants = [
        (Plant::NoFence, effects::frozen_commit()),
        (Plant::TornWrites, meeting::crossing()),
        (Plant::NoOutbox, effects::swept()),
        (Plant::NoClaims, starting::of_a_singleton()),
        (Plant::TrustsCache, starting::while_publishing()),
    ];
    let mut missed = Vec::new();
    for (plant, scenario) in plants {
        match finds(plant, scenario) {
            Some(found) => println!("{found}"),
            None => missed.push(plant),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}
