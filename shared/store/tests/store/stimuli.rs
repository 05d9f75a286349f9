//! Stimuli: what waits for one, and which of those that were queued a new bookmark takes.

use dormouse_store::instance::commit::Commit;
use dormouse_store::stimulus::bookmark::{FoundBy, NewBookmark};
use dormouse_store::stimulus::queued_stimulus::QueuedStimulus;
use dormouse_store::stimulus::recipients::{Earlier, Recipients, Standing};
use dormouse_store::stimulus::stimuli::Opening;

use crate::rig::{Rig, commit, event_bookmark, now, rig};

/// A bookmark of an instance with a correlation id.
fn correlated(id: &str, hash: &str, correlation_id: &str) -> NewBookmark {
    NewBookmark {
        id: id.into(),
        found_by: Some(FoundBy {
            hash: hash.into(),
            correlation_id: Some(correlation_id.into()),
            ..FoundBy::default()
        }),
    }
}

fn create(rig: &Rig, id: &str, bookmark: NewBookmark) {
    rig.create(
        id,
        &Commit {
            bookmarks_added: vec![bookmark],
            ..commit("s")
        },
    );
}

fn queued(id: &str, created_ms: i64) -> QueuedStimulus {
    QueuedStimulus {
        id: id.into(),
        hash: "H".into(),
        created_ms,
        expires_ms: 9_000,
        ..QueuedStimulus::default()
    }
}

fn queue(rig: &Rig, queued: &QueuedStimulus) -> Earlier {
    now(rig
        .store
        .stimuli()
        .queue_stimulus(&rig.tenant, queued, None))
    .unwrap()
}

fn opening<'a>(instance_id: &'a str, correlation_id: Option<&'a str>) -> Opening<'a> {
    Opening {
        hash: "H",
        instance_id,
        bookmark_id: "b",
        correlation_id,
        activity_instance_id: None,
    }
}

fn first(rig: &Rig, opening: &Opening<'_>, besides: &[&str], now_ms: i64) -> Option<String> {
    let besides: Vec<_> = besides.iter().map(|id| (*id).to_owned()).collect();
    let found = now(rig
        .store
        .stimuli()
        .first_queued(&rig.tenant, opening, &besides, now_ms));
    found.unwrap().map(|queued| queued.id)
}

#[test]
fn the_one_that_comes_second_sees_the_other() {
    let rig = rig();
    let waiting = queued("e", 1_000);
    queue(&rig, &waiting);
    create(&rig, "i", event_bookmark("b", "H"));
    assert_eq!(rig.rows("H").len(), 1);
    let all = now(rig.store.stimuli().queued_stimuli(&rig.tenant, "H", 10)).unwrap();
    assert_eq!(all, std::slice::from_ref(&waiting));
    assert_eq!(
        first(&rig, &opening("i", None), &[], 2_000),
        Some("e".into())
    );
    let waits = |id| now(rig.store.instances().waits_for(&rig.tenant, "H", id)).unwrap();
    assert_eq!((waits("i"), waits("other")), (vec!["b".to_owned()], vec![]));
    let take = || {
        now(rig
            .store
            .stimuli()
            .take_queued(&rig.tenant, &waiting.place(), 1_000))
        .unwrap()
    };
    assert!(take());
    assert!(!take());
    assert_eq!(first(&rig, &opening("i", None), &[], 2_000), None);
    assert_eq!(queue(&rig, &waiting), Earlier::Taken);
}

#[test]
fn a_new_bookmark_takes_the_oldest_that_fits_of_the_four_ranges() {
    let rig = rig();
    let for_instance = |queued: QueuedStimulus, id: &str| QueuedStimulus {
        instance_id: Some(id.into()),
        ..queued
    };
    let for_correlation = |queued: QueuedStimulus, id: &str| QueuedStimulus {
        correlation_id: Some(id.into()),
        ..queued
    };
    queue(&rig, &queued("any", 4));
    queue(&rig, &for_instance(queued("instance", 3), "i"));
    queue(&rig, &for_correlation(queued("correlation", 2), "c"));
    queue(
        &rig,
        &for_correlation(for_instance(queued("both", 1), "i"), "c"),
    );
    // Older ones for others, and one for another bookmark.
    queue(&rig, &for_instance(queued("other instance", 0), "j"));
    queue(&rig, &for_correlation(queued("other correlation", 0), "d"));
    let bookmark_id = Some("other".to_owned());
    queue(
        &rig,
        &QueuedStimulus {
            bookmark_id,
            ..queued("other bookmark", 0)
        },
    );
    let with = opening("i", Some("c"));
    let mut taken = Vec::new();
    while let Some(id) = first(
        &rig,
        &with,
        &taken.iter().map(String::as_str).collect::<Vec<_>>(),
        5,
    ) {
        taken.push(id);
    }
    assert_eq!(taken, ["both", "correlation", "instance", "any"]);
    assert_eq!(
        first(&rig, &opening("i", None), &[], 5),
        Some("instance".into())
    );
    assert_eq!(
        first(&rig, &opening("k", Some("c")), &[], 5),
        Some("correlation".into())
    );
    assert_eq!(
        first(&rig, &opening("k", Some("")), &[], 5),
        Some("any".into())
    );
}

