//! What each operation costs, by the meter: calls, and units as DynamoDB counts them.

use bytes::Bytes;
use dormouse_store::Tenant;
use dormouse_store::commit::{Commit, Committed, Consumed};
use dormouse_store::definition::VersionInfo;
use dormouse_store::lease::Acquired;
use dormouse_store::outbox::Effect;
use dormouse_store::publish::{Draft, Publication};
use dormouse_store::queued_stimulus::QueuedStimulus;
use dormouse_store::timer::Timer;
use dormouse_store::trigger::NewTrigger;

use crate::rig::{Cost, Rig, bookmark, commit, ending, event_bookmark, now, rig, rig_with};

/// A state and a journal as large as those of the small workflows that are most of all.
fn burst(state_bytes: usize, lines: usize) -> Commit {
    let journal = vec![Bytes::from("x".repeat(40)); lines];
    Commit {
        state: Bytes::from(vec![7; state_bytes]),
        journal,
        ..commit("")
    }
}

fn cost(calls: u64, writes: u64, index_writes: u64, reads: u64) -> Cost {
    Cost {
        calls,
        writes,
        index_writes,
        reads,
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
    now(rig.store.definition_head(&rig.tenant, "order")).unwrap();
    assert_eq!(rig.cost(), cost(1, 0, 0, 1));
    let mut done = burst(200, 4);
    done.summary.ended = true;
    rig.create("i", &done);
    assert_eq!(rig.cost(), cost(1, 1, 2, 0));
}

#[test]
fn a_start_that_waits_for_a_timer_or_an_event_is_one_atomic_write() {
    let rig = rig();
    let by_id = Commit {
        bookmarks_added: vec![bookmark("b")],
        ..burst(200, 4)
    };
    rig.create("timer-in-table", &by_id);
    assert_eq!(rig.cost(), cost(1, 1, 2, 0));
    rig.create(
        "timer",
        &Commit {
            effects: vec![effect()],
            ..by_id
        },
    );
    assert_eq!(rig.cost(), cost(1, 4, 2, 0));
    rig.create(
        "event",
        &Commit {
            bookmarks_added: vec![event_bookmark("b", "H")],
            ..burst(200, 4)
        },
    );
    assert_eq!(rig.cost(), cost(1, 4, 2, 0));
}

#[test]
fn a_resume_is_two_calls_and_its_lease_touches_no_index() {
    let rig = rig();
    rig.create(
        "i",
        &Commit {
            bookmarks_added: vec![bookmark("b")],
            ..burst(200, 4)
        },
    );
    rig.cost();
    let acquired = rig.try_acquire("i", "a", 2_000, Some(("b", 1)));
    let Acquired::Lease(mut lease) = acquired else {
        panic!("{acquired:?}")
    };
    assert_eq!(rig.cost(), cost(1, 1, 0, 0));
    let mut last = burst(200, 2);
    last.summary.ended = true;
    last.summary.status = "Finished".into();
    last.bookmarks_removed = vec!["b".into()];
    assert!(matches!(rig.commit(&mut lease, &last), Committed::Done(_)));
    assert_eq!(rig.cost(), cost(1, 1, 1, 0));
    // And the same message again.
    assert!(matches!(
        rig.try_acquire("i", "b", 2_001, Some(("b", 1))),
        Acquired::Ended(_)
    ));
    assert_eq!(rig.cost(), cost(1, 1, 0, 0));
}

#[test]
fn a_resume_by_an_event_is_two_calls_and_remembers_the_event_for_nothing() {
    let rig = rig();
    rig.create(
        "i",
        &Commit {
            bookmarks_added: vec![event_bookmark("b", "H")],
            ..burst(200, 4)
        },
    );
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.cost();
    let woken = Commit {
        bookmarks_removed: vec!["b".into()],
        event_id: Some("e".into()),
        ..burst(200, 2)
    };
    rig.commit(&mut lease, &woken);
    // The head, and the bookmark's row that is deleted.
    assert_eq!(rig.cost(), cost(1, 4, 0, 0));
}

#[test]
fn a_timer_in_the_table_and_a_queued_stimulus_ride_along() {
    let rig = rig();
    let timer = Timer {
        tenant: rig.tenant.clone(),
        id: "t".into(),
        due_ms: 9_000,
        body: Bytes::new(),
    };
    let queued = QueuedStimulus {
        id: "e".into(),
        hash: "H".into(),
        ..QueuedStimulus::default()
    };
    rig.create("i", &burst(200, 4));
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.cost();
    now(rig.store.queue_stimulus(&rig.tenant, &queued, None)).unwrap();
    // And that nobody has taken it before is checked in the same write.
    assert_eq!(rig.cost(), cost(1, 4, 1, 0));
    let both = Commit {
        consumed: Some(Consumed {
            hash: "H".into(),
            id: "e".into(),
        }),
        timers_set: vec![timer.set().unwrap()],
        ..burst(200, 2)
    };
    rig.commit(&mut lease, &both);
    // That it was taken is remembered too.
    assert_eq!(rig.cost(), cost(1, 8, 1, 0));
}

#[test]
fn a_large_state_costs_its_size_and_one_read_more() {
    let rig = rig_with(|config| config.compress_from = usize::MAX);
    rig.create("i", &burst(20_000, 5));
    assert_eq!(rig.cost(), cost(1, 42, 2, 0));
    let mut lease = rig.acquire("i", "a", 2_000);
    assert_eq!(rig.cost(), cost(2, 1, 0, 5));
    rig.commit(&mut lease, &burst(20_000, 1));
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
        assert_eq!(rig.cost(), cost(1, expected, 2, 0));
    }
}

