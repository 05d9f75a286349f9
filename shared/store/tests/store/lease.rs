//! Opening: by a read or by a lease, and what those are told who have to wait or come too late.

use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::lease::{Open, Opened};

use crate::rig::{Fault, bookmark, commit, ending, now, opening, rig};

#[test]
fn one_of_many_gets_the_lease_and_the_others_hear_until_when() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let before = rig.head("i").fence;
    let loaded = rig.lease("i", "a", 2_000);
    assert_eq!((loaded.head().fence, loaded.next_commit()), (before + 1, 2));
    assert_eq!(loaded.state().as_ref(), b"s");
    assert_eq!(
        (loaded.is_leased(), loaded.until_ms()),
        (true, Some(32_000))
    );
    for owner in ["b", "c"] {
        let busy = rig.try_lease("i", owner, 2_001);
        assert!(
            matches!(busy, Opened::Busy { until_ms: 32_000 }),
            "{busy:?}"
        );
    }
    let busy = rig.try_open("i", 2_001);
    assert!(
        matches!(busy, Opened::Busy { until_ms: 32_000 }),
        "{busy:?}"
    );
}

#[test]
fn of_those_that_read_one_commits_and_the_others_lose() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut readers: Vec<_> = (0..3).map(|_| rig.open("i", 2_000)).collect();
    assert!(readers.iter().all(|loaded| !loaded.is_leased()));
    let mut winner = readers.remove(1);
    let done = rig.commit(&mut winner, &commit("t"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    for mut loser in readers {
        let lost = rig.commit(&mut loser, &commit("lost"));
        let Committed::Lost(Some(head)) = lost else {
            panic!("{lost:?}")
        };
        assert_eq!(head.commit, 2);
    }
    assert_eq!(rig.journal("i"), ["line of s", "line of t"]);
}

#[test]
fn a_lease_makes_the_commit_of_a_reader_lose() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut reader = rig.open("i", 2_000);
    let mut holder = rig.lease("i", "holder", 2_000);
    let lost = rig.commit(&mut reader, &commit("optimistic"));
    assert!(matches!(lost, Committed::Lost(Some(_))), "{lost:?}");
    let done = rig.commit(&mut holder, &commit("t"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert!(!holder.is_leased());
    assert_eq!(rig.journal("i"), ["line of s", "line of t"]);
    // Also after it was given back without a commit.
    let mut reader = rig.open("i", 3_000);
    let mut holder = rig.lease("i", "holder", 3_000);
    now(rig.store.leases().release(&mut holder)).unwrap();
    let lost = rig.commit(&mut reader, &commit("optimistic"));
    assert!(matches!(lost, Committed::Lost(Some(_))), "{lost:?}");
}

#[test]
fn a_reader_takes_the_lease_with_its_first_commit() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let (mut loaded, mut other) = (rig.open("i", 2_000), rig.open("i", 2_000));
    let fence = loaded.head().fence;
    let keeping = Commit {
        keep_until_ms: Some(9_000),
        ..commit("1")
    };
    rig.calls();
    let done = rig.commit(&mut loaded, &keeping);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(rig.calls(), ["change if"], "without a call of its own");
    assert_eq!((loaded.is_leased(), loaded.until_ms()), (true, Some(9_000)));
    assert_eq!(loaded.head().fence, fence + 1);
    assert!(matches!(rig.try_open("i", 9_000), Opened::Busy { .. }));
    let lost = rig.commit(&mut other, &commit("other"));
    assert!(matches!(lost, Committed::Lost(Some(_))), "{lost:?}");
    let done = rig.commit(&mut loaded, &commit("2"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert!(!loaded.is_leased());
    rig.open("i", 2_001);
    let journal = ["line of s", "line of 1", "line of 2"];
    assert_eq!(rig.journal("i"), journal);
}

#[test]
fn a_lease_that_ran_out_is_taken_and_the_holder_before_cannot_commit() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut slow = rig.lease("i", "slow", 2_000);
    assert!(matches!(
        rig.try_lease("i", "b", 32_000),
        Opened::Busy { .. }
    ));
    let mut quick = rig.lease("i", "quick", 32_001);
    assert_eq!(quick.head().fence, slow.head().fence + 1);
    let Committed::Lost(Some(head)) = rig.commit(&mut slow, &commit("late")) else {
        panic!()
    };
    assert_eq!(head.fence, quick.head().fence);
    let again = rig.commit(&mut slow, &commit("again"));
    assert!(matches!(again, Committed::Lost(_)), "{again:?}");
    let done = rig.commit(&mut quick, &commit("quick"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(rig.state("i"), "quick");
    assert_eq!(rig.journal("i"), ["line of s", "line of quick"]);
}

#[test]
fn of_a_late_holder_and_a_reader_after_it_one_commits() {
    for holder_first in [true, false] {
        let rig = rig();
        rig.create("i", &commit("s"));
        let mut holder = rig.lease("i", "a", 2_000);
        let mut reader = rig.open("i", 32_001);
        let (first, second) = if holder_first {
            (&mut holder, &mut reader)
        } else {
            (&mut reader, &mut holder)
        };
        let done = rig.commit(first, &commit("first"));
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
        let lost = rig.commit(second, &commit("second"));
        assert!(matches!(lost, Committed::Lost(Some(_))), "{lost:?}");
        assert_eq!(rig.state("i"), "first");
    }
}

#[test]
fn a_holder_whose_lease_ran_out_may_commit_while_nobody_took_it() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.lease("i", "a", 2_000);
    let late = Commit {
        now_ms: 99_000,
        ..commit("late")
    };
    let done = rig.commit(&mut loaded, &late);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    rig.lease("i", "b", 99_001);
}

#[test]
fn an_open_bookmark_is_known_with_its_attempt_and_a_closed_one_is_not() {
    let rig = rig();
    let first = Commit {
        bookmarks_added: vec![bookmark("open")],
        ..commit("s")
    };
    rig.create("i", &first);
    rig.calls();
    let loaded = rig.open("i", 2_000);
    assert_eq!(rig.calls(), ["get"]);
    let open = loaded.bookmark("open").unwrap();
    assert_eq!((open.attempt, &open.place), (first.attempt, &None));
    assert_eq!(loaded.bookmark("closed"), None);
}

#[test]
fn an_instance_that_ended_is_ended_for_ever() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.lease("i", "a", 2_000);
    let keep = Commit {
        keep_until_ms: Some(9_000),
        ..ending("end")
    };
    let done = rig.commit(&mut loaded, &keep);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(
        loaded.until_ms(),
        None,
        "the end gives the lease back whatever the commit says"
    );
    let more = rig.commit(&mut loaded, &commit("more"));
    assert!(matches!(more, Committed::Lost(_)), "{more:?}");
    for opened in [rig.try_open("i", 3_000), rig.try_lease("i", "b", 3_000)] {
        let Opened::Ended(head) = opened else {
            panic!("{opened:?}")
        };
        assert_eq!(head.summary.status, "Finished");
    }
    assert_eq!(rig.state("i"), "end");
}

#[test]
fn an_unknown_instance_is_not_found() {
    let rig = rig();
    assert!(matches!(rig.try_open("i", 2_000), Opened::NotFound));
    assert!(matches!(rig.try_lease("i", "a", 2_000), Opened::NotFound));
    assert!(rig.keys().is_empty(), "a lease creates nothing");
}

#[test]
fn a_lease_is_renewed_and_given_back() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.lease("i", "a", 2_000);
    assert!(now(rig.store.leases().renew(&mut loaded, 60_000)).unwrap());
    assert_eq!(loaded.until_ms(), Some(60_000));
    let busy = rig.try_lease("i", "b", 59_000);
    assert!(
        matches!(busy, Opened::Busy { until_ms: 60_000 }),
        "{busy:?}"
    );
    now(rig.store.leases().release(&mut loaded)).unwrap();
    let other = rig.lease("i", "b", 59_000);
    assert!(!now(rig.store.leases().renew(&mut loaded, 90_000)).unwrap());
    now(rig.store.leases().release(&mut loaded)).unwrap();
    assert_eq!(other.head().fence, loaded.head().fence + 1);
    assert!(
        matches!(rig.try_lease("i", "c", 59_000), Opened::Busy { .. }),
        "b still has it"
    );
}

#[test]
fn a_reader_has_no_lease_to_renew_or_to_give_back() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut reader = rig.open("i", 2_000);
    rig.calls();
    assert!(!now(rig.store.leases().renew(&mut reader, 60_000)).unwrap());
    now(rig.store.leases().release(&mut reader)).unwrap();
    assert!(rig.calls().is_empty());
}

