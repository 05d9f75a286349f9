//! `dormouse event`

use clap::Args;
use serde_json::{Value, json};

use super::{idempotency_key, items};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::screen::Screen;

/// An event and whom it is for.
#[derive(Debug, Args)]
pub(crate) struct EventArgs {
    /// Name of the event
    name: String,
    /// Payload of the event: JSON, `@FILE`, or `-` for standard input
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// Deliver only to instances with this correlation id
    #[arg(long, value_name = "ID")]
    correlation: Option<String>,
    /// Deliver only to this instance
    #[arg(long, value_name = "ID")]
    instance: Option<String>,
    /// Time in seconds that the event is queued if no instance waits for it yet
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    keep: u32,
    /// Idempotency key: a repeated event with the same key is not delivered again
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// Publishes an event and tells whom it woke.
pub(crate) async fn event(
    args: &EventArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    if args.name.is_empty() {
        let message = "the name of the event is empty";
        return Err(Failure::new(Exit::BadInput, "badInput", message).help("name the event"));
    }
    let key = idempotency_key(args.key.as_deref())?;
    let payload = args.input.as_deref().map(input::json).transpose()?;
    let body = json!({
        "input": payload,
        "correlationId": args.correlation,
        "workflowInstanceId": args.instance,
        "workflowExecutionMode": "Synchronous",
        "keptForSeconds": args.keep,
    });
    let path = format!("/events/{}/trigger", segment(&args.name));
    let answer = client.post_once(&path, &body, key).await?;
    screen.value(&answer);
    let Some(delivered) = answer.get("delivered").filter(|d| d.is_object()) else {
        screen.line("Accepted; it will be delivered in a moment.");
        return Ok(Exit::Ok);
    };
    for (verb, name) in [("Started", "started"), ("Resumed", "resumed")] {
        for id in items(delivered, name).iter().filter_map(Value::as_str) {
            screen.line(format!("{verb} {}", screen.bold(id)));
        }
    }
    if delivered.get("isKept").is_some_and(|v| v == true) {
        screen.line(format!(
            "No instance waits for it yet; it is queued for {} s.",
            args.keep
        ));
    }
    Ok(Exit::Ok)
}
