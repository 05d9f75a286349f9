//! Commits of more writes than one atomic write takes: a crash between the parts does no harm.

use bytes::Bytes;
use dormouse_store::bookmark::NewBookmark;
use dormouse_store::commit::{Commit, Committed};
use dormouse_store::create::{Created, NewInstance};
use dormouse_store::lease::Acquired;
use dormouse_store::outbox::Effect;
use dormouse_store::uniqueness::Claim;

use crate::rig::{Fault, Rig, commit, ending, event_bookmark, now, rig};

fn many(prefix: &str) -> Vec<NewBookmark> {
    (0..250)
        .map(|n| event_bookmark(&format!("{prefix}{n:03}"), "H"))
        .collect()
}

fn ids(bookmarks: &[NewBookmark]) -> Vec<String> {
    bookmarks
        .iter()
        .map(|bookmark| bookmark.id.clone())
        .collect()
}

fn waiting(rig: &Rig) -> usize {
    now(rig.store.stimuli(&rig.tenant, "H", None))
        .unwrap()
        .bookmarks
        .len()
}

fn effects() -> Vec<Effect> {
    vec![Effect {
        id: "x".into(),
        body: Bytes::from_static(b"x"),
    }]
}

#[test]
fn hundreds_of_bookmarks_are_opened_and_closed() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.calls();
    let opened = rig.commit(
        &mut lease,
        &Commit {
            bookmarks_added: many("b"),
            effects: effects(),
            ..commit("t")
        },
    );
    assert!(matches!(opened, Committed::Done(_)), "{opened:?}");
    assert_eq!(
        rig.calls(),
        ["write 100", "write 100", "write 53", "write 2"]
    );
    assert_eq!(waiting(&rig), 250);
    assert_eq!(lease.until_ms(), None);

    let mut lease = rig.acquire("i", "b", 2_001);
    rig.calls();
    let done = rig.commit(
        &mut lease,
        &Commit {
            bookmarks_removed: ids(&many("b")),
            ..commit("u")
        },
    );
    assert!(matches!(done, Committed::Done(_)));
    assert_eq!(
        rig.calls(),
        ["write 1", "write 100", "write 100", "write 53", "update"]
    );
    assert_eq!(waiting(&rig), 0);
    rig.acquire("i", "c", 2_002);
}

#[test]
fn a_crash_at_any_call_leaves_only_bookmarks_that_are_not_open() {
    for crash_at in 0..8 {
        let rig = rig();
        rig.create(
            "i",
            &Commit {
                bookmarks_added: many("old"),
                ..commit("s")
            },
        );
        let mut lease = rig.acquire("i", "a", 2_000);
        let change = Commit {
            bookmarks_added: many("new"),
            bookmarks_removed: ids(&many("old")),
            effects: effects(),
            ..commit("t")
        };
        let faults = [vec![Fault::None; crash_at], vec![Fault::LoseCall; 50]].concat();
        rig.faults(&faults);
        let result = now(rig.store.commit(&mut lease, &change));
        rig.faults(&[]);
        let head = now(rig.store.instance(&rig.tenant, "i")).unwrap().unwrap();
        let found = now(rig.store.stimuli(&rig.tenant, "H", None))
            .unwrap()
            .bookmarks;
        let rows: Vec<_> = found.iter().map(|row| row.bookmark_id.clone()).collect();
        for open in &head.bookmarks {
            assert!(
                rows.contains(open),
                "an open bookmark is always found: {open} at {crash_at}"
            );
        }
        for row in found
            .iter()
            .filter(|row| !head.bookmarks.contains(&row.bookmark_id))
        {
            let ahead = row.commit > head.commit;
            assert!(ahead || row.bookmark_id.starts_with("old"), "{crash_at}");
        }
        let outbox = rig
            .keys()
            .iter()
            .filter(|key| key.contains("OUTBOX"))
            .count();
        let happened = head.commit == 2;
        assert_eq!(
            outbox,
            usize::from(happened),
            "effects are there with the commit and not before"
        );
        assert_eq!(happened, result.is_ok(), "at {crash_at}: {result:?}");
        assert_eq!(happened, crash_at > 3);
    }
}

#[test]
fn a_bookmark_that_is_not_open_yet_says_come_again() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.faults(&[vec![Fault::None; 3], vec![Fault::LoseCall; 3]].concat());
    let change = Commit {
        bookmarks_added: many("b"),
        ..commit("t")
    };
    assert!(
        now(rig.store.commit(&mut lease, &change))
            .unwrap_err()
            .is_unknown()
    );
    let row = now(rig.store.stimuli(&rig.tenant, "H", None))
        .unwrap()
        .bookmarks
        .remove(0);
    let early = rig.try_acquire("i", "b", 2_001, Some((&row.bookmark_id, row.commit)));
    assert!(matches!(early, Acquired::NotYet(_)), "{early:?}");
    // The burst is done again after its lease ran out, with the same bookmarks.
    let mut lease = rig.acquire("i", "c", 90_000);
    assert!(matches!(
        rig.commit(&mut lease, &change),
        Committed::Done(_)
    ));
    let open = rig.try_acquire("i", "d", 90_001, Some((&row.bookmark_id, row.commit)));
    assert!(matches!(open, Acquired::Lease(_)), "{open:?}");
}

