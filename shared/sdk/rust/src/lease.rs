//! One leased task: its handler and its heartbeats beside each other, and its answer.

use std::time::Duration;

use serde_json::Value;

use crate::client::Client;
use crate::context::Context;
use crate::handler::{ActivityError, Handlers, Told};
use crate::pause::Pauses;

/// Does a leased task until the server has heard the answer, or the task is lost.
pub(crate) async fn work(handlers: &Handlers, client: &Client, context: Context) {
    let done = async {
        match handlers.answer(context.clone()).await {
            Told::Body(answer) => tell(client, &context, answer).await,
            Told::Later => {}
            Told::Lost => tracing::info!(task = context.task().task_id, "the task is lost"),
        }
    };
    // Heartbeats go on while the answer is sent again and again.
    tokio::select! {
        () = done => {}
        () = keep_alive(&context) => {}
    }
}

/// Sends a heartbeat at each third of the time that the server allows. Never ends.
async fn keep_alive(context: &Context) {
    let Some(heartbeat_ms) = context.task().heartbeat_ms else {
        return std::future::pending().await;
    };
    let pause = Duration::from_millis((heartbeat_ms / 3).max(1));
    loop {
        tokio::time::sleep(pause).await;
        context.beat(Value::Null).await;
    }
}

/// Sends the answer until the server has heard it. The same answer twice is a no-op there.
async fn tell(client: &Client, context: &Context, mut answer: Value) {
    let id = &context.task().task_id;
    let mut pauses = Pauses::new(100, 5_000);
    while !context.is_lost() {
        let is_failure = answer.get("error").is_some();
        let verb = if is_failure { "fail" } else { "complete" };
        let Err(error) = client.tell(id, verb, &answer).await else {
            return;
        };
        if error.is_gone() {
            tracing::info!(task = id, %error, "the answer does not count");
            return;
        }
        if error.is_retryable() {
            tracing::warn!(task = id, %error, "the answer is sent again");
            tokio::select! {
                () = tokio::time::sleep(pauses.next(&error)) => {}
                () = context.lost() => {}
            }
        } else if is_failure {
            tracing::error!(task = id, %error, "the answer is rejected");
            return;
        } else {
            // Such as outputs that are too large for the server.
            answer = ActivityError::new("AnswerRejected", error.to_string())
                .for_good()
                .body();
        }
    }
}

/// Fails tasks whose grace time is over, as retryable.
pub(crate) async fn abandon(client: &Client, contexts: Vec<Context>) {
    let message = "the worker was stopped before the task was done";
    let body = ActivityError::new("WorkerStopped", message).body();
    let mut telling = tokio::task::JoinSet::new();
    for context in contexts {
        context.lose();
        let (client, body) = (client.clone(), body.clone());
        telling.spawn(async move {
            let id = &context.task().task_id;
            tracing::warn!(task = id, "the worker stops before the task is done");
            if let Err(error) = client.tell(id, "fail", &body).await {
                tracing::warn!(task = id, %error, "the server could not be told");
            }
        });
    }
    telling.join_all().await;
}
