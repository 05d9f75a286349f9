//! What each operation costs, by the meter: calls, and units as DynamoDB counts them.

use bytes::Bytes;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::lease::Opened;
use dormouse_store::instance::predecessor::Predecessor;
use dormouse_store::instance::uniqueness::Claim;
use dormouse_store::outbox::row::Effect;
use dormouse_store::stimulus::queued_stimulus::QueuedStimulus;
use dormouse_store::stimulus::timer::Timer;

use crate::cost_definitions::publish;
use crate::rig::{Cost, Rig, bookmark, commit, event_bookmark, now, rig, rig_with};

/// A state and a journal as large as those of the small workflows that are most of all.
pub(crate) fn burst(state_bytes: usize, lines: usize) -> Commit {
    let journal = vec![Bytes::from("x".repeat(40)); lines];
    Commit {
        state: Bytes::from(vec![7; state_bytes]),
        journal,
        ..commit("")
    }
}

pub(crate) fn cost(calls: u64, writes: u64, index_writes: u64, reads: u64) -> Cost {
    Cost {
        calls,
        writes,
        index_writes,
        reads,
    }
}

pub(crate) fn texts(calls: &[&str]) -> Vec<String> {
    calls.iter().map(|call| (*call).to_owned()).collect()
}

fn timer(rig: &Rig) -> Timer {
    Timer {
        tenant: rig.tenant.clone(),
        id: "t".into(),
        due_ms: 9_000,
        body: Bytes::new(),
    }
}

fn effect() -> Effect {
    Effect {
        id: "i/1/0".into(),
        body: Bytes::from(vec![7; 200]),
    }
}

#[test]
fn a_start_is_one_write_and_one_read() {
    let rig = rig();
    publish(&rig);
    rig.cost();
    now(rig
        .store
        .definitions()
        .definition_head(&rig.tenant, "order"))
    .unwrap();
    assert_eq!(rig.cost(), cost(1, 0, 0, 1));
    let mut done = burst(200, 4);
    done.summary.ended = true;
    rig.create("i", &done);
    assert_eq!(rig.cost(), cost(1, 1, 1, 0));
}

#[test]
fn a_start_that_waits_for_a_timer_or_an_event_is_single_writes_one_of_them_conditional() {
    let rig = rig();
    let by_id = || Commit {
        bookmarks_added: vec![bookmark("b")],
        ..burst(200, 4)
    };
    rig.calls();
    rig.create("direct", &by_id());
    assert_eq!(
        (rig.calls(), rig.cost()),
        (vec!["put if".into()], cost(1, 1, 1, 0))
    );
    rig.create(
        "timer",
        &Commit {
            timers_set: vec![rig.store.timers().timer_write(&timer(&rig)).unwrap()],
            ..by_id()
        },
    );
    assert_eq!(rig.calls(), ["put", "put if"]);
    assert_eq!(rig.cost(), cost(2, 2, 1, 0));
    rig.create(
        "effect",
        &Commit {
            effects: vec![effect()],
            ..by_id()
        },
    );
    assert_eq!(rig.calls(), ["put", "put if"]);
    assert_eq!(rig.cost(), cost(2, 2, 1, 0));
    let event = || Commit {
        bookmarks_added: vec![event_bookmark("b", "H")],
        ..burst(200, 4)
    };
    rig.create("event", &event());
    assert_eq!(rig.calls(), ["put", "put if"]);
    assert_eq!(rig.cost(), cost(2, 2, 1, 0));
    // In the embedded table the number of atomic writes counts.
    let whole = rig_with(|config| config.commits_whole = true);
    whole.create("event", &event());
    assert_eq!(whole.calls(), ["write 2"]);
}

#[test]
fn a_resume_is_one_read_and_one_conditional_write() {
    let rig = rig();
    rig.create(
        "i",
        &Commit {
            bookmarks_added: vec![bookmark("b")],
            ..burst(200, 4)
        },
    );
    rig.calls();
    rig.cost();
    let mut loaded = rig.open("i", 2_000);
    assert_eq!(rig.cost(), cost(1, 0, 0, 1));
    let mut last = burst(200, 2);
    last.summary.ended = true;
    last.summary.status = "Finished".into();
    last.bookmarks_removed = vec!["b".into()];
    let done = rig.commit(&mut loaded, &last);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(rig.cost(), cost(1, 1, 1, 0));
    assert_eq!(rig.calls(), ["get", "change if"]);
    // And the same message again.
    assert!(matches!(rig.try_open("i", 2_001), Opened::Ended(_)));
    assert_eq!(rig.cost(), cost(1, 0, 0, 1));
}

#[test]
fn a_resume_by_an_event_deletes_a_row_more_and_remembers_the_event_for_nothing() {
    for (whole, calls, expected) in [
        (false, &["get", "change if", "delete"][..], cost(3, 2, 0, 1)),
        (true, &["get", "write 2"][..], cost(2, 4, 0, 1)),
    ] {
        let rig = rig_with(|config| config.commits_whole = whole);
        rig.create(
            "i",
            &Commit {
                bookmarks_added: vec![event_bookmark("b", "H")],
                ..burst(200, 4)
            },
        );
        rig.calls();
        rig.cost();
        let mut loaded = rig.open("i", 2_000);
        let is_seen = now(rig.store.leases().has_seen_loaded(&loaded, "e")).unwrap();
        assert!(!is_seen);
        let woken = Commit {
            bookmarks_removed: vec!["b".into()],
            event_ids: vec!["e".into()],
            ..burst(200, 2)
        };
        rig.commit(&mut loaded, &woken);
        assert_eq!((rig.calls(), rig.cost()), (texts(calls), expected));
    }
}

