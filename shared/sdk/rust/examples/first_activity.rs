//! The worker of the guide's page "Your first activity in Rust".

use dormouse_sdk::{ActivityError, Reply, Worker, WorkerError};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Greeting {
    person: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), WorkerError> {
    Worker::new("greetings")
        .activity("Acme.Greet", |input: Greeting, ctx| async move {
            if input.person.is_empty() {
                let error = ActivityError::new("NoName", "a greeting needs a name");
                return Err(error.for_good());
            }
            let text = format!("Hello {}, attempt {}", input.person, ctx.task().attempt);
            Ok(Reply::outputs(json!({ "text": text })))
        })
        .run()
        .await
}
