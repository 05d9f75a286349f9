//! Runs a handler without a server.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::context::{Context, Listener, Task, Workflow};
use crate::handler::Told;
use crate::worker::Worker;

/// A task of a test.
#[derive(Debug, Clone)]
pub struct Trial {
    task: Task,
    lost_after: usize,
}

/// What a handler did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The outputs; null if there is no answer.
    pub outputs: Value,
    /// The way out that it named.
    pub outcome: Option<String>,
    /// `{type, message, retryable}`; null if it did not fail.
    pub error: Value,
    /// It answers later.
    pub is_later: bool,
    /// Its task was lost.
    pub is_lost: bool,
    /// The details of its heartbeats.
    pub heartbeats: Vec<Value>,
}

impl Trial {
    /// A first attempt with these inputs.
    #[must_use]
    pub fn new(activity_type: impl Into<String>, input: Value) -> Self {
        let workflow = Workflow {
            definition_id: "test".into(),
            instance_id: "test".into(),
            ..Workflow::default()
        };
        Self {
            task: Task {
                task_id: "test".into(),
                activity_type: activity_type.into(),
                version: 1,
                attempt: 1,
                input,
                idempotency_key: "test".into(),
                workflow,
                ..Task::default()
            },
            lost_after: usize::MAX,
        }
    }

    /// A later attempt, which is told what an earlier one said last.
    #[must_use]
    pub fn attempt(mut self, attempt: u32, heartbeat_details: Value) -> Self {
        self.task.attempt = attempt;
        self.task.heartbeat_details = heartbeat_details;
        self
    }

    /// The task is lost with the heartbeat after so many.
    #[must_use]
    pub fn lost_after(mut self, heartbeats: usize) -> Self {
        self.lost_after = heartbeats;
        self
    }

    /// Runs the worker's handler.
    pub async fn run(self, worker: &Worker) -> Outcome {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = Listener::Test {
            heard: Arc::clone(&heard),
            lost_after: self.lost_after,
        };
        let told = worker
            .handlers
            .answer(Context::new(self.task, listener))
            .await;
        let mut result = Outcome {
            heartbeats: heard.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            ..Outcome::default()
        };
        match told {
            Told::Later => result.is_later = true,
            Told::Lost => result.is_lost = true,
            Told::Body(mut body) => {
                let mut take = |name| body.get_mut(name).map(Value::take).unwrap_or_default();
                result.outputs = take("outputs");
                result.error = take("error");
                result.outcome = take("outcome").as_str().map(str::to_owned);
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test may fail, and a handler too")]
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::handler::{ActivityError, Reply};

    #[derive(Deserialize)]
    struct Charge {
        amount: i64,
        card: String,
    }

    fn example() -> Worker {
        Worker::new("payments")
            .activity("Acme.Charge", |input: Charge, _| async move {
                let number: i64 = input.card.parse()?;
                if number == 0 {
                    return Err(ActivityError::new("InvalidCard", "digits").for_good());
                }
                Ok(match input.amount {
                    ..=1_000 => Reply::outputs(json!({ "charged": input.amount })),
                    _ => Reply::outcome("Declined"),
                })
            })
            .activity("Acme.Pages", |_: Value, ctx: Context| async move {
                let from = ctx.heartbeat_details().as_u64().unwrap_or(0);
                for page in from..3 {
                    ctx.heartbeat(page + 1).await?;
                }
                Ok(Reply::outputs(json!({ "key": ctx.idempotency_key() })))
            })
            .activity("Acme.Later", |_: Value, _| async { Ok(Reply::Later) })
            .activity("Acme.Odd", |_: Value, _| async { Ok(Reply::outputs([1])) })
            .activity("Acme.Panics", |_: Value, _| async { panic!("on purpose") })
    }

    async fn run(activity_type: &str, input: Value) -> Outcome {
        Trial::new(activity_type, input).run(&example()).await
    }

    #[tokio::test]
    async fn a_handler_runs_without_a_server() {
        let done = run("Acme.Charge", json!({ "amount": 5, "card": "42" })).await;
        assert_eq!(done.outputs, json!({ "charged": 5 }));
        let declined = run("Acme.Charge", json!({ "amount": 5_000, "card": "42" })).await;
        assert_eq!(declined.outcome.as_deref(), Some("Declined"));
        assert!(run("Acme.Later", json!({})).await.is_later);
        for (activity_type, input, kind, is_retryable) in [
            (
                "Acme.Charge",
                json!({ "amount": 5, "card": "0" }),
                "InvalidCard",
                false,
            ),
            (
                "Acme.Charge",
                json!({ "amount": 5, "card": "x" }),
                "core::num::error::ParseIntError",
                true,
            ),
            ("Acme.Charge", json!({ "amount": 5 }), "InvalidInput", false),
            ("Acme.Odd", json!({}), "InvalidAnswer", false),
            ("Acme.Panics", json!({}), "Panic", true),
            ("Acme.None", json!({}), "UnknownActivity", false),
        ] {
            let error = run(activity_type, input).await.error;
            assert_eq!(error["type"], kind);
            assert_eq!(error["retryable"], is_retryable, "{kind}");
        }
    }

    #[tokio::test]
    async fn heartbeats_are_told_and_a_lost_task_ends_its_handler() {
        let pages = || Trial::new("Acme.Pages", json!({}));
        let all = pages().run(&example()).await;
        assert_eq!(all.heartbeats, [1, 2, 3]);
        let rest = pages().attempt(2, json!(2)).run(&example()).await;
        assert_eq!(rest.heartbeats, [3]);
        let lost = pages().lost_after(1).run(&example()).await;
        assert!(lost.is_lost && lost.heartbeats == [1], "{lost:?}");
    }
}