#[test]
fn a_suspend_at_an_event_puts_its_row_and_changes_the_head() {
    for (whole, calls, expected) in [
        (false, &["get", "put", "change if"][..], cost(3, 2, 0, 1)),
        (true, &["get", "write 2"][..], cost(2, 4, 0, 1)),
    ] {
        let rig = rig_with(|config| config.commits_whole = whole);
        rig.create("i", &burst(200, 4));
        rig.calls();
        rig.cost();
        let mut loaded = rig.open("i", 2_000);
        let suspended = Commit {
            bookmarks_added: vec![event_bookmark("b", "H")],
            ..burst(200, 2)
        };
        rig.commit(&mut loaded, &suspended);
        assert_eq!((rig.calls(), rig.cost()), (texts(calls), expected));
    }
}

#[test]
fn a_lease_is_one_update_that_touches_no_index_and_reads_the_head_too() {
    let rig = rig();
    rig.create("i", &burst(200, 4));
    rig.calls();
    rig.cost();
    let mut loaded = rig.lease("i", "a", 2_000);
    assert_eq!(
        (rig.calls(), rig.cost()),
        (texts(&["update"]), cost(1, 1, 0, 0))
    );
    rig.commit(&mut loaded, &burst(200, 2));
    assert_eq!(
        (rig.calls(), rig.cost()),
        (texts(&["change if"]), cost(1, 1, 0, 0))
    );
}

#[test]
fn only_a_claim_or_a_consumed_stimulus_makes_a_commit_a_transaction() {
    let rig = rig();
    let queued = QueuedStimulus {
        id: "e".into(),
        hash: "H".into(),
        ..QueuedStimulus::default()
    };
    rig.create("i", &burst(200, 4));
    let mut loaded = rig.open("i", 2_000);
    rig.cost();
    now(rig
        .store
        .stimuli()
        .queue_stimulus(&rig.tenant, &queued, None))
    .unwrap();
    // And that nobody has taken it before is checked in the same write.
    assert_eq!(rig.cost(), cost(1, 4, 1, 0));
    rig.calls();
    let both = Commit {
        consumed: Some(queued.place()),
        timers_set: vec![rig.store.timers().timer_write(&timer(&rig)).unwrap()],
        ..burst(200, 2)
    };
    rig.commit(&mut loaded, &both);
    // The timer; then the head, the stimulus, and that it was taken.
    assert_eq!(rig.calls(), ["put", "write 3"]);
    assert_eq!(rig.cost(), cost(2, 7, 1, 0));
    let claims = [Claim::Definition("order".into())];
    let mut single = rig.blank("j", &claims, Predecessor::default());
    rig.commit(&mut single, &burst(200, 4));
    assert_eq!(
        (rig.calls(), rig.cost()),
        (texts(&["write 2"]), cost(1, 4, 1, 0))
    );
}

#[test]
fn a_judgement_is_one_read_and_a_fence_one_write_more() {
    let rig = rig();
    rig.create("i", &burst(200, 4));
    let stamp = rig.open("i", 2_000).stamp(1, 2_000);
    rig.calls();
    rig.cost();
    rig.judge("i", &stamp);
    assert_eq!(
        (rig.calls(), rig.cost()),
        (texts(&["get"]), cost(1, 0, 0, 1))
    );
    rig.fence("i", &stamp);
    assert_eq!(rig.calls(), ["get", "update"]);
    assert_eq!(rig.cost(), cost(2, 1, 0, 1));
}

#[test]
fn a_large_state_costs_its_size_and_one_read_more() {
    let rig = rig_with(|config| config.compress_from = usize::MAX);
    rig.create("i", &burst(20_000, 5));
    // The state at 20 KiB, put before the head at half of what it costs beside it.
    assert_eq!(rig.cost(), cost(2, 21, 1, 0));
    let mut loaded = rig.open("i", 2_000);
    assert_eq!(rig.cost(), cost(2, 0, 0, 6));
    rig.commit(&mut loaded, &burst(20_000, 1));
    assert_eq!(
        rig.cost(),
        cost(1, 1, 0, 0),
        "one that is as it was is not written"
    );
}

#[test]
fn compression_pays_for_itself() {
    let text = r#"{"activity":"WriteLine","status":"Completed","output":null},"#.repeat(80);
    for (compress_from, expected) in [(usize::MAX, 5), (1_024, 1)] {
        let rig = rig_with(|config| {
            config.compress_from = compress_from;
            config.state_inline_max = 10_000;
        });
        rig.create(
            "i",
            &Commit {
                journal: Vec::new(),
                ..commit(&text)
            },
        );
        assert_eq!(rig.cost(), cost(1, expected, 1, 0));
    }
}

#[test]
fn the_journal_is_moved_once_in_many_commits() {
    let rig = rig();
    rig.create("i", &burst(200, 4));
    let (mut moves, mut writes) = (0, 0);
    for n in 0..160 {
        let mut loaded = rig.open("i", 2_000 + n);
        rig.cost();
        rig.commit(&mut loaded, &burst(200, 2));
        let commit = rig.cost();
        let moved = commit.calls - 1;
        assert!(moved <= 1);
        moves += moved;
        writes += commit.writes;
    }
    assert!((3..=6).contains(&moves), "{moves}");
    assert!(writes <= 2 * 160 + 4 * moves, "{writes}");
}
