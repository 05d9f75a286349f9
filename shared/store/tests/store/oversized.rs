//! Commits of more rows than one atomic write takes: a crash between the writes does no harm.

use bytes::Bytes;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::predecessor::Predecessor;
use dormouse_store::instance::stamp::Verdict;
use dormouse_store::instance::uniqueness::Claim;
use dormouse_store::outbox::row::Effect;
use dormouse_store::stimulus::bookmark::{BookmarkRow, NewBookmark};

use crate::rig::{Fault, Rig, commit, ending, event_bookmark, now, rig, rig_with};

fn many(prefix: &str, count: usize) -> Vec<NewBookmark> {
    (0..count)
        .map(|n| event_bookmark(&format!("{prefix}{n:04}"), "H"))
        .collect()
}

fn ids(bookmarks: &[NewBookmark]) -> Vec<String> {
    bookmarks
        .iter()
        .map(|bookmark| bookmark.id.clone())
        .collect()
}

fn effects() -> Vec<Effect> {
    vec![Effect {
        id: "x".into(),
        body: Bytes::from_static(b"x"),
    }]
}

/// Both ways to write a commit: its rows before its head, and all at once where it fits.
fn rigs() -> [Rig; 2] {
    [rig(), rig_with(|config| config.commits_whole = true)]
}

/// How often each kind of call follows itself: `3 put`, `1 change if`.
fn runs(calls: &[String]) -> Vec<String> {
    let runs = calls.chunk_by(|one, next| one == next);
    runs.map(|run| format!("{} {}", run.len(), run[0]))
        .collect()
}

#[test]
fn thousands_of_bookmarks_are_opened_and_closed_by_one_decision_each() {
    for rig in rigs() {
        rig.create("i", &commit("s"));
        let mut loaded = rig.open("i", 2_000);
        rig.calls();
        let bookmarks = many("b", 3_000);
        let opened = rig.commit(
            &mut loaded,
            &Commit {
                bookmarks_added: bookmarks.clone(),
                effects: effects(),
                ..commit("t")
            },
        );
        assert!(matches!(opened, Committed::Done(_)), "{opened:?}");
        assert_eq!(runs(&rig.calls()), ["3001 put", "1 change if"]);
        let rows = rig.rows("H");
        assert_eq!(rows.len(), 3_000);
        let open = rig.head("i").bookmarks;
        let is_open = |attempt, id| open.get(id).is_some_and(|open| open.attempt == attempt);
        assert!(
            rows.iter()
                .all(|row| is_open(row.stamp.attempt, &row.bookmark_id))
        );

        let mut loaded = rig.open("i", 2_001);
        rig.calls();
        let closed = rig.commit(
            &mut loaded,
            &Commit {
                bookmarks_removed: ids(&bookmarks),
                ..commit("u")
            },
        );
        assert!(matches!(closed, Committed::Done(_)), "{closed:?}");
        assert_eq!(runs(&rig.calls()), ["1 change if", "3000 delete"]);
        assert!(rig.rows("H").is_empty() && rig.head("i").bookmarks.is_empty());
    }
}

#[test]
fn a_commit_that_just_fits_is_one_atomic_write_and_one_row_more_is_not() {
    let rig = rig_with(|config| config.commits_whole = true);
    rig.create("i", &commit("s"));
    for (count, expected) in [
        (99, &["1 write 100"][..]),
        (100, &["100 put", "1 change if"]),
    ] {
        let mut loaded = rig.open("i", 2_000);
        let change = Commit {
            bookmarks_added: many(&format!("{count}-"), count),
            ..commit("t")
        };
        rig.calls();
        rig.commit(&mut loaded, &change);
        assert_eq!(runs(&rig.calls()), expected);
    }
    assert_eq!(rig.rows("H").len(), 199);
}

#[test]
fn a_crash_at_any_call_leaves_only_rows_that_the_head_refutes() {
    for rig_number in 0..2 {
        for crash_at in 0..16 {
            let rig = rig_with(|config| {
                config.commits_whole = rig_number == 1;
                config.writes_max = 10;
            });
            rig.create(
                "i",
                &Commit {
                    bookmarks_added: many("old", 6),
                    ..commit("s")
                },
            );
            let mut loaded = rig.open("i", 2_000);
            let change = Commit {
                bookmarks_added: many("new", 6),
                bookmarks_removed: ids(&many("old", 6)),
                effects: effects(),
                ..commit("t")
            };
            let stamp = loaded.stamp(change.attempt, 2_000);
            rig.faults(&[vec![Fault::None; crash_at], vec![Fault::LoseCall; 50]].concat());
            let result = now(rig.store.commits().commit(&mut loaded, &change));
            rig.faults(&[]);
            let head = rig.head("i");
            let rows = rig.rows("H");
            for id in head.bookmarks.keys() {
                let has_row = |row: &BookmarkRow| rig.is_open(row) && row.bookmark_id == *id;
                assert!(rows.iter().any(has_row), "{id} at {crash_at}");
            }
            let happened = head.commit == 2;
            assert_eq!(happened, crash_at > 7, "seven rows, then the head");
            assert_eq!(happened, result.is_ok(), "at {crash_at}: {result:?}");
            for row in rows.iter().filter(|row| !rig.is_open(row)) {
                let verdict = rig.judge("i", &row.stamp);
                let expected = if happened {
                    // Rows that the commit closed, and that a crash left.
                    Verdict::Committed
                } else {
                    Verdict::Undecided
                };
                assert_eq!(verdict, expected, "at {crash_at}: {row:?}");
            }
            if !happened {
                // The writer is dead: whoever finds its rows makes sure of it.
                assert_eq!(rig.fence("i", &stamp), Verdict::Lost);
                for row in rows.iter().filter(|row| !rig.is_open(row)) {
                    assert_eq!(rig.judge("i", &row.stamp), Verdict::Lost);
                }
            }
        }
    }
}

