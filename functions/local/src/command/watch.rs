//! `dormouse watch`

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::{items, text};
use crate::client::Client;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Instances to watch.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Only instances of this definition
    #[arg(long, value_name = "ID")]
    definition: Option<String>,
    /// Only instances with this correlation id
    #[arg(long, value_name = "ID")]
    correlation: Option<String>,
    /// Milliseconds between two looks
    #[arg(long, value_name = "MS", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(100..=60_000))]
    every_ms: u64,
}

/// Instances per look; one that changed twice within a look is shown once.
const SHOWN: usize = 100;

/// Prints every change of an instance's status as it happens, until it is interrupted. In JSON, one value per line.
pub(crate) async fn watch(
    args: &WatchArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let request = json!({
        "definitionId": args.definition,
        "correlationId": args.correlation,
        "orderBy": "UpdatedAt",
        "orderDirection": "Descending",
        "page": 0,
        "pageSize": SHOWN,
    });
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    screen.line(screen.dim("Changes of instances; end with Ctrl-C"));
    loop {
        let answer = client.post("/workflow-instances", &request).await?;
        let found = items(&answer, "items");
        // Oldest change first.
        for one in found.iter().rev() {
            let updated = text(one, "updatedAt").to_owned();
            let id = text(one, "id").to_owned();
            if known.get(&id) != Some(&updated) {
                print(screen, one);
                known.insert(id, updated);
            }
        }
        let ids: Vec<&str> = found.iter().map(|one| text(one, "id")).collect();
        known.retain(|id, _| ids.contains(&id.as_str()));
        tokio::time::sleep(Duration::from_millis(args.every_ms)).await;
    }
}

fn print(screen: &Screen, one: &Value) {
    screen.value(one);
    let incidents = one
        .get("incidentCount")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let incidents = match incidents {
        0 => String::new(),
        count => format!("  {count} incidents"),
    };
    screen.line(format!(
        "{} {} {} {}{incidents}",
        screen.dim(text(one, "updatedAt")),
        screen.bold(text(one, "id")),
        text(one, "definitionId"),
        screen.status(text(one, "subStatus")),
    ));
}
