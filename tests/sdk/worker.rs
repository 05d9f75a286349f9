//! The worker of the tier in Rust: does what worker.py does. It is this test binary in a process of its own.

use std::time::Duration;

use dormouse_sdk::{ActivityError, Client, Context, Reply, Worker};
use serde::Deserialize;
use serde_json::json;

/// The variable that makes a process of this binary a worker.
pub(crate) const IS_WORKER: &str = "SDK_WORKER";

#[derive(Deserialize)]
struct Number {
    n: i64,
}

fn instance(context: &Context) -> String {
    context.task().workflow.instance_id.clone()
}

async fn answer(Number { n }: Number, context: Context) -> Result<Reply, ActivityError> {
    let attempt = context.task().attempt;
    match n {
        1_000 if attempt == 1 => Err(ActivityError::new("Busy", "try again")),
        2_000 => Err(ActivityError::new("Broken", "for good").for_good()),
        3_000 => Ok(Reply::outputs(json!({ "surprise": 1 }))),
        4_000 => Ok(Reply::outputs([n])),
        ..0 => Ok(Reply::outputs(json!({ "result": { "n": n } })).by("Negative")),
        _ => {
            let tenant = &context.task().workflow.tenant_id;
            let result = json!({ "n": n, "attempt": attempt, "tenant": tenant });
            Ok(Reply::outputs(json!({ "result": result })))
        }
    }
}

/// Says so if the task is lost, which drops the handler's future.
struct SayLost(Context);

impl Drop for SayLost {
    fn drop(&mut self) {
        if self.0.is_lost() {
            println!("lost {}", instance(&self.0));
        }
    }
}

async fn quiet(Number { n }: Number, context: Context) -> Result<Reply, ActivityError> {
    println!("begin {}", instance(&context));
    let _lost = SayLost(context);
    tokio::time::sleep(Duration::from_millis(u64::try_from(n)?)).await;
    Ok(Reply::outputs(json!({ "result": { "n": n } })))
}

async fn pages(Number { n }: Number, context: Context) -> Result<Reply, ActivityError> {
    let first = context.heartbeat_details()["page"].as_i64().unwrap_or(0);
    for page in first..n {
        context.heartbeat(json!({ "page": page })).await?;
        println!("page {page} {}", instance(&context));
        // The first worker hangs here until it is killed.
        if page == 2 && first == 0 {
            std::future::pending::<()>().await;
        }
    }
    Ok(Reply::outputs(json!({ "result": { "first": first } })))
}

async fn twice(Number { n }: Number, context: Context) -> Result<Reply, ActivityError> {
    let client = Client::from_env()?;
    let outputs = json!({ "result": { "n": n } });
    let body = json!({ "outputs": outputs });
    let id = &context.task().task_id;
    client.tell(id, "complete", &body).await?;
    match client.tell(id, "complete", &body).await {
        Ok(_) => println!("counted twice"),
        Err(error) if error.is_gone() => println!("gone True {}", instance(&context)),
        Err(_) => println!("gone False {}", instance(&context)),
    }
    Ok(Reply::outputs(outputs))
}

/// A process that the other tests start. In the run of all tests there is nothing to do for it.
#[test]
fn worker_process() {
    if std::env::var_os(IS_WORKER).is_none() {
        return;
    }
    let grace_ms = std::env::var("GRACE_MS").unwrap().parse().unwrap();
    let worker = Worker::new("sdk")
        .wait(Duration::from_secs(1))
        .grace(Duration::from_millis(grace_ms))
        .activity("Acme.Answer", answer)
        .activity("Acme.Quiet", quiet)
        .activity("Acme.Pages", pages)
        .activity("Acme.Twice", twice)
        .activity("Acme.Count", |Number { n }: Number, _| async move {
            Ok(Reply::outputs(json!({ "result": { "n": n } })))
        });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    println!("\nready");
    runtime.block_on(worker.run()).unwrap();
    println!("stopped");
}
