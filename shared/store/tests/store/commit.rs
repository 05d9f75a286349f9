//! The commit: its head decides all of it, and nothing happens twice.

use bytes::Bytes;
use dormouse_store::definition::route::Route;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::idempotency::Answer;
use dormouse_store::instance::lease::Opened;
use dormouse_store::outbox::row::Effect;
use dormouse_store::stimulus::queued_stimulus::QueuedStimulus;
use dormouse_store::stimulus::recipients::Earlier;
use dormouse_store::stimulus::timer::Timer;

use crate::rig::{Rig, bookmark, commit, ending, event_bookmark, now, rig, rig_with};

fn effect(id: &str) -> Effect {
    Effect {
        id: id.into(),
        body: Bytes::from_static(b"do it"),
    }
}

/// A timer in the table.
fn timer(rig: &Rig, id: &str) -> Timer {
    Timer {
        tenant: rig.tenant.clone(),
        id: id.into(),
        due_ms: 5_000,
        body: Bytes::new(),
    }
}

fn due(rig: &Rig) -> Vec<Timer> {
    let shards = 0..rig.store.timers().timer_shards();
    let pages =
        shards.map(|shard| now(rig.store.timers().timers_due(shard, 9_999, 100, None)).unwrap());
    pages.flat_map(|page| page.timers).collect()
}

/// Both ways to write a commit: its rows before its head, and all at once.
fn rigs() -> [Rig; 2] {
    [rig(), rig_with(|config| config.commits_whole = true)]
}

#[test]
fn a_commit_writes_all_that_a_burst_has_done() {
    let expected = [
        &["put", "put", "put", "put", "change if", "delete"][..],
        &["write 6"][..],
    ];
    for (rig, expected) in rigs().into_iter().zip(expected) {
        rig.create(
            "i",
            &Commit {
                bookmarks_added: vec![event_bookmark("b0", "H0")],
                ..commit("s")
            },
        );
        let timer = timer(&rig, "i/b2");
        let mut loaded = rig.open("i", 2_000);
        rig.calls();
        let change = Commit {
            bookmarks_added: vec![event_bookmark("b1", "H1"), bookmark("b2")],
            bookmarks_removed: vec!["b0".into()],
            routes_added: vec![Route {
                template: "a/{id}".into(),
                method: "get".into(),
            }],
            effects: vec![effect("i/2/0")],
            timers_set: vec![rig.store.timers().timer_write(&timer).unwrap()],
            ..commit("t")
        };
        let stamp = loaded.stamp(change.attempt, change.now_ms);
        let done = rig.commit(&mut loaded, &change);
        assert_eq!(rig.calls(), expected);
        let Committed::Done(outbox) = done else {
            panic!("{done:?}")
        };
        assert_eq!(outbox.len(), 1);

        let head = rig.head("i");
        assert_eq!((head.commit, head.leased_until_ms), (2, None));
        assert!(head.bookmarks.keys().eq(["b1", "b2"]));
        assert!(rig.rows("H0").is_empty());
        let rows = rig.rows("H1");
        assert_eq!((rows.len(), rows[0].bookmark_id.as_str()), (1, "b1"));
        assert_eq!(rows[0].stamp, stamp);
        assert!(rig.is_open(&rows[0]));
        assert_eq!(due(&rig), [timer]);
        assert_eq!(
            now(rig.store.definitions().list_routes(&rig.tenant))
                .unwrap()
                .len(),
            1
        );
        assert_eq!(rig.state("i"), "t");
    }
}

#[test]
fn a_commit_under_an_old_fence_leaves_nothing_behind() {
    for rig in rigs() {
        rig.create("i", &commit("s"));
        let mut old = rig.lease("i", "old", 2_000);
        rig.lease("i", "new", 40_000);
        let before = rig.table.memory.items();
        let lost = rig.commit(
            &mut old,
            &Commit {
                bookmarks_added: vec![event_bookmark("b", "H")],
                effects: vec![effect("i/2/0")],
                timers_set: vec![rig.store.timers().timer_write(&timer(&rig, "t")).unwrap()],
                ..commit("t")
            },
        );
        assert!(matches!(lost, Committed::Lost(Some(_))), "{lost:?}");
        assert_eq!(rig.table.memory.items(), before);
    }
}

