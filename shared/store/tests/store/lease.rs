//! The lease: who gets it, who does not, and what those who do not are told.

use dormouse_store::commit::Committed;
use dormouse_store::lease::{Acquire, Acquired};

use crate::rig::{Fault, bookmark, commit, ending, now, rig};

#[test]
fn one_of_many_gets_the_lease_and_the_others_hear_until_when() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let lease = rig.acquire("i", "a", 2_000);
    assert_eq!(
        (lease.fence(), lease.next_commit(), lease.state().as_ref()),
        (2, 2, &b"s"[..])
    );
    for owner in ["b", "c"] {
        let busy = rig.try_acquire("i", owner, 2_001, None);
        let Acquired::Busy {
            until_ms: 32_000,
            head: Some(head),
        } = busy
        else {
            panic!("{busy:?}")
        };
        assert_eq!(head.summary.status, "Running");
    }
}

#[test]
fn a_lease_that_ran_out_is_taken_and_the_holder_before_cannot_commit() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut slow = rig.acquire("i", "slow", 2_000);
    assert!(matches!(
        rig.try_acquire("i", "b", 32_000, None),
        Acquired::Busy { .. }
    ));
    let mut quick = rig.acquire("i", "quick", 32_001);
    assert_eq!(quick.fence(), slow.fence() + 1);
    let Committed::Lost(Some(head)) = rig.commit(&mut slow, &commit("late")) else {
        panic!()
    };
    assert_eq!(head.fence, quick.fence());
    assert!(matches!(
        rig.commit(&mut slow, &commit("again")),
        Committed::Lost(_)
    ));
    assert!(matches!(
        rig.commit(&mut quick, &commit("quick")),
        Committed::Done(_)
    ));
    assert_eq!(rig.state("i"), "quick");
    assert_eq!(rig.journal("i"), ["line of s", "line of quick"]);
}

#[test]
fn a_holder_whose_lease_ran_out_may_commit_while_nobody_took_it() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    let late = dormouse_store::commit::Commit {
        now_ms: 99_000,
        ..commit("late")
    };
    assert!(matches!(rig.commit(&mut lease, &late), Committed::Done(_)));
    rig.acquire("i", "b", 99_001);
}

#[test]
fn a_stimulus_for_a_closed_bookmark_is_told_so_in_one_call_even_while_others_work() {
    let rig = rig();
    rig.create(
        "i",
        &dormouse_store::commit::Commit {
            bookmarks_added: vec![bookmark("open")],
            ..commit("s")
        },
    );
    rig.calls();
    let gone = rig.try_acquire("i", "a", 2_000, Some(("closed", 1)));
    assert!(matches!(gone, Acquired::Gone(_)), "{gone:?}");
    assert_eq!(rig.calls(), ["update"]);
    let lease = rig.try_acquire("i", "a", 2_000, Some(("open", 1)));
    assert!(matches!(lease, Acquired::Lease(_)));
    assert!(matches!(
        rig.try_acquire("i", "b", 2_000, Some(("closed", 1))),
        Acquired::Gone(_)
    ));
    assert!(matches!(
        rig.try_acquire("i", "b", 2_000, Some(("open", 1))),
        Acquired::Busy { .. }
    ));
}

#[test]
fn a_timer_of_a_commit_that_is_not_visible_yet_is_told_to_come_again() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let early = rig.try_acquire("i", "a", 2_000, Some(("b", 2)));
    assert!(matches!(early, Acquired::NotYet(_)), "{early:?}");
}

#[test]
fn an_instance_that_ended_is_ended_for_ever() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    let keep = dormouse_store::commit::Commit {
        keep_until_ms: Some(9_000),
        ..ending("end")
    };
    assert!(matches!(rig.commit(&mut lease, &keep), Committed::Done(_)));
    assert_eq!(
        lease.until_ms(),
        None,
        "the end gives the lease back whatever the commit says"
    );
    assert!(matches!(
        rig.commit(&mut lease, &commit("more")),
        Committed::Lost(_)
    ));
    let Acquired::Ended(head) = rig.try_acquire("i", "b", 3_000, Some(("b", 9))) else {
        panic!()
    };
    assert_eq!(head.summary.status, "Finished");
    assert_eq!(rig.state("i"), "end");
}

