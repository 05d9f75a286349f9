//! The layout as it is stored: keys, attributes and bodies of every item kind, byte for byte. What is stored must stay
//! readable for ever, so a difference here is a new format and needs a new format number, not a new golden file.

use bytes::Bytes;
use dormouse_store::definition::head::VersionInfo;
use dormouse_store::definition::publish::{Draft, Publication};
use dormouse_store::definition::route::Route;
use dormouse_store::definition::trigger::NewTrigger;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::idempotency::Answer;
use dormouse_store::instance::predecessor::Predecessor;
use dormouse_store::instance::uniqueness::Claim;
use dormouse_store::outbox::dead_letter::{DeadLetter, Letter};
use dormouse_store::outbox::row::Effect;
use dormouse_store::stimulus::queued_stimulus::QueuedStimulus;
use dormouse_store::stimulus::timer::Timer;

use crate::rig::{Rig, bookmark, commit, event_bookmark, now, rig_with};

fn definition(rig: &Rig) {
    let draft = Draft {
        definition_id: "order".into(),
        info: VersionInfo {
            version: 1,
            version_id: "order:1".into(),
            name: "Order".into(),
            description: "d".into(),
            created_ms: 5,
            extra: Bytes::from_static(b"x"),
        },
        body: Bytes::from_static(b"{}"),
        uses: ["child".to_owned()].into(),
        expected_revision: 0,
    };
    let trigger = NewTrigger {
        hash: "H".into(),
        activity_id: "start".into(),
        name: "Elsa.Event".into(),
        payload: Bytes::from_static(b"p"),
    };
    let route = Route {
        template: "orders/{id}".into(),
        method: "get".into(),
    };
    let publication = Publication {
        draft,
        type_name: Some("Order".into()),
        triggers: vec![trigger],
        routes: vec![route],
    };
    now(rig.store.definitions().publish(&rig.tenant, &publication)).unwrap();
}

fn effect() -> Effect {
    Effect {
        id: "i/1/0".into(),
        body: Bytes::from_static(b"e"),
    }
}

fn instances(rig: &Rig) {
    let timer = Timer {
        tenant: rig.tenant.clone(),
        id: "t".into(),
        due_ms: 9_000,
        body: Bytes::from_static(b"b"),
    };
    let effect = effect();
    let mut first = Commit {
        attempt: 0xab,
        pinned: Some(Bytes::from_static(b"pin")),
        bookmarks_added: vec![bookmark("b1"), event_bookmark("b2", "H")],
        effects: vec![effect.clone()],
        continuation: Some(effect.clone()),
        timers_set: vec![rig.store.timers().timer_write(&timer).unwrap()],
        event_ids: vec!["event".into()],
        keep_until_ms: Some(31_000),
        ..commit("0123456789")
    };
    first.summary.name = Some("n".into());
    first.summary.correlation_id = Some("7".into());
    first.summary.parent_id = Some("p".into());
    let claims = [
        Claim::Definition("order".into()),
        Claim::Correlation("7".into()),
    ];
    let mut loaded = rig.blank("i", &claims, Predecessor::default());
    let done = rig.commit(&mut loaded, &first);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    let second = Commit {
        attempt: 0xcd,
        effects: Vec::new(),
        pinned: None,
        event_ids: (0..8).map(|n| format!("event{n}")).collect(),
        bookmarks_added: Vec::new(),
        timers_set: Vec::new(),
        continuation: None,
        // Large: it lies beside the head.
        journal: vec![Bytes::from_static(&[b'l'; 50])],
        ..first
    };
    let done = rig.commit(&mut loaded, &second);
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
    let answer = Answer {
        key: "key".into(),
        expires_ms: 90_000,
        request: Bytes::from_static(b"r"),
        answer: Bytes::from_static(b"a"),
    };
    now(rig
        .store
        .instances()
        .put_answer(&rig.tenant, &answer, 1_000))
    .unwrap();
    rig.create(
        "small",
        &Commit {
            attempt: 0x12,
            journal: Vec::new(),
            ..commit("s")
        },
    );
}

/// What is left of an instance that was deleted, and of one that was fenced before it existed.
fn gone(rig: &Rig) {
    rig.create(
        "deleted",
        &Commit {
            attempt: 0xef,
            bookmarks_added: vec![event_bookmark("b", "H")],
            ..commit("s")
        },
    );
    now(rig
        .store
        .instances()
        .delete(&rig.tenant, "deleted", 5_000, &[]))
    .unwrap();
    let stamp = rig
        .blank("fenced", &[], Predecessor::default())
        .stamp(1, 5_000);
    rig.fence("fenced", &stamp);
}

fn stimuli_and_letters(rig: &Rig) {
    let queued = QueuedStimulus {
        id: "q".into(),
        hash: "H".into(),
        instance_id: Some("i".into()),
        bookmark_id: Some("b".into()),
        correlation_id: Some("7".into()),
        activity_instance_id: Some("a".into()),
        created_ms: 1,
        expires_ms: 2,
        payload: Bytes::from_static(b"p"),
    };
    now(rig
        .store
        .stimuli()
        .queue_stimulus(&rig.tenant, &queued, None))
    .unwrap();
    let letters = [
        Letter::Stimulus {
            id: "q".into(),
            hash: "H".into(),
            stimulus: queued,
        },
        Letter::Effects {
            source: "i".into(),
            commit: 1,
            effects: vec![effect()],
        },
        Letter::Message(Bytes::from_static(b"m")),
    ];
    for (n, letter) in letters.into_iter().enumerate() {
        let letter = DeadLetter {
            id: n.to_string(),
            at_ms: 3,
            reason: "r".into(),
            attempts: 1,
            letter,
        };
        now(rig.store.dead_letters().put(&rig.tenant, &letter)).unwrap();
    }
}

#[test]
fn what_is_stored_is_stored_as_it_always_was() {
    let rig = rig_with(|config| {
        config.state_inline_max = 5;
        config.journal_inline_max = 40;
        config.compress_from = usize::MAX;
    });
    definition(&rig);
    instances(&rig);
    gone(&rig);
    stimuli_and_letters(&rig);
    let mut text = String::new();
    for item in rig.table.memory.items() {
        text.push_str(&format!("{} {}\n", item.key.partition, item.key.sort));
        for (name, value) in &item.attributes {
            text.push_str(&format!("    {name} {value:?}\n"));
        }
    }
    let golden = include_str!("layout.golden");
    for (now, then) in text.lines().zip(golden.lines()) {
        assert_eq!(now, then);
    }
    assert_eq!(
        text.lines().count(),
        golden.lines().count(),
        "all of it:\n{text}"
    );
}