#[test]
fn nobody_works_on_an_instance_while_its_closed_bookmarks_are_deleted() {
    let rig = rig();
    rig.create(
        "i",
        &Commit {
            bookmarks_added: many("b"),
            ..commit("s")
        },
    );
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.faults(&[vec![Fault::None], vec![Fault::LoseCall; 50]].concat());
    let closed = rig.commit(
        &mut lease,
        &Commit {
            bookmarks_removed: ids(&many("b")),
            ..commit("t")
        },
    );
    assert!(
        matches!(closed, Committed::Done(_)),
        "the commit itself is done"
    );
    rig.faults(&[]);
    assert!(matches!(
        rig.try_acquire("i", "b", 2_001, None),
        Acquired::Busy { .. }
    ));
    let row = now(rig.store.stimuli(&rig.tenant, "H", None))
        .unwrap()
        .bookmarks
        .remove(0);
    let gone = rig.try_acquire("i", "b", 2_001, Some((&row.bookmark_id, row.commit)));
    assert!(matches!(gone, Acquired::Gone(_)));
    now(rig.store.forget_bookmark(&rig.tenant, &row)).unwrap();
    assert_eq!(waiting(&rig), 249);
}

#[test]
fn an_instance_is_created_with_hundreds_of_bookmarks() {
    let rig = rig();
    let first = Commit {
        bookmarks_added: many("b"),
        ..commit("s")
    };
    let (lease, _) = rig.create("i", &first);
    assert_eq!(
        rig.calls(),
        ["write 1", "write 100", "write 100", "write 53", "write 1"]
    );
    assert_eq!((waiting(&rig), lease.until_ms()), (250, None));
    assert!(
        matches!(rig.try_create("i", &first), Created::Done { .. }),
        "our own, told again"
    );
    rig.acquire("i", "a", 2_000);
}

#[test]
fn an_interrupted_create_can_be_done_again_by_its_owner_at_once_and_by_others_later() {
    let rig = rig();
    let first = Commit {
        bookmarks_added: many("b"),
        ..commit("s")
    };
    rig.faults(&[vec![Fault::None; 2], vec![Fault::LoseCall; 3]].concat());
    let new = NewInstance {
        instance_id: "i",
        owner: "creator",
        claims: &[],
    };
    assert!(
        now(rig.store.create(&rig.tenant, &new, &first))
            .unwrap_err()
            .is_unknown()
    );
    assert!(now(rig.store.instance(&rig.tenant, "i")).unwrap().is_none());
    assert!(matches!(
        rig.try_acquire("i", "a", 1_001, None),
        Acquired::Busy { head: None, .. }
    ));
    let other = NewInstance {
        owner: "other",
        ..new.clone()
    };
    let busy = now(rig.store.create(&rig.tenant, &other, &commit("small"))).unwrap();
    assert!(
        matches!(busy, Created::Busy { until_ms: 61_000 }),
        "{busy:?}"
    );
    let later = Commit {
        now_ms: 61_001,
        ..first.clone()
    };
    let taken = now(rig.store.create(&rig.tenant, &other, &later)).unwrap();
    assert!(matches!(taken, Created::Done { .. }));
    let late = now(rig.store.create(&rig.tenant, &new, &first)).unwrap();
    assert!(matches!(late, Created::Exists(_)), "{late:?}");
}

#[test]
fn a_refused_create_takes_back_what_it_put_before() {
    let rig = rig();
    let claims = [Claim::Definition("order".into())];
    let holder = NewInstance {
        instance_id: "holder",
        owner: "a",
        claims: &claims,
    };
    now(rig.store.create(&rig.tenant, &holder, &commit("s"))).unwrap();
    let before = rig.keys();
    let new = NewInstance {
        instance_id: "i",
        owner: "b",
        claims: &claims,
    };
    let first = Commit {
        bookmarks_added: many("b"),
        ..commit("s")
    };
    let refused = now(rig.store.create(&rig.tenant, &new, &first)).unwrap();
    assert!(matches!(refused, Created::NotUnique { .. }));
    assert_eq!(rig.keys(), before);
}

#[test]
fn an_end_with_hundreds_of_bookmarks_leaves_nothing() {
    let rig = rig();
    rig.create(
        "i",
        &Commit {
            bookmarks_added: many("b"),
            ..commit("s")
        },
    );
    let mut lease = rig.acquire("i", "a", 2_000);
    assert!(matches!(
        rig.commit(&mut lease, &ending("end")),
        Committed::Done(_)
    ));
    assert_eq!(rig.keys(), ["acme/WF#i HEAD"]);
}

#[test]
fn megabytes_of_bookmarks_are_opened_too() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut lease = rig.acquire("i", "a", 2_000);
    let mut bookmarks = many("b");
    bookmarks.truncate(60);
    for found_by in bookmarks
        .iter_mut()
        .filter_map(|bookmark| bookmark.found_by.as_mut())
    {
        found_by.payload = Bytes::from(vec![7; 200_000]);
    }
    let done = rig.commit(
        &mut lease,
        &Commit {
            bookmarks_added: bookmarks,
            ..commit("t")
        },
    );
    assert!(matches!(done, Committed::Done(_)));
    assert_eq!(rig.acquire("i", "b", 2_001).head().bookmarks.len(), 60);
}

#[test]
fn a_commit_that_no_table_takes_is_refused_whole() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let before = rig.keys();
    let mut lease = rig.acquire("i", "a", 2_000);
    let effect = |n: u32| Effect {
        id: format!("i/2/{n}"),
        body: Bytes::from(vec![7; 250_000]),
    };
    let giant = Commit {
        effects: (0..20).map(effect).collect(),
        ..commit("t")
    };
    let refused = now(rig.store.commit(&mut lease, &giant)).unwrap_err();
    assert!(!refused.is_busy() && !refused.is_unknown(), "{refused}");
    now(rig.store.release(&mut lease)).unwrap();
    assert_eq!(rig.keys(), before);
    assert_eq!(rig.state("i"), "s");
}