#[test]
fn an_old_holder_neither_renews_nor_releases_the_lease_of_the_next() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut old = rig.lease("i", "a", 2_000);
    rig.lease("i", "b", 50_000);
    assert!(!now(rig.store.leases().renew(&mut old, 999_000)).unwrap());
    let mut old = rig.lease("i", "c", 90_000);
    rig.lease("i", "d", 190_000);
    now(rig.store.leases().release(&mut old)).unwrap();
    assert!(matches!(
        rig.try_lease("i", "e", 190_001),
        Opened::Busy { .. }
    ));
}

#[test]
fn a_lost_answer_finds_its_own_lease() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let fence = rig.head("i").fence;
    rig.faults(&[Fault::LoseAnswer]);
    let mut loaded = rig.lease("i", "a", 2_000);
    assert_eq!(loaded.head().fence, fence + 1, "it was taken once");
    rig.faults(&[Fault::LoseCall]);
    let done = rig.commit(&mut loaded, &commit("t"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(rig.lease("i", "b", 2_000).head().fence, fence + 2);
}

#[test]
fn a_lease_that_stays_unknown_may_be_asked_for_again() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let fence = rig.head("i").fence;
    rig.faults(&[Fault::LoseAnswer, Fault::LoseAnswer]);
    let open = opening("i", "a", 2_000);
    let lease = |until_ms| now(rig.store.leases().lease(&rig.tenant, &open, until_ms));
    assert!(lease(9_000).unwrap_err().is_unknown());
    let Opened::Loaded(loaded) = lease(9_000).unwrap() else {
        panic!()
    };
    assert_eq!(loaded.head().fence, fence + 1);
    // Another burst of the same node is not mistaken for it.
    assert!(matches!(lease(9_001).unwrap(), Opened::Busy { .. }));
}

#[test]
fn an_instance_that_failed_is_opened_again_for_a_retry_and_by_nothing_else() {
    for leases in [true, false] {
        let rig = rig();
        rig.create("i", &commit("s"));
        let mut loaded = rig.open("i", 2_000);
        rig.commit(&mut loaded, &ending("failed"));
        assert!(matches!(rig.try_open("i", 3_000), Opened::Ended(_)));
        let retry = Open {
            reopens: true,
            ..opening("i", "b", 3_000)
        };
        let opened = if leases {
            now(rig.store.leases().lease(&rig.tenant, &retry, 9_000)).unwrap()
        } else {
            now(rig.store.leases().open(&rig.tenant, &retry)).unwrap()
        };
        let Opened::Loaded(mut loaded) = opened else {
            panic!("{opened:?}")
        };
        assert!(matches!(rig.try_lease("i", "c", 3_001), Opened::Ended(_)));
        let done = rig.commit(&mut loaded, &commit("again"));
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
        assert_eq!(rig.state("i"), "again");
        rig.open("i", 3_002);
    }
}
