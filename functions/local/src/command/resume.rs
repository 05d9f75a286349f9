//! `dormouse resume`

use clap::Args;
use serde_json::json;

use super::tell_burst;
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::InputArgs;
use crate::screen::Screen;

/// Bookmark to resume.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Id of the instance
    instance: String,
    /// Id of the bookmark. Optional if the instance has exactly one
    bookmark: Option<String>,
    #[command(flatten)]
    input: InputArgs,
}

/// Resumes an instance and tells what it did until it waited or ended.
pub(crate) async fn resume(
    args: &ResumeArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let body = json!({ "bookmarkId": args.bookmark, "input": args.input.read()? });
    let path = format!("/workflow-instances/{}/resume", segment(&args.instance));
    let answer = client.post(&path, &body).await?;
    screen.line(format!("Resumed {}", screen.bold(&args.instance)));
    Ok(tell_burst(screen, &answer))
}
