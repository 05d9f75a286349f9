//! Epochs: what a process held that had the table for itself is free as soon as another one has it.

use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::lease::Opened;
use dormouse_store::outbox::row::Effect;

use crate::rig::{commit, now, rig};

#[test]
fn a_lease_of_another_epoch_is_free_and_its_holder_cannot_commit() {
    let rig = rig();
    let first = rig.in_epoch("first");
    first.create("i", &commit("s"));
    let mut dead = first.lease("i", "dead", 2_000);
    assert!(
        matches!(first.try_lease("i", "b", 2_001), Opened::Busy { .. }),
        "within an epoch a lease is a lease"
    );
    let second = rig.in_epoch("second");
    let mut lease = second.lease("i", "alive", 2_001);
    assert_eq!(lease.head().fence, dead.head().fence + 1);
    assert!(matches!(
        second.try_lease("i", "b", 2_002),
        Opened::Busy { .. }
    ));
    assert!(matches!(
        first.commit(&mut dead, &commit("late")),
        Committed::Lost(_)
    ));
    assert!(matches!(
        second.commit(&mut lease, &commit("t")),
        Committed::Done(_)
    ));
    assert_eq!(second.state("i"), "t");
}

#[test]
fn a_lease_that_a_create_or_a_commit_keeps_belongs_to_its_epoch_too() {
    let rig = rig();
    let keep = |state| Commit {
        keep_until_ms: Some(90_000),
        ..commit(state)
    };
    let first = rig.in_epoch("first");
    first.create("i", &keep("s"));
    assert!(matches!(
        first.try_lease("i", "b", 2_000),
        Opened::Busy { .. }
    ));
    let second = rig.in_epoch("second");
    let mut lease = second.lease("i", "b", 2_000);
    second.commit(&mut lease, &keep("t"));
    assert!(matches!(
        second.try_lease("i", "c", 2_000),
        Opened::Busy { .. }
    ));
    rig.in_epoch("third").lease("i", "c", 2_000);
}

#[test]
fn a_lease_without_an_epoch_is_free_in_one_and_one_in_an_epoch_holds_outside() {
    let rig = rig();
    rig.create("i", &commit("s"));
    rig.lease("i", "older build", 2_000);
    let mut lease = rig.in_epoch("first").lease("i", "a", 2_000);
    assert!(matches!(
        rig.try_lease("i", "b", 2_001),
        Opened::Busy { .. }
    ));
    now(rig.store.leases().release(&mut lease)).unwrap();
    rig.lease("i", "b", 2_001);
}

#[test]
fn a_delivery_held_in_another_epoch_may_be_made() {
    let rig = rig();
    let effect = Effect {
        id: "0".into(),
        body: "x".into(),
    };
    let with_effect = Commit {
        effects: vec![effect],
        ..commit("s")
    };
    let first = rig.in_epoch("first");
    let (_, keys) = first.create("i", &with_effect);
    let shard_of = |rig: &crate::rig::Rig| {
        let shards = 0..rig.store.outbox().shards();
        let rows = shards.flat_map(|shard| {
            now(rig.store.outbox().list(shard, 9_999, 10, None))
                .unwrap()
                .rows
        });
        rows.collect::<Vec<_>>()
    };
    assert!(now(first.store.outbox().hold(&keys[0], 1_000, 89_000)).unwrap());
    assert!(!now(first.store.outbox().hold(&keys[0], 1_001, 90_000)).unwrap());
    assert_eq!(shard_of(&first)[0].held_until_ms, 90_000);
    let second = rig.in_epoch("second");
    assert_eq!(shard_of(&second)[0].held_until_ms, 0);
    assert!(now(second.store.outbox().hold(&keys[0], 1_001, 78_999)).unwrap());
    assert_eq!(shard_of(&second)[0].held_until_ms, 80_000);
}
