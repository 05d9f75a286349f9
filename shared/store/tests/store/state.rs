//! The state: in the head, in an item, or among the blobs, and never missing.

use bytes::Bytes;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::create::NewInstance;
use dormouse_store::instance::predecessor::Predecessor;
use dormouse_store::item::config::StoreConfig;
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
        10, 9_000, 400_000, 400_001, 20, 8_192, 8_193, 9_001, 500_000, 10_000, 0,
    ];
    rig.create("i", &with_state(noise(1)));
    for size in sizes {
        let state = noise(size);
        let mut loaded = rig.open("i", 2_000);
        assert!(matches!(
            rig.commit(&mut loaded, &with_state(state.clone())),
            Committed::Done(_)
        ));
        let expected = match size {
            0..=8_192 => (0, 0),
            8_193..=300_000 => (1, 0),
            _ => (0, 1),
        };
        assert_eq!(places(&rig), expected, "{size}");
        assert_eq!(rig.state("i"), state);
        assert_eq!(rig.open("i", 2_001).state(), &state);
    }
}

#[test]
fn a_state_that_stays_is_not_written_again() {
    let rig = rig();
    rig.create("i", &with_state(noise(20_000)));
    let before = rig.keys();
    let mut loaded = rig.open("i", 2_000);
    rig.calls();
    rig.commit(&mut loaded, &with_state(noise(20_000)));
    assert_eq!(rig.calls(), ["change if"]);
    assert_eq!(rig.keys(), before);
    assert_eq!(rig.state("i"), noise(20_000));
}

#[test]
fn a_state_over_the_limit_is_refused_with_its_size_and_changes_nothing() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.open("i", 2_000);
    let giant = with_state(Bytes::from(vec![0; 8 * 1_024 * 1_024 + 1]));
    let refused = now(rig.store.commits().commit(&mut loaded, &giant)).unwrap_err();
    assert!(matches!(
        refused,
        StoreError::TooLarge {
            size: 8_388_609,
            limit: 8_388_608,
            ..
        }
    ));
    assert!(matches!(
        rig.commit(&mut loaded, &commit("incident")),
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
        predecessor: Predecessor::default(),
    };
    let mut loaded = store.instances().blank(&rig.tenant, &new).unwrap();
    let refused = now(store
        .commits()
        .commit(&mut loaded, &with_state(noise(400_000))));
    assert!(matches!(refused, Err(StoreError::NoBlobs { .. })));
}

#[test]
fn a_blob_is_dropped_with_the_commit_that_did_not_happen_and_kept_while_nobody_knows() {
    let rig = rig();
    rig.create("i", &with_state(noise(400_000)));
    let (mut old, mut new) = (rig.open("i", 2_000), rig.lease("i", "new", 2_000));
    assert!(matches!(
        rig.commit(&mut old, &with_state(noise(500_000))),
        Committed::Lost(_)
    ));
    assert_eq!(places(&rig), (0, 1));
    assert_eq!(rig.state("i"), noise(400_000));

    rig.faults(&[Fault::LoseAnswer; 3]);
    let large = with_state(noise(500_000));
    assert!(
        now(rig.store.commits().commit(&mut new, &large))
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
        now(rig.store.instances().instance_with_state(&rig.tenant, "i"))
            .unwrap()
            .unwrap()
    };
    assert_eq!((head.commit, state), (1, noise(20_000)));
}

#[test]
fn the_loser_of_a_race_does_not_drop_the_winners_blob_though_they_are_the_same() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let (mut old, mut new) = (rig.open("i", 2_000), rig.open("i", 2_000));
    let large = || with_state(noise(500_000));
    assert!(matches!(rig.commit(&mut new, &large()), Committed::Done(_)));
    assert!(matches!(rig.commit(&mut old, &large()), Committed::Lost(_)));
    assert_eq!(rig.state("i"), noise(500_000));
}

#[test]
fn the_loser_of_a_race_does_not_delete_the_winners_item_though_they_are_the_same() {
    let rig = rig();
    rig.create("i", &with_state(noise(20_000)));
    let (mut old, mut new) = (rig.open("i", 2_000), rig.open("i", 2_000));
    let (one, two) = (with_state(noise(30_000)), with_state(noise(30_000)));
    let mut loser = rig.prepare(&old, &one);
    let done = rig.commit(&mut new, &two);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(places(&rig), (2, 0), "the loser's lies beside it");
    let lost = now(rig.store.commits().commit_prepared(&mut old, &mut loser)).unwrap();
    assert!(matches!(lost, Committed::Lost(_)), "{lost:?}");
    assert_eq!((places(&rig), rig.state("i")), ((1, 0), noise(30_000)));
}
