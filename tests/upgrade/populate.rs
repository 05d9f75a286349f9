//! A world with an item of every kind: what a build leaves when it is stopped in the middle of everything.

use dormouse_runtime::message::{Message, Task};
use dormouse_runtime::{DefinitionHandle, EventRequest, ResumeOutcome, StartOutcome, StartRequest};
use dormouse_store::identity::secret::{SecretPlace, StoredSecret};
use dormouse_store::item::versioned::Versioned;
use dormouse_store::table::Item;
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{
    delay, dispatch, endpoint, event, fault, for_, line, parallel, sequence, set, task, while_,
};
use dormouse_tests::{activity, js, workflow};
use serde_json::{Value, json};

use super::play::{BEGIN_MS, Client, Facts, Shape, tenant};
use super::world::{Fate, Owner};

/// Instances by id, which is also their definition's, and how they end when they are carried on.
pub(crate) const INSTANCES: [(&str, &str); 12] = [
    ("wait", "Finished"),
    ("work", "Finished"),
    ("sleep", "Finished"),
    ("both", "Finished"),
    ("page", "Finished"),
    ("large", "Finished"),
    ("long", "Finished"),
    ("parent", "Finished"),
    ("single", "Finished"),
    ("listener", "Cancelled"),
    ("broken", "Faulted"),
    ("user", "Finished"),
];

fn definitions() -> Vec<Value> {
    let of = |name: &str, root| workflow(name, root);
    let cron = activity("Elsa.Cron")
        .id("cron")
        .input("cronExpression", "0 0 12 * * *")
        .trigger();
    let singleton = "Elsa.Workflows.Activation.SingletonStrategy, Elsa.Workflows.Core";
    let used = activity("used")
        .id("used")
        .set("workflowDefinitionId", "used");
    [
        of("wait", flow("go > after", [event("go")])).input("In", "Object"),
        of(
            "work",
            sequence([line("before"), task("work"), line("after")]),
        ),
        of("sleep", sequence([delay("00:10:00"), line("after")])),
        of(
            "both",
            sequence([
                parallel([task("work"), event("both"), delay("00:10:00")]),
                line("after"),
            ]),
        ),
        of(
            "page",
            sequence([
                line("before"),
                endpoint("back/{id}", &["POST"]).custom("canStartWorkflow", false),
                line("after"),
            ]),
        ),
        of(
            "site",
            sequence([endpoint("site/{id}", &["GET"]), line("after")]),
        ),
        of(
            "large",
            sequence([
                set("n", js("'x'.repeat(20000)")),
                event("large"),
                line("after"),
            ]),
        ),
        of(
            "long",
            sequence([for_(1, 300, line("again")), event("long"), line("after")]),
        ),
        of(
            "parent",
            sequence([dispatch("work", true).id("child"), line("after")]),
        ),
        of("single", sequence([event("single"), line("after")]))
            .option("activationStrategyType", singleton),
        of("listener", while_(js("true"), event("tick"))),
        of("broken", fault("as meant")),
        of("used", event("used")).as_activity(),
        of("user", sequence([used, line("after")])),
        of("cron", sequence([cron, line("tick")])),
        of("early", sequence([event("early"), line("after")])),
        of("heard", sequence([event("heard").trigger(), line("after")])),
    ]
    .into_iter()
    .map(|w| {
        w.variable("n", "Object", json!({ "a": [1, null] }))
            .json()
            .clone()
    })
    .collect()
}

async fn start(client: &Client, id: &'static str, definition: &'static str) {
    let outcome = client
        .look(move |runtime| async move {
            let mut request = StartRequest::new(DefinitionHandle::published(definition));
            request.instance_id = Some(id.into());
            request.correlation_id = (id == "wait").then(|| "order 7".into());
            request.input.insert("In".into(), json!({ "a": [1, "b"] }));
            runtime.instances().start(&tenant(), request).await.unwrap()
        })
        .await;
    assert!(
        matches!(outcome, StartOutcome::Started(_)),
        "{id}: {outcome:?}"
    );
}

/// Sends an event and waits until it is delivered, or kept for years.
pub(crate) async fn send(client: &Client, name: &'static str, id: String) {
    client
        .look(move |runtime| async move {
            let event = EventRequest {
                name: name.into(),
                event_id: Some(id),
                payload: json!({ "a": 1 }),
                queued_ms: Some(100 * 365 * 86_400_000),
                waits: true,
                ..EventRequest::default()
            };
            runtime
                .stimuli()
                .publish_event(&tenant(), event)
                .await
                .unwrap();
        })
        .await;
}

