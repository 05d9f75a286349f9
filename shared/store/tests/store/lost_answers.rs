//! Lost answers: a commit has happened or not, and the store finds out which.

use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::lease::Loaded;
use dormouse_store::table::{Change, Condition, Durability, Key, Table as _, Value};

use crate::rig::{Fault, Rig, commit, event_bookmark, now, rig, rig_with};

/// An instance whose second commit has happened, without its writer knowing.
fn with_lost_commit(rig: &Rig) -> (Loaded, Commit) {
    rig.create("i", &commit("s"));
    let mut loaded = rig.open("i", 2_000);
    let second = Commit {
        bookmarks_added: vec![event_bookmark("b", "H")],
        ..commit("t")
    };
    let mut prepared = rig.prepare(&loaded, &second);
    rig.faults(&[Fault::LoseAnswer; 3]);
    let unknown = now(rig
        .store
        .commits()
        .commit_prepared(&mut loaded, &mut prepared))
    .unwrap_err();
    assert!(unknown.is_unknown());
    (loaded, second)
}

#[test]
fn a_commit_whose_answer_was_lost_once_is_done_once() {
    for whole in [false, true] {
        for fault in [Fault::LoseAnswer, Fault::LoseCall] {
            let rig = rig_with(|config| config.commits_whole = whole);
            rig.create("i", &commit("s"));
            let mut loaded = rig.open("i", 2_000);
            rig.faults(&[fault]);
            let done = rig.commit(&mut loaded, &commit("t"));
            assert!(matches!(done, Committed::Done(_)), "{done:?}");
            assert_eq!(
                (loaded.head().commit, rig.state("i").as_ref()),
                (2, &b"t"[..])
            );
            assert_eq!(rig.journal("i"), ["line of s", "line of t"]);
        }
    }
}

#[test]
fn the_same_call_again_settles_a_commit_that_stayed_unknown() {
    let rig = rig();
    let (mut loaded, second) = with_lost_commit(&rig);
    let done = rig.commit(&mut loaded, &second);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(rig.journal("i"), ["line of s", "line of t"]);
    let rows = rig.rows("H");
    assert!(rows.len() == 1 && rig.is_open(&rows[0]));
    let done = rig.commit(&mut loaded, &commit("u"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
}

#[test]
fn a_commit_that_others_have_built_upon_is_known_as_done() {
    for moves in [false, true] {
        let rig = rig_with(|config| config.journal_inline_max = if moves { 150 } else { 9_999 });
        let (mut loaded, second) = with_lost_commit(&rig);
        for n in 0..6 {
            let mut other = rig.open("i", 3_000 + n);
            rig.commit(&mut other, &commit("u"));
        }
        assert_eq!(rig.keys().iter().any(|key| key.contains(" J#")), moves);
        let done = rig.commit(&mut loaded, &second);
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
        assert_eq!(rig.journal("i").len(), 8);
        let stale = rig.commit(&mut loaded, &commit("stale"));
        assert!(matches!(stale, Committed::Lost(Some(_))), "{stale:?}");
    }
}

#[test]
fn a_create_that_others_have_built_upon_is_known_as_done() {
    let rig = rig();
    let mut loaded = rig.blank("i", &[], Default::default());
    let first = commit("s");
    rig.faults(&[Fault::LoseAnswer; 3]);
    let unknown = now(rig.store.commits().commit(&mut loaded, &first)).unwrap_err();
    assert!(unknown.is_unknown());
    let mut other = rig.open("i", 2_000);
    rig.commit(&mut other, &commit("t"));
    let done = rig.commit(&mut loaded, &first);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(rig.journal("i"), ["line of s", "line of t"]);
}

#[test]
fn a_commit_that_was_overtaken_is_known_as_lost() {
    for moves in [false, true] {
        let rig = rig_with(|config| config.journal_inline_max = if moves { 150 } else { 9_999 });
        rig.create("i", &commit("s"));
        let mut loaded = rig.open("i", 2_000);
        rig.faults(&[Fault::LoseCall; 3]);
        let lost = commit("never");
        let unknown = now(rig.store.commits().commit(&mut loaded, &lost)).unwrap_err();
        assert!(unknown.is_unknown());
        for n in 0..6 {
            let mut other = rig.open("i", 90_000 + n);
            rig.commit(&mut other, &commit("u"));
        }
        let known = rig.commit(&mut loaded, &lost);
        assert!(matches!(known, Committed::Lost(Some(_))), "{known:?}");
        assert!(!rig.journal("i").contains(&"line of never".to_owned()));
    }
}

#[test]
fn a_write_that_arrives_late_is_refused_once_another_has_the_lease() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.open("i", 2_000);
    // Right before the commit reaches the table, another takes the lease.
    rig.before_write(|memory| {
        let head = Key::new("acme/WF#i", "HEAD");
        let changes = [
            Change::Add("fe".into(), 1),
            Change::Set("lo".into(), Value::S("b".into())),
        ];
        now(memory.update(&head, &changes, &Condition::Exists, Durability::Durable)).unwrap();
    });
    let lost = rig.commit(&mut loaded, &commit("t"));
    assert!(matches!(lost, Committed::Lost(_)), "{lost:?}");
    assert_eq!(rig.state("i"), "s");
}

#[test]
fn a_busy_commit_has_done_nothing_and_can_be_tried_again() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.open("i", 2_000);
    rig.faults(&[Fault::Busy]);
    let second = commit("t");
    let busy = now(rig.store.commits().commit(&mut loaded, &second)).unwrap_err();
    assert!(busy.is_busy());
    let done = rig.commit(&mut loaded, &second);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(rig.journal("i"), ["line of s", "line of t"]);
}
