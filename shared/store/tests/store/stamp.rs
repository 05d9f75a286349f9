//! Stamps: what was prepared is judged by the head at any later time, and nothing is dropped that may still happen.

use bytes::Bytes;
use dormouse_store::definition::route::Route;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::predecessor::{Ground, Predecessor, Vacancy};
use dormouse_store::instance::stamp::{Stamp, Verdict};
use dormouse_store::outbox::row::Effect;

use crate::rig::{Fault, Rig, commit, ending, event_bookmark, now, rig, rig_with};

fn opens(id: &str, hash: &str, state: &str) -> Commit {
    Commit {
        bookmarks_added: vec![event_bookmark(id, hash)],
        ..commit(state)
    }
}

#[test]
fn a_row_of_a_lost_attempt_is_judged_lost_and_never_lies_in_the_winners_place() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let (mut one, mut two) = (rig.open("i", 2_000), rig.open("i", 2_000));
    let (first, second) = (opens("b", "H", "one"), opens("b", "H", "two"));
    let mut prepared = rig.prepare(&one, &first);
    let won = rig.commit(&mut two, &second);
    assert!(matches!(won, Committed::Done(_)), "{won:?}");
    let rows = rig.rows("H");
    assert_eq!(rows.len(), 2, "both rows are there, side by side");
    for row in &rows {
        let is_winner = row.stamp.attempt == second.attempt;
        let expected = if is_winner {
            Verdict::Committed
        } else {
            Verdict::Lost
        };
        assert_eq!(rig.judge("i", &row.stamp), expected);
        assert_eq!(rig.is_open(row), is_winner);
    }
    let lost = now(rig.store.commits().commit_prepared(&mut one, &mut prepared)).unwrap();
    assert!(matches!(lost, Committed::Lost(Some(_))), "{lost:?}");
    let rows = rig.rows("H");
    assert_eq!(rows.len(), 1, "the loser takes back its own row only");
    assert!(rig.is_open(&rows[0]));
}

#[test]
fn a_stimulus_for_the_losers_row_finds_nothing_open_though_the_bookmark_has_the_same_id() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let (loser, mut winner) = (rig.open("i", 2_000), rig.open("i", 2_000));
    // The loser crashes after it put its row, so nobody takes it back.
    rig.prepare(&loser, &opens("b", "losers", "one"));
    rig.commit(&mut winner, &opens("b", "winners", "two"));
    assert!(rig.head("i").bookmarks.contains_key("b"));
    let waits = |hash| now(rig.store.instances().waits_for(&rig.tenant, hash, "i")).unwrap();
    assert_eq!(
        (waits("losers"), waits("winners")),
        (vec![], vec!["b".into()])
    );
    let (losers, winners) = (rig.rows("losers"), rig.rows("winners"));
    assert!(!rig.is_open(&losers[0]) && rig.is_open(&winners[0]));
    assert_eq!(rig.judge("i", &losers[0].stamp), Verdict::Lost);
    now(rig.store.stimuli().forget_bookmark(&rig.tenant, &losers[0])).unwrap();
    assert!(rig.rows("losers").is_empty());
    assert_eq!(rig.rows("winners").len(), 1);
}

#[test]
fn a_late_commit_is_refused_after_its_attempt_was_fenced() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut frozen = rig.open("i", 2_000);
    let late = opens("b", "H", "late");
    let mut prepared = rig.prepare(&frozen, &late);
    let stamp = rig.rows("H")[0].stamp;
    assert_eq!(stamp, frozen.stamp(late.attempt, late.now_ms));
    assert_eq!(rig.judge("i", &stamp), Verdict::Undecided);
    assert_eq!(rig.fence("i", &stamp), Verdict::Lost);
    assert_eq!(rig.judge("i", &stamp), Verdict::Lost);
    let before = rig.head("i");
    assert_eq!(
        rig.fence("i", &stamp),
        Verdict::Lost,
        "again changes nothing"
    );
    assert_eq!(rig.head("i"), before);
    let refused = now(rig
        .store
        .commits()
        .commit_prepared(&mut frozen, &mut prepared))
    .unwrap();
    assert!(matches!(refused, Committed::Lost(Some(_))), "{refused:?}");
    assert_eq!(rig.state("i"), "s");
    let mut next = rig.open("i", 3_000);
    let done = rig.commit(&mut next, &commit("t"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(rig.judge("i", &stamp), Verdict::Lost);
}

#[test]
fn a_fence_ends_the_lease_of_the_writer() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut frozen = rig.lease("i", "frozen", 2_000);
    let stamp = frozen.stamp(7, 2_000);
    assert_eq!(rig.fence("i", &stamp), Verdict::Lost);
    assert!(!now(rig.store.leases().renew(&mut frozen, 99_000)).unwrap());
    let mut next = rig.open("i", 2_001);
    let done = rig.commit(&mut next, &commit("t"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
}

#[test]
fn a_commit_that_was_made_is_not_fenced() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.open("i", 2_000);
    let made = opens("b", "H", "t");
    let stamp = loaded.stamp(made.attempt, 2_000);
    rig.commit(&mut loaded, &made);
    let before = rig.table.memory.items();
    assert_eq!(rig.fence("i", &stamp), Verdict::Committed);
    assert_eq!(rig.table.memory.items(), before);
}

#[test]
fn a_fence_that_others_overtake_decides_nothing() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let frozen = rig.open("i", 2_000);
    let stamp = frozen.stamp(7, 2_000);
    rig.faults(&[Fault::Busy]);
    let busy = now(rig.store.commits().fence(&rig.tenant, "i", &stamp, 5_000)).unwrap_err();
    assert!(busy.is_busy());
    assert_eq!(rig.judge("i", &stamp), Verdict::Undecided);
    let mut other = rig.open("i", 2_000);
    rig.commit(&mut other, &commit("t"));
    assert_eq!(rig.fence("i", &stamp), Verdict::Lost, "by that commit");
}

