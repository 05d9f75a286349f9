//! Publishing: a trigger is in force with its version or not at all.

use std::collections::BTreeSet;

use bytes::Bytes;
use dormouse_store::definition::head::{DefinitionHead, VersionInfo};
use dormouse_store::definition::publish::{Draft, Publication, Saved};
use dormouse_store::definition::route::Route;
use dormouse_store::definition::trigger::{NewTrigger, TriggerRow};

use crate::rig::{Fault, Rig, now, rig, rig_with};

pub(crate) fn draft(version: u32, body: &str, expected_revision: u64) -> Draft {
    Draft {
        definition_id: "order".into(),
        info: VersionInfo {
            version,
            version_id: format!("order:{version}"),
            name: format!("Order {version}"),
            ..VersionInfo::default()
        },
        body: Bytes::copy_from_slice(body.as_bytes()),
        uses: BTreeSet::new(),
        expected_revision,
    }
}

pub(crate) fn publication(draft: Draft, hashes: &[&str]) -> Publication {
    let trigger = |hash: &&str| NewTrigger {
        hash: (*hash).to_owned(),
        activity_id: "start".into(),
        ..NewTrigger::default()
    };
    let triggers = hashes.iter().map(trigger).collect();
    Publication {
        draft,
        triggers,
        ..Publication::default()
    }
}

pub(crate) fn save(rig: &Rig, draft: &Draft) -> Saved {
    now(rig.store.definitions().save_draft(&rig.tenant, draft)).unwrap()
}

pub(crate) fn publish(rig: &Rig, publication: &Publication) -> DefinitionHead {
    match now(rig.store.definitions().publish(&rig.tenant, publication)).unwrap() {
        Saved::Done(head) => {
            assert_eq!(self::head(rig).as_ref(), Some(&head));
            head
        }
        other => panic!("not published: {other:?}"),
    }
}

pub(crate) fn head(rig: &Rig) -> Option<DefinitionHead> {
    now(rig
        .store
        .definitions()
        .definition_head(&rig.tenant, "order"))
    .unwrap()
}

/// The triggers of a hash that are in force.
pub(crate) fn in_force(rig: &Rig, hash: &str) -> Vec<TriggerRow> {
    let rows = now(rig.store.stimuli().triggers(&rig.tenant, hash)).unwrap();
    let Some(head) = head(rig) else {
        return Vec::new();
    };
    rows.into_iter().filter(|row| row.is_of(&head)).collect()
}

#[test]
fn a_draft_is_saved_changed_and_published() {
    let rig = rig();
    let Saved::Done(first) = save(&rig, &draft(1, "a", 0)) else {
        panic!()
    };
    assert_eq!(
        (first.revision, first.generation, first.published.is_some()),
        (1, 0, false)
    );
    let Saved::Done(second) = save(&rig, &draft(1, "b", 1)) else {
        panic!()
    };
    rig.calls();
    let head = publish(
        &rig,
        &publication(draft(1, "c", second.revision), &["H1", "H2", "H1"]),
    );
    assert_eq!(rig.calls(), ["query", "write 6", "get"]);
    assert_eq!((head.revision, head.generation), (3, 1));
    assert_eq!(head.published.as_ref(), Some(&head.latest));
    let version = now(rig
        .store
        .definitions()
        .definition_version(&rig.tenant, "order", 1))
    .unwrap()
    .unwrap();
    assert_eq!(
        (version.body.as_ref(), version.was_published),
        (&b"c"[..], true)
    );
    let found = now(rig.store.definitions().find_version(&rig.tenant, "order:1")).unwrap();
    assert_eq!(found, Some(("order".into(), 1)));
    assert_eq!(
        (in_force(&rig, "H1").len(), in_force(&rig, "H2").len()),
        (1, 1)
    );
}

#[test]
fn a_published_version_never_changes() {
    let rig = rig();
    let one = publish(&rig, &publication(draft(1, "a", 0), &["H"]));
    assert_eq!(
        save(&rig, &draft(1, "b", one.revision)),
        Saved::VersionTaken { next: 2 }
    );
    let again = publication(draft(1, "b", one.revision), &["H"]);
    assert_eq!(
        now(rig.store.definitions().publish(&rig.tenant, &again)).unwrap(),
        Saved::VersionTaken { next: 2 }
    );
    // The same body once more is no change of it.
    let same = publish(&rig, &publication(draft(1, "a", one.revision), &["H2"]));
    assert_eq!(same.generation, 2);
    assert!(
        now(rig
            .store
            .definitions()
            .definition_version(&rig.tenant, "order", 1))
        .unwrap()
        .unwrap()
        .was_published
    );
    assert_eq!(
        (in_force(&rig, "H").len(), in_force(&rig, "H2").len()),
        (0, 1)
    );
}

