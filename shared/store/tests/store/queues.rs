//! Outbox, queued stimuli, dead letters and timers.

use bytes::Bytes;
use dormouse_store::StoreError;
use dormouse_store::commit::Commit;
use dormouse_store::dead_letter::{DeadLetter, Letter};
use dormouse_store::outbox::{Effect, OutboxRow};
use dormouse_store::queued_stimulus::QueuedStimulus;
use dormouse_store::timer::Timer;

use crate::rig::{Rig, commit, event_bookmark, now, rig};

fn effect(id: &str) -> Effect {
    Effect {
        id: id.into(),
        body: Bytes::from_static(b"do it"),
    }
}

/// The rows of every shard, page after page.
fn outbox(rig: &Rig, before_ms: i64) -> Vec<OutboxRow> {
    let mut rows = Vec::new();
    for shard in 0..rig.store.outbox_shards() {
        let mut cursor = None;
        loop {
            let page = now(rig.store.list_outbox(shard, before_ms, 2, cursor)).unwrap();
            rows.extend(page.rows);
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    rows.sort_by(|a, b| (a.at_ms, &a.source).cmp(&(b.at_ms, &b.source)));
    rows
}

#[test]
fn the_sweep_sees_old_rows_of_every_tenant_and_shard() {
    let rig = rig();
    for n in 0..30 {
        let effects = vec![effect("x")];
        rig.create(
            &format!("i{n:02}"),
            &Commit {
                now_ms: 1_000 + n,
                effects,
                ..commit("s")
            },
        );
    }
    let other = dormouse_store::Tenant::new("other").unwrap();
    now(rig
        .store
        .put_outbox(&other, "event#1", 1_000, &[effect("e")]))
    .unwrap();
    let rows = outbox(&rig, 1_010);
    assert_eq!(rows.len(), 11);
    assert!(rows.iter().all(|row| row.at_ms < 1_010));
    let event = rows.iter().find(|row| row.tenant == other).unwrap();
    assert_eq!(
        (event.source.as_str(), event.commit, event.effects.len()),
        ("event#1", 0, 1)
    );
    for row in outbox(&rig, 9_999) {
        now(rig.store.delete_outbox(&row.key)).unwrap();
        now(rig.store.delete_outbox(&row.key)).unwrap();
    }
    assert!(outbox(&rig, 9_999).is_empty());
}

#[test]
fn a_row_counts_its_attempts_keeps_what_is_left_and_is_buried_once() {
    let rig = rig();
    let (_, keys) = rig.create(
        "i",
        &Commit {
            effects: vec![effect("0"), effect("1")],
            ..commit("s")
        },
    );
    let take = |at_ms| now(rig.store.take_outbox(&keys[0], at_ms, 1_000)).unwrap();
    assert_eq!(take(1_000), Some(1));
    assert_eq!(take(2_000), None, "it rests");
    assert_eq!(take(2_001), Some(2));
    assert!(now(rig.store.keep_outbox(&keys[0], &[effect("1")])).unwrap());
    let row = outbox(&rig, 9_999).remove(0);
    assert_eq!(
        (row.attempts, row.effects.as_slice()),
        (2, &[effect("1")][..])
    );

    let letter = DeadLetter {
        id: "1".into(),
        at_ms: 2_000,
        reason: "no such host".into(),
        attempts: 2,
        letter: Letter::Effects {
            source: row.source,
            commit: row.commit,
            effects: row.effects,
        },
    };
    assert!(now(rig.store.bury_outbox(&rig.tenant, &keys[0], &letter)).unwrap());
    assert!(!now(rig.store.bury_outbox(&rig.tenant, &keys[0], &letter)).unwrap());
    assert!(outbox(&rig, 9_999).is_empty());
    assert_eq!(take(99_000), None, "a row that is gone stays gone");
    assert!(!now(rig.store.keep_outbox(&keys[0], &[])).unwrap());
    assert_eq!(
        now(rig.store.dead_letter(&rig.tenant, "1")).unwrap(),
        Some(letter)
    );
}

#[test]
fn a_continuation_has_a_row_of_its_own_that_the_next_commit_deletes() {
    let rig = rig();
    let going_on = Commit {
        effects: vec![effect("0")],
        continuation: Some(effect("continue")),
        keep_until_ms: Some(9_000),
        ..commit("s")
    };
    let (mut lease, keys) = rig.create("i", &going_on);
    assert_eq!(keys.len(), 2);
    assert_eq!(outbox(&rig, 9_999).len(), 2);
    rig.commit(
        &mut lease,
        &Commit {
            outbox_done: keys[1..].to_vec(),
            ..commit("t")
        },
    );
    let left = outbox(&rig, 9_999);
    assert_eq!(
        (left.len(), left[0].effects.as_slice()),
        (1, &[effect("0")][..])
    );
}

#[test]
fn a_delivery_is_held_by_one_at_a_time() {
    let rig = rig();
    let (_, keys) = rig.create(
        "i",
        &Commit {
            effects: vec![effect("0")],
            ..commit("s")
        },
    );
    let hold = |at_ms, for_ms| now(rig.store.hold_outbox(&keys[0], at_ms, for_ms)).unwrap();
    assert!(hold(1_000, 4_000));
    assert!(!hold(5_000, 4_000));
    let row = outbox(&rig, 9_999).remove(0);
    assert_eq!(row.held_until_ms, 5_000);
    assert!(row.is_held(5_000) && !row.is_held(5_001));
    assert!(hold(5_001, 4_000));
    now(rig.store.delete_outbox(&keys[0])).unwrap();
    assert!(!hold(99_000, 1));
    assert!(
        outbox(&rig, 9_999).is_empty(),
        "holding does not bring a row back"
    );
}

#[test]
fn a_hold_by_a_clock_that_is_hours_ahead_does_not_last_for_hours() {
    let rig = rig();
    let with_effect = Commit {
        effects: vec![effect("0")],
        ..commit("s")
    };
    let (_, keys) = rig.create("i", &with_effect);
    let hour = 3_600_000;
    assert!(now(rig.store.hold_outbox(&keys[0], 2 * hour, i64::MAX)).unwrap());
    assert!(!outbox(&rig, 9_999)[0].is_held(hour));
    assert_eq!(
        now(rig.store.take_outbox(&keys[0], hour, 1_000)).unwrap(),
        Some(1)
    );
    assert!(outbox(&rig, 9_999)[0].is_held(hour));
}

fn queued(id: &str, expires_ms: i64) -> QueuedStimulus {
    QueuedStimulus {
        id: id.into(),
        hash: "H".into(),
        correlation_id: Some("7".into()),
        created_ms: 1_000,
        expires_ms,
        ..QueuedStimulus::default()
    }
}

#[test]
fn whoever_comes_second_sees_the_other() {
    let rig = rig();
    now(rig
        .store
        .queue_stimulus(&rig.tenant, &queued("e", 9_000), None))
    .unwrap();
    rig.create(
        "i",
        &Commit {
            bookmarks_added: vec![event_bookmark("b", "H")],
            ..commit("s")
        },
    );
    let all = now(rig.store.stimuli(&rig.tenant, "H", None)).unwrap();
    assert_eq!(
        (all.bookmarks.len(), all.queued.len(), all.triggers.len()),
        (1, 1, 0)
    );
    assert_eq!(all.queued[0], queued("e", 9_000));
    let only = now(rig.store.queued_stimuli(&rig.tenant, "H", None)).unwrap();
    assert_eq!((only.bookmarks.len(), only.queued.len()), (0, 1));
    assert_eq!(
        now(rig.store.bookmarks_of(&rig.tenant, "H", "i"))
            .unwrap()
            .len(),
        1
    );
    assert!(
        now(rig.store.bookmarks_of(&rig.tenant, "H", "other"))
            .unwrap()
            .is_empty()
    );
    assert!(now(rig.store.take_queued(&rig.tenant, ("H", "e"), 1_000)).unwrap());
    assert!(!now(rig.store.take_queued(&rig.tenant, ("H", "e"), 1_000)).unwrap());
    assert_eq!(
        now(rig.store.queued_stimulus(&rig.tenant, "H", "e")).unwrap(),
        None
    );
}

#[test]
fn thousands_of_bookmarks_of_one_hash_come_page_by_page() {
    let rig = rig();
    for n in 0..1_300 {
        let bookmarks_added = vec![event_bookmark("b", "H")];
        rig.create(
            &format!("i{n}"),
            &Commit {
                bookmarks_added,
                ..commit("s")
            },
        );
    }
    let first = now(rig.store.stimuli(&rig.tenant, "H", None)).unwrap();
    assert_eq!(first.bookmarks.len(), 1_000);
    let second = now(rig.store.stimuli(&rig.tenant, "H", first.cursor)).unwrap();
    assert_eq!((second.bookmarks.len(), second.cursor), (300, None));
}

#[test]
fn a_stimulus_that_nothing_waited_for_becomes_a_dead_letter_and_can_be_replayed() {
    let rig = rig();
    let other = dormouse_store::Tenant::new("other").unwrap();
    for n in 0..5 {
        now(rig
            .store
            .queue_stimulus(&rig.tenant, &queued(&format!("e{n}"), 2_000 + n), None))
        .unwrap();
    }
    now(rig.store.queue_stimulus(&other, &queued("e0", 2_000), None)).unwrap();
    let listed = now(rig.store.list_queued(10)).unwrap();
    assert_eq!(listed.len(), 6);
    assert!(listed.contains(&(other.clone(), queued("e0", 2_000))));
    assert_eq!(
        now(rig.store.expire_stimuli(2_000, 10)).unwrap(),
        0,
        "at its time it still counts"
    );
    assert_eq!(now(rig.store.expire_stimuli(2_003, 2)).unwrap(), 2);
    assert_eq!(now(rig.store.expire_stimuli(2_003, 10)).unwrap(), 2);
    assert_eq!(
        now(rig.store.count_dead_letters(&rig.tenant, 100)).unwrap(),
        3
    );
    assert_eq!(now(rig.store.count_dead_letters(&other, 100)).unwrap(), 1);

    let page = now(rig.store.list_dead_letters(&rig.tenant, 2, None)).unwrap();
    let rest = now(rig.store.list_dead_letters(&rig.tenant, 2, page.cursor)).unwrap();
    let letters = [page.letters, rest.letters].concat();
    let ids: Vec<_> = letters.iter().map(|letter| letter.id.as_str()).collect();
    assert_eq!(
        ids,
        ["0000000002002-e2", "0000000002001-e1", "0000000002000-e0"]
    );
    let Letter::Stimulus { stimulus, .. } = &letters[0].letter else {
        panic!()
    };
    assert_eq!(*stimulus, queued("e2", 2_002));

    let replayed =
        now(rig
            .store
            .replay_dead_letter(&rig.tenant, ids[0], 3_000, &[effect("again")]));
    assert_eq!(replayed.unwrap().unwrap().len(), 1);
    let twice = now(rig
        .store
        .replay_dead_letter(&rig.tenant, ids[0], 3_000, &[effect("again")]));
    assert_eq!(twice.unwrap(), None);
    assert_eq!(outbox(&rig, 9_999).len(), 1);
    assert!(now(rig.store.delete_dead_letter(&rig.tenant, ids[1])).unwrap());
    assert!(!now(rig.store.delete_dead_letter(&rig.tenant, ids[1])).unwrap());
    assert_eq!(
        now(rig.store.count_dead_letters(&rig.tenant, 100)).unwrap(),
        1
    );
}

#[test]
fn timers_fire_in_order_and_only_those_that_are_due() {
    let rig = rig();
    let timer = |id: &str, due_ms| Timer {
        tenant: rig.tenant.clone(),
        id: id.into(),
        due_ms,
        body: Bytes::copy_from_slice(id.as_bytes()),
    };
    assert_eq!(now(rig.store.next_timer()).unwrap(), None);
    for (id, due_ms) in [("c", 3_000), ("a", 1_000), ("b", 2_000), ("past", -5)] {
        now(rig.store.set_timer(&timer(id, due_ms))).unwrap();
    }
    assert_eq!(now(rig.store.next_timer()).unwrap(), Some(0));
    let due = now(rig.store.timers_due(2_000, 10)).unwrap();
    assert_eq!(
        due.iter().map(|t| t.id.as_str()).collect::<Vec<_>>(),
        ["past", "a", "b"]
    );
    assert_eq!(now(rig.store.timers_due(2_000, 1)).unwrap().len(), 1);
    for timer in due {
        now(rig
            .store
            .clear_timer(&timer.tenant, &timer.id, timer.due_ms))
        .unwrap();
    }
    assert_eq!(now(rig.store.next_timer()).unwrap(), Some(3_000));
    let mut lease = rig
        .create(
            "i",
            &Commit {
                keep_until_ms: Some(9_000),
                ..commit("s")
            },
        )
        .0;
    let timers_cleared = vec![Timer::clear(&rig.tenant, "c", 3_000).unwrap()];
    rig.commit(
        &mut lease,
        &Commit {
            timers_cleared,
            ..commit("t")
        },
    );
    assert_eq!(now(rig.store.next_timer()).unwrap(), None);
}

#[test]
fn a_foreign_cursor_is_refused() {
    let rig = rig();
    for cursor in ["", "nonsense"] {
        let refused = now(rig.store.stimuli(&rig.tenant, "H", Some(cursor.into())));
        assert!(matches!(refused, Err(StoreError::BadCursor)));
    }
}
