//! The function `invalidation`: definitions that have changed are forgotten and loaded anew.
//!
//! Its events are batches of a queue that is subscribed to the topic, or what the topic sends. It is a matter of speed
//! and of finding out early, for every start checks the version: that a published definition cannot be read is said
//! here, in the log, and not first by the start that meets it.

use std::sync::Arc;

use dormouse_aws::node_queue::changed;
use dormouse_lambda::{Error, Function, SqsAnswer};
use dormouse_runtime::Runtime;
use dormouse_runtime::port::DefinitionChanged;
use serde::Deserialize;
use serde_json::Value;

/// Event of the topic or of its queue.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "Records")]
    records: Vec<Record>,
}

/// A message of either.
#[derive(Debug, Deserialize)]
struct Record {
    /// Of a queue: the message, or the topic's envelope around it.
    body: Option<String>,
    /// Of the topic itself.
    #[serde(rename = "Sns")]
    sns: Option<Envelope>,
}

/// Envelope of a topic's message.
#[derive(Debug, Deserialize)]
struct Envelope {
    #[serde(rename = "Message")]
    message: String,
}

/// Handles one event of Lambda's. A message that makes no sense is logged and dropped: nothing depends on it.
///
/// # Errors
///
/// The event is of no kind that is known here.
pub async fn handle(
    function: Arc<Function>,
    event: Value,
    deadline_ms: u64,
) -> Result<Value, Error> {
    let event: Event = serde_json::from_value(event)?;
    let runtime = function.runtime(deadline_ms);
    for record in event.records {
        match change(record) {
            Some(changed) => reload(&runtime, &changed).await,
            None => tracing::error!("a message of the topic cannot be read and is dropped"),
        }
    }
    Ok(serde_json::to_value(SqsAnswer::default())?)
}

async fn reload(runtime: &Runtime, changed: &DefinitionChanged) {
    let (tenant, definition) = (&changed.tenant, &changed.definition_id);
    if runtime.is_out_of_time() {
        runtime.graphs().invalidate(changed);
        return;
    }
    match runtime.graphs().reload(changed).await {
        Ok(published) => {
            tracing::info!(
                tenant,
                definition,
                published,
                "a changed definition is loaded"
            );
        }
        Err(error) => {
            tracing::error!(tenant, definition, %error, "a changed definition cannot be loaded");
        }
    }
}

fn change(record: Record) -> Option<DefinitionChanged> {
    match (record.body, record.sns) {
        (_, Some(envelope)) => changed(&envelope.message),
        (Some(body), None) => changed(&body),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_read_however_it_is_wrapped() {
        let told = json!({ "tenant": "acme", "definitionId": "order" }).to_string();
        let envelope = json!({ "Type": "Notification", "Message": told });
        for record in [
            json!({ "body": told }),
            json!({ "body": envelope.to_string() }),
            json!({ "Sns": envelope }),
        ] {
            let read = change(serde_json::from_value(record).unwrap()).unwrap();
            assert_eq!((&*read.tenant, &*read.definition_id), ("acme", "order"));
        }
        for record in [json!({}), json!({ "body": "{" }), json!({ "body": "{}" })] {
            assert!(change(serde_json::from_value(record).unwrap()).is_none());
        }
    }
}
