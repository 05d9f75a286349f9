//! `dormouse pause` and `dormouse unpause`

use clap::Args;
use serde_json::{Value, json};

use super::text;
use crate::client::Client;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

const RUNTIME: &str = "/admin/workflow-runtime";

/// Reason for a pause.
#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    /// Reason for the pause. It is shown to users and operators
    #[arg(long)]
    reason: Option<String>,
}

/// Begins a pause: no instance starts or resumes until it is ended, and nothing is lost.
pub(crate) async fn pause(
    args: &PauseArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let body = json!({ "reason": args.reason });
    let answer = client.post(&format!("{RUNTIME}/pause"), &body).await?;
    let state = answer.get("state").unwrap_or(&Value::Null);
    screen.value(&answer);
    let (since, by) = (text(state, "pausedAt"), text(state, "pauseRequestedBy"));
    screen.line(format!("Paused since {since} by {by}"));
    screen.line("What is under way runs until it waits. End it: dormouse unpause");
    Ok(Exit::Ok)
}

/// Ends the pause. Pending work continues by itself.
pub(crate) async fn unpause(client: &Client, screen: &Screen) -> Result<Exit, Failure> {
    let answer = client
        .post(&format!("{RUNTIME}/resume"), &json!({}))
        .await?;
    screen.value(&answer);
    screen.line("Not paused any more");
    Ok(Exit::Ok)
}
