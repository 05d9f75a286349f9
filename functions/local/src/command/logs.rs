//! `dormouse logs`

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::show::{activity, journal, note};
use super::{ended, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// The journal to print.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The instance's id
    instance: String,
    /// Print new lines as they come, until the instance ends
    #[arg(long, short)]
    follow: bool,
    /// Print only the last lines of what is there already
    #[arg(long, value_name = "COUNT")]
    tail: Option<usize>,
}

/// Time between two looks at an instance that is followed.
const PACE: Duration = Duration::from_millis(500);

/// Prints the journal of an instance, one line per event: time, event, activity, values. In JSON, one value per line.
pub(crate) async fn logs(
    args: &LogsArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let id = segment(&args.instance);
    let state_path = format!("/workflow-instances/{id}/execution-state");
    let mut skip = 0;
    let mut tail = args.tail;
    loop {
        // Read before the journal, so that no line of an ended instance is missed.
        let state = client.get(&state_path).await?;
        let lines = journal(&id, skip, client).await?;
        skip += lines.len();
        let from = tail
            .take()
            .map_or(0, |tail| lines.len().saturating_sub(tail));
        for line in lines.get(from..).unwrap_or_default() {
            print(screen, line);
        }
        let has_ended = text(&state, "status") == "Finished";
        if !args.follow || has_ended {
            return Ok(match args.follow {
                true => ended(text(&state, "subStatus")),
                false => Exit::Ok,
            });
        }
        tokio::time::sleep(PACE).await;
    }
}

fn print(screen: &Screen, line: &Value) {
    screen.value(line);
    screen.line(format!(
        "{} {:<9} {} {}",
        screen.dim(text(line, "timestamp")),
        screen.status(text(line, "eventName")),
        activity(line),
        screen.dim(&note(line, line)),
    ));
}
