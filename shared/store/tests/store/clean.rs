//! Deletes: what is deleted does not come back, and nothing of it stays.

use bytes::Bytes;
use dormouse_store::instance::clean::Deleted;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::lease::Opened;
use dormouse_store::instance::predecessor::Predecessor;
use dormouse_store::instance::uniqueness::Claim;
use dormouse_store::outbox::row::Effect;

use crate::rig::{Fault, Rig, commit, event_bookmark, now, rig};

fn delete(rig: &Rig, id: &str) -> Deleted {
    now(rig.store.instances().delete(&rig.tenant, id, 5_000, &[])).unwrap()
}

fn clean(rig: &Rig, id: &str) -> u32 {
    for round in 1..50 {
        if now(rig.store.instances().clean_deleted(&rig.tenant, id, 5_000)).unwrap() {
            return round;
        }
    }
    panic!("cleaning does not end");
}

#[test]
fn a_deleted_instance_refuses_every_write() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.lease("i", "a", 2_000);
    assert_eq!(delete(&rig, "i"), Deleted::Done(Vec::new()));
    assert!(matches!(
        rig.commit(&mut loaded, &commit("late")),
        Committed::Lost(None)
    ));
    assert!(!now(rig.store.leases().renew(&mut loaded, 9_000)).unwrap());
    assert!(matches!(rig.try_open("i", 99_000), Opened::Deleted));
    assert!(matches!(
        rig.try_create("i", &commit("again")),
        Committed::Deleted
    ));
    assert_eq!(
        now(rig.store.instances().get(&rig.tenant, "i")).unwrap(),
        None
    );
    assert_eq!(
        now(rig.store.instances().journal(&rig.tenant, "i", 0, 9)).unwrap(),
        None
    );
    assert_eq!(delete(&rig, "i"), Deleted::Already);
    assert_eq!(delete(&rig, "j"), Deleted::NotFound);
    clean(&rig, "i");
    assert!(matches!(
        rig.try_create("i", &commit("again")),
        Committed::Deleted
    ));
    assert_eq!(delete(&rig, "i"), Deleted::Already);
}

#[test]
fn nothing_of_it_stays_but_the_tombstone() {
    let rig = rig();
    let claims = [
        Claim::Definition("order".into()),
        Claim::Correlation("7".into()),
    ];
    let noise: Vec<u8> = (0..400_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let first = Commit {
        bookmarks_added: (0..250)
            .map(|n| event_bookmark(&format!("b{n}"), "H"))
            .collect(),
        state: Bytes::from(noise),
        ..commit("")
    };
    let mut loaded = rig.blank("i", &claims, Predecessor::default());
    let done = rig.commit(&mut loaded, &first);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    for n in 0..30 {
        let mut loaded = rig.open("i", 2_000 + n);
        let journal = vec![Bytes::from("x".repeat(1_500 + n as usize)); 1 + n as usize % 3];
        let event_ids = vec![format!("e{n}")];
        rig.commit(
            &mut loaded,
            &Commit {
                journal,
                event_ids,
                state: first.state.clone(),
                now_ms: 2_000 + n,
                ..commit("")
            },
        );
    }
    for part in [" J#", " L#", " SEEN#"] {
        assert!(rig.keys().iter().any(|key| key.contains(part)), "{part}");
    }
    assert!(rig.keys().len() > 270);
    let effects = [Effect {
        id: "clean".into(),
        body: Bytes::new(),
    }];
    let deleted = now(rig
        .store
        .instances()
        .delete(&rig.tenant, "i", 5_000, &effects))
    .unwrap();
    let Deleted::Done(outbox) = deleted else {
        panic!("{deleted:?}")
    };
    now(rig.store.outbox().delete(&outbox[0])).unwrap();
    assert!(clean(&rig, "i") > 3, "a batch at a time");
    assert_eq!(rig.keys(), ["acme/WF#i HEAD"]);
    assert!(rig.blobs.0.lock().unwrap().is_empty());
    assert_eq!(clean(&rig, "i"), 1);

    let mut other = rig.blank("j", &claims, Predecessor::default());
    let created = rig.commit(&mut other, &commit("s"));
    assert!(
        matches!(created, Committed::Done(_)),
        "its claims are free: {created:?}"
    );
    assert_eq!(rig.table.memory.sweep_expired(5 + 30 * 24 * 3_600), 0);
    assert_eq!(
        rig.table.memory.sweep_expired(6 + 30 * 24 * 3_600),
        1,
        "the tombstone goes in the end"
    );
}

#[test]
fn a_commit_at_the_same_moment_is_in_before_or_not_at_all() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let store = rig.store.clone();
    let mut loaded = rig.open("i", 2_000);
    rig.before_write(move |_| {
        let bookmarks_added = vec![event_bookmark("b", "H")];
        let quicker = Commit {
            bookmarks_added,
            ..commit("t")
        };
        assert!(matches!(
            now(store.commits().commit(&mut loaded, &quicker)).unwrap(),
            Committed::Done(_)
        ));
    });
    assert!(matches!(delete(&rig, "i"), Deleted::Done(_)));
    clean(&rig, "i");
    assert_eq!(
        rig.keys(),
        ["acme/WF#i HEAD"],
        "the bookmark that came between is known and gone"
    );
}

#[test]
fn cleaning_leaves_a_living_instance_alone() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let before = rig.table.memory.items();
    assert_eq!((clean(&rig, "i"), clean(&rig, "j")), (1, 1));
    assert_eq!(rig.table.memory.items(), before);
}

#[test]
fn a_delete_whose_answer_was_lost_is_done() {
    let rig = rig();
    rig.create("i", &commit("s"));
    rig.faults(&[Fault::LoseAnswer]);
    assert_eq!(delete(&rig, "i"), Deleted::Already);
    assert!(matches!(rig.try_open("i", 99_000), Opened::Deleted));
}
