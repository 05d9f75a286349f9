//! Finding instances by page number: each page is right and each total exact, whatever the filter and the order.

use dormouse_store::instance::find::{Found, Order};
use dormouse_store::instance::head::Summary;
use dormouse_store::instance::list::{InstanceCount, InstanceFilter, ListedInstance, Paging};

use crate::rig::{Rig, commit, now, rig_with};

/// Instances n of two definitions: a tenth have failed, a third wait, one has a name.
const COUNT: u32 = 120;

fn make(rig: &Rig, n: u32) -> ListedInstance {
    let mut commit = commit("s");
    let summary = &mut commit.summary;
    summary.definition_id = format!("d{}", n % 2);
    summary.created_ms = i64::from(1_000 + n / 2);
    summary.updated_ms = i64::from(9_000 - n * 7 % 50);
    let sub_status = match n {
        n if n.is_multiple_of(10) => "Faulted",
        n if n.is_multiple_of(3) => "Suspended",
        _ => "Finished",
    };
    summary.sub_status = sub_status.to_owned();
    summary.status = if sub_status == "Suspended" {
        "Running"
    } else {
        "Finished"
    }
    .to_owned();
    summary.finished_ms = (sub_status != "Suspended").then_some(5_000 + i64::from(n));
    summary.correlation_id = n.is_multiple_of(7).then(|| "c".to_owned());
    if n % 4 < 3 {
        let region = if n.is_multiple_of(4) { "EU" } else { "US" };
        summary.attributes.insert("Region".into(), region.into());
    }
    if n.is_multiple_of(5) {
        let size = format!("{}#", n % 3);
        summary.attributes.insert("Size".into(), size);
    }
    summary.name = (n == 77).then(|| "needle".to_owned());
    let instance_id = format!("i{:03}", n * 37 % COUNT);
    let summary: Summary = summary.clone();
    rig.create(&instance_id, &commit);
    ListedInstance {
        instance_id,
        summary,
    }
}

fn rigs() -> [Rig; 2] {
    // On DynamoDB there is a list of those that failed, elsewhere of each sub-status.
    let rigs = [
        rig_with(|_| {}),
        rig_with(|config| config.listed_statuses = None),
    ];
    for rig in &rigs {
        rig.define("d0");
        rig.define("d1");
    }
    rigs
}

fn find(rig: &Rig, filter: &InstanceFilter, order: Order, paging: &Paging) -> Found {
    now(rig
        .store
        .instances()
        .find(&rig.tenant, filter, order, paging))
    .unwrap()
}

fn paging(ascending: bool, skip: usize, limit: usize) -> Paging {
    Paging {
        ascending,
        skip,
        limit,
        cursor: None,
    }
}

fn filters() -> Vec<InstanceFilter> {
    type Change = fn(&mut InstanceFilter);
    let changes: [Change; 18] = [
        |_| {},
        |f| f.sub_statuses = vec!["Faulted".into()],
        |f| f.sub_statuses = vec!["Faulted".into(), "Suspended".into(), "Faulted".into()],
        |f| f.sub_statuses = vec!["nothing".into()],
        |f| (f.sub_statuses, f.definition_ids) = (vec!["Faulted".into()], vec!["d0".into()]),
        |f| (f.sub_statuses, f.correlation_id) = (vec!["Faulted".into()], Some("c".into())),
        |f| (f.sub_statuses, f.created_from_ms) = (vec!["Faulted".into()], Some(1_020)),
        |f| f.attributes = [("Region".into(), "EU".into())].into(),
        |f| f.attributes = [("Region".into(), "nowhere".into())].into(),
        |f| f.attributes = [("Region".into(), "US".into()), ("Size".into(), "1#".into())].into(),
        |f| {
            f.attributes = [("Size".into(), "0#".into())].into();
            f.definition_ids = vec!["d1".into()];
            f.created_from_ms = Some(1_010);
        },
        |f| {
            f.attributes = [("Region".into(), "US".into())].into();
            f.sub_statuses = vec!["Faulted".into()];
        },
        |f| {
            f.attributes = [("Region".into(), "US".into())].into();
            f.correlation_id = Some("c".into());
        },
        |f| f.statuses = vec!["Running".into()],
        |f| f.name = Some("needle".into()),
        |f| f.search = Some("I03".into()),
        |f| (f.updated_from_ms, f.updated_until_ms) = (Some(8_970), Some(8_990)),
        |f| (f.finished_from_ms, f.sub_statuses) = (Some(5_060), vec!["Faulted".into()]),
    ];
    let filter = |change: Change| {
        let mut filter = InstanceFilter::default();
        change(&mut filter);
        filter
    };
    changes.into_iter().map(filter).collect()
}

