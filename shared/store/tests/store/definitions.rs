//! Definitions: editors never overwrite each other, and what an instance may name stays.

use dormouse_store::StoreError;
use dormouse_store::definition::publish::Saved;

use crate::publish::{draft, head, in_force, publication, publish, save};
use crate::rig::{Rig, now, rig};

#[test]
fn of_two_editors_the_second_hears_what_is_there_now() {
    let rig = rig();
    save(&rig, &draft(1, "a", 0));
    let theirs = publish(&rig, &publication(draft(1, "theirs", 1), &["H"]));
    for expected in [0, 1, 3] {
        let conflict = save(&rig, &draft(2, "mine", expected));
        assert_eq!(conflict, Saved::Conflict(Some(theirs.clone())));
        let mine = publication(draft(2, "mine", expected), &["H"]);
        let conflict = now(rig.store.definitions().publish(&rig.tenant, &mine)).unwrap();
        assert_eq!(conflict, Saved::Conflict(Some(theirs.clone())));
    }
    assert_eq!(
        now(rig.store.definitions().retract(&rig.tenant, "order", 1)).unwrap(),
        Saved::Conflict(Some(theirs))
    );
}

#[test]
fn an_edit_between_read_and_write_is_a_conflict_too() {
    let rig = rig();
    save(&rig, &draft(1, "a", 0));
    let other = rig_over(&rig);
    rig.before_write(move |_| {
        assert!(matches!(
            save(&other, &draft(1, "quicker", 1)),
            Saved::Done(_)
        ));
    });
    let late = now(rig
        .store
        .definitions()
        .publish(&rig.tenant, &publication(draft(1, "late", 1), &["H"])))
    .unwrap();
    let Saved::Conflict(Some(there)) = late else {
        panic!("{late:?}")
    };
    assert_eq!(there.revision, 2);
    assert!(in_force(&rig, "H").is_empty());
}

/// Another store over the same table.
fn rig_over(rig: &Rig) -> Rig {
    Rig {
        table: rig.table.clone(),
        blobs: rig.blobs.clone(),
        store: rig.store.clone(),
        tenant: rig.tenant.clone(),
    }
}

#[test]
fn a_draft_that_an_instance_was_started_with_does_not_change_under_it() {
    let rig = rig();
    save(&rig, &draft(1, "a", 0));
    assert!(
        now(rig
            .store
            .definitions()
            .mark_version_used(&rig.tenant, "order", 1))
        .unwrap()
    );
    assert!(
        !now(rig
            .store
            .definitions()
            .mark_version_used(&rig.tenant, "order", 2))
        .unwrap()
    );
    assert_eq!(
        save(&rig, &draft(1, "b", 1)),
        Saved::VersionTaken { next: 2 }
    );
    assert!(matches!(save(&rig, &draft(2, "b", 1)), Saved::Done(_)));
    let used = now(rig
        .store
        .definitions()
        .definition_version(&rig.tenant, "order", 1))
    .unwrap()
    .unwrap();
    assert_eq!((used.body.as_ref(), used.used), (&b"a"[..], true));
}

#[test]
fn a_deleted_definition_is_gone_but_its_used_versions_are_not() {
    let rig = rig();
    publish(&rig, &publication(draft(1, "a", 0), &["H"]));
    save(&rig, &draft(2, "b", 1));
    assert!(now(rig.store.definitions().delete(&rig.tenant, "order")).unwrap());
    assert!(!now(rig.store.definitions().delete(&rig.tenant, "order")).unwrap());
    assert_eq!(head(&rig), None);
    assert!(
        now(rig.store.definitions().list_definitions(&rig.tenant))
            .unwrap()
            .is_empty()
    );
    assert!(
        now(rig.store.definitions().list_versions(&rig.tenant, "order"))
            .unwrap()
            .is_empty()
    );
    assert!(
        now(rig
            .store
            .definitions()
            .definition_version(&rig.tenant, "order", 1))
        .unwrap()
        .is_some()
    );
    assert!(
        now(rig
            .store
            .definitions()
            .definition_version(&rig.tenant, "order", 2))
        .unwrap()
        .is_none()
    );
    assert!(!rig.keys().iter().any(|key| key.contains(" T#")));

    // A new definition under the id gets new numbers: an instance may still name the old one.
    assert_eq!(
        save(&rig, &draft(1, "new", 0)),
        Saved::VersionTaken { next: 3 }
    );
    let Saved::Done(new) = save(&rig, &draft(3, "new", 0)) else {
        panic!()
    };
    assert!(new.revision > 3);
    let versions = now(rig.store.definitions().list_versions(&rig.tenant, "order")).unwrap();
    assert_eq!(
        versions.iter().map(|v| v.info.version).collect::<Vec<_>>(),
        [3]
    );
    assert!(publish(&rig, &publication(draft(3, "new", new.revision), &["H"])).generation > 2);
}

