//! Lists of instances: every match once, in order, for a bounded amount of work.

use dormouse_store::StoreError;
use dormouse_store::instance::commit::Commit;
use dormouse_store::instance::list::{InstanceFilter, InstancePage, Paging};

use crate::rig::{Rig, commit, now, rig, rig_with};

/// The definitions that [`make`] uses.
fn define(rig: &Rig) {
    for id in ["d0", "d1", "d2"] {
        rig.define(id);
    }
}

/// Instance n was created at 1,000 + n / 2, so that two share each time.
fn make(rig: &Rig, n: u32) -> String {
    let id = format!("i#{:02}", (n * 37) % 100);
    let mut commit = commit("s");
    let summary = &mut commit.summary;
    summary.created_ms = i64::from(1_000 + n / 2);
    summary.definition_id = format!("d{}", n % 3);
    summary.status = if n.is_multiple_of(4) {
        "Finished"
    } else {
        "Running"
    }
    .into();
    summary.correlation_id = n.is_multiple_of(10).then(|| "c#1".to_owned());
    summary.incident_count = u32::from(n.is_multiple_of(25));
    summary.name = Some(format!("Name {n}"));
    rig.create(&id, &commit);
    id
}

fn page(rig: &Rig, filter: &InstanceFilter, paging: &Paging) -> InstancePage {
    now(rig.store.instances().list(&rig.tenant, filter, paging)).unwrap()
}

fn paging(ascending: bool, limit: usize) -> Paging {
    Paging {
        ascending,
        skip: 0,
        limit,
        cursor: None,
    }
}

/// All matches, page after page.
fn all(rig: &Rig, filter: &InstanceFilter, ascending: bool, limit: usize) -> Vec<String> {
    let mut ids = Vec::new();
    let mut paging = paging(ascending, limit);
    loop {
        let page = page(rig, filter, &paging);
        assert!(page.instances.len() <= limit);
        ids.extend(page.instances.into_iter().map(|found| found.instance_id));
        paging.cursor = page.cursor;
        if paging.cursor.is_none() {
            return ids;
        }
    }
}

#[test]
fn every_instance_is_listed_once_in_order_of_its_creation() {
    let rig = rig();
    define(&rig);
    let mut made: Vec<_> = (0..100).map(|n| (1_000 + n / 2, make(&rig, n))).collect();
    made.sort();
    let ids: Vec<_> = made.into_iter().map(|(_, id)| id).collect();
    let newest_first: Vec<_> = ids.iter().rev().cloned().collect();
    for limit in [1, 7, 50, 100, 1_000] {
        assert_eq!(all(&rig, &InstanceFilter::default(), true, limit), ids);
        assert_eq!(
            all(&rig, &InstanceFilter::default(), false, limit),
            newest_first
        );
    }
    let third = page(
        &rig,
        &InstanceFilter::default(),
        &Paging {
            skip: 20,
            ..paging(true, 10)
        },
    );
    let third: Vec<_> = third
        .instances
        .into_iter()
        .map(|found| found.instance_id)
        .collect();
    assert_eq!(third, ids[20..30]);
}

#[test]
fn every_filter_finds_what_it_says() {
    let rig = rig();
    define(&rig);
    for n in 0..100 {
        make(&rig, n);
    }
    type Change = fn(&mut InstanceFilter);
    let cases: [(Change, u64); 15] = [
        (|f| f.definition_ids = vec!["d1".into()], 33),
        (
            |f| f.definition_ids = vec!["d1".into(), "d2".into(), "d1".into()],
            66,
        ),
        (|f| f.statuses = vec!["Finished".into()], 25),
        (
            |f| f.statuses = vec!["Finished".into(), "Running".into()],
            100,
        ),
        (|f| f.correlation_id = Some("c#1".into()), 10),
        (
            |f| (f.correlation_id, f.definition_ids) = (Some("c#1".into()), vec!["d0".into()]),
            4,
        ),
        (
            |f| (f.statuses, f.definition_ids) = (vec!["Finished".into()], vec!["d0".into()]),
            9,
        ),
        (|f| f.name = Some("Name 7".into()), 1),
        (|f| f.search = Some("nAME 7".into()), 11),
        (|f| f.has_incidents = Some(true), 4),
        (|f| f.is_system = Some(true), 0),
        (|f| f.version = Some(2), 0),
        (|f| f.sub_statuses = vec!["Suspended".into()], 100),
        (|f| f.parent_id = Some("p".into()), 0),
        (
            |f| (f.created_from_ms, f.created_until_ms) = (Some(1_010), Some(1_020)),
            20,
        ),
    ];
    for (change, expected) in cases {
        let mut filter = InstanceFilter::default();
        change(&mut filter);
        for limit in [3, 100] {
            assert_eq!(
                all(&rig, &filter, false, limit).len() as u64,
                expected,
                "{filter:?}"
            );
        }
    }
}

