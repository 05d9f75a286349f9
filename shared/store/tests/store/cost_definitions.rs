//! What definitions cost: publishing them, and lists of them.

use bytes::Bytes;
use dormouse_store::Tenant;
use dormouse_store::definition::head::VersionInfo;
use dormouse_store::definition::publish::{Draft, Publication};
use dormouse_store::definition::trigger::NewTrigger;
use dormouse_store::instance::commit::Commit;

use crate::cost::burst;
use crate::rig::{Rig, ending, event_bookmark, now, rig};

pub(crate) fn publish(rig: &Rig) {
    let info = VersionInfo {
        version: 1,
        version_id: "order:1".into(),
        ..VersionInfo::default()
    };
    let draft = Draft {
        definition_id: "order".into(),
        info,
        body: Bytes::from(vec![b' '; 5_000]),
        ..Draft::default()
    };
    let trigger = NewTrigger {
        hash: "H".into(),
        activity_id: "a".into(),
        ..NewTrigger::default()
    };
    let publication = Publication {
        draft,
        triggers: vec![trigger],
        ..Publication::default()
    };
    now(rig.store.definitions().publish(&rig.tenant, &publication)).unwrap();
}

#[test]
fn a_publish_is_one_query_and_one_atomic_write() {
    let rig = rig();
    publish(&rig);
    let first = rig.cost();
    assert_eq!((first.calls, first.writes, first.index_writes), (2, 10, 1));
}

#[test]
fn costs_do_not_rise_with_the_number_of_instances_and_versions() {
    let mut costs = Vec::new();
    for count in [1, 2_000] {
        let rig = rig();
        for n in 0..count {
            rig.create(&format!("other{n}"), &burst(200, 4));
        }
        rig.cost();
        rig.create(
            "i",
            &Commit {
                bookmarks_added: vec![event_bookmark("b", "H")],
                ..burst(200, 4)
            },
        );
        let mut loaded = rig.open("i", 2_000);
        rig.commit(&mut loaded, &ending("end"));
        costs.push(rig.cost());
    }
    assert_eq!(costs[0], costs[1]);
}

#[test]
fn a_list_of_definitions_reads_their_summaries_and_nothing_else() {
    let rig = rig();
    let save = |tenant: &Tenant, count: usize, body_bytes: usize| {
        for n in 0..count {
            let draft = Draft {
                definition_id: format!("d{n}"),
                info: VersionInfo {
                    version: 1,
                    version_id: format!("{tenant}-d{n}-1"),
                    ..VersionInfo::default()
                },
                body: Bytes::from(vec![b' '; body_bytes]),
                ..Draft::default()
            };
            now(rig.store.definitions().save_draft(tenant, &draft)).unwrap();
        }
    };
    save(&rig.tenant, 100, 50_000);
    rig.cost();
    let found = now(rig.store.definitions().list_definitions(&rig.tenant)).unwrap();
    let alone = rig.cost();
    assert_eq!((found.len(), alone.calls), (100, 1));
    assert!(alone.reads <= 10, "{alone:?}");
    // Instances and other tenants' definitions, however many, are not looked at.
    save(&Tenant::new("other").unwrap(), 200, 10);
    for n in 0..200 {
        rig.create(&format!("i{n}"), &burst(200, 4));
    }
    rig.cost();
    now(rig.store.definitions().list_definitions(&rig.tenant)).unwrap();
    assert_eq!(rig.cost(), alone);
}
