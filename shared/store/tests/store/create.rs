//! The create: one instance per id, one holder per claim.

use dormouse_store::StoreError;
use dormouse_store::commit::{Commit, Consumed};
use dormouse_store::create::{Created, NewInstance};
use dormouse_store::uniqueness::Claim;

use crate::rig::{Fault, Rig, commit, ending, now, rig};

fn create(rig: &Rig, id: &str, owner: &str, claims: &[Claim], commit: &Commit) -> Created {
    let new = NewInstance {
        instance_id: id,
        owner,
        claims,
    };
    now(rig.store.create(&rig.tenant, &new, commit)).unwrap()
}

#[test]
fn a_second_start_with_the_same_id_finds_the_first() {
    let rig = rig();
    rig.create("i", &commit("first"));
    let Created::Exists(head) = create(&rig, "i", "other", &[], &commit("second")) else {
        panic!()
    };
    assert_eq!((head.instance_id.as_str(), head.commit), ("i", 1));
    assert_eq!(rig.state("i"), "first");
}

#[test]
fn a_create_whose_answer_was_lost_knows_itself() {
    let rig = rig();
    rig.faults(&[Fault::LoseAnswer]);
    let (lease, _) = rig.create("i", &commit("s"));
    assert_eq!(lease.until_ms(), None);
    rig.faults(&[Fault::LoseAnswer, Fault::LoseAnswer, Fault::LoseAnswer]);
    let new = NewInstance {
        instance_id: "j",
        owner: "creator",
        claims: &[],
    };
    let unknown = now(rig.store.create(&rig.tenant, &new, &commit("s"))).unwrap_err();
    assert!(unknown.is_unknown());
    rig.create("j", &commit("s"));
    assert!(matches!(
        create(&rig, "j", "other", &[], &commit("t")),
        Created::Exists(_)
    ));
}

#[test]
fn a_singleton_is_single_until_it_ends() {
    let rig = rig();
    let claims = [Claim::Definition("order".into())];
    assert!(matches!(
        create(&rig, "i", "a", &claims, &commit("s")),
        Created::Done { .. }
    ));
    let refused = create(&rig, "j", "b", &claims, &commit("s"));
    let Created::NotUnique { claim, holder } = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((claim, holder.as_str()), (claims[0].clone(), "i"));
    assert!(now(rig.store.instance(&rig.tenant, "j")).unwrap().is_none());

    let mut lease = rig.acquire("i", "a", 2_000);
    rig.commit(&mut lease, &ending("end"));
    assert!(matches!(
        create(&rig, "j", "b", &claims, &commit("s")),
        Created::Done { .. }
    ));
}

#[test]
fn claims_of_three_kinds_stand_side_by_side() {
    let rig = rig();
    let both = Claim::DefinitionAndCorrelation("order".into(), "7".into());
    let claims = [
        Claim::Definition("order".into()),
        Claim::Correlation("7".into()),
        both,
    ];
    for (n, claim) in claims.iter().enumerate() {
        let created = create(
            &rig,
            &format!("i{n}"),
            "a",
            std::slice::from_ref(claim),
            &commit("s"),
        );
        assert!(matches!(created, Created::Done { .. }));
    }
    let blank = [Claim::Correlation(String::new())];
    let new = NewInstance {
        instance_id: "x",
        owner: "a",
        claims: &blank,
    };
    let refused = now(rig.store.create(&rig.tenant, &new, &commit("s"))).unwrap_err();
    assert!(
        matches!(
            refused,
            StoreError::BadId {
                what: "a correlation id",
                ..
            }
        ),
        "{refused}"
    );
}

#[test]
fn an_instance_that_ends_in_its_first_burst_claims_nothing() {
    let rig = rig();
    let claims = [Claim::Definition("order".into())];
    for id in ["i", "j"] {
        assert!(matches!(
            create(&rig, id, id, &claims, &ending("end")),
            Created::Done { .. }
        ));
    }
    assert_eq!(rig.keys(), ["acme/WF#i HEAD", "acme/WF#j HEAD"]);
    create(&rig, "holder", "a", &claims, &commit("s"));
    let refused = create(&rig, "k", "k", &claims, &ending("end"));
    assert!(
        matches!(refused, Created::NotUnique { .. }),
        "but it does not run beside one that has"
    );
}

#[test]
fn a_claim_that_somebody_else_has_by_now_does_not_keep_an_instance_from_ending() {
    let rig = rig();
    let claims = [
        Claim::Definition("order".into()),
        Claim::Correlation("7".into()),
    ];
    create(&rig, "i", "a", &claims, &commit("s"));
    rig.before_write(|memory| {
        // An operator's repair: the claim goes to another instance.
        let claim = dormouse_store::table::Key::new("acme/UNIQ#order#", "HEAD");
        let other = dormouse_store::table::Value::S("j".into());
        let change = dormouse_store::table::Change::Set("in".into(), other);
        let always = dormouse_store::table::Condition::Always;
        let durable = dormouse_store::table::Durability::Durable;
        use dormouse_store::table::Table;
        now(memory.update(&claim, &[change], &always, durable)).unwrap();
    });
    let mut lease = rig.acquire("i", "a", 2_000);
    rig.commit(&mut lease, &ending("end"));
    assert_eq!(rig.keys(), ["acme/UNIQ#order# HEAD", "acme/WF#i HEAD"]);
    assert_eq!(rig.state("i"), "end");
}

#[test]
fn a_queued_stimulus_starts_one_instance() {
    let rig = rig();
    let consuming = Commit {
        consumed: Some(Consumed {
            hash: "H".into(),
            id: "e".into(),
        }),
        ..commit("s")
    };
    assert!(matches!(
        create(&rig, "i", "a", &[], &consuming),
        Created::StimulusTaken
    ));
    assert!(rig.keys().is_empty());
}

#[test]
fn ids_that_cannot_be_keys_are_refused_and_odd_ones_stay_apart() {
    let rig = rig();
    for id in ["", &"x".repeat(401)] {
        let new = NewInstance {
            instance_id: id,
            owner: "a",
            claims: &[],
        };
        let refused = now(rig.store.create(&rig.tenant, &new, &commit("s")));
        assert!(matches!(
            refused,
            Err(StoreError::BadId {
                what: "an instance id",
                ..
            })
        ));
    }
    for id in ["a#b", "a%23b", "a/b", "größe", "~"] {
        rig.create(id, &commit(id));
    }
    for id in ["a#b", "a%23b", "a/b", "größe", "~"] {
        assert_eq!(rig.state(id), id);
        assert_eq!(
            now(rig.store.instance(&rig.tenant, id))
                .unwrap()
                .unwrap()
                .instance_id,
            id
        );
    }
    let other = dormouse_store::Tenant::new("other").unwrap();
    assert!(now(rig.store.instance(&other, "a#b")).unwrap().is_none());
}

#[test]
fn a_busy_table_creates_nothing_and_says_so() {
    let rig = rig();
    rig.faults(&[Fault::Busy]);
    let new = NewInstance {
        instance_id: "i",
        owner: "a",
        claims: &[],
    };
    assert!(
        now(rig.store.create(&rig.tenant, &new, &commit("s")))
            .unwrap_err()
            .is_busy()
    );
    assert!(rig.keys().is_empty());
    // After a lost answer, busy does not mean that nothing happened.
    rig.faults(&[Fault::LoseAnswer, Fault::Busy]);
    assert!(
        now(rig.store.create(&rig.tenant, &new, &commit("s")))
            .unwrap_err()
            .is_unknown()
    );
}