#[test]
fn a_placeholder_refuses_the_first_commit_of_a_fenced_create_and_the_next_one_takes_it_over() {
    for whole in [false, true] {
        let rig = rig_with(|config| config.commits_whole = whole);
        let mut frozen = rig.blank("i", &[], Predecessor::default());
        let late = opens("b", "H", "late");
        let mut prepared = rig.prepare(&frozen, &late);
        let stamp = frozen.stamp(late.attempt, 1_000);
        assert_eq!(rig.judge("i", &stamp), Verdict::Undecided);
        assert_eq!(rig.fence("i", &stamp), Verdict::Lost);
        assert_eq!(rig.judge("i", &stamp), Verdict::Lost);
        assert!(
            now(rig.store.instances().get(&rig.tenant, "i"))
                .unwrap()
                .is_none()
        );
        assert_eq!(
            rig.fence("i", &stamp),
            Verdict::Lost,
            "again changes nothing"
        );

        let refused = now(rig
            .store
            .commits()
            .commit_prepared(&mut frozen, &mut prepared))
        .unwrap();
        let Committed::Fenced(predecessor) = refused else {
            panic!("{refused:?}")
        };
        assert!(rig.rows("H").is_empty(), "its rows are taken back");
        assert_eq!(predecessor.ground, Ground::Placeholder);
        let vacancy = now(rig.store.commits().vacancy(&rig.tenant, "i")).unwrap();
        assert_eq!(vacancy, Vacancy::Free(predecessor));

        let mut next = rig.blank("i", &[], predecessor);
        let done = rig.commit(&mut next, &opens("b", "H", "next"));
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
        assert_eq!(
            (rig.head("i").commit, rig.state("i").as_ref()),
            (1, &b"next"[..])
        );
        assert!(rig.is_open(&rig.rows("H")[0]));
        assert_eq!(rig.judge("i", &stamp), Verdict::Lost);
        let gone = rig.table.memory.sweep_expired(i64::MAX);
        assert_eq!(gone, 0, "the instance does not vanish like a placeholder");
    }
}

#[test]
fn a_second_fence_refuses_the_create_that_took_the_first_into_account() {
    let rig = rig();
    let first = rig.blank("i", &[], Predecessor::default()).stamp(1, 1_000);
    rig.fence("i", &first);
    let Vacancy::Free(predecessor) = now(rig.store.commits().vacancy(&rig.tenant, "i")).unwrap()
    else {
        panic!()
    };
    let mut second = rig.blank("i", &[], predecessor);
    let stamp = second.stamp(2, 1_000);
    assert_eq!(rig.judge("i", &stamp), Verdict::Undecided);
    assert_eq!(rig.fence("i", &stamp), Verdict::Lost);
    let refused = rig.commit(&mut second, &commit("s"));
    assert!(matches!(refused, Committed::Fenced(_)), "{refused:?}");
    let gone = rig.table.memory.sweep_expired(i64::MAX);
    assert_eq!(
        (gone, rig.keys().len()),
        (1, 0),
        "a placeholder goes in the end"
    );
}

/// Commits with some lines each, and the stamps of all of them.
fn long_life(rig: &Rig, count: usize) -> Vec<Stamp> {
    let mut stamps = Vec::new();
    for n in 0..count {
        let mut loaded = if n == 0 {
            rig.blank("i", &[], Predecessor::default())
        } else {
            rig.open("i", 2_000)
        };
        // Every third one has no line.
        let mut next = commit(&n.to_string());
        next.journal.truncate(n % 3);
        stamps.push(loaded.stamp(next.attempt, next.now_ms));
        let done = rig.commit(&mut loaded, &next);
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
    }
    stamps
}

#[test]
fn a_stamp_older_than_the_recent_journal_is_judged_by_the_journal_beside_the_head() {
    let rig = rig_with(|config| config.journal_inline_max = 150);
    let stamps = long_life(&rig, 60);
    let items = rig.keys().iter().filter(|key| key.contains(" J#")).count();
    assert!(items > 12, "more than a page of them: {items}");
    let loaded = rig.open("i", 3_000);
    for stamp in &stamps {
        let lost = Stamp {
            attempt: stamp.attempt ^ 1 << 40,
            ..*stamp
        };
        assert_eq!(rig.judge("i", stamp), Verdict::Committed, "{stamp:?}");
        assert_eq!(rig.judge("i", &lost), Verdict::Lost, "{stamp:?}");
        let judged = |stamp| now(rig.store.leases().judge_loaded(&loaded, stamp)).unwrap();
        assert_eq!(judged(stamp), Verdict::Committed, "{stamp:?}");
        assert_eq!(judged(&lost), Verdict::Lost, "{stamp:?}");
        assert_eq!(rig.fence("i", &lost), Verdict::Lost);
    }
    rig.calls();
    rig.judge("i", stamps.last().unwrap());
    assert_eq!(rig.calls(), ["get"], "a recent one costs no query");
}