#[test]
fn each_page_of_each_filter_and_order_is_what_a_sorted_list_of_all_says() {
    for rig in rigs() {
        let all: Vec<ListedInstance> = (0..COUNT).map(|n| make(&rig, n)).collect();
        for filter in filters() {
            for order in [Order::Created, Order::Updated, Order::Finished, Order::Name] {
                for ascending in [true, false] {
                    let mut expected: Vec<_> = all
                        .iter()
                        .filter(|one| filter.matches(one))
                        .cloned()
                        .collect();
                    expected.sort_by_key(|one| {
                        let s = &one.summary;
                        let (time, name) = match order {
                            Order::Created => (None, None),
                            Order::Updated => (Some(s.updated_ms), None),
                            Order::Finished => (s.finished_ms, None),
                            Order::Name => (None, s.name.clone()),
                        };
                        (time, name, s.created_ms, one.instance_id.clone())
                    });
                    if !ascending {
                        expected.reverse();
                    }
                    for (skip, limit) in [(0, 7), (5, 20), (90, 50), (COUNT as usize, 5)] {
                        let found = find(&rig, &filter, order, &paging(ascending, skip, limit));
                        let page = expected.iter().skip(skip).take(limit);
                        let what = format!("{filter:?} {order:?} {ascending} {skip} {limit}");
                        assert!(found.instances.iter().eq(page), "{what}");
                        let total = InstanceCount {
                            count: expected.len() as u64,
                            exact: true,
                        };
                        assert_eq!(found.total, total, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_instance_changes_its_list_with_its_sub_status() {
    for rig in rigs() {
        let first = make(&rig, 0);
        let of = |status: &str| InstanceFilter {
            sub_statuses: vec![status.to_owned()],
            ..InstanceFilter::default()
        };
        let count = |status: &str| {
            let found = find(&rig, &of(status), Order::Created, &paging(true, 0, 10));
            assert_eq!(found.instances.len() as u64, found.total.count);
            found.total.count
        };
        assert_eq!([count("Faulted"), count("Suspended")], [1, 0]);
        let mut again = commit("t");
        again.summary = first.summary.clone();
        again.summary.sub_status = "Suspended".to_owned();
        let mut loaded = rig.open(&first.instance_id, 2_000);
        rig.commit(&mut loaded, &again);
        assert_eq!([count("Faulted"), count("Suspended")], [0, 1]);
        now(rig
            .store
            .instances()
            .delete(&rig.tenant, &first.instance_id, 5_000, &[]))
        .unwrap();
        assert_eq!([count("Faulted"), count("Suspended")], [0, 0]);
    }
}

#[test]
fn beyond_its_work_a_total_says_that_there_may_be_more() {
    let rig = rig_with(|config| config.find_work_max = 50);
    rig.define("d0");
    rig.define("d1");
    (0..COUNT).for_each(|n| drop(make(&rig, n)));
    let inexact = |filter: &InstanceFilter, order| {
        let found = find(&rig, filter, order, &paging(true, 0, 10));
        assert!(!found.total.exact && found.total.count <= 50, "{found:?}");
    };
    let all = InstanceFilter::default();
    inexact(&all, Order::Created);
    inexact(&all, Order::Updated);
    inexact(
        &InstanceFilter {
            name: Some("needle".into()),
            ..all.clone()
        },
        Order::Created,
    );
    // The list of those that failed is short enough.
    let failed = InstanceFilter {
        sub_statuses: vec!["Faulted".into()],
        ..all
    };
    let found = find(&rig, &failed, Order::Created, &paging(true, 0, 100));
    assert_eq!((found.total.count, found.total.exact), (12, true));
}
