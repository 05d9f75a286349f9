//! Links, users, roles, applications, signing keys, the audit log, the pause and alteration plans: small items that count
//! once.

use bytes::Bytes;
use dormouse_store::Tenant;
use dormouse_store::identity::application::Application;
use dormouse_store::identity::link::{Link, LinkAnswer, LinkInput, LinkState};
use dormouse_store::identity::role::Role;
use dormouse_store::identity::signing_key::SigningKey;
use dormouse_store::identity::user::User;
use dormouse_store::identity::webhook::Webhook;
use dormouse_store::item::versioned::Versioned;
use dormouse_store::operation::alteration_plan::{
    AlterationJob, AlterationPlan, JobStatus, PlanStatus,
};
use dormouse_store::operation::audit::AuditRecord;
use dormouse_store::operation::pause::Pause;

use crate::rig::{Rig, now, rig_with};

fn rig() -> Rig {
    rig_with(|_| ())
}

fn link() -> Versioned<Link> {
    Versioned::new(Link {
        tenant: "acme".into(),
        instance_id: "i".into(),
        bookmark_id: "b".into(),
        expires_ms: 7_000,
        title: Some("T".into()),
        text: Some("x".into()),
        outcomes: vec!["Yes".into()],
        inputs: vec![LinkInput {
            name: "n".into(),
            label: Some("N".into()),
            kind: "text".into(),
            is_required: true,
        }],
        answer: None,
        state: LinkState::Open,
    })
}

#[test]
fn a_link_has_one_first_answer() {
    let rig = rig();
    let link = link();
    assert!(now(rig.store.links().put_link("d", &link)).unwrap());
    assert!(!now(rig.store.links().put_link("d", &link)).unwrap());
    let mut one = now(rig.store.links().link("d")).unwrap().unwrap();
    assert_eq!((&one.value, one.version), (&link.value, 1));
    assert_eq!(one.value.tenant().unwrap().as_str(), "acme");
    let mut two = one.clone();
    one.value.answer = Some(LinkAnswer::default());
    two.value.state = LinkState::Void;
    assert!(now(rig.store.links().put_link("d", &one)).unwrap());
    assert!(!now(rig.store.links().put_link("d", &two)).unwrap());
    assert_eq!(
        now(rig.store.links().link("d")).unwrap().unwrap().value,
        one.value
    );
    assert_eq!(now(rig.store.links().link("e")).unwrap(), None);
}

#[test]
fn users_and_roles_belong_to_their_tenant_and_change_only_as_they_were_read() {
    let rig = rig();
    let (acme, other) = (Tenant::new("acme").unwrap(), Tenant::new("other").unwrap());
    let user = |roles: &[&str]| {
        Versioned::new(User {
            name: "ada".into(),
            roles: roles.iter().map(|r| (*r).to_owned()).collect(),
            ..User::default()
        })
    };
    assert!(now(rig.store.identities().put_user(&acme, &user(&["a"]))).unwrap());
    assert!(now(rig.store.identities().put_user(&other, &user(&["b"]))).unwrap());
    assert!(!now(rig.store.identities().put_user(&acme, &user(&["c"]))).unwrap());
    let ada = now(rig.store.identities().user(&acme, "ada"))
        .unwrap()
        .unwrap();
    assert_eq!(ada.value.roles, ["a"]);
    assert!(now(rig.store.identities().delete_user(&acme, &ada)).unwrap());
    assert!(!now(rig.store.identities().delete_user(&acme, &ada)).unwrap());
    assert_eq!(now(rig.store.identities().users(&acme)).unwrap(), []);
    assert_eq!(now(rig.store.identities().users(&other)).unwrap().len(), 1);

    let role = Versioned::new(Role {
        id: "r".into(),
        ..Role::default()
    });
    assert!(now(rig.store.identities().put_role(&acme, &role)).unwrap());
    assert_eq!(now(rig.store.identities().role(&other, "r")).unwrap(), None);
    assert_eq!(
        now(rig.store.identities().roles(&acme)).unwrap(),
        [role.value]
    );
}

