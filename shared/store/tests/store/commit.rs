//! The commit: all of it or nothing, and nothing twice.

use std::collections::BTreeSet;

use bytes::Bytes;
use dormouse_store::addressees::Earlier;
use dormouse_store::commit::{Commit, Committed, Consumed};
use dormouse_store::idempotency::Answer;
use dormouse_store::lease::{Acquire, Acquired};
use dormouse_store::outbox::Effect;
use dormouse_store::queued_stimulus::QueuedStimulus;
use dormouse_store::route::Route;
use dormouse_store::timer::Timer;

use crate::rig::{Rig, bookmark, commit, ending, event_bookmark, now, rig};

fn effect(id: &str) -> Effect {
    Effect {
        id: id.into(),
        body: Bytes::from_static(b"do it"),
    }
}

#[test]
fn a_commit_writes_all_that_a_burst_has_done_at_once() {
    let rig = rig();
    rig.create(
        "i",
        &Commit {
            bookmarks_added: vec![event_bookmark("b0", "H0")],
            ..commit("s")
        },
    );
    let timer = Timer {
        tenant: rig.tenant.clone(),
        id: "i/b2".into(),
        due_ms: 5_000,
        body: Bytes::new(),
    };
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.calls();
    let done = rig.commit(
        &mut lease,
        &Commit {
            bookmarks_added: vec![event_bookmark("b1", "H1"), bookmark("b2")],
            bookmarks_removed: vec!["b0".into()],
            routes_added: vec![Route {
                template: "a/{id}".into(),
                method: "get".into(),
            }],
            effects: vec![effect("i/2/0")],
            timers_set: vec![timer.set().unwrap()],
            ..commit("t")
        },
    );
    assert_eq!(rig.calls(), ["write 6"]);
    let Committed::Done(outbox) = done else {
        panic!("{done:?}")
    };
    assert_eq!(outbox.len(), 1);

    let head = now(rig.store.instance(&rig.tenant, "i")).unwrap().unwrap();
    assert_eq!(head.commit, 2);
    assert_eq!(head.leased_until_ms, None);
    assert_eq!(
        head.bookmarks,
        BTreeSet::from(["b1".to_owned(), "b2".to_owned()])
    );
    assert!(
        now(rig.store.stimuli(&rig.tenant, "H0", None))
            .unwrap()
            .bookmarks
            .is_empty()
    );
    let waiting = now(rig.store.stimuli(&rig.tenant, "H1", None))
        .unwrap()
        .bookmarks;
    assert_eq!(
        (waiting[0].bookmark_id.as_str(), waiting[0].commit),
        ("b1", 2)
    );
    assert_eq!(now(rig.store.timers_due(5_000, 10)).unwrap(), [timer]);
    assert_eq!(now(rig.store.list_routes(&rig.tenant)).unwrap().len(), 1);
    assert_eq!(rig.state("i"), "t");
}

#[test]
fn a_commit_under_an_old_fence_leaves_nothing_behind() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut old = rig.acquire("i", "old", 2_000);
    rig.acquire("i", "new", 40_000);
    let before = rig.table.memory.items();
    let lost = rig.commit(
        &mut old,
        &Commit {
            bookmarks_added: vec![event_bookmark("b", "H")],
            effects: vec![effect("i/2/0")],
            ..commit("t")
        },
    );
    assert!(matches!(lost, Committed::Lost(_)));
    assert_eq!(rig.table.memory.items(), before);
}

#[test]
fn the_end_closes_bookmarks_and_gives_everything_back() {
    let rig = rig();
    rig.create(
        "i",
        &Commit {
            bookmarks_added: vec![event_bookmark("b", "H"), bookmark("c")],
            ..commit("s")
        },
    );
    let mut lease = rig.acquire("i", "a", 2_000);
    // What a burst adds and ends with in one go is never open.
    rig.commit(
        &mut lease,
        &Commit {
            bookmarks_added: vec![event_bookmark("d", "H")],
            ..ending("end")
        },
    );
    assert_eq!(rig.keys(), ["acme/WF#i HEAD"]);
    let head = now(rig.store.instance(&rig.tenant, "i")).unwrap().unwrap();
    assert!(head.bookmarks.is_empty() && head.leased_until_ms.is_none());
}

