//! The state: in the head, in an item, or among the blobs, and never missing.

use bytes::Bytes;
use dormouse_store::commit::{Commit, Committed};
use dormouse_store::config::StoreConfig;
use dormouse_store::create::NewInstance;
use dormouse_store::{Store, StoreError};

use crate::rig::{Fault, Rig, commit, now, rig};

/// Bytes that do not become fewer by compression.
fn noise(len: usize) -> Bytes {
    let mut x = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn with_state(state: Bytes) -> Commit {
    Commit {
        state,
        ..commit("")
    }
}

fn places(rig: &Rig) -> (usize, usize) {
    let items = rig
        .keys()
        .iter()
        .filter(|key| key.contains(" STATE#"))
        .count();
    (items, rig.blobs.0.lock().unwrap().len())
}

#[test]
fn a_state_finds_its_place_by_its_size_and_leaves_the_old_one() {
    let rig = rig();
    let sizes = [
        10, 5_000, 400_000, 400_001, 20, 6_000, 6_001, 500_000, 7_000, 0,
    ];
    rig.create("i", &with_state(noise(1)));
    for size in sizes {
        let state = noise(size);
        let mut lease = rig.acquire("i", "a", 2_000);
        assert!(matches!(
            rig.commit(&mut lease, &with_state(state.clone())),
            Committed::Done(_)
        ));
        let expected = match size {
            0..=4_000 => (0, 0),
            4_001..=300_000 => (1, 0),
            _ => (0, 1),
        };
        assert_eq!(places(&rig), expected, "{size}");
        assert_eq!(rig.state("i"), state);
        assert_eq!(rig.acquire("i", "b", 2_001).state(), &state);
        let mut lease = rig.acquire("i", "c", 99_000);
        now(rig.store.release(&mut lease)).unwrap();
    }
}

#[test]
fn a_state_that_stays_is_not_written_again() {
    let rig = rig();
    rig.create("i", &with_state(noise(20_000)));
    let before = rig.keys();
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.calls();
    rig.commit(&mut lease, &with_state(noise(20_000)));
    assert_eq!(rig.calls(), ["write 1"]);
    assert_eq!(rig.keys(), before);
    assert_eq!(rig.state("i"), noise(20_000));
}

#[test]
fn a_state_over_the_limit_is_refused_with_its_size_and_changes_nothing() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    let giant = with_state(Bytes::from(vec![0; 8 * 1_024 * 1_024 + 1]));
    let refused = now(rig.store.commit(&mut lease, &giant)).unwrap_err();
    assert!(matches!(
        refused,
        StoreError::TooLarge {
            size: 8_388_609,
            limit: 8_388_608,
            ..
        }
    ));
    assert!(matches!(
        rig.commit(&mut lease, &commit("incident")),
        Committed::Done(_)
    ));
}

#[test]
fn without_blobs_a_large_state_is_refused() {
    let rig = rig();
    let store = Store::new(rig.table.clone(), StoreConfig::dynamo());
    let new = NewInstance {
        instance_id: "i",
        owner: "a",
        claims: &[],
    };
    let refused = now(store.create(&rig.tenant, &new, &with_state(noise(400_000))));
    assert!(matches!(refused, Err(StoreError::NoBlobs { .. })));
}

#[test]
fn a_blob_is_dropped_with_the_commit_that_did_not_happen_and_kept_while_nobody_knows() {
    let rig = rig();
    rig.create("i", &with_state(noise(400_000)));
    let mut old = rig.acquire("i", "old", 2_000);
    let mut new = rig.acquire("i", "new", 90_000);
    assert!(matches!(
        rig.commit(&mut old, &with_state(noise(500_000))),
        Committed::Lost(_)
    ));
    assert_eq!(places(&rig), (0, 1));
    assert_eq!(rig.state("i"), noise(400_000));

    rig.faults(&[Fault::LoseAnswer; 3]);
    let large = with_state(noise(500_000));
    assert!(
        now(rig.store.commit(&mut new, &large))
            .unwrap_err()
            .is_unknown()
    );
    assert_eq!(rig.state("i"), noise(500_000));
    assert!(matches!(rig.commit(&mut new, &large), Committed::Done(_)));
    assert_eq!(places(&rig), (0, 1));
    assert_eq!(rig.state("i"), noise(500_000));
}

#[test]
fn a_reader_sees_head_and_state_of_the_same_commit() {
    let rig = rig();
    let (head, state) = {
        rig.create("i", &with_state(noise(20_000)));
        now(rig.store.instance_with_state(&rig.tenant, "i"))
            .unwrap()
            .unwrap()
    };
    assert_eq!((head.commit, state), (1, noise(20_000)));
}

#[test]
fn the_loser_of_a_race_does_not_drop_the_winners_blob_though_they_are_the_same() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut old = rig.acquire("i", "old", 2_000);
    let mut new = rig.acquire("i", "new", 90_000);
    let large = with_state(noise(500_000));
    assert!(matches!(rig.commit(&mut new, &large), Committed::Done(_)));
    assert!(matches!(rig.commit(&mut old, &large), Committed::Lost(_)));
    assert_eq!(rig.state("i"), noise(500_000));
}
