//! Rows of search attributes: each instance is listed under the values that it has, and under no other.

use dormouse_store::instance::clean::Deleted;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::expiry::Kept;
use dormouse_store::instance::find::Order;
use dormouse_store::instance::list::{InstanceFilter, Paging};
use dormouse_store::operation::examine::Kind;
use dormouse_store::table::{Condition, Key, Table, Write};

use crate::rig::{Rig, commit, ending, now, rig_with};

fn with(attributes: &[(&str, &str)], base: Commit) -> Commit {
    let mut commit = base;
    let attributes = attributes.iter();
    commit.summary.attributes = attributes
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    commit
}

/// The rigs of one atomic write for all, and of rows before the head.
fn rigs() -> [Rig; 2] {
    let rigs = [
        rig_with(|_| {}),
        rig_with(|config| config.commits_whole = true),
    ];
    for rig in &rigs {
        rig.define("order");
    }
    rigs
}

/// The instances with a value, and their exact number.
fn found(rig: &Rig, name: &str, value: &str) -> Vec<String> {
    let filter = InstanceFilter {
        attributes: [(name.to_owned(), value.to_owned())].into(),
        ..InstanceFilter::default()
    };
    let paging = Paging {
        ascending: true,
        skip: 0,
        limit: 10,
        cursor: None,
    };
    let instances = rig.store.instances();
    assert!(instances.is_listed(&filter, Order::Created));
    let found = now(instances.find(&rig.tenant, &filter, Order::Created, &paging)).unwrap();
    let ids = found.instances.into_iter().map(|one| one.instance_id);
    let ids: Vec<_> = ids.collect();
    assert_eq!(found.total.count, ids.len() as u64);
    ids
}

fn rows(rig: &Rig) -> Vec<String> {
    let keys = rig.keys().into_iter();
    keys.filter(|key| key.contains(" A#")).collect()
}

fn findings(rig: &Rig) -> Vec<dormouse_store::operation::examine::Finding> {
    let operations = rig.store.operations();
    let examined = now(operations.examine(rig.table.memory.as_ref(), 500_000, true)).unwrap();
    examined.findings
}

#[test]
fn an_instance_is_listed_under_the_values_that_it_has() {
    for rig in rigs() {
        rig.create(
            "i",
            &with(&[("Customer", "ACME"), ("Region", "EU")], commit("a")),
        );
        rig.create("other", &with(&[("Customer", "ACME")], commit("a")));
        assert_eq!(found(&rig, "Customer", "ACME"), ["i", "other"]);
        let mut loaded = rig.open("i", 2_000);
        rig.commit(&mut loaded, &with(&[("Customer", "Globex")], commit("b")));
        assert_eq!(found(&rig, "Customer", "ACME"), ["other"]);
        assert_eq!(found(&rig, "Customer", "Globex"), ["i"]);
        assert!(found(&rig, "Region", "EU").is_empty());
        assert_eq!(rows(&rig).len(), 2);
        assert!(findings(&rig).is_empty());
    }
}

#[test]
fn a_commit_that_changes_no_value_writes_no_row() {
    for rig in rigs() {
        let attributes = [("Customer", "ACME"), ("Region", "EU")];
        rig.create("i", &with(&attributes, commit("a")));
        let mut loaded = rig.open("i", 2_000);
        rig.cost();
        rig.commit(&mut loaded, &with(&attributes, commit("b")));
        let kept = rig.cost();
        let mut loaded = rig.open("i", 3_000);
        rig.cost();
        rig.commit(
            &mut loaded,
            &with(&[attributes[0], ("Region", "US")], commit("c")),
        );
        let changed = rig.cost();
        assert!(kept.writes < changed.writes, "{kept:?} {changed:?}");
        rig.create("plain", &commit("a"));
        let mut loaded = rig.open("plain", 2_000);
        rig.cost();
        rig.commit(&mut loaded, &commit("b"));
        assert_eq!(rig.cost(), kept);
    }
}

#[test]
fn a_commit_that_is_lost_leaves_no_row() {
    for rig in rigs() {
        rig.create("i", &with(&[("Customer", "ACME")], commit("a")));
        let mut first = rig.open("i", 2_000);
        let mut second = rig.open("i", 2_000);
        let lost = with(&[("Customer", "Initech")], commit("c"));
        let mut prepared = rig.prepare(&second, &lost);
        rig.commit(&mut first, &with(&[("Customer", "Globex")], commit("b")));
        let outcome = now(rig
            .store
            .commits()
            .commit_prepared(&mut second, &mut prepared))
        .unwrap();
        assert!(matches!(outcome, Committed::Lost(_)), "{outcome:?}");
        assert_eq!(found(&rig, "Customer", "Globex"), ["i"]);
        assert!(found(&rig, "Customer", "Initech").is_empty());
        assert!(findings(&rig).is_empty());
    }
}

#[test]
fn rows_go_with_their_instance() {
    for rig in rigs() {
        rig.create("i", &with(&[("Customer", "ACME")], commit("a")));
        let instances = rig.store.instances();
        let deleted = now(instances.delete(&rig.tenant, "i", 2_000, &[])).unwrap();
        assert_eq!(deleted, Deleted::Done(Vec::new()));
        while !now(instances.clean_deleted(&rig.tenant, "i", 2_000)).unwrap() {}
        assert!(rows(&rig).is_empty());

        // Time to live would leave the row, so the sweep deletes it with its instance.
        let year_ms = 365 * 24 * 3_600_000;
        let ended = Commit {
            kept: Some(Kept {
                until_ms: year_ms,
                is_archived: false,
            }),
            ..with(&[("Customer", "ACME")], ending("a"))
        };
        rig.create("j", &ended);
        let expired = |at_ms| -> Vec<_> {
            let shards = 0..99;
            let all = shards.map(|shard| now(instances.list_expired(shard, at_ms, 10)).unwrap());
            all.flatten().collect()
        };
        assert!(expired(year_ms - 1).is_empty());
        let due = expired(year_ms);
        assert_eq!(due.len(), 1);
        now(instances.expire(&due[0], year_ms)).unwrap();
        assert!(rows(&rig).is_empty());
    }
}

#[test]
fn a_row_that_differs_from_its_instance_is_found_and_mended() {
    for rig in rigs() {
        rig.create(
            "i",
            &with(&[("Customer", "ACME"), ("Region", "EU")], commit("a")),
        );
        let partition = "acme/WF#i";
        let memory = rig.table.memory.clone();
        let row = |name: &str| now(memory.get(&Key::new(partition, name))).unwrap();
        let wrong = {
            let mut row = row("A#Customer").unwrap();
            let other = row.attributes["g3p"].clone();
            row.key.sort = "A#Other".into();
            row.attributes.insert("g3p".into(), other);
            row
        };
        let writes = [
            Write::Put(wrong, Condition::Always),
            Write::Delete(Key::new(partition, "A#Region"), Condition::Always),
        ];
        now(memory.write(&writes)).unwrap();
        let found_wrong = findings(&rig);
        let kinds: Vec<_> = found_wrong
            .iter()
            .map(|f| (f.kind, f.about.as_str()))
            .collect();
        let expected = [
            (Kind::AttributeRow, "Other of i"),
            (Kind::AttributeRow, "Region of i"),
        ];
        assert_eq!(kinds, expected);
        for finding in &found_wrong {
            assert!(now(rig.store.operations().repair(finding, 500_000)).unwrap());
        }
        assert!(findings(&rig).is_empty());
        assert!(row("A#Other").is_none());
        assert_eq!(found(&rig, "Region", "EU"), ["i"]);
    }
}
