//! `dormouse retry`

use clap::Args;
use serde_json::json;

use super::{altered, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Instances to retry.
#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    /// The instances' ids
    #[arg(required = true, value_name = "INSTANCE")]
    instances: Vec<String>,
    /// Retry only this activity; every faulted one unless given
    #[arg(long, value_name = "ID")]
    activity: Vec<String>,
}

/// Runs faulted activities again, and tells how each instance stands afterwards.
pub(crate) async fn retry(
    args: &RetryArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    // An unknown id is told as such before anything is retried.
    for id in &args.instances {
        client.get(&state_path(id)).await?;
    }
    let body = json!({ "workflowInstanceIds": args.instances, "activityIds": args.activity });
    let answer = client.post("/alterations/workflows/retry", &body).await?;
    let mut results = altered::results(&answer);
    for result in &mut results {
        let state = client.get(&state_path(&result.instance)).await?;
        result.sub_status = Some(text(&state, "subStatus").to_owned());
    }
    Ok(altered::tell(screen, &results, "Retried"))
}

fn state_path(id: &str) -> String {
    format!("/workflow-instances/{}/execution-state", segment(id))
}