#[test]
fn an_application_is_found_by_its_key_and_listed_with_its_tenant() {
    let rig = rig();
    let acme = Tenant::new("acme").unwrap();
    let application = Application {
        id: "k".into(),
        tenant: "acme".into(),
        ..Application::default()
    };
    assert!(now(rig.store.identities().put_application(&acme, &application)).unwrap());
    assert!(!now(rig.store.identities().put_application(&acme, &application)).unwrap());
    let found = now(rig.store.identities().application("k"))
        .unwrap()
        .unwrap();
    assert_eq!(
        now(rig.store.identities().applications(&acme)).unwrap(),
        std::slice::from_ref(&found.value)
    );
    assert!(now(rig.store.identities().delete_application(&acme, &found)).unwrap());
    assert_eq!(now(rig.store.identities().application("k")).unwrap(), None);
    assert_eq!(now(rig.store.identities().applications(&acme)).unwrap(), []);
}

#[test]
fn audit_records_are_read_newest_first_a_month_at_a_time() {
    let rig = rig();
    let record = |at_ms: i64| AuditRecord {
        at_ms,
        who: "ada".into(),
        ..AuditRecord::default()
    };
    for at in [1, 3, 2] {
        now(rig
            .store
            .operations()
            .add_audit_record(&rig.tenant, "2026-11", &record(at), 7))
        .unwrap();
    }
    now(rig
        .store
        .operations()
        .add_audit_record(&rig.tenant, "2026-12", &record(9), 7))
    .unwrap();
    let first = now(rig
        .store
        .operations()
        .audit_records(&rig.tenant, "2026-11", 2, None))
    .unwrap();
    let times: Vec<_> = first.records.iter().map(|r| r.at_ms).collect();
    assert_eq!(times, [3, 2]);
    let rest = now(rig
        .store
        .operations()
        .audit_records(&rig.tenant, "2026-11", 2, first.cursor))
    .unwrap();
    assert_eq!(rest.records.len(), 1);
}

fn pause() -> Pause {
    Pause {
        since_ms: 5,
        by: "ada".into(),
        reason: Some("moving".into()),
    }
}

#[test]
fn there_is_one_pause_and_it_stays_as_it_began() {
    let rig = rig();
    assert_eq!(now(rig.store.operations().pause()).unwrap(), None);
    assert!(now(rig.store.operations().put_pause(&pause())).unwrap());
    assert!(!now(rig.store.operations().put_pause(&Pause::default())).unwrap());
    assert_eq!(now(rig.store.operations().pause()).unwrap(), Some(pause()));
    assert!(now(rig.store.operations().end_pause()).unwrap());
    assert!(!now(rig.store.operations().end_pause()).unwrap());
    assert_eq!(now(rig.store.operations().pause()).unwrap(), None);
}

fn plan() -> Versioned<AlterationPlan> {
    Versioned::new(AlterationPlan {
        what: Bytes::from_static(b"{}"),
        status: PlanStatus::Running,
        created_ms: 5,
        started_ms: Some(6),
        completed_ms: None,
        cursor: Some("i#1".into()),
        jobs: 2,
        has_left: true,
        has_done: true,
        has_failed: true,
        idle_rounds: 1,
    })
}

fn job(instance_id: &str) -> AlterationJob {
    AlterationJob {
        instance_id: instance_id.into(),
        status: JobStatus::Failed,
        created_ms: 5,
        started_ms: Some(6),
        completed_ms: Some(7),
        told: Some("no".into()),
    }
}

fn put_plan(rig: &Rig) {
    let (plan, jobs) = (plan(), [job("i#1")]);
    let put = rig
        .store
        .operations()
        .put_alteration_plan(&rig.tenant, "p#1", &plan, &jobs, 5_000);
    assert!(now(put).unwrap());
}

