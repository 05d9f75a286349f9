//! Two starts at once: under one key, of a singleton, and while a new version is published.

use dormouse_runtime::{
    DefinitionHandle, PublishOutcome, Runtime, RuntimeError, StartOutcome, StartRequest,
};
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{line, task};
use dormouse_tests::workflow;
use serde_json::Value;

use super::explorer::{Budget, Scenario, nothing};
use super::play::{Client, Shape, Work, tenant};
use super::sound::{instances, one_finished, started};

fn definition() -> Value {
    workflow("flow", flow("one > two", [])).json().clone()
}

async fn start(runtime: Runtime, key: String) -> Result<StartOutcome, RuntimeError> {
    let mut request = StartRequest::new(DefinitionHandle::published("flow"));
    request.idempotency_key = Some(key);
    runtime.instances().start(&tenant(), request).await
}

fn starts(client: Client, node: usize, key: &'static str) -> Work {
    Box::pin(async move {
        let outcome = client
            .insist(node, |runtime| start(runtime, key.into()))
            .await;
        let (id, how) = started(&outcome);
        client.told(&format!("start {node}"), id);
        client.told(&format!("how {node}"), how);
    })
}

/// Two start under one key.
pub(crate) fn under_one_key() -> Scenario {
    Scenario {
        name: "two starts under one key",
        definitions: vec![definition()],
        prepare: nothing,
        remember: nothing,
        clients: vec![|c| starts(c, 0, "k"), |c| starts(c, 1, "k")],
        check: |client| {
            Box::pin(async move {
                let mut wrong = one_finished(&client, "flow").await;
                if client.fact("start 0") != client.fact("start 1") {
                    wrong.push(format!("they were told {:?}", client.facts()));
                }
                wrong
            })
        },
        budget: Budget {
            crashes: 1,
            lost: 1,
            naps: 0,
            leaps: 1,
        },
        shape: Shape::default(),
    }
}

/// Two start a workflow of which one instance may run.
pub(crate) fn of_a_singleton() -> Scenario {
    let singleton = "Elsa.Workflows.Activation.SingletonStrategy, Elsa.Workflows.Core";
    let definition = workflow("flow", flow("one > work", [task("work")]))
        .option("activationStrategyType", singleton);
    Scenario {
        name: "two starts of a singleton",
        definitions: vec![definition.json().clone()],
        clients: vec![|c| starts(c, 0, "k0"), |c| starts(c, 1, "k1")],
        check: |client| {
            Box::pin(async move {
                let (all, mut wrong) = instances(&client).await;
                let [one] = all.as_slice() else {
                    return vec![format!("{} instances of a singleton", all.len())];
                };
                let told = [client.fact("start 0"), client.fact("start 1")];
                if told.iter().any(|id| *id != one.id) {
                    wrong.push(format!("they were told {:?}", client.facts()));
                }
                wrong
            })
        },
        ..under_one_key()
    }
}

/// Both nodes have started the first version, and the second one is ready.
fn know_the_first(client: Client) -> Work {
    Box::pin(async move {
        for node in [0, 1] {
            let outcome = client
                .ask(node, |runtime| start(runtime, format!("before {node}")))
                .await;
            assert!(
                matches!(outcome, Some(Ok(StartOutcome::Started(_)))),
                "{outcome:?}"
            );
        }
    })
}

fn saves_the_second(client: Client) -> Work {
    Box::pin(async move {
        let second = workflow("flow", line("three"))
            .version(2)
            .set("isPublished", false);
        let second = dormouse_engine::definition::Definition::from_value(second.json().clone());
        client
            .look(|runtime| async move {
                runtime
                    .definitions()
                    .save(&tenant(), second.unwrap())
                    .await
                    .unwrap();
            })
            .await;
    })
}

/// Publishes the second version, and then starts on the node that has not heard of it.
fn publishes_then_starts(client: Client) -> Work {
    Box::pin(async move {
        let outcome = client
            .insist(0, |runtime| async move {
                runtime.definitions().publish(&tenant(), "flow").await
            })
            .await;
        assert!(!matches!(outcome, PublishOutcome::NotFound), "{outcome:?}");
        starts(client.clone(), 1, "after").await;
    })
}

/// A version is published while nodes that remember the one before start instances. No broadcast reaches them.
pub(crate) fn while_publishing() -> Scenario {
    Scenario {
        name: "a publish and starts that do not hear of it",
        prepare: saves_the_second,
        remember: know_the_first,
        clients: vec![publishes_then_starts, |c| {
            Box::pin(async move {
                let outcome = c.insist(1, |runtime| start(runtime, "beside".into())).await;
                c.told("beside", started(&outcome).0);
            })
        }],
        check: |client| {
            Box::pin(async move {
                let (all, mut wrong) = instances(&client).await;
                let (after, beside) = (client.fact("start 1"), client.fact("beside"));
                for rest in &all {
                    if rest.sub_status != "Finished" {
                        wrong.push(format!("{} is {}", rest.id, rest.sub_status));
                    }
                    if rest.id == after && rest.version != 2 {
                        wrong.push(format!(
                            "a start after the publish runs version {}",
                            rest.version
                        ));
                    }
                }
                for id in [after, beside] {
                    if !all.iter().any(|rest| rest.id == id) {
                        wrong.push(format!("the start of {id} is lost"));
                    }
                }
                wrong
            })
        },
        shape: Shape {
            publishes: true,
            ..Shape::default()
        },
        ..under_one_key()
    }
}