#[test]
fn the_end_closes_bookmarks_and_gives_everything_back() {
    for rig in rigs() {
        rig.create(
            "i",
            &Commit {
                bookmarks_added: vec![event_bookmark("b", "H"), bookmark("c")],
                ..commit("s")
            },
        );
        let mut loaded = rig.lease("i", "a", 2_000);
        // What a burst adds and ends with in one go is never open.
        rig.commit(
            &mut loaded,
            &Commit {
                bookmarks_added: vec![event_bookmark("d", "H")],
                ..ending("end")
            },
        );
        assert_eq!(rig.keys(), ["acme/WF#i HEAD"]);
        let head = rig.head("i");
        assert!(head.bookmarks.is_empty() && head.leased_until_ms.is_none());
        assert!(!loaded.is_leased());
    }
}

#[test]
fn a_burst_of_several_commits_keeps_its_lease_and_its_numbers() {
    let rig = rig();
    let keeping = |state: &str, outbox_done| Commit {
        keep_until_ms: Some(9_000),
        effects: vec![effect("continue")],
        outbox_done,
        ..commit(state)
    };
    let (mut loaded, mut rows) = rig.create("i", &keeping("1", Vec::new()));
    let busy = rig.try_open("i", 2_000);
    assert!(matches!(busy, Opened::Busy { until_ms: 9_000 }), "{busy:?}");
    let fence = loaded.head().fence;
    for n in 2..5 {
        assert_eq!((loaded.next_commit(), loaded.is_leased()), (n, true));
        let done = rig.commit(&mut loaded, &keeping(&n.to_string(), rows));
        let Committed::Done(written) = done else {
            panic!("{done:?}")
        };
        rows = written;
        let outbox = rig.keys().into_iter().filter(|key| key.contains("OUTBOX"));
        assert_eq!(outbox.count(), 1);
        assert_eq!(loaded.head().fence, fence, "its fence rises once");
    }
    rig.commit(
        &mut loaded,
        &Commit {
            outbox_done: rows,
            ..ending("5")
        },
    );
    assert_eq!(rig.keys(), ["acme/WF#i HEAD"]);
    assert_eq!(rig.journal("i").len(), 5);
}

#[test]
fn a_queued_stimulus_is_consumed_by_exactly_one_instance() {
    for rig in rigs() {
        let queued = QueuedStimulus {
            id: "e".into(),
            hash: "H".into(),
            ..QueuedStimulus::default()
        };
        let queue = || {
            now(rig
                .store
                .stimuli()
                .queue_stimulus(&rig.tenant, &queued, None))
            .unwrap()
        };
        assert_eq!(queue(), Earlier::None);
        assert_eq!(queue(), Earlier::Queued, "queued twice is queued once");
        let consuming = || Commit {
            consumed: Some(queued.place()),
            bookmarks_added: vec![event_bookmark("b", "B")],
            ..commit("woken")
        };
        for id in ["i", "j"] {
            rig.create(id, &commit("s"));
        }
        let (mut i, mut j) = (rig.open("i", 2_000), rig.open("j", 2_000));
        let done = rig.commit(&mut i, &consuming());
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
        let taken = rig.commit(&mut j, &consuming());
        assert!(matches!(taken, Committed::StimulusTaken), "{taken:?}");
        assert_eq!(rig.state("j"), "s");
        assert_eq!(rig.rows("B").len(), 1, "the loser's row is taken back");
        assert_eq!(queue(), Earlier::Taken);
        // Nothing happened to the instance, so the same burst may go on.
        let done = rig.commit(&mut j, &commit("t"));
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
    }
}

/// Resumes by an event as a caller does: it looks whether the event was seen, then commits.
fn resume_by_event(rig: &Rig, event: &str, now_ms: i64) -> Option<Committed> {
    let mut loaded = rig.open("i", now_ms);
    if now(rig.store.leases().has_seen_loaded(&loaded, event)).unwrap() {
        return None;
    }
    let woken = Commit {
        event_ids: vec![event.into()],
        now_ms,
        ..commit(event)
    };
    Some(rig.commit(&mut loaded, &woken))
}