#[test]
fn a_plan_changes_only_as_it_was_read_and_its_jobs_with_it() {
    let rig = rig();
    let (store, tenant) = (&rig.store, &rig.tenant);
    let jobs = ["b", "i#1", "a"].map(job);
    assert!(
        now(store
            .operations()
            .put_alteration_plan(tenant, "p", &plan(), &jobs, 0))
        .unwrap()
    );
    let late = [job("late")];
    assert!(
        !now(store
            .operations()
            .put_alteration_plan(tenant, "p", &plan(), &late, 0))
        .unwrap()
    );
    let read = now(store.operations().alteration_plan(tenant, "p"))
        .unwrap()
        .unwrap();
    assert_eq!(read.value, plan().value);
    let behind =
        |id, limit| now(store.operations().alteration_jobs(tenant, "p", id, limit)).unwrap();
    assert_eq!(behind(None, 9), ["a", "b", "i#1"].map(job));
    assert_eq!(behind(None, 1), [job("a")]);
    assert_eq!(behind(Some("b"), 9), [job("i#1")]);
    assert_eq!(behind(Some("i#1"), 9), []);
    let done = AlterationJob {
        status: JobStatus::Completed,
        ..job("b")
    };
    now(store.operations().put_alteration_job(tenant, "p", &done, 0)).unwrap();
    assert_eq!(behind(Some("a"), 1), [done]);
    let other = Tenant::new("other").unwrap();
    assert_eq!(
        now(store.operations().alteration_plan(&other, "p")).unwrap(),
        None
    );
}

/// A record as earlier builds wrote it, and one of this build.
fn put_audit(rig: &Rig) {
    let old = AuditRecord {
        at_ms: 5,
        who: "ada".into(),
        action: "publish".into(),
        subject: "/x".into(),
        status: 200,
        address: Some("::1".into()),
        ..AuditRecord::default()
    };
    let new = AuditRecord {
        kind: "user".into(),
        ..old.clone()
    };
    for (record, chance) in [(old, 7), (new, 8)] {
        let operations = rig.store.operations();
        now(operations.add_audit_record(&rig.tenant, "2026-11", &record, chance)).unwrap();
    }
}

#[test]
fn what_is_stored_of_identities_is_stored_as_it_always_was() {
    let rig = rig();
    let tenant = &rig.tenant;
    let (identities, operations) = (rig.store.identities(), rig.store.operations());
    let mut answered = link();
    answered.value.answer = Some(LinkAnswer {
        at_ms: 5,
        outcome: Some("Yes".into()),
        input: Bytes::from_static(b"{}"),
    });
    answered.value.state = LinkState::Done;
    now(rig.store.links().put_link("digest", &answered)).unwrap();
    let user = User {
        name: "ada".into(),
        password: "$argon2id$".into(),
        roles: vec!["admin".into()],
        created_ms: 5,
        stamp: "s".into(),
    };
    now(identities.put_user(tenant, &Versioned::new(user))).unwrap();
    let role = Role {
        id: "admin".into(),
        name: "Admin".into(),
        permissions: vec!["*".into()],
    };
    now(identities.put_role(tenant, &Versioned::new(role))).unwrap();
    let application = Application {
        id: "k#1".into(),
        tenant: "default".into(),
        name: "cli".into(),
        digest: "d".into(),
        roles: vec!["admin".into()],
        permissions: vec!["read:*".into()],
        created_ms: 5,
        expires_ms: Some(9),
    };
    now(identities.put_application(tenant, &application)).unwrap();
    let webhook = Webhook {
        id: "h".into(),
        tenant: "acme".into(),
        event: "Go".into(),
        correlation: Some("/o".into()),
        secret: "whsec_AA==".into(),
        created_ms: 5,
    };
    now(rig.store.links().put_webhook(tenant, &webhook)).unwrap();
    let key = SigningKey::new(5, 7, Bytes::from_static(b"secret"));
    now(rig.store.links().put_signing_key(&key, 60)).unwrap();
    put_audit(&rig);
    now(operations.put_pause(&pause())).unwrap();
    put_plan(&rig);
    let mut text = String::new();
    for item in rig.table.memory.items() {
        text.push_str(&format!("{} {}\n", item.key.partition, item.key.sort));
        for (name, value) in &item.attributes {
            text.push_str(&format!("    {name} {value:?}\n"));
        }
    }
    let golden = include_str!("identity.golden");
    assert_eq!(text, golden, "all of it:\n{text}");
}