#[test]
fn pages_stay_right_while_instances_come_and_go() {
    let rig = rig();
    define(&rig);
    for n in 0..40 {
        make(&rig, n);
    }
    let first = page(&rig, &InstanceFilter::default(), &paging(false, 10));
    let last = first.instances.last().unwrap().instance_id.clone();
    now(rig.store.instances().delete(&rig.tenant, &last, 5_000, &[])).unwrap();
    for n in 40..60 {
        make(&rig, n);
    }
    let second = page(
        &rig,
        &InstanceFilter::default(),
        &Paging {
            cursor: first.cursor,
            ..paging(false, 40)
        },
    );
    assert_eq!(
        second.instances.len(),
        30,
        "neither the new ones nor the one that is gone move the rest"
    );
    assert!(second.cursor.is_none());
}

#[test]
fn a_filter_that_matches_nothing_stops_after_its_work_and_can_go_on() {
    let rig = rig_with(|config| config.list_work_max = 50);
    rig.define("order");
    for n in 0..200 {
        let mut commit: Commit = commit("s");
        commit.summary.created_ms = 1_000 + n;
        commit.summary.name = (n == 3).then(|| "needle".to_owned());
        rig.create(&format!("i{n}"), &commit);
    }
    let filter = InstanceFilter {
        name: Some("needle".into()),
        ..InstanceFilter::default()
    };
    let first = page(&rig, &filter, &paging(false, 10));
    assert!(first.instances.is_empty() && first.cursor.is_some());
    assert_eq!(all(&rig, &filter, false, 10), ["i3"]);
    let skipped = page(
        &rig,
        &InstanceFilter::default(),
        &Paging {
            skip: 120,
            ..paging(false, 10)
        },
    );
    assert_eq!((skipped.instances.len(), skipped.skip_left), (0, 70));
}

#[test]
fn a_cursor_of_another_list_is_refused() {
    let rig = rig();
    define(&rig);
    make(&rig, 1);
    make(&rig, 2);
    let cursor = page(&rig, &InstanceFilter::default(), &paging(false, 1)).cursor;
    assert!(cursor.is_some());
    for (cursor, ascending) in [
        (cursor, true),
        (Some("-x".into()), false),
        (Some(String::new()), true),
    ] {
        let paging = Paging {
            cursor,
            ..paging(ascending, 1)
        };
        let refused =
            now(rig
                .store
                .instances()
                .list(&rig.tenant, &InstanceFilter::default(), &paging));
        assert!(matches!(refused, Err(StoreError::BadCursor)));
    }
}

#[test]
fn a_list_shows_an_instance_as_its_last_commit_left_it() {
    let rig = rig();
    rig.define("order");
    rig.create("i", &commit("s"));
    let mut loaded = rig.open("i", 2_000);
    let mut next = commit("t");
    next.summary.correlation_id = Some("late".into());
    next.summary.sub_status = "Executing".into();
    rig.commit(&mut loaded, &next);
    let filter = InstanceFilter {
        correlation_id: Some("late".into()),
        ..InstanceFilter::default()
    };
    let listed = page(&rig, &filter, &paging(true, 9)).instances;
    assert_eq!(listed[0].summary, next.summary);
    let by_list = page(&rig, &InstanceFilter::default(), &paging(true, 9)).instances;
    assert_eq!(by_list, listed);
}

#[test]
fn a_list_of_all_merges_the_definitions_and_those_that_were_deleted() {
    let rig = rig();
    define(&rig);
    let mut made: Vec<_> = (0..60).map(|n| (1_000 + n / 2, make(&rig, n))).collect();
    made.sort();
    let ids: Vec<_> = made.into_iter().map(|(_, id)| id).collect();
    let delete = || now(rig.store.definitions().delete(&rig.tenant, "d1"));
    delete().unwrap();
    let left = now(rig.store.definitions().list_definitions(&rig.tenant)).unwrap();
    let left: Vec<_> = left.into_iter().map(|head| head.definition_id).collect();
    assert_eq!(left, ["d0", "d2"]);
    for limit in [1, 7, 100] {
        assert_eq!(all(&rig, &InstanceFilter::default(), true, limit), ids);
    }
    let of_deleted = InstanceFilter {
        definition_ids: vec!["d1".into()],
        ..InstanceFilter::default()
    };
    assert_eq!(all(&rig, &of_deleted, true, 7).len(), 20);
}
