//! Lost answers: a commit has happened or not, and the store finds out which.

use dormouse_store::commit::{Commit, Committed};
use dormouse_store::table::{Change, Condition, Durability, Key, Table, Value};

use crate::rig::{Fault, Rig, commit, event_bookmark, now, rig, rig_with};

const LOST: [Fault; 3] = [Fault::LoseAnswer, Fault::LoseAnswer, Fault::LoseAnswer];

/// An instance whose second commit has happened, without its holder knowing.
fn with_lost_commit(rig: &Rig) -> (dormouse_store::lease::Lease, Commit) {
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    let second = Commit {
        bookmarks_added: vec![event_bookmark("b", "H")],
        ..commit("t")
    };
    rig.faults(&LOST);
    let unknown = now(rig.store.commit(&mut lease, &second)).unwrap_err();
    assert!(unknown.is_unknown());
    (lease, second)
}

#[test]
fn a_commit_whose_answer_was_lost_once_is_done_once() {
    for fault in [Fault::LoseAnswer, Fault::LoseCall] {
        let rig = rig();
        rig.create("i", &commit("s"));
        let mut lease = rig.acquire("i", "a", 2_000);
        rig.faults(&[fault]);
        assert!(matches!(
            rig.commit(&mut lease, &commit("t")),
            Committed::Done(_)
        ));
        assert_eq!(
            (lease.head().commit, rig.state("i").as_ref()),
            (2, &b"t"[..])
        );
        assert_eq!(rig.journal("i"), ["line of s", "line of t"]);
    }
}

#[test]
fn the_same_call_again_settles_a_commit_that_stayed_unknown() {
    let rig = rig();
    let (mut lease, second) = with_lost_commit(&rig);
    assert!(matches!(
        rig.commit(&mut lease, &second),
        Committed::Done(_)
    ));
    assert_eq!(rig.journal("i"), ["line of s", "line of t"]);
    let mut next = rig.acquire("i", "b", 2_001);
    assert!(matches!(
        rig.commit(&mut next, &commit("u")),
        Committed::Done(_)
    ));
}

#[test]
fn a_commit_that_others_have_built_upon_is_known_as_done() {
    for moves in [false, true] {
        let rig = rig_with(|config| config.journal_inline_max = if moves { 150 } else { 9_999 });
        let (mut lease, second) = with_lost_commit(&rig);
        for n in 0..6 {
            let mut other = rig.acquire("i", "b", 3_000 + n);
            rig.commit(&mut other, &commit("u"));
        }
        assert_eq!(rig.keys().iter().any(|key| key.contains(" J#")), moves);
        assert!(matches!(
            rig.commit(&mut lease, &second),
            Committed::Done(_)
        ));
        assert_eq!(rig.journal("i").len(), 8);
    }
}

#[test]
fn a_commit_that_was_overtaken_is_known_as_lost() {
    for moves in [false, true] {
        let rig = rig_with(|config| config.journal_inline_max = if moves { 150 } else { 9_999 });
        rig.create("i", &commit("s"));
        let mut lease = rig.acquire("i", "a", 2_000);
        rig.faults(&[Fault::LoseCall; 3]);
        let lost = commit("never");
        assert!(
            now(rig.store.commit(&mut lease, &lost))
                .unwrap_err()
                .is_unknown()
        );
        for n in 0..6 {
            let mut other = rig.acquire("i", "b", 90_000 + n);
            rig.commit(&mut other, &commit("u"));
        }
        assert!(matches!(
            rig.commit(&mut lease, &lost),
            Committed::Lost(Some(_))
        ));
        assert!(!rig.journal("i").contains(&"line of never".to_owned()));
    }
}

#[test]
fn a_write_that_arrives_late_is_refused_once_another_has_the_lease() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    // Right before the commit reaches the table, another takes the lease.
    rig.before_write(|memory| {
        let head = Key::new("acme/WF#i", "HEAD");
        let changes = [
            Change::Add("fe".into(), 1),
            Change::Set("lo".into(), Value::S("b".into())),
        ];
        now(memory.update(&head, &changes, &Condition::Exists, Durability::Durable)).unwrap();
    });
    assert!(matches!(
        rig.commit(&mut lease, &commit("t")),
        Committed::Lost(_)
    ));
    assert_eq!(rig.state("i"), "s");
}

#[test]
fn a_busy_commit_has_done_nothing_and_can_be_tried_again() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.faults(&[Fault::Busy]);
    assert!(
        now(rig.store.commit(&mut lease, &commit("t")))
            .unwrap_err()
            .is_busy()
    );
    assert!(matches!(
        rig.commit(&mut lease, &commit("t")),
        Committed::Done(_)
    ));
    assert_eq!(rig.journal("i"), ["line of s", "line of t"]);
}