#[test]
fn an_event_wakes_an_instance_once_however_many_came_between() {
    let rig = rig();
    rig.create("i", &commit("s"));
    for n in 0..20 {
        let woken = resume_by_event(&rig, &format!("e{n}"), 2_000 + n);
        assert!(matches!(woken, Some(Committed::Done(_))), "{n}: {woken:?}");
    }
    for n in 0..20 {
        let event = format!("e{n}");
        let again = resume_by_event(&rig, &event, 3_000 + n);
        assert!(again.is_none(), "{n}: {again:?}");
        assert!(now(rig.store.instances().has_seen(&rig.tenant, "i", &event)).unwrap());
    }
    assert!(!now(rig.store.instances().has_seen(&rig.tenant, "i", "other")).unwrap());
    assert_eq!(rig.journal("i").len(), 21);
}

#[test]
fn two_deliveries_of_an_event_at_once_make_one_commit() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let (mut one, mut two) = (rig.open("i", 2_000), rig.open("i", 2_000));
    for loaded in [&one, &two] {
        assert!(!now(rig.store.leases().has_seen_loaded(loaded, "e")).unwrap());
    }
    let woken = || Commit {
        event_ids: vec!["e".into()],
        ..commit("woken")
    };
    let done = rig.commit(&mut one, &woken());
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    let lost = rig.commit(&mut two, &woken());
    assert!(matches!(lost, Committed::Lost(Some(_))), "{lost:?}");
    assert!(resume_by_event(&rig, "e", 2_001).is_none());
}

#[test]
fn several_events_of_one_commit_are_all_seen() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.open("i", 2_000);
    let events: Vec<_> = (0..30).map(|n| format!("e{n}")).collect();
    let combined = Commit {
        event_ids: events.clone(),
        now_ms: 2_000,
        ..commit("t")
    };
    rig.commit(&mut loaded, &combined);
    resume_by_event(&rig, "last", 2_001);
    for event in &events {
        assert!(resume_by_event(&rig, event, 3_000).is_none(), "{event}");
    }
}

#[test]
fn an_answer_is_given_once_and_its_repeat_gets_the_first() {
    let rig = rig();
    let answer = |text: &'static str| Answer {
        key: "k".into(),
        expires_ms: 90_000,
        request: Bytes::from_static(b"digest"),
        answer: Bytes::from_static(text.as_bytes()),
    };
    let put = |text, now_ms| {
        now(rig
            .store
            .instances()
            .put_answer(&rig.tenant, &answer(text), now_ms))
        .unwrap()
    };
    let get = |now_ms| now(rig.store.instances().answer(&rig.tenant, "k", now_ms)).unwrap();
    assert_eq!(put("first", 1_000), None);
    assert_eq!(put("second", 3_000), Some(answer("first")));
    assert_eq!(get(90_000), Some(answer("first")));
    assert_eq!(get(90_001), None);
    assert_eq!(
        put("third", 90_001),
        None,
        "one that has expired is replaced"
    );
    assert_eq!(put("fourth", 2_000), Some(answer("third")));
}

#[test]
fn the_place_in_the_lists_does_not_move() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.open("i", 2_000);
    let mut moved = commit("t");
    moved.summary.created_ms = 7;
    rig.commit(&mut loaded, &moved);
    assert_eq!(rig.head("i").summary.created_ms, 1_000);
}

#[test]
fn what_is_taken_away_and_given_anew_in_one_commit_is_there() {
    for rig in rigs() {
        let timer = timer(&rig, "t");
        let set = rig.store.timers().timer_write(&timer).unwrap();
        let first = Commit {
            bookmarks_added: vec![event_bookmark("b", "H"), event_bookmark("c", "H")],
            timers_set: vec![set.clone()],
            ..commit("s")
        };
        rig.create("i", &first);
        let mut loaded = rig.open("i", 2_000);
        let again = Commit {
            bookmarks_removed: vec!["b".into(), "c".into()],
            bookmarks_added: vec![event_bookmark("b", "H"), event_bookmark("c", "other")],
            timers_cleared: vec![rig.store.timers().timer_clearing(&timer).unwrap()],
            timers_set: vec![set],
            ..commit("t")
        };
        let done = rig.commit(&mut loaded, &again);
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
        for (hash, id) in [("H", "b"), ("other", "c")] {
            let rows = rig.rows(hash);
            assert_eq!((rows.len(), rows[0].bookmark_id.as_str()), (1, id));
            assert!(rig.is_open(&rows[0]));
        }
        assert_eq!(due(&rig), [timer]);
    }
}