#[test]
fn a_publish_replaces_triggers_routes_and_names() {
    let rig = rig();
    let route = |template: &str| Route {
        template: template.into(),
        method: "get".into(),
    };
    let mut one = publication(draft(1, "a", 0), &["H1", "H2"]);
    one.routes = vec![route("a/{x}"), route("b/{x}")];
    one.type_name = Some("Ship".into());
    one.draft.uses = ["child".to_owned(), "other".to_owned()].into();
    publish(&rig, &one);
    assert_eq!(
        now(rig
            .store
            .definitions()
            .find_by_type_name(&rig.tenant, "Ship"))
        .unwrap(),
        ["order"]
    );
    assert_eq!(
        now(rig.store.definitions().list_consumers(&rig.tenant, "child")).unwrap(),
        ["order"]
    );

    let mut two = publication(draft(2, "b", 1), &["H2", "H3"]);
    two.routes = vec![route("b/{x}"), route("c/{x}")];
    two.type_name = Some("Send".into());
    two.draft.uses = ["child".to_owned()].into();
    let head = publish(&rig, &two);
    let in_force = ["H1", "H2", "H3"].map(|hash| in_force(&rig, hash).len());
    assert_eq!(in_force, [0, 1, 1]);
    assert_eq!(
        rig.keys().iter().filter(|key| key.contains(" T#")).count(),
        2
    );
    let routes = now(rig.store.definitions().list_routes(&rig.tenant)).unwrap();
    assert_eq!(routes, [route("b/{x}"), route("c/{x}")]);
    assert!(
        now(rig
            .store
            .definitions()
            .find_by_type_name(&rig.tenant, "Ship"))
        .unwrap()
        .is_empty()
    );
    assert_eq!(
        now(rig
            .store
            .definitions()
            .find_by_type_name(&rig.tenant, "Send"))
        .unwrap(),
        ["order"]
    );
    assert!(
        now(rig.store.definitions().list_consumers(&rig.tenant, "other"))
            .unwrap()
            .is_empty()
    );

    // Saving the next draft leaves what is published in force.
    save(&rig, &draft(3, "c", head.revision));
    assert_eq!(self::in_force(&rig, "H3").len(), 1);
    assert_eq!(
        now(rig.store.definitions().list_routes(&rig.tenant))
            .unwrap()
            .len(),
        2
    );
    assert!(
        now(rig.store.definitions().list_consumers(&rig.tenant, "child"))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_retract_takes_all_out_of_force() {
    let rig = rig();
    let mut one = publication(draft(1, "a", 0), &["H"]);
    one.type_name = Some("Ship".into());
    one.routes = vec![Route {
        template: "a/{x}".into(),
        method: "get".into(),
    }];
    publish(&rig, &one);
    let Saved::Done(head) = now(rig.store.definitions().retract(&rig.tenant, "order", 1)).unwrap()
    else {
        panic!()
    };
    assert_eq!(
        (head.published.clone(), head.generation, head.revision),
        (None, 2, 2)
    );
    assert!(
        !rig.keys()
            .iter()
            .any(|key| key.contains(" T#") || key.contains("ROUTES") || key.contains("TYPE"))
    );
    assert_eq!(
        now(rig.store.definitions().retract(&rig.tenant, "order", 2)).unwrap(),
        Saved::Done(head)
    );
    assert_eq!(
        now(rig.store.definitions().retract(&rig.tenant, "none", 0)).unwrap(),
        Saved::Conflict(None)
    );
    publish(&rig, &publication(draft(1, "a", 2), &["H"]));
    assert_eq!(in_force(&rig, "H")[0].generation, 3);
}

fn hashes(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("H{n:03}")).collect()
}

#[test]
fn a_definition_with_hundreds_of_triggers_is_in_force_with_all_or_none() {
    for crash_at in 0..9 {
        let rig = rig_with(|config| config.writes_max = 40);
        let hashes = hashes(100);
        let hashes: Vec<_> = hashes.iter().map(String::as_str).collect();
        publish(&rig, &publication(draft(1, "a", 0), &hashes));
        let count = |rig: &Rig| {
            hashes
                .iter()
                .map(|hash| in_force(rig, hash).len())
                .sum::<usize>()
        };
        assert_eq!(count(&rig), 100);
        rig.faults(&[vec![Fault::None; crash_at], vec![Fault::LoseCall; 99]].concat());
        let result = now(rig
            .store
            .definitions()
            .publish(&rig.tenant, &publication(draft(2, "b", 1), &hashes)));
        rig.faults(&[]);
        assert_eq!(count(&rig), 100, "crash at {crash_at}");
        let generation = head(&rig).unwrap().generation;
        assert_eq!(result.is_ok(), crash_at > 4, "{crash_at}: {result:?}");
        // What an interrupted publish put is in force neither then nor after the next one.
        let revision = head(&rig).unwrap().revision;
        publish(&rig, &publication(draft(3, "c", revision), &hashes[..50]));
        assert_eq!(count(&rig), 50, "crash at {crash_at}");
        assert!(head(&rig).unwrap().generation > generation);
    }
}

#[test]
fn a_publish_whose_answer_was_lost_knows_itself() {
    let rig = rig();
    rig.faults(&[Fault::LoseAnswer]);
    let one = publish(&rig, &publication(draft(1, "a", 0), &["H"]));
    assert_eq!(one.revision, 1);
    rig.faults(&[Fault::LoseCall]);
    assert_eq!(
        publish(&rig, &publication(draft(2, "b", 1), &["H"])).revision,
        2
    );
}

#[test]
fn triggers_of_an_interrupted_publish_stay_out_of_force_whatever_comes_next() {
    let rig = rig_with(|config| config.writes_max = 40);
    let hashes = hashes(100);
    let hashes: Vec<_> = hashes.iter().map(String::as_str).collect();
    publish(&rig, &publication(draft(1, "a", 0), &hashes[..5]));
    rig.faults(&[vec![Fault::None; 3], vec![Fault::LoseCall; 99]].concat());
    let cut_off = publication(draft(2, "b", 1), &hashes);
    assert!(
        now(rig.store.definitions().publish(&rig.tenant, &cut_off))
            .unwrap_err()
            .is_unknown()
    );
    rig.faults(&[]);
    assert!(rig.keys().iter().filter(|key| key.contains(" T#")).count() > 50);
    publish(&rig, &publication(draft(2, "small", 1), &hashes[..3]));
    let in_force = hashes
        .iter()
        .map(|hash| in_force(&rig, hash).len())
        .sum::<usize>();
    assert_eq!(in_force, 3);
}
