//! Outbox, queued stimuli, dead letters and timers.

use bytes::Bytes;
use dormouse_store::StoreError;
use dormouse_store::instance::commit::Commit;
use dormouse_store::outbox::dead_letter::{DeadLetter, Letter};
use dormouse_store::outbox::row::{Effect, OutboxRow};
use dormouse_store::stimulus::queued_stimulus::QueuedStimulus;
use dormouse_store::stimulus::timer::Timer;

use crate::rig::{Fault, Rig, commit, now, rig};

fn effect(id: &str) -> Effect {
    Effect {
        id: id.into(),
        body: Bytes::from_static(b"do it"),
    }
}

/// The rows of every shard, page after page.
fn outbox(rig: &Rig, before_ms: i64) -> Vec<OutboxRow> {
    let mut rows = Vec::new();
    for shard in 0..rig.store.outbox().shards() {
        let mut cursor = None;
        loop {
            let page = now(rig.store.outbox().list(shard, before_ms, 2, cursor)).unwrap();
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
        .outbox()
        .put(&other, "event#1", 1_000, &[effect("e")]))
    .unwrap();
    let rows = outbox(&rig, 1_010);
    assert_eq!(rows.len(), 11);
    assert!(rows.iter().all(|row| row.at_ms < 1_010));
    let event = rows.iter().find(|row| row.tenant == other).unwrap();
    assert_eq!(
        (event.source.as_str(), event.stamp, event.effects.len()),
        ("event#1", None, 1)
    );
    for row in outbox(&rig, 9_999) {
        now(rig.store.outbox().delete(&row.key)).unwrap();
        now(rig.store.outbox().delete(&row.key)).unwrap();
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
    let take = |at_ms| now(rig.store.outbox().take(&keys[0], at_ms, 1_000)).unwrap();
    assert_eq!(take(1_000), Some(1));
    assert_eq!(take(2_000), None, "it rests");
    assert_eq!(take(2_001), Some(2));
    assert!(now(rig.store.outbox().keep(&keys[0], &[effect("1")], true)).unwrap());
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
            commit: row.stamp.map_or(0, |stamp| stamp.commit),
            effects: row.effects,
        },
    };
    assert!(
        now(rig
            .store
            .dead_letters()
            .take_outbox(&rig.tenant, &keys[0], &letter))
        .unwrap()
    );
    assert!(
        !now(rig
            .store
            .dead_letters()
            .take_outbox(&rig.tenant, &keys[0], &letter))
        .unwrap()
    );
    assert!(outbox(&rig, 9_999).is_empty());
    assert_eq!(take(99_000), None, "a row that is gone stays gone");
    assert!(!now(rig.store.outbox().keep(&keys[0], &[], true)).unwrap());
    assert_eq!(
        now(rig.store.dead_letters().get(&rig.tenant, "1")).unwrap(),
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
    let (mut loaded, keys) = rig.create("i", &going_on);
    assert_eq!(keys.len(), 2);
    assert_eq!(outbox(&rig, 9_999).len(), 2);
    rig.commit(
        &mut loaded,
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
    let hold = |at_ms, for_ms| now(rig.store.outbox().hold(&keys[0], at_ms, for_ms)).unwrap();
    assert!(hold(1_000, 4_000));
    assert!(!hold(5_000, 4_000));
    let row = outbox(&rig, 9_999).remove(0);
    assert_eq!(row.held_until_ms, 5_000);
    assert!(row.is_held(5_000) && !row.is_held(5_001));
    assert!(hold(5_001, 4_000));
    now(rig.store.outbox().delete(&keys[0])).unwrap();
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
    assert!(now(rig.store.outbox().hold(&keys[0], 2 * hour, i64::MAX)).unwrap());
    assert!(!outbox(&rig, 9_999)[0].is_held(hour));
    assert_eq!(
        now(rig.store.outbox().take(&keys[0], hour, 1_000)).unwrap(),
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
fn a_stimulus_that_nothing_waited_for_becomes_a_dead_letter_and_can_be_replayed() {
    let rig = rig();
    let other = dormouse_store::Tenant::new("other").unwrap();
    for n in 0..5 {
        now(rig.store.stimuli().queue_stimulus(
            &rig.tenant,
            &queued(&format!("e{n}"), 2_000 + n),
            None,
        ))
        .unwrap();
    }
    now(rig
        .store
        .stimuli()
        .queue_stimulus(&other, &queued("e0", 2_000), None))
    .unwrap();
    let listed = rig.list_queued(1);
    assert_eq!(listed.len(), 6);
    assert!(listed.contains(&(other.clone(), queued("e0", 2_000))));
    assert_eq!(
        now(rig.store.dead_letters().expire_stimuli(2_000, 10)).unwrap(),
        0,
        "at its time it still counts"
    );
    assert_eq!(
        now(rig.store.dead_letters().expire_stimuli(2_003, 2)).unwrap(),
        2
    );
    assert_eq!(
        now(rig.store.dead_letters().expire_stimuli(2_003, 10)).unwrap(),
        2
    );
    assert_eq!(
        now(rig.store.dead_letters().count(&rig.tenant, 100)).unwrap(),
        3
    );
    assert_eq!(now(rig.store.dead_letters().count(&other, 100)).unwrap(), 1);

    let page = now(rig.store.dead_letters().list(&rig.tenant, 2, None)).unwrap();
    let rest = now(rig.store.dead_letters().list(&rig.tenant, 2, page.cursor)).unwrap();
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
            .dead_letters()
            .replay(&rig.tenant, ids[0], 3_000, &[effect("again")]));
    assert_eq!(replayed.unwrap().unwrap().len(), 1);
    let twice =
        now(rig
            .store
            .dead_letters()
            .replay(&rig.tenant, ids[0], 3_000, &[effect("again")]));
    assert_eq!(twice.unwrap(), None);
    assert_eq!(outbox(&rig, 9_999).len(), 1);
    assert!(now(rig.store.dead_letters().delete(&rig.tenant, ids[1])).unwrap());
    assert!(!now(rig.store.dead_letters().delete(&rig.tenant, ids[1])).unwrap());
    assert_eq!(
        now(rig.store.dead_letters().count(&rig.tenant, 100)).unwrap(),
        1
    );
}

fn timer(rig: &Rig, id: &str, due_ms: i64) -> Timer {
    Timer {
        tenant: rig.tenant.clone(),
        id: id.into(),
        due_ms,
        body: Bytes::copy_from_slice(id.as_bytes()),
    }
}

/// The ids of the timers of every shard that are due, page after page.
fn due(rig: &Rig, until_ms: i64, limit: u32) -> Vec<String> {
    let mut timers = Vec::new();
    for shard in 0..rig.store.timers().timer_shards() {
        let mut cursor = None;
        loop {
            let page = now(rig
                .store
                .timers()
                .timers_due(shard, until_ms, limit, cursor))
            .unwrap();
            assert!(page.timers.len() <= limit as usize);
            assert!(page.timers.is_sorted_by_key(|timer| timer.due_ms));
            timers.extend(page.timers);
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    timers.sort_by_key(|timer| timer.due_ms);
    timers.into_iter().map(|timer| timer.id).collect()
}

#[test]
fn timers_fire_in_order_and_only_those_that_are_due() {
    let rig = rig();
    let timers = [("c", 3_000), ("a", 1_000), ("b", 2_000), ("past", -5)];
    let timers = timers.map(|(id, due_ms)| timer(&rig, id, due_ms));
    for timer in &timers {
        now(rig.store.timers().set_timer(timer)).unwrap();
        assert!(now(rig.store.timers().has_timer(timer)).unwrap());
    }
    assert_eq!(due(&rig, 1_999, 10), ["past", "a"]);
    for limit in [1, 10] {
        assert_eq!(due(&rig, 2_000, limit), ["past", "a", "b"]);
    }
    now(rig.store.timers().clear_timers(&timers[1..])).unwrap();
    now(rig.store.timers().clear_timers(&timers[1..])).unwrap();
    assert!(!now(rig.store.timers().has_timer(&timers[1])).unwrap());
    assert_eq!(due(&rig, 9_000, 10), ["c"]);
    let (mut loaded, _) = rig.create("i", &commit("s"));
    let timers_cleared = vec![rig.store.timers().timer_clearing(&timers[0]).unwrap()];
    rig.commit(
        &mut loaded,
        &Commit {
            timers_cleared,
            ..commit("t")
        },
    );
    assert!(due(&rig, 9_000, 10).is_empty());
}

#[test]
fn many_timers_are_spread_over_the_shards_and_all_are_found() {
    let rig = rig();
    for n in 0..200 {
        now(rig
            .store
            .timers()
            .set_timer(&timer(&rig, &format!("t{n:03}"), n)))
        .unwrap();
    }
    let found = due(&rig, 9_000, 7);
    assert_eq!(found.len(), 200);
    assert!(found.is_sorted());
    for shard in 0..rig.store.timers().timer_shards() {
        let page = now(rig.store.timers().timers_due(shard, 9_000, 1_000, None)).unwrap();
        assert!(
            page.timers.len() > 20,
            "shard {shard}: {}",
            page.timers.len()
        );
    }
}

#[test]
fn a_timer_that_cannot_fire_yet_moves_behind_the_others() {
    let rig = rig();
    let stuck = timer(&rig, "stuck", 1_000);
    now(rig.store.timers().set_timer(&stuck)).unwrap();
    now(rig.store.timers().set_timer(&timer(&rig, "next", 2_000))).unwrap();
    now(rig.store.timers().move_timer(&stuck, 5_000)).unwrap();
    assert_eq!(due(&rig, 4_999, 10), ["next"]);
    assert_eq!(due(&rig, 5_000, 10), ["next", "stuck"]);
    assert!(!now(rig.store.timers().has_timer(&stuck)).unwrap());
    // A crash in between leaves both, and moving it again mends that.
    now(rig.store.timers().set_timer(&stuck)).unwrap();
    rig.faults(&[Fault::None, Fault::LoseCall]);
    let lost = now(rig.store.timers().move_timer(&stuck, 6_000)).unwrap_err();
    assert!(lost.is_unknown());
    assert!(now(rig.store.timers().has_timer(&stuck)).unwrap());
    now(rig.store.timers().move_timer(&stuck, 6_000)).unwrap();
    assert_eq!(due(&rig, 9_000, 10), ["next", "stuck", "stuck"]);
}

#[test]
fn a_foreign_cursor_is_refused() {
    let rig = rig();
    for cursor in ["", "nonsense"] {
        let page = rig
            .store
            .stimuli()
            .waiting(&rig.tenant, ("H", None), 10, Some(cursor.into()));
        assert!(matches!(now(page), Err(StoreError::BadCursor)));
    }
}
