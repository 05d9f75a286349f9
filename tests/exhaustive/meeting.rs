//! Events and those who wait for them, in every order.

use dormouse_runtime::{DefinitionHandle, EventRequest, StartRequest};
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::event;
use dormouse_tests::workflow;
use serde_json::Value;

use super::explorer::{Budget, Scenario, nothing};
use super::play::{Client, Shape, Work, tenant};
use super::sound::{one_finished, rows};

fn definitions() -> Vec<Value> {
    vec![
        workflow("waits", flow("go > after", [event("go")]))
            .json()
            .clone(),
    ]
}

fn starts(client: Client) -> Work {
    starts_at(client, 0)
}

fn starts_at(client: Client, node: usize) -> Work {
    Box::pin(async move {
        client
            .insist(node, |runtime| async move {
                let mut request = StartRequest::new(DefinitionHandle::published("waits"));
                request.instance_id = Some("i".into());
                runtime.instances().start(&tenant(), request).await
            })
            .await;
    })
}

fn publishes(client: Client, node: usize, id: &'static str, waits: bool) -> Work {
    Box::pin(async move {
        client
            .insist(node, move |runtime| async move {
                let event = EventRequest {
                    name: "go".into(),
                    event_id: Some(id.into()),
                    waits,
                    ..EventRequest::default()
                };
                runtime.stimuli().publish_event(&tenant(), event).await
            })
            .await;
    })
}

/// How many events are kept.
fn kept(client: &Client, expected: usize) -> Option<String> {
    let kept = rows(client, "/QUEUE#", "");
    (kept != expected).then(|| format!("{kept} events are kept, not {expected}"))
}

/// An event comes while the instance that waits for it is started.
pub(crate) fn crossing() -> Scenario {
    Scenario {
        name: "an event crosses its bookmark",
        definitions: definitions(),
        prepare: nothing,
        remember: nothing,
        clients: vec![starts, |c| publishes(c, 1, "e", true)],
        check: |client| {
            Box::pin(async move {
                let mut wrong = one_finished(&client, "waits").await;
                wrong.extend(kept(&client, 0));
                wrong
            })
        },
        budget: Budget {
            crashes: 1,
            lost: 0,
            naps: 0,
            leaps: 0,
        },
        shape: Shape::default(),
    }
}

/// The same, where nobody waits for the delivery and an answer may be lost.
pub(crate) fn crossing_in_background() -> Scenario {
    Scenario {
        name: "an event crosses its bookmark in the background",
        clients: vec![starts, |c| publishes(c, 1, "e", false)],
        budget: Budget {
            crashes: 0,
            lost: 1,
            naps: 0,
            leaps: 1,
        },
        ..crossing()
    }
}

/// Two events come for one bookmark: the second one is kept.
pub(crate) fn two_events() -> Scenario {
    Scenario {
        name: "two events for one bookmark",
        prepare: starts,
        clients: vec![|c| publishes(c, 0, "e1", true), |c| {
            publishes(c, 1, "e2", true)
        }],
        check: |client| {
            Box::pin(async move {
                let mut wrong = one_finished(&client, "waits").await;
                wrong.extend(kept(&client, 1));
                wrong
            })
        },
        budget: Budget {
            crashes: 1,
            lost: 0,
            naps: 0,
            leaps: 0,
        },
        ..crossing()
    }
}

/// One event is sent twice, by two nodes.
pub(crate) fn one_event_twice() -> Scenario {
    Scenario {
        name: "one event sent twice",
        clients: vec![|c| publishes(c, 0, "e", true), |c| {
            publishes(c, 1, "e", true)
        }],
        check: crossing().check,
        ..two_events()
    }
}

/// One event is sent twice, by two nodes, while the instance that waits for it is started: one of the deliveries may
/// find nobody and queue it while the other one finds the bookmark.
pub(crate) fn crossing_twice() -> Scenario {
    Scenario {
        name: "an event sent twice crosses its bookmark",
        clients: vec![starts, |c| publishes(c, 0, "e", true), |c| {
            publishes(c, 1, "e", true)
        }],
        budget: Budget {
            crashes: 0,
            lost: 0,
            naps: 0,
            leaps: 0,
        },
        ..crossing()
    }
}

/// An event comes while two nodes start the instance that waits for it, under one id: each attempt may leave a row of
/// the bookmark, and one of them is made.
pub(crate) fn crossing_two_attempts() -> Scenario {
    Scenario {
        name: "an event crosses two attempts at its bookmark",
        clients: vec![starts, |c| starts_at(c, 1), |c| publishes(c, 2, "e", true)],
        ..crossing_twice()
    }
}
