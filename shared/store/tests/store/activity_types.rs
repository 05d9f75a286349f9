//! Activity types that are data, and the rows of tasks that workers ask for.

use bytes::Bytes;
use dormouse_store::Tenant;
use dormouse_store::definition::activity_type::TypeHead;
use dormouse_store::item::versioned::Versioned;
use dormouse_store::stimulus::task::TaskRow;

use crate::rig::{now, rig};

fn head(version: u32, body: &'static str) -> TypeHead {
    TypeHead {
        name: "Acme.Charge".into(),
        version,
        body: Bytes::from_static(body.as_bytes()),
        published_ms: 7,
        is_deleted: false,
    }
}

#[test]
fn of_two_publishes_of_one_version_one_counts_and_versions_stay() {
    let rig = rig();
    let (store, tenant) = (rig.store.own_types(), &rig.tenant);
    let first = Versioned::new(head(1, "one"));
    assert!(now(store.publish(tenant, &first)).unwrap());
    let other = Versioned::new(head(1, "another"));
    assert!(!now(store.publish(tenant, &other)).unwrap());
    let found = now(store.head(tenant, "Acme.Charge")).unwrap().unwrap();
    assert_eq!(found.value, head(1, "one"));
    let second = Versioned {
        value: head(2, "two"),
        ..found
    };
    assert!(now(store.publish(tenant, &second)).unwrap());
    let version = |n| now(store.version(tenant, "Acme.Charge", n)).unwrap();
    assert_eq!(version(1).as_deref(), Some(b"one".as_slice()));
    assert_eq!(version(2).as_deref(), Some(b"two".as_slice()));
    assert_eq!(version(3), None);
    let newest = now(store.newest(tenant, "Acme.Charge", 10)).unwrap();
    let numbers: Vec<u32> = newest.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [2, 1]);
    assert_eq!(now(store.all(tenant)).unwrap(), [head(2, "two")]);
    let elsewhere = Tenant::new("other").unwrap();
    assert!(now(store.all(&elsewhere)).unwrap().is_empty());
}

#[test]
fn tasks_come_in_the_order_in_which_they_wait_and_are_one_however_often_they_are_put() {
    let rig = rig();
    let (store, tenant) = (rig.store.task_rows(), &rig.tenant);
    let row = |since_ms: i64, id: &str| TaskRow {
        queue: "pay".into(),
        activity_type: "Acme.Charge".into(),
        since_ms,
        task_id: id.into(),
    };
    for row in [row(9, "late"), row(5, "i#1"), row(5, "i#1"), row(7, "b")] {
        now(store.put(tenant, &row)).unwrap();
    }
    let page = |queue: &str, limit, cursor| {
        now(store.waiting(tenant, (queue, "Acme.Charge"), limit, cursor)).unwrap()
    };
    let waiting = |queue: &str, limit| page(queue, limit, None).rows;
    assert_eq!(
        waiting("pay", 10),
        [row(5, "i#1"), row(7, "b"), row(9, "late")]
    );
    assert_eq!(waiting("pay", 1), [row(5, "i#1")]);
    let rest = page("pay", 10, page("pay", 1, None).cursor);
    assert_eq!(rest.rows, [row(7, "b"), row(9, "late")]);
    assert_eq!(rest.cursor, None);
    assert!(waiting("other", 10).is_empty());
    now(store.delete(tenant, &row(5, "i#1"))).unwrap();
    now(store.delete(tenant, &row(5, "i#1"))).unwrap();
    assert_eq!(waiting("pay", 10).len(), 2);
}

#[test]
fn types_and_tasks_are_stored_as_they_always_were() {
    let rig = rig();
    let first = Versioned::new(head(1, "one"));
    assert!(now(rig.store.own_types().publish(&rig.tenant, &first)).unwrap());
    let row = TaskRow {
        queue: "pay".into(),
        activity_type: "Acme.Charge".into(),
        since_ms: 5,
        task_id: "i#1".into(),
    };
    now(rig.store.task_rows().put(&rig.tenant, &row)).unwrap();
    let items = rig.table.memory.items().into_iter();
    let told: Vec<String> = items
        .map(|item| {
            format!(
                "{} {} {:?}",
                item.key.partition, item.key.sort, item.attributes
            )
        })
        .collect();
    let expected = [
        r#"acme/OWN#Acme.Charge V#000000000001 {"bo": B(b"\x01\x81\xa1b\xc4\x03one")}"#,
        "acme/TASKS#pay#Acme.Charge 0000000000005#i%231 {}",
        r#"acme/TYPES T#Acme.Charge {"bo": B(b"\x01\x85\xa1i\xabAcme.Charge\xa1n\x01\xa1b\xc4\x03one\xa1c\x07\xa1d\xc2"), "ve": N(1)}"#,
    ];
    assert_eq!(told, expected);
}
