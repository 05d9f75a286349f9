//! Results of alterations, instance by instance.

use serde_json::{Value, json};

use super::{items, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// The result for one instance.
#[derive(Debug)]
pub(super) struct Altered {
    pub(super) instance: String,
    pub(super) is_successful: bool,
    pub(super) message: String,
    /// State afterwards, where it was requested.
    pub(super) sub_status: Option<String>,
}

/// Fails with the first id that no instance has, before anything is changed.
pub(super) async fn refuse_unknown(client: &Client, ids: &[String]) -> Result<(), Failure> {
    for id in ids {
        state_of(client, id).await?;
    }
    Ok(())
}

/// Status of an instance.
pub(super) async fn state_of(client: &Client, id: &str) -> Result<Value, Failure> {
    let path = format!("/workflow-instances/{}/execution-state", segment(id));
    client.get(&path).await
}

/// Reads the results of the server's answer.
pub(super) fn results(answer: &Value) -> Vec<Altered> {
    let results = items(answer, "results").iter();
    let each = results.map(|result| {
        let log = result.get("log").unwrap_or(&Value::Null);
        let messages = items(log, "logEntries").iter();
        let messages: Vec<&str> = messages.map(|entry| text(entry, "message")).collect();
        Altered {
            instance: text(result, "workflowInstanceId").to_owned(),
            is_successful: result.get("isSuccessful").is_some_and(|v| v == true),
            message: messages.join("; "),
            sub_status: None,
        }
    });
    each.collect()
}

/// Writes the results. The exit code says whether all instances were changed.
pub(super) fn tell(screen: &Screen, results: &[Altered], verb: &str) -> Exit {
    screen.value(&results.iter().map(Value::from).collect());
    for result in results {
        let id = screen.bold(&result.instance);
        let status = match &result.sub_status {
            Some(status) => format!("; it is {}", screen.status(status)),
            None => String::new(),
        };
        let line = match result.is_successful {
            true => format!("{verb} {id}{status}"),
            false => format!("{id}: {}", result.message),
        };
        screen.line(line);
    }
    match results.iter().all(|r| r.is_successful) {
        true => Exit::Ok,
        false => Exit::Conflict,
    }
}

impl From<&Altered> for Value {
    fn from(result: &Altered) -> Self {
        json!({
            "workflowInstanceId": result.instance,
            "isSuccessful": result.is_successful,
            "message": result.message,
            "subStatus": result.sub_status,
        })
    }
}