#[test]
fn the_journal_is_moved_once_in_many_commits() {
    let rig = rig_with(|config| config.compress_from = usize::MAX);
    rig.create("i", &burst(200, 4));
    let (mut moves, mut writes) = (0, 0);
    for n in 0..40 {
        let mut lease = rig.acquire("i", "a", 2_000 + n);
        rig.cost();
        rig.commit(&mut lease, &burst(200, 2));
        let commit = rig.cost();
        assert_eq!(commit.calls, 1);
        moves += u64::from(commit.writes > 2);
        writes += commit.writes;
    }
    assert!((3..=5).contains(&moves), "{moves}");
    assert!(writes <= 2 * 40 + 4 * moves, "{writes}");
}

fn publish(rig: &Rig) {
    let info = VersionInfo {
        version: 1,
        version_id: "order:1".into(),
        ..VersionInfo::default()
    };
    let draft = Draft {
        definition_id: "order".into(),
        info,
        body: Bytes::from(vec![b' '; 5_000]),
        ..Draft::default()
    };
    let trigger = NewTrigger {
        hash: "H".into(),
        activity_id: "a".into(),
        ..NewTrigger::default()
    };
    let publication = Publication {
        draft,
        triggers: vec![trigger],
        ..Publication::default()
    };
    now(rig.store.publish(&rig.tenant, &publication)).unwrap();
}

#[test]
fn a_publish_is_one_query_and_one_atomic_write() {
    let rig = rig();
    publish(&rig);
    let first = rig.cost();
    assert_eq!((first.calls, first.writes, first.index_writes), (2, 10, 1));
}

#[test]
fn costs_do_not_rise_with_the_number_of_instances_and_versions() {
    let mut costs = Vec::new();
    for count in [1, 2_000] {
        let rig = rig();
        for n in 0..count {
            rig.create(&format!("other{n}"), &burst(200, 4));
        }
        rig.cost();
        rig.create(
            "i",
            &Commit {
                bookmarks_added: vec![event_bookmark("b", "H")],
                ..burst(200, 4)
            },
        );
        let mut lease = rig.acquire("i", "a", 2_000);
        rig.commit(&mut lease, &ending("end"));
        costs.push(rig.cost());
    }
    assert_eq!(costs[0], costs[1]);
}

#[test]
fn a_list_of_definitions_reads_their_summaries_and_nothing_else() {
    let rig = rig();
    let save = |tenant: &Tenant, count: usize, body_bytes: usize| {
        for n in 0..count {
            let draft = Draft {
                definition_id: format!("d{n}"),
                info: VersionInfo {
                    version: 1,
                    version_id: format!("{tenant}-d{n}-1"),
                    ..VersionInfo::default()
                },
                body: Bytes::from(vec![b' '; body_bytes]),
                ..Draft::default()
            };
            now(rig.store.save_draft(tenant, &draft)).unwrap();
        }
    };
    save(&rig.tenant, 100, 50_000);
    rig.cost();
    let found = now(rig.store.list_definitions(&rig.tenant)).unwrap();
    let alone = rig.cost();
    assert_eq!((found.len(), alone.calls), (100, 1));
    assert!(alone.reads <= 10, "{alone:?}");
    // Instances and other tenants' definitions, however many, are not looked at.
    save(&Tenant::new("other").unwrap(), 200, 10);
    for n in 0..200 {
        rig.create(&format!("i{n}"), &burst(200, 4));
    }
    rig.cost();
    now(rig.store.list_definitions(&rig.tenant)).unwrap();
    assert_eq!(rig.cost(), alone);
}
