//! `dormouse task`

use clap::Args;
use serde_json::json;

use super::tell_burst;
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::screen::Screen;

/// Task to complete, and its result.
#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// Id of the task, as printed by `dormouse show`
    task: String,
    /// Result of the task: JSON, `@FILE`, or `-` for standard input
    #[arg(long, value_name = "JSON")]
    result: Option<String>,
}

/// Completes a task and tells what its instance did until it waited or ended.
pub(crate) async fn complete(
    args: &CompleteArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let result = args.result.as_deref().map(input::json).transpose()?;
    let path = format!("/tasks/{}/complete", segment(&args.task));
    let answer = client.post(&path, &json!({ "result": result })).await?;
    screen.line(format!("Completed the task {}", screen.bold(&args.task)));
    Ok(tell_burst(screen, &answer))
}

/// Task that failed, and why.
#[derive(Debug, Args)]
pub(crate) struct FailArgs {
    /// Id of the task, as printed by `dormouse show`
    task: String,
    /// Type of the error, by which the workflow decides
    #[arg(long = "type", value_name = "TYPE", default_value = "TaskFailed")]
    kind: String,
    /// Message of the error, in a sentence
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// No attempt may fare better, so none follows
    #[arg(long = "final")]
    is_final: bool,
}

/// Reports that a task failed and tells what its instance did until it waited or ended.
pub(crate) async fn fail(
    args: &FailArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let path = format!("/tasks/{}/fail", segment(&args.task));
    let error = json!({ "type": args.kind, "message": args.message, "retryable": !args.is_final });
    let answer = client.post(&path, &json!({ "error": error })).await?;
    screen.line(format!("Failed the task {}", screen.bold(&args.task)));
    Ok(tell_burst(screen, &answer))
}