#[test]
fn a_burst_of_several_commits_keeps_its_lease_and_its_numbers() {
    let rig = rig();
    let (mut lease, first) = rig.create(
        "i",
        &Commit {
            keep_until_ms: Some(9_000),
            effects: vec![effect("continue")],
            ..commit("1")
        },
    );
    assert!(matches!(
        rig.try_acquire("i", "b", 2_000, None),
        Acquired::Busy { .. }
    ));
    let mut rows = first;
    for n in 2..5 {
        assert_eq!(lease.next_commit(), n);
        let done = rig.commit(
            &mut lease,
            &Commit {
                keep_until_ms: Some(9_000),
                effects: vec![effect("continue")],
                outbox_done: rows,
                ..commit(&n.to_string())
            },
        );
        let Committed::Done(written) = done else {
            panic!("{done:?}")
        };
        rows = written;
        assert_eq!(
            rig.keys()
                .iter()
                .filter(|key| key.contains("OUTBOX"))
                .count(),
            1
        );
    }
    rig.commit(
        &mut lease,
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
    let rig = rig();
    let queued = QueuedStimulus {
        id: "e".into(),
        hash: "H".into(),
        ..QueuedStimulus::default()
    };
    let queue = || now(rig.store.queue_stimulus(&rig.tenant, &queued, None)).unwrap();
    assert_eq!(queue(), Earlier::None);
    assert_eq!(queue(), Earlier::Queued, "queued twice is queued once");
    let consuming = Commit {
        consumed: Some(Consumed {
            hash: "H".into(),
            id: "e".into(),
        }),
        ..commit("woken")
    };
    for id in ["i", "j"] {
        rig.create(id, &commit("s"));
    }
    let mut i = rig.acquire("i", "a", 2_000);
    let mut j = rig.acquire("j", "a", 2_000);
    assert!(matches!(rig.commit(&mut i, &consuming), Committed::Done(_)));
    assert!(matches!(
        rig.commit(&mut j, &consuming),
        Committed::StimulusTaken
    ));
    assert_eq!(rig.state("j"), "s");
    now(rig.store.release(&mut j)).unwrap();
    rig.acquire("j", "b", 2_001);
}

fn resume_by_event(rig: &Rig, event: &str, now_ms: i64) -> Result<Committed, Acquired> {
    let acquire = Acquire {
        instance_id: "i",
        owner: "a",
        now_ms,
        until_ms: now_ms + 9,
        wanted: None,
        reopens: false,
        event_id: Some(event),
    };
    match now(rig.store.acquire(&rig.tenant, &acquire)).unwrap() {
        Acquired::Lease(mut lease) => {
            let committed = rig.commit(
                &mut lease,
                &Commit {
                    event_id: Some(event.into()),
                    now_ms,
                    ..commit(event)
                },
            );
            now(rig.store.release(&mut lease)).unwrap();
            Ok(committed)
        }
        other => Err(other),
    }
}

#[test]
fn an_event_wakes_an_instance_once_however_many_came_between() {
    let rig = rig();
    rig.create("i", &commit("s"));
    for n in 0..20 {
        let woken = resume_by_event(&rig, &format!("e{n}"), 2_000 + n);
        assert!(matches!(woken, Ok(Committed::Done(_))), "{n}: {woken:?}");
    }
    for n in 0..20 {
        let again = resume_by_event(&rig, &format!("e{n}"), 3_000 + n);
        match again {
            // The first few are known by the lease, in one call.
            Err(Acquired::Seen(_)) => assert!(n < 8, "{n}"),
            Ok(Committed::Seen) => assert!(n >= 8, "{n}"),
            other => panic!("{n}: {other:?}"),
        }
    }
    assert_eq!(rig.journal("i").len(), 21);
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
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.commit(
        &mut lease,
        &Commit {
            answer: Some(answer("first")),
            ..commit("t")
        },
    );
    let mut lease = rig.acquire("i", "a", 3_000);
    let again = rig.commit(
        &mut lease,
        &Commit {
            answer: Some(answer("second")),
            ..commit("u")
        },
    );
    let Committed::Answered(first) = again else {
        panic!("{again:?}")
    };
    assert_eq!(*first, answer("first"));
    assert_eq!(rig.state("i"), "t");
    assert_eq!(
        now(rig.store.answer(&rig.tenant, "k", 90_000)).unwrap(),
        Some(answer("first"))
    );
    assert_eq!(
        now(rig.store.answer(&rig.tenant, "k", 90_001)).unwrap(),
        None
    );
    let late = now(rig.store.put_answer(&rig.tenant, &answer("third"), 90_001)).unwrap();
    assert_eq!(late, None, "one that has expired is replaced");
    let late = now(rig.store.put_answer(&rig.tenant, &answer("fourth"), 2_000)).unwrap();
    assert_eq!(late, Some(answer("third")));
}

#[test]
fn the_place_in_the_lists_does_not_move() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    let mut moved = commit("t");
    moved.summary.created_ms = 7;
    rig.commit(&mut lease, &moved);
    assert_eq!(
        now(rig.store.instance(&rig.tenant, "i"))
            .unwrap()
            .unwrap()
            .summary
            .created_ms,
        1_000
    );
}

#[test]
fn what_is_taken_away_and_given_anew_in_one_commit_is_there() {
    let rig = rig();
    let timer = Timer {
        tenant: rig.tenant.clone(),
        id: "t".into(),
        due_ms: 5_000,
        body: Bytes::new(),
    };
    let first = Commit {
        bookmarks_added: vec![event_bookmark("b", "H"), event_bookmark("c", "H")],
        timers_set: vec![timer.set().unwrap()],
        ..commit("s")
    };
    rig.create("i", &first);
    let mut lease = rig.acquire("i", "a", 2_000);
    let again = Commit {
        bookmarks_removed: vec!["b".into(), "c".into()],
        bookmarks_added: vec![event_bookmark("b", "H"), event_bookmark("c", "other")],
        timers_cleared: vec![Timer::clear(&rig.tenant, "t", 5_000).unwrap()],
        timers_set: vec![timer.set().unwrap()],
        ..commit("t")
    };
    assert!(matches!(rig.commit(&mut lease, &again), Committed::Done(_)));
    let waiting = |hash| {
        let found = now(rig.store.stimuli(&rig.tenant, hash, None))
            .unwrap()
            .bookmarks;
        found
            .into_iter()
            .map(|row| row.bookmark_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (waiting("H"), waiting("other")),
        (vec!["b".to_owned()], vec!["c".to_owned()])
    );
    assert_eq!(now(rig.store.next_timer()).unwrap(), Some(5_000));
}
