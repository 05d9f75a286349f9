//! Items that cannot be read: of each list that somebody works through, the others are found all the same.

use bytes::Bytes;
use dormouse_store::StoreError;
use dormouse_store::instance::commit::Commit;
use dormouse_store::instance::list::{InstanceFilter, Paging};
use dormouse_store::outbox::dead_letter::{DeadLetter, Letter};
use dormouse_store::outbox::row::Effect;
use dormouse_store::stimulus::queued_stimulus::QueuedStimulus;
use dormouse_store::stimulus::timer::Timer;
use dormouse_store::table::{Condition, Item, Table as _, Value, Write};

use crate::rig::{Rig, commit, now, rig, rig_with};

/// One of everything that is listed, under a name.
fn fill(rig: &Rig, name: &str) {
    let body = Bytes::from_static(b"{}");
    let effect = Effect {
        id: format!("{name}/1"),
        body: body.clone(),
    };
    rig.create(
        name,
        &Commit {
            effects: vec![effect],
            ..commit("s")
        },
    );
    let timer = Timer {
        tenant: rig.tenant.clone(),
        id: name.into(),
        due_ms: 1_000,
        body: body.clone(),
    };
    now(rig.store.timers().set_timer(&timer)).unwrap();
    let queued = QueuedStimulus {
        id: name.into(),
        hash: "AB".into(),
        expires_ms: 2_000,
        payload: body.clone(),
        ..QueuedStimulus::default()
    };
    now(rig
        .store
        .stimuli()
        .queue_stimulus(&rig.tenant, &queued, None))
    .unwrap();
    let letter = DeadLetter {
        id: name.into(),
        at_ms: 1,
        reason: "why".into(),
        attempts: 1,
        letter: Letter::Message(body),
    };
    now(rig.store.dead_letters().put(&rig.tenant, &letter)).unwrap();
}

/// How many outbox rows, timers, queued stimuli, dead letters and instances are found.
fn found(rig: &Rig) -> [usize; 5] {
    let store = &rig.store;
    let shards = 0..store.outbox().shards();
    let rows = shards.map(|shard| {
        now(store.outbox().list(shard, 9_999, 100, None))
            .unwrap()
            .rows
            .len()
    });
    let timers = (0..store.timers().timer_shards()).map(|shard| {
        let page = now(store.timers().timers_due(shard, 9_999, 100, None)).unwrap();
        page.timers.len()
    });
    let paging = Paging {
        ascending: true,
        skip: 0,
        limit: 100,
        cursor: None,
    };
    let filter = InstanceFilter::default();
    let instances = store.instances().list(&rig.tenant, &filter, &paging);
    [
        rows.sum(),
        timers.sum(),
        rig.list_queued(100).len(),
        now(store.dead_letters().list(&rig.tenant, 100, None))
            .unwrap()
            .letters
            .len(),
        now(instances).unwrap().instances.len(),
    ]
}

#[test]
fn an_item_that_cannot_be_read_does_not_hide_the_others() {
    // Damage, and the format of a newer build.
    for spoiled in [&b"\x01\xff"[..], &b"\x4d\x80"[..]] {
        let rig = rig();
        rig.define("order");
        fill(&rig, "good");
        fill(&rig, "spoiled");
        assert_eq!(found(&rig), [2; 5]);
        for mut item in rig.table.memory.items() {
            let is_it = item.key.partition.contains("spoiled") || item.key.sort.contains("spoiled");
            if !is_it {
                continue;
            }
            for name in ["bo", "su"] {
                if let Some(value) = item.attributes.get_mut(name) {
                    *value = Value::B(Bytes::copy_from_slice(spoiled));
                }
            }
            now(rig
                .table
                .memory
                .write(&[Write::Put(item, Condition::Always)]))
            .unwrap();
        }
        assert_eq!(found(&rig), [1; 5], "{spoiled:?}");
    }
}

#[test]
fn a_journal_whose_end_is_missing_is_damaged_and_not_endless() {
    let rig = rig_with(|config| config.journal_inline_max = 10);
    let lines = vec![Bytes::from_static(b"one"), Bytes::from_static(b"two")];
    rig.create(
        "i",
        &Commit {
            journal: lines,
            ..commit("s")
        },
    );
    let is_part = |item: &Item| item.key.sort.starts_with("L#");
    let part = rig.table.memory.items().into_iter().find(is_part).unwrap();
    now(rig
        .table
        .memory
        .write(&[Write::Delete(part.key, Condition::Exists)]))
    .unwrap();
    let read = now(rig.store.instances().journal(&rig.tenant, "i", 0, 100));
    assert!(matches!(read, Err(StoreError::Damaged { .. })), "{read:?}");
}
