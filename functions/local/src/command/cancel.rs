//! `dormouse cancel`

use clap::Args;
use serde_json::json;

use super::text;
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Instances to cancel.
#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// Ids of the instances
    #[arg(required = true)]
    instances: Vec<String>,
}

/// Cancels instances, and tells how each stands. One that has ended stays as it is.
pub(crate) async fn cancel(
    args: &CancelArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let mut states = Vec::new();
    for id in &args.instances {
        let path = segment(id);
        let cancel = format!("/cancel/workflow-instances/{path}");
        client.post(&cancel, &json!({})).await?;
        let state = format!("/workflow-instances/{path}/execution-state");
        let state = client.get(&state).await?;
        let sub_status = text(&state, "subStatus").to_owned();
        let note = match sub_status.as_str() {
            "Finished" | "Faulted" => "; it had ended already",
            "Suspended" | "Executing" => "; it is cancelled once what it did is undone",
            _ => "",
        };
        let status = screen.status(&sub_status);
        screen.line(format!("{}: {status}{note}", screen.bold(id)));
        states.push(json!({ "workflowInstanceId": id, "subStatus": sub_status }));
    }
    screen.value(&json!(states));
    Ok(Exit::Ok)
}