#[test]
fn a_deleted_version_is_hidden_where_instances_may_name_it() {
    let rig = rig();
    publish(&rig, &publication(draft(1, "a", 0), &["H"]));
    publish(&rig, &publication(draft(2, "b", 1), &["H"]));
    save(&rig, &draft(3, "c", 2));
    let delete = |version, revision| {
        now(rig
            .store
            .definitions()
            .delete_version(&rig.tenant, "order", version, revision))
        .unwrap()
    };
    assert!(matches!(delete(3, 1), Some(Saved::Conflict(Some(_)))));
    let Some(Saved::Done(head)) = delete(3, 3) else {
        panic!()
    };
    assert_eq!(head.latest.version, 2);
    assert!(
        now(rig
            .store
            .definitions()
            .definition_version(&rig.tenant, "order", 3))
        .unwrap()
        .is_none()
    );
    let Some(Saved::Done(head)) = delete(2, 4) else {
        panic!()
    };
    assert_eq!(
        (head.latest.version, head.published),
        (1, None),
        "the published one is retracted with it"
    );
    assert!(in_force(&rig, "H").is_empty());
    assert!(
        now(rig
            .store
            .definitions()
            .definition_version(&rig.tenant, "order", 2))
        .unwrap()
        .unwrap()
        .hidden
    );
    assert_eq!(delete(2, 5), None);
    assert!(matches!(delete(1, 5), Some(Saved::Done(_))));
    assert_eq!(
        self::head(&rig),
        None,
        "without a version there is no definition"
    );
}

#[test]
fn a_draft_that_is_used_while_it_is_deleted_is_hidden_instead() {
    let rig = rig();
    save(&rig, &draft(1, "a", 0));
    save(&rig, &draft(2, "b", 1));
    let other = rig_over(&rig);
    rig.before_write(move |_| {
        assert!(
            now(other
                .store
                .definitions()
                .mark_version_used(&other.tenant, "order", 2))
            .unwrap()
        );
    });
    let deleted = now(rig
        .store
        .definitions()
        .delete_version(&rig.tenant, "order", 2, 2))
    .unwrap();
    assert!(matches!(deleted, Some(Saved::Done(_))), "{deleted:?}");
    let kept = now(rig
        .store
        .definitions()
        .definition_version(&rig.tenant, "order", 2))
    .unwrap()
    .unwrap();
    assert!(kept.used && kept.hidden);
}

#[test]
fn definitions_are_listed_without_reading_them() {
    let rig = rig();
    for n in 0..30 {
        let mut one = draft(1, "a", 0);
        one.definition_id = format!("d#{n:02}");
        one.info.version_id = format!("v{n}");
        save(&rig, &one);
    }
    rig.calls();
    let listed = now(rig.store.definitions().list_definitions(&rig.tenant)).unwrap();
    assert_eq!(rig.calls(), ["query"]);
    assert_eq!(listed.len(), 30);
    assert_eq!(
        (
            listed[7].definition_id.as_str(),
            listed[7].latest.name.as_str()
        ),
        ("d#07", "Order 1")
    );
    let other = dormouse_store::Tenant::new("other").unwrap();
    assert!(
        now(rig.store.definitions().list_definitions(&other))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_version_id_belongs_to_one_definition() {
    let rig = rig();
    save(&rig, &draft(1, "a", 0));
    let mut thief = draft(1, "b", 0);
    thief.definition_id = "thief".into();
    let refused = now(rig.store.definitions().save_draft(&rig.tenant, &thief)).unwrap_err();
    assert!(
        matches!(
            refused,
            StoreError::BadId {
                what: "the definition version id",
                ..
            }
        ),
        "{refused}"
    );
    assert!(
        now(rig
            .store
            .definitions()
            .definition_head(&rig.tenant, "thief"))
        .unwrap()
        .is_none()
    );
    // A draft that gets another id is found by that one only.
    let mut renamed = draft(1, "a", 1);
    renamed.info.version_id = "new id".into();
    save(&rig, &renamed);
    assert_eq!(
        now(rig.store.definitions().find_version(&rig.tenant, "order:1")).unwrap(),
        None
    );
    assert!(
        now(rig.store.definitions().find_version(&rig.tenant, "new id"))
            .unwrap()
            .is_some()
    );
}