#[test]
fn expired_stimuli_are_passed_over_also_where_they_fill_pages() {
    let rig = rig();
    for n in 0..25 {
        let old = QueuedStimulus {
            expires_ms: 2_000,
            ..queued(&format!("old{n:02}"), n)
        };
        queue(&rig, &old);
    }
    queue(&rig, &queued("fresh", 500));
    let opening = opening("i", None);
    assert_eq!(first(&rig, &opening, &[], 1_999), Some("old00".into()));
    assert_eq!(first(&rig, &opening, &[], 2_000), Some("fresh".into()));
    assert_eq!(first(&rig, &opening, &["fresh"], 2_000), None);
}

#[test]
fn nothing_queued_is_known_by_one_query_and_other_hashes_do_not_count() {
    let rig = rig();
    let other = QueuedStimulus {
        hash: "other".into(),
        ..queued("e", 1)
    };
    queue(&rig, &other);
    rig.calls();
    assert_eq!(first(&rig, &opening("i", Some("c")), &[], 2), None);
    assert_eq!(rig.calls(), ["query"]);
    queue(&rig, &queued("e", 1));
    rig.calls();
    first(&rig, &opening("i", Some("c")), &[], 2);
    assert_eq!(rig.calls(), ["query"; 5]);
}

#[test]
fn a_stimulus_for_a_correlation_id_reads_only_its_own_rows() {
    let rig = rig();
    for n in 0..300 {
        let bookmark = correlated("b", "H", &format!("c{}", n % 100));
        create(&rig, &format!("i{n}"), bookmark);
    }
    create(&rig, "none", event_bookmark("b", "H"));
    rig.cost();
    let page = now(rig
        .store
        .stimuli()
        .waiting(&rig.tenant, ("H", Some("c7")), 100, None))
    .unwrap();
    let ids: Vec<_> = page
        .bookmarks
        .iter()
        .map(|row| row.instance_id.as_str())
        .collect();
    assert_eq!((ids, page.cursor), (vec!["i107", "i207", "i7"], None));
    let cost = rig.cost();
    assert_eq!((cost.calls, cost.reads), (1, 1));
    // Not those of an id that begins with it.
    let page = now(rig
        .store
        .stimuli()
        .waiting(&rig.tenant, ("H", Some("c")), 100, None))
    .unwrap();
    assert!(page.bookmarks.is_empty());
    assert_eq!(rig.rows("H").len(), 301);
}

#[test]
fn thousands_of_bookmarks_of_one_hash_come_page_by_page() {
    let rig = rig();
    for n in 0..1_300 {
        create(&rig, &format!("i{n}"), event_bookmark("b", "H"));
    }
    let page = |limit, cursor| {
        now(rig
            .store
            .stimuli()
            .waiting(&rig.tenant, ("H", None), limit, cursor))
        .unwrap()
    };
    let small = page(7, None);
    assert_eq!((small.bookmarks.len(), small.cursor.is_some()), (7, true));
    let first = page(5_000, None);
    assert_eq!(first.bookmarks.len(), 1_000);
    let second = page(1_000, first.cursor);
    assert_eq!((second.bookmarks.len(), second.cursor), (300, None));
}

#[test]
fn a_repetition_finds_the_recipients_of_the_first_delivery() {
    let rig = rig();
    create(&rig, "i", event_bookmark("b", "H"));
    let recipients = Recipients::of(&rig.rows("H"));
    let note = |recipients: &Recipients| {
        let noted = rig
            .store
            .stimuli()
            .note_recipients(&rig.tenant, ("H", "e"), recipients, 1_000);
        now(noted).unwrap()
    };
    assert_eq!(note(&recipients), Earlier::None);
    create(&rig, "j", event_bookmark("b", "H"));
    let later = Recipients::of(&rig.rows("H"));
    assert_eq!(note(&later), Earlier::SentTo(recipients.clone()));
    assert_eq!(
        queue(&rig, &queued("e", 1)),
        Earlier::SentTo(recipients.clone())
    );
    let standing = |bookmark| {
        now(rig
            .store
            .instances()
            .standing(&rig.tenant, ("i", bookmark), "e"))
        .unwrap()
    };
    assert_eq!(
        (standing("b"), standing("other")),
        (Standing::Waits, Standing::Away)
    );
    let mut loaded = rig.open("i", 2_000);
    rig.commit(
        &mut loaded,
        &Commit {
            bookmarks_removed: vec!["b".into()],
            event_ids: vec!["e".into()],
            ..commit("t")
        },
    );
    assert_eq!(standing("b"), Standing::Seen);
    let (again, despite) = (queued("e", 1), Some(&recipients));
    let anew = rig
        .store
        .stimuli()
        .queue_stimulus(&rig.tenant, &again, despite);
    assert_eq!(now(anew).unwrap(), Earlier::None);
}