#[test]
fn a_tombstone_judges_the_last_commits() {
    let rig = rig();
    let stamps = long_life(&rig, 5);
    let mut frozen = rig.open("i", 2_000);
    let late = frozen.stamp(7, 2_000);
    let mut prepared = rig.prepare(&frozen, &opens("b", "H", "late"));
    now(rig.store.instances().delete(&rig.tenant, "i", 5_000, &[])).unwrap();
    let check = || {
        for stamp in &stamps {
            assert_eq!(rig.judge("i", stamp), Verdict::Committed);
            let lost = Stamp {
                attempt: 1,
                ..*stamp
            };
            assert_eq!(rig.judge("i", &lost), Verdict::Lost);
            assert_eq!(rig.fence("i", &lost), Verdict::Lost);
        }
        assert_eq!(rig.judge("i", &late), Verdict::Lost, "it can never happen");
    };
    check();
    while !now(rig.store.instances().clean_deleted(&rig.tenant, "i", 5_000)).unwrap() {}
    check();
    let refused = now(rig
        .store
        .commits()
        .commit_prepared(&mut frozen, &mut prepared))
    .unwrap();
    assert!(matches!(refused, Committed::Lost(None)), "{refused:?}");
}

#[test]
fn an_instance_that_is_about_to_be_brought_back_is_fenced_by_its_tombstone() {
    let rig = rig();
    rig.create("i", &ending("end"));
    now(rig.store.instances().delete(&rig.tenant, "i", 5_000, &[])).unwrap();
    while !now(rig.store.instances().clean_deleted(&rig.tenant, "i", 5_000)).unwrap() {}
    let Vacancy::Free(predecessor) = now(rig.store.commits().vacancy(&rig.tenant, "i")).unwrap()
    else {
        panic!()
    };
    let mut frozen = rig.blank("i", &[], predecessor);
    let back = commit("back");
    let stamp = frozen.stamp(back.attempt, back.now_ms);
    assert_eq!(rig.judge("i", &stamp), Verdict::Undecided);
    assert_eq!(rig.fence("i", &stamp), Verdict::Lost);
    assert_eq!(rig.judge("i", &stamp), Verdict::Lost);
    let refused = rig.commit(&mut frozen, &back);
    assert!(matches!(refused, Committed::Deleted), "{refused:?}");
    let Vacancy::Free(after) = now(rig.store.commits().vacancy(&rig.tenant, "i")).unwrap() else {
        panic!()
    };
    let mut next = rig.blank("i", &[], after);
    let done = rig.commit(&mut next, &commit("back"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
}

/// What earlier commits moved out of the head lies under keys that every attempt at the next commit uses.
#[test]
fn the_loser_of_a_race_leaves_what_the_winner_put_under_the_same_key() {
    let rig = rig_with(|config| config.journal_inline_max = 100);
    let seen: Vec<_> = (0..8).map(|n| format!("e{n}")).collect();
    let lines: Vec<_> = (0..2)
        .map(|n| Bytes::from(format!("line {n} of some length")))
        .collect();
    let first = Commit {
        event_ids: seen.clone(),
        journal: lines.clone(),
        ..commit("s")
    };
    rig.create("i", &first);
    let next = |event: &str| Commit {
        event_ids: vec![event.into()],
        journal: lines.clone(),
        routes_added: vec![Route {
            template: "a".into(),
            method: "get".into(),
        }],
        effects: vec![Effect::default()],
        ..commit(event)
    };
    let (mut one, mut two) = (rig.open("i", 2_000), rig.open("i", 2_000));
    let mut loser = rig.prepare(&one, &next("loser"));
    let done = rig.commit(&mut two, &next("winner"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    let lost = now(rig.store.commits().commit_prepared(&mut one, &mut loser)).unwrap();
    assert!(matches!(lost, Committed::Lost(Some(_))), "{lost:?}");
    assert_eq!(rig.journal("i").len(), 4);
    for event in seen.iter().map(String::as_str).chain(["winner"]) {
        assert!(
            now(rig.store.instances().has_seen(&rig.tenant, "i", event)).unwrap(),
            "{event}"
        );
    }
    assert!(!now(rig.store.instances().has_seen(&rig.tenant, "i", "loser")).unwrap());
    assert_eq!(
        now(rig.store.definitions().list_routes(&rig.tenant))
            .unwrap()
            .len(),
        1
    );
    let outbox = rig.keys().into_iter().filter(|key| key.contains("OUTBOX"));
    assert_eq!(outbox.count(), 1, "and takes back what is its own");
}
