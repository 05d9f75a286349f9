//! The create: one instance per id, one holder per claim.

use dormouse_store::StoreError;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::create::NewInstance;
use dormouse_store::instance::lease::Opened;
use dormouse_store::instance::predecessor::{Ground, Predecessor, Vacancy};
use dormouse_store::instance::uniqueness::Claim;
use dormouse_store::stimulus::queued_stimulus::QueuePlace;
use dormouse_store::table::{Change, Condition, Durability, Key, Table as _, Value};

use crate::rig::{Fault, Rig, commit, ending, event_bookmark, now, rig};

fn create(rig: &Rig, id: &str, claims: &[Claim], commit: &Commit) -> Committed {
    let mut loaded = rig.blank(id, claims, Predecessor::default());
    rig.commit(&mut loaded, commit)
}

#[test]
fn a_second_start_with_the_same_id_finds_the_first() {
    let rig = rig();
    rig.create("i", &commit("first"));
    let Committed::Lost(Some(head)) = create(&rig, "i", &[], &commit("second")) else {
        panic!()
    };
    assert_eq!((head.instance_id.as_str(), head.commit), ("i", 1));
    assert_eq!(rig.state("i"), "first");
}

#[test]
fn a_new_instance_goes_on_with_its_next_commit() {
    let rig = rig();
    let mut loaded = rig.blank("i", &[], Predecessor::default());
    assert!(loaded.is_new() && loaded.next_commit() == 1);
    rig.commit(&mut loaded, &commit("s"));
    assert!(!loaded.is_new() && loaded.next_commit() == 2);
    assert_eq!(loaded.state().as_ref(), b"s");
    let done = rig.commit(&mut loaded, &commit("t"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(rig.journal("i"), ["line of s", "line of t"]);
}

#[test]
fn a_create_whose_answer_was_lost_knows_itself() {
    let rig = rig();
    rig.faults(&[Fault::LoseAnswer]);
    let (loaded, _) = rig.create("i", &commit("s"));
    assert_eq!(loaded.until_ms(), None);
    rig.faults(&[Fault::LoseAnswer; 3]);
    let mut loaded = rig.blank("j", &[], Predecessor::default());
    let first = commit("s");
    let unknown = now(rig.store.commits().commit(&mut loaded, &first)).unwrap_err();
    assert!(unknown.is_unknown());
    let done = rig.commit(&mut loaded, &first);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    let other = create(&rig, "j", &[], &commit("t"));
    assert!(matches!(other, Committed::Lost(Some(_))), "{other:?}");
}

#[test]
fn a_singleton_is_single_until_it_ends() {
    let rig = rig();
    let claims = [Claim::Definition("order".into())];
    let done = create(&rig, "i", &claims, &commit("s"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    let refused = create(&rig, "j", &claims, &commit("s"));
    let Committed::NotUnique { claim, holder } = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((claim, holder.as_str()), (claims[0].clone(), "i"));
    assert!(
        now(rig.store.instances().get(&rig.tenant, "j"))
            .unwrap()
            .is_none()
    );

    let mut loaded = rig.open("i", 2_000);
    rig.commit(&mut loaded, &ending("end"));
    let done = create(&rig, "j", &claims, &commit("s"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
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
        let claims = std::slice::from_ref(claim);
        let created = create(&rig, &format!("i{n}"), claims, &commit("s"));
        assert!(matches!(created, Committed::Done(_)), "{created:?}");
    }
    let blank = [Claim::Correlation(String::new())];
    let new = NewInstance {
        instance_id: "x",
        owner: "a",
        claims: &blank,
        predecessor: Predecessor::default(),
    };
    let refused = rig.store.instances().blank(&rig.tenant, &new).unwrap_err();
    let what = "a correlation id";
    assert!(
        matches!(refused, StoreError::BadId { what: w, .. } if w == what),
        "{refused}"
    );
}

#[test]
fn an_instance_that_ends_in_its_first_burst_claims_nothing() {
    let rig = rig();
    let claims = [Claim::Definition("order".into())];
    for id in ["i", "j"] {
        let done = create(&rig, id, &claims, &ending("end"));
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
    }
    assert_eq!(rig.keys(), ["acme/WF#i HEAD", "acme/WF#j HEAD"]);
    create(&rig, "holder", &claims, &commit("s"));
    let refused = create(&rig, "k", &claims, &ending("end"));
    assert!(
        matches!(refused, Committed::NotUnique { .. }),
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
    create(&rig, "i", &claims, &commit("s"));
    rig.before_write(|memory| {
        // An operator's repair: the claim goes to another instance.
        let claim = Key::new("acme/UNIQ#order#", "HEAD");
        let change = Change::Set("in".into(), Value::S("j".into()));
        let always = Condition::Always;
        now(memory.update(&claim, &[change], &always, Durability::Durable)).unwrap();
    });
    let mut loaded = rig.open("i", 2_000);
    rig.commit(&mut loaded, &ending("end"));
    assert_eq!(rig.keys(), ["acme/UNIQ#order# HEAD", "acme/WF#i HEAD"]);
    assert_eq!(rig.state("i"), "end");
}

#[test]
fn a_queued_stimulus_that_is_gone_starts_nothing() {
    let rig = rig();
    let consumed = QueuePlace {
        hash: "H".into(),
        id: "e".into(),
        correlation_id: None,
        instance_id: None,
        created_ms: 0,
    };
    let consuming = Commit {
        consumed: Some(consumed),
        ..commit("s")
    };
    let taken = create(&rig, "i", &[], &consuming);
    assert!(matches!(taken, Committed::StimulusTaken), "{taken:?}");
    assert!(rig.keys().is_empty());
}

#[test]
fn ids_that_cannot_be_keys_are_refused_and_odd_ones_stay_apart() {
    let rig = rig();
    for id in ["", &"x".repeat(401)] {
        let mut loaded = rig.blank(id, &[], Predecessor::default());
        let refused = now(rig.store.commits().commit(&mut loaded, &commit("s"))).unwrap_err();
        let what = "an instance id";
        assert!(matches!(refused, StoreError::BadId { what: w, .. } if w == what));
    }
    for id in ["a#b", "a%23b", "a/b", "größe", "~"] {
        rig.create(id, &commit(id));
    }
    for id in ["a#b", "a%23b", "a/b", "größe", "~"] {
        assert_eq!(rig.state(id), id);
        assert_eq!(rig.head(id).instance_id, id);
    }
    let other = dormouse_store::Tenant::new("other").unwrap();
    assert!(
        now(rig.store.instances().get(&other, "a#b"))
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_busy_table_creates_nothing_and_says_so() {
    let rig = rig();
    rig.faults(&[Fault::Busy]);
    let mut loaded = rig.blank("i", &[], Predecessor::default());
    let first = commit("s");
    let busy = now(rig.store.commits().commit(&mut loaded, &first)).unwrap_err();
    assert!(busy.is_busy());
    assert!(rig.keys().is_empty());
    // After a lost answer, busy does not mean that nothing happened.
    rig.faults(&[Fault::LoseAnswer, Fault::Busy]);
    let unknown = now(rig.store.commits().commit(&mut loaded, &first)).unwrap_err();
    assert!(unknown.is_unknown());
}

#[test]
fn an_instance_that_is_brought_back_continues_after_its_earlier_life() {
    let rig = rig();
    let bookmarks_added = vec![event_bookmark("b", "H")];
    let (mut old, _) = rig.create(
        "i",
        &Commit {
            bookmarks_added,
            ..commit("s")
        },
    );
    now(rig.store.instances().delete(&rig.tenant, "i", 5_000, &[])).unwrap();
    let vacancy = || now(rig.store.commits().vacancy(&rig.tenant, "i")).unwrap();
    assert_eq!(vacancy(), Vacancy::Busy, "it is still cleaned up");
    while !now(rig.store.instances().clean_deleted(&rig.tenant, "i", 5_000)).unwrap() {}
    let Vacancy::Free(predecessor) = vacancy() else {
        panic!()
    };
    assert_eq!(
        (predecessor.ground, predecessor.commit),
        (Ground::Tombstone, 1)
    );
    let deleted = create(&rig, "i", &[], &commit("x"));
    assert!(matches!(deleted, Committed::Deleted), "{deleted:?}");
    let (mut one, mut two) = (
        rig.blank("i", &[], predecessor),
        rig.blank("i", &[], predecessor),
    );
    let done = rig.commit(&mut one, &commit("back"));
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    assert_eq!(rig.head("i").commit, 2);
    let lost = rig.commit(&mut two, &commit("twice"));
    assert!(matches!(lost, Committed::Lost(Some(_))), "{lost:?}");
    assert_eq!(vacancy(), Vacancy::Taken);
    let late = rig.commit(&mut old, &commit("late"));
    assert!(matches!(late, Committed::Lost(Some(_))), "{late:?}");
    assert_eq!(rig.state("i"), "back");
    assert!(matches!(rig.try_open("i", 9_000), Opened::Loaded(_)));
}
