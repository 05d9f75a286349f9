//! `dormouse retry`

use clap::Args;
use serde_json::json;

use super::altered::{self, refuse_unknown, state_of};
use super::text;
use crate::client::Client;
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
    refuse_unknown(client, &args.instances).await?;
    let body = json!({ "workflowInstanceIds": args.instances, "activityIds": args.activity });
    let answer = client.post("/alterations/workflows/retry", &body).await?;
    let mut results = altered::results(&answer);
    for result in &mut results {
        let state = state_of(client, &result.instance).await?;
        result.sub_status = Some(text(&state, "subStatus").to_owned());
    }
    Ok(altered::tell(screen, &results, "Retried"))
}