#[test]
fn an_unknown_instance_is_not_found() {
    assert!(matches!(
        rig().try_acquire("i", "a", 2_000, None),
        Acquired::NotFound
    ));
}

#[test]
fn a_lease_is_renewed_and_given_back() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    assert!(now(rig.store.renew(&mut lease, 60_000)).unwrap());
    assert_eq!(lease.until_ms(), Some(60_000));
    assert!(matches!(
        rig.try_acquire("i", "b", 59_000, None),
        Acquired::Busy {
            until_ms: 60_000,
            ..
        }
    ));
    now(rig.store.release(&mut lease)).unwrap();
    let other = rig.acquire("i", "b", 59_000);
    assert!(!now(rig.store.renew(&mut lease, 90_000)).unwrap());
    now(rig.store.release(&mut lease)).unwrap();
    assert_eq!(other.fence(), 3);
    assert!(
        matches!(
            rig.try_acquire("i", "c", 59_000, None),
            Acquired::Busy { .. }
        ),
        "b still has it"
    );
}

#[test]
fn an_old_holder_neither_renews_nor_releases_the_lease_of_the_next() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut old = rig.acquire("i", "a", 2_000);
    rig.acquire("i", "b", 50_000);
    assert!(!now(rig.store.renew(&mut old, 999_000)).unwrap());
    let mut old = rig.acquire("i", "c", 90_000);
    rig.acquire("i", "d", 190_000);
    now(rig.store.release(&mut old)).unwrap();
    assert!(matches!(
        rig.try_acquire("i", "e", 190_001, None),
        Acquired::Busy { .. }
    ));
}

#[test]
fn a_lost_answer_finds_its_own_lease() {
    let rig = rig();
    rig.create("i", &commit("s"));
    rig.faults(&[Fault::LoseAnswer]);
    let lease = rig.acquire("i", "a", 2_000);
    assert_eq!(lease.fence(), 2, "it was taken once");
    rig.faults(&[Fault::LoseCall]);
    let mut lease = lease;
    assert!(matches!(
        rig.commit(&mut lease, &commit("t")),
        Committed::Done(_)
    ));
    assert_eq!(rig.acquire("i", "b", 2_000).fence(), 3);
}

#[test]
fn an_acquire_that_stays_unknown_may_be_called_again() {
    let rig = rig();
    rig.create("i", &commit("s"));
    rig.faults(&[Fault::LoseAnswer, Fault::LoseAnswer]);
    let acquire = Acquire {
        instance_id: "i",
        owner: "a",
        now_ms: 2_000,
        until_ms: 9_000,
        wanted: None,
        reopens: false,
        event_id: None,
    };
    let unknown = now(rig.store.acquire(&rig.tenant, &acquire)).unwrap_err();
    assert!(unknown.is_unknown());
    let Acquired::Lease(lease) = now(rig.store.acquire(&rig.tenant, &acquire)).unwrap() else {
        panic!()
    };
    assert_eq!(lease.fence(), 2);
    // Another burst of the same node is not mistaken for it.
    let other = Acquire {
        until_ms: 9_001,
        ..acquire
    };
    assert!(matches!(
        now(rig.store.acquire(&rig.tenant, &other)).unwrap(),
        Acquired::Busy { .. }
    ));
}

#[test]
fn an_instance_that_failed_is_opened_again_for_a_retry_and_by_nothing_else() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.commit(&mut lease, &ending("failed"));
    assert!(matches!(
        rig.try_acquire("i", "b", 3_000, None),
        Acquired::Ended(_)
    ));
    let retry = Acquire {
        instance_id: "i",
        owner: "b",
        now_ms: 3_000,
        until_ms: 9_000,
        wanted: None,
        reopens: true,
        event_id: None,
    };
    let Acquired::Lease(mut lease) = now(rig.store.acquire(&rig.tenant, &retry)).unwrap() else {
        panic!()
    };
    assert!(matches!(
        rig.try_acquire("i", "c", 3_001, None),
        Acquired::Ended(_)
    ));
    assert!(matches!(
        rig.commit(&mut lease, &commit("again")),
        Committed::Done(_)
    ));
    assert_eq!(rig.state("i"), "again");
    rig.acquire("i", "c", 3_002);
}