#[test]
fn a_row_of_a_closed_bookmark_that_stayed_behind_is_forgotten_by_its_finder() {
    let rig = rig();
    rig.create(
        "i",
        &Commit {
            bookmarks_added: many("b", 250),
            ..commit("s")
        },
    );
    let mut loaded = rig.open("i", 2_000);
    rig.faults(&[vec![Fault::None], vec![Fault::LoseCall; 300]].concat());
    let closed = rig.commit(
        &mut loaded,
        &Commit {
            bookmarks_removed: ids(&many("b", 250)),
            ..commit("t")
        },
    );
    assert!(
        matches!(closed, Committed::Done(_)),
        "the commit itself is done"
    );
    rig.faults(&[]);
    let row = rig.rows("H").remove(0);
    assert!(!rig.is_open(&row));
    now(rig.store.stimuli().forget_bookmark(&rig.tenant, &row)).unwrap();
    assert_eq!(rig.rows("H").len(), 249);
    let done = rig.commit(&mut loaded, &commit("u"));
    assert!(
        matches!(done, Committed::Done(_)),
        "others go on meanwhile: {done:?}"
    );
}

#[test]
fn an_instance_is_created_with_hundreds_of_bookmarks() {
    for rig in rigs() {
        let first = Commit {
            bookmarks_added: many("b", 250),
            ..commit("s")
        };
        let (mut loaded, _) = rig.create("i", &first);
        assert_eq!(runs(&rig.calls()), ["250 put", "1 put if"]);
        assert_eq!(rig.rows("H").len(), 250);
        let next = rig.commit(&mut loaded, &ending("end"));
        assert!(matches!(next, Committed::Done(_)), "{next:?}");
        assert_eq!(rig.keys(), ["acme/WF#i HEAD"], "its end leaves nothing");
    }
}

#[test]
fn an_interrupted_create_hinders_nobody() {
    let rig = rig();
    let first = Commit {
        bookmarks_added: many("b", 250),
        ..commit("s")
    };
    rig.faults(&[vec![Fault::None; 20], vec![Fault::LoseCall; 3]].concat());
    let mut dead = rig.blank("i", &[], Predecessor::default());
    let unknown = now(rig.store.commits().commit(&mut dead, &first)).unwrap_err();
    assert!(unknown.is_unknown());
    rig.faults(&[]);
    assert!(
        now(rig.store.instances().get(&rig.tenant, "i"))
            .unwrap()
            .is_none()
    );
    let (_, left) = (rig.create("i", &commit("other")), rig.rows("H"));
    assert_eq!(left.len(), 20);
    for row in &left {
        assert!(!rig.is_open(row));
        assert_eq!(rig.judge("i", &row.stamp), Verdict::Lost);
    }
    let late = rig.commit(&mut dead, &first);
    assert!(matches!(late, Committed::Lost(Some(_))), "{late:?}");
    assert!(rig.rows("H").is_empty(), "it takes back what it put");
}

#[test]
fn a_refused_create_takes_back_what_it_put_before() {
    let rig = rig();
    let claims = [Claim::Definition("order".into())];
    let mut holder = rig.blank("holder", &claims, Predecessor::default());
    rig.commit(&mut holder, &commit("s"));
    let before = rig.keys();
    let mut second = rig.blank("i", &claims, Predecessor::default());
    let first = Commit {
        bookmarks_added: many("b", 250),
        ..commit("s")
    };
    let refused = rig.commit(&mut second, &first);
    assert!(
        matches!(refused, Committed::NotUnique { .. }),
        "{refused:?}"
    );
    assert_eq!(rig.keys(), before);
}

#[test]
fn megabytes_of_bookmarks_are_opened_too() {
    for rig in rigs() {
        rig.create("i", &commit("s"));
        let mut loaded = rig.open("i", 2_000);
        let mut bookmarks = many("b", 60);
        for found_by in bookmarks
            .iter_mut()
            .filter_map(|bookmark| bookmark.found_by.as_mut())
        {
            found_by.payload = Bytes::from(vec![7; 200_000]);
        }
        let done = rig.commit(
            &mut loaded,
            &Commit {
                bookmarks_added: bookmarks,
                ..commit("t")
            },
        );
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
        assert_eq!(rig.head("i").bookmarks.len(), 60);
        assert_eq!(rig.rows("H").len(), 60);
    }
}

#[test]
fn a_commit_with_an_item_that_no_table_takes_changes_nothing() {
    for rig in rigs() {
        rig.create("i", &commit("s"));
        let mut loaded = rig.open("i", 2_000);
        let giant = Commit {
            effects: vec![Effect {
                id: "i/2/0".into(),
                body: Bytes::from(vec![7; 500_000]),
            }],
            ..commit("t")
        };
        let refused = now(rig.store.commits().commit(&mut loaded, &giant)).unwrap_err();
        assert!(!refused.is_busy() && !refused.is_unknown(), "{refused}");
        assert_eq!(rig.keys(), ["acme/WF#i HEAD"]);
        assert_eq!(rig.state("i"), "s");
        let done = rig.commit(&mut loaded, &commit("incident"));
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
    }
}