/// A start under a key; answers the instance, and whether it is a new one.
pub(crate) async fn start_once(client: &Client) -> (String, bool) {
    let outcome = client
        .look(|runtime| async move {
            let mut request = StartRequest::new(DefinitionHandle::published("work"));
            request.idempotency_key = Some("key".into());
            runtime.instances().start(&tenant(), request).await.unwrap()
        })
        .await;
    match outcome {
        StartOutcome::Started(report) => (report.instance.id.to_string(), true),
        StartOutcome::AlreadyStarted(head) => (head.instance_id, false),
        other => panic!("{other:?}"),
    }
}

/// One with all that a secret can have.
fn secret(name: &str, place: SecretPlace) -> Versioned<StoredSecret> {
    Versioned::new(StoredSecret {
        name: name.into(),
        id: "1".into(),
        display_name: "Shop".into(),
        description: Some("for a test".into()),
        scope: Some("tests".into()),
        tags: vec!["test".into()],
        is_revoked: false,
        version: 1,
        place,
        created_ms: BEGIN_MS,
        updated_ms: Some(BEGIN_MS),
        expires_ms: Some(BEGIN_MS),
    })
}

async fn populate(client: Client) {
    for json in definitions() {
        client.publish(9, json).await;
    }
    for (id, _) in INSTANCES {
        start(&client, id, id).await;
    }
    for tick in 0..10 {
        send(&client, "tick", format!("tick {tick}")).await;
    }
    let (once, _) = start_once(&client).await;
    client.told("once", once);
    for id in ["cancelled", "deleted"] {
        start(&client, id, "work").await;
        let outcome =
            client
                .look(move |runtime| async move {
                    runtime.instances().cancel(&tenant(), id).await.unwrap()
                })
                .await;
        assert!(matches!(outcome, ResumeOutcome::Resumed(_)), "{outcome:?}");
    }
    client
        .look(|runtime| async move {
            runtime
                .instances()
                .delete(&tenant(), "deleted")
                .await
                .unwrap()
        })
        .await;
    send(&client, "early", "early".into()).await;
    let letter = Message {
        id: "given/up".into(),
        tenant: tenant(),
        hops: 0,
        delays: 0,
        task: Task::Cancel {
            instance: "nobody".into(),
        },
    };
    client
        .look(|runtime| async move {
            runtime
                .dead_letters()
                .give_up(&letter, "as meant")
                .await
                .unwrap()
        })
        .await;
    client
        .look(|runtime| async move {
            let secrets = runtime.store().identities().secrets();
            let places = [
                ("shop", SecretPlace::Reference("Shop:Key".into())),
                (
                    "card",
                    SecretPlace::Sealed(bytes::Bytes::from_static(b"sealed")),
                ),
            ];
            for (name, place) in places {
                assert!(secrets.put(&tenant(), &secret(name, place)).await.unwrap());
            }
        })
        .await;
    let again = json!(
        workflow("wait", flow("go > after", [event("go")]))
            .version(2)
            .json()
    );
    client.publish(9, again).await;
}

/// The world as this build leaves it.
pub(crate) fn world() -> Vec<Item> {
    let client = Client::new(Shape::default(), &[], BEGIN_MS, Facts::new());
    client.quietly(populate(client.clone()));
    // A node dies with an effect recorded and not carried out: a child that is not there yet.
    let (asker, world) = (client.as_number(0), client.world.clone());
    world.spawn(Owner::Client(0), async move {
        asker
            .ask(0, |runtime| async move {
                let mut request = StartRequest::new(DefinitionHandle::published("parent"));
                request.instance_id = Some("cut".into());
                runtime.instances().start(&tenant(), request).await.is_ok()
            })
            .await;
    });
    let has_row = || {
        client
            .shared
            .table
            .items()
            .iter()
            .any(|i| i.key.partition.contains("/OUTBOX#"))
    };
    while !has_row() {
        world.settle();
        let points = world.points();
        let (id, _) = points
            .first()
            .expect("it commits before it comes to its end");
        world.grant(id, Fate::Well);
        world.settle();
    }
    world.kill(0);
    client.shared.table.items()
}
