//! Effects: children, timers, occurrences and calls, while a sweep or another node does the same.

use dormouse_engine::journal::Event;
use dormouse_runtime::{DefinitionHandle, StartRequest};
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{delay, dispatch, line, sequence};
use dormouse_tests::{activity, workflow};
use serde_json::{Value, json};

use super::explorer::{Budget, Scenario, nothing};
use super::play::{Client, Shape, Work, tenant};
use super::sound::{instances, one_finished, rows};

fn starts(client: Client) -> Work {
    Box::pin(async move {
        client
            .insist(0, |runtime| async move {
                let mut request = StartRequest::new(DefinitionHandle::published("flow"));
                request.instance_id = Some("i".into());
                runtime.instances().start(&tenant(), request).await
            })
            .await;
    })
}

/// Sweeps, with a clock by which everything is old.
fn sweeps(client: Client) -> Work {
    Box::pin(async move {
        client
            .ask(1, |runtime| async move {
                runtime.operations().sweep().await.is_ok()
            })
            .await;
    })
}

fn child() -> Value {
    workflow("child", line("only")).json().clone()
}

/// A sweep delivers what the starter is about to deliver.
pub(crate) fn swept() -> Scenario {
    let parent = workflow(
        "flow",
        flow("child > after", [dispatch("child", false).id("child")]),
    );
    Scenario {
        name: "a delivery and a sweep",
        definitions: vec![child(), parent.json().clone()],
        prepare: nothing,
        remember: nothing,
        clients: vec![starts, sweeps],
        check: |client| {
            Box::pin(async move {
                let mut wrong = one_finished(&client, "flow").await;
                wrong.extend(one_finished(&client, "child").await);
                wrong
            })
        },
        budget: Budget {
            crashes: 1,
            lost: 0,
            naps: 0,
            leaps: 0,
        },
        shape: Shape {
            skew_ms: 10_000,
            ..Shape::default()
        },
    }
}

/// A parent waits for a child whose end may be told before the parent has begun to wait.
pub(crate) fn awaited() -> Scenario {
    let parent = workflow(
        "flow",
        flow("child > after", [dispatch("child", true).id("child")]),
    );
    Scenario {
        name: "a child's end and its parent",
        definitions: vec![child(), parent.json().clone()],
        // With a death at each place these are too many for CI; the simulation has those.
        budget: Budget {
            naps: 1,
            ..Budget::default()
        },
        ..swept()
    }
}

/// Ten delays, so that their rows are written before the head that they belong to.
fn ten_delays() -> Value {
    let delays = (0..10).map(|n| delay("00:00:01").id(&format!("d{n}")));
    let edges = (0..10).map(|n| format!("begin > d{n}"));
    workflow("flow", flow(&edges.collect::<Vec<_>>().join("; "), delays))
        .json()
        .clone()
}

/// Fires two timers, by a clock by which they are due already.
fn fires_early(client: Client) -> Work {
    Box::pin(async move {
        let until = client.world.now_ms() + 10_000;
        let found = client.ask(1, move |runtime| async move {
            runtime.store().timers().timers_due(0, until, 2, None).await
        });
        let Some(Ok(page)) = found.await else { return };
        for row in page.timers {
            let timer: dormouse_runtime::Timer = serde_json::from_slice(&row.body).unwrap();
            client
                .ask(1, |runtime| async move {
                    runtime.timers().fire(&timer).await.is_ok()
                })
                .await;
        }
    })
}

/// A timer fires before the commit that it belongs to is visible.
pub(crate) fn early_timer() -> Scenario {
    Scenario {
        name: "a timer fires before its commit is visible",
        definitions: vec![ten_delays()],
        clients: vec![starts, fires_early],
        check: |client| {
            Box::pin(async move {
                let (all, mut wrong) = instances(&client).await;
                wrong.extend(one_finished(&client, "flow").await);
                for n in 0..10 {
                    let resumed = all
                        .iter()
                        .map(|r| r.count(&format!("d{n}"), Event::Resumed))
                        .sum::<usize>();
                    if resumed != 1 {
                        wrong.push(format!("delay {n} was resumed {resumed} times"));
                    }
                }
                if rows(&client, "~/TIMER", "") > 0 {
                    wrong.push("timers are left".into());
                }
                wrong
            })
        },
        shape: Shape {
            writes_max: 10,
            skew_ms: 10_000,
            ..Shape::default()
        },
        ..swept()
    }
}

/// The same, and the node that is about to commit stands still for so long that others fence it.
pub(crate) fn frozen_commit() -> Scenario {
    Scenario {
        name: "a commit that was frozen is fenced",
        budget: Budget {
            crashes: 0,
            lost: 0,
            naps: 0,
            leaps: 1,
        },
        ..early_timer()
    }
}

fn cron() -> Value {
    let cron = activity("Elsa.Cron")
        .id("cron")
        .input("cronExpression", "0 * * * * *")
        .trigger();
    workflow("flow", sequence([cron, line("tick")]))
        .json()
        .clone()
}

/// The first occurrence is due.
fn a_minute_passes(client: Client) -> Work {
    Box::pin(async move {
        client.world.wait_until(client.world.now_ms() + 60_000);
    })
}

/// Two nodes fire one occurrence.
pub(crate) fn one_occurrence() -> Scenario {
    Scenario {
        name: "two fire one occurrence",
        definitions: vec![cron()],
        prepare: a_minute_passes,
        clients: vec![|c| Box::pin(async move { c.fire_due(0).await }), |c| {
            Box::pin(async move { c.fire_due(1).await })
        }],
        check: |client| {
            Box::pin(async move {
                // What is due later is fired while everything comes to rest; each minute has one instance.
                let (all, mut wrong) = instances(&client).await;
                let timers = rows(&client, "~/TIMER", "");
                if timers != 1 {
                    wrong.push(format!("{timers} timers for the next occurrence"));
                }
                if all.is_empty() || all.iter().any(|rest| rest.sub_status != "Finished") {
                    wrong.push(format!("{all:?}"));
                }
                wrong
            })
        },
        budget: Budget {
            crashes: 1,
            lost: 1,
            naps: 0,
            leaps: 0,
        },
        shape: Shape::default(),
        ..swept()
    }
}

/// A request is made by a node that dies or hears no answer; another one goes on.
pub(crate) fn call() -> Scenario {
    let get = activity("Elsa.SendHttpRequest")
        .id("get")
        .input("url", "http://a.test/")
        .input("method", "POST");
    Scenario {
        name: "a call that is cut off",
        definitions: vec![
            workflow("flow", sequence([get, line("after")]))
                .json()
                .clone(),
        ],
        check: |client| {
            Box::pin(async move {
                let mut wrong = one_finished(&client, "flow").await;
                // Once, and once more for its death and for its lease that ran out.
                let requests = client.shared.requests.lock().unwrap().clone();
                if requests.len() != 1 || requests.values().any(|times| *times > 3) {
                    wrong.push(format!("requests were made: {}", json!(requests)));
                }
                wrong
            })
        },
        budget: Budget {
            crashes: 1,
            lost: 0,
            naps: 0,
            leaps: 1,
        },
        ..swept()
    }
}
