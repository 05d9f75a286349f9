//! `dormouse dead-letters`

use clap::Args;
use serde_json::{Value, json};

use super::{items, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment;
use crate::screen::Screen;
use crate::text_table::TextTable;

const LETTERS: &str = "/bookmark-queue/dead-letters";

/// Dead letters to list.
#[derive(Debug, Args)]
pub(crate) struct DeadLettersListArgs {
    /// Maximum number of entries
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Show every entry, page by page
    #[arg(long)]
    all: bool,
}

/// Dead letters to deliver again.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Ids of the dead letters
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Also replay an event that some of its recipients may have received already
    #[arg(long)]
    may_repeat: bool,
}

/// Dead letters to delete.
#[derive(Debug, Args)]
pub(crate) struct DeadLettersDeleteArgs {
    /// Ids of the dead letters
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Lists dead letters, newest first.
pub(crate) async fn list(
    args: &DeadLettersListArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let limit = if args.all { 1_000 } else { args.limit };
    let mut found: Vec<Value> = Vec::new();
    let mut cursor = String::new();
    let total = loop {
        let after = match cursor.as_str() {
            "" => String::new(),
            cursor => format!("&cursor={}", segment(cursor)),
        };
        let page = client
            .get(&format!("{LETTERS}?pageSize={limit}{after}"))
            .await?;
        found.extend(items(&page, "items").iter().cloned());
        cursor = text(&page, "cursor").to_owned();
        if !args.all || cursor.is_empty() {
            break page.get("totalCount").cloned().unwrap_or_default();
        }
    };
    screen.value(&json!({ "items": found, "totalCount": total }));
    if found.is_empty() {
        screen.line("No dead letters.");
        return Ok(Exit::Ok);
    }
    let mut table = TextTable::new(&["ID", "KIND", "SINCE", "ATTEMPTS", "REASON"]);
    for letter in &found {
        let attempts = letter.get("deliveryAttempts").map(ToString::to_string);
        table.row([
            text(letter, "id").to_owned(),
            text(letter, "kind").to_owned(),
            moment::relative(text(letter, "deadLetteredAt"), moment::now()),
            attempts.unwrap_or_default(),
            text(letter, "reason").to_owned(),
        ]);
    }
    screen.table(&table);
    if !cursor.is_empty() {
        let note = format!("{} of {total}; everything: --all", found.len());
        screen.line(screen.dim(&note));
    }
    screen.line("Deliver one again: dormouse dead-letters replay ID");
    Ok(Exit::Ok)
}

/// Delivers dead letters again.
pub(crate) async fn replay(
    args: &ReplayArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let repeat = if args.may_repeat {
        "?mayRepeat=true"
    } else {
        ""
    };
    for id in &args.ids {
        let path = format!("{LETTERS}/{}/replay{repeat}", segment(id));
        client.post(&path, &json!({})).await?;
        screen.line(format!("Replayed {}", screen.bold(id)));
    }
    screen.value(&json!({ "replayed": args.ids }));
    Ok(Exit::Ok)
}

/// Deletes dead letters.
pub(crate) async fn delete(
    args: &DeadLettersDeleteArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    for id in &args.ids {
        client.delete(&format!("{LETTERS}/{}", segment(id))).await?;
        screen.line(format!("Deleted {}", screen.bold(id)));
    }
    screen.value(&json!({ "deleted": args.ids }));
    Ok(Exit::Ok)
}
