//! Random stimuli, and what is left after them.

use std::sync::OnceLock;

use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::Start;
use dormouse_engine::step::Stimulus;
use dormouse_expressions::{Expressions, Limits};
use dormouse_tests::scenario::entries;
use dormouse_tests::{Host, Workflow};
use proptest::prelude::*;
use serde_json::json;

use super::definitions::others;

/// Something that happens to an instance.
#[derive(Debug, Clone)]
pub(crate) enum Move {
    /// One of its bookmarks is resumed.
    Resume(usize),
    /// A bookmark that was resumed before is resumed again.
    Again(usize),
    /// An event happens.
    Event(&'static str),
    /// Time passes, in seconds.
    Wait(i64),
    /// An activity is cancelled.
    CancelActivity(&'static str),
    /// What has failed is tried again.
    Retry,
    /// It is told to go on, though it waits.
    Continue,
    /// It is cancelled.
    Cancel,
}

/// A random move.
pub(crate) fn moves() -> impl Strategy<Value = Vec<Move>> {
    let name = prop::sample::select(vec!["A", "B", "C"]);
    let one = prop_oneof![
        6 => (0_usize..4).prop_map(Move::Resume),
        1 => (0_usize..4).prop_map(Move::Again),
        3 => name.clone().prop_map(Move::Event),
        3 => (0_i64..40).prop_map(Move::Wait),
        1 => prop::sample::select(vec!["n0", "n1", "A", "Sequence1"]).prop_map(Move::CancelActivity),
        1 => Just(Move::Retry),
        1 => Just(Move::Continue),
        1 => Just(Move::Cancel),
    ];
    prop::collection::vec(one, 0..10)
}

/// A host that knows the workflow and those it uses, with limits that a random loop reaches soon.
pub(crate) fn host(workflow: &Workflow) -> Host {
    let mut host = Host::default();
    host.add(workflow.json());
    for other in others() {
        host.add(other.json());
    }
    host.expressions = Expressions::new(Limits {
        steps_max: 20,
        ..Limits::default()
    });
    host.limits.burst_activities_max = 300;
    host.limits.contexts_max = 200;
    host
}

/// Starts an instance and makes the moves.
pub(crate) fn play(host: &mut Host, moves: &[Move], has_tokens: bool) -> InstanceId {
    let mode = if has_tokens {
        "TokenBased"
    } else {
        "CounterBased"
    };
    let properties = entries(json!({ "Flowchart:ExecutionMode": mode }));
    let start = Start {
        properties,
        input: entries(json!({ "In": 1 })),
        ..Start::default()
    };
    let id = host.start("main", start).unwrap();
    let mut resumed = Vec::new();
    for one in moves {
        make(host, &id, one, &mut resumed);
    }
    id
}

fn make(host: &mut Host, id: &InstanceId, one: &Move, resumed: &mut Vec<Stimulus>) {
    let stimulus = match one {
        Move::Resume(place) => {
            let bookmarks = host.bookmarks(id);
            let Some(bookmark) = bookmarks.get(place % bookmarks.len().max(1)) else {
                return;
            };
            let input = entries(json!({ "Payload": { "a": 1 }, "Result": "done" }));
            let stimulus = Stimulus::Resume {
                bookmark: bookmark.id.clone(),
                input,
            };
            resumed.push(stimulus.clone());
            stimulus
        }
        Move::Again(place) => match resumed.get(place % resumed.len().max(1)) {
            Some(stimulus) => stimulus.clone(),
            None => return,
        },
        Move::Event(name) => return host.publish_event(name, json!({ "a": 1 })),
        Move::Wait(seconds) => return host.advance_ms(seconds * 1_000),
        Move::CancelActivity(activity_id) => Stimulus::CancelActivity {
            activity_id: (*activity_id).to_owned(),
        },
        Move::Retry => Stimulus::Retry {
            activity_ids: Vec::new(),
        },
        Move::Continue => Stimulus::Continue,
        Move::Cancel => Stimulus::Cancel,
    };
    host.step(id, stimulus);
}

/// How many random cases a law is tried on: 64, or `DORMOUSE_CASES`.
pub(crate) fn config() -> ProptestConfig {
    static CASES: OnceLock<u32> = OnceLock::new();
    let cases = *CASES.get_or_init(|| {
        let given = std::env::var("DORMOUSE_CASES").ok();
        given.and_then(|text| text.parse().ok()).unwrap_or(64)
    });
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}
