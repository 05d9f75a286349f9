//! `dormouse list`

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{items, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment;
use crate::screen::Screen;
use crate::text_table::TextTable;

/// Kind of items to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Runs of definitions, newest first
    Instances,
    /// Definitions, by name
    Definitions,
}

/// Items to list, and their filter.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Items to list
    #[arg(value_enum, default_value = "instances")]
    what: What,
    /// Only instances of this definition
    #[arg(long, value_name = "ID")]
    definition: Option<String>,
    /// Only instances with this status: Suspended, Finished, Faulted, Cancelled or Executing. Repeatable
    #[arg(long, value_name = "STATUS")]
    status: Vec<String>,
    /// Only instances with this correlation id
    #[arg(long, value_name = "ID")]
    correlation: Option<String>,
    /// Only items with this text in their id or name
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Maximum number of items
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Page number, starting at 0
    #[arg(long, default_value_t = 0)]
    page: u32,
}

/// Lists.
pub(crate) async fn list(
    args: &ListArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    match args.what {
        What::Instances => instances(args, client, screen).await,
        What::Definitions => definitions(args, client, screen).await,
    }
}

async fn instances(args: &ListArgs, client: &Client, screen: &Screen) -> Result<Exit, Failure> {
    let statuses: Vec<String> = args.status.iter().map(|s| capitalised(s)).collect();
    let request = json!({
        "page": args.page,
        "pageSize": args.limit,
        "definitionId": args.definition,
        "subStatuses": statuses,
        "correlationId": args.correlation,
        "searchTerm": args.search,
    });
    let answer = client.post("/workflow-instances", &request).await?;
    screen.value(&answer);
    let found = items(&answer, "items");
    if found.is_empty() {
        screen.line("No instances. Start one: dormouse start DEFINITION");
        return Ok(Exit::Ok);
    }
    let now = moment::now();
    let header = [
        "INSTANCE",
        "DEFINITION",
        "STATUS",
        "CHANGED",
        "CORRELATION",
        "NAME",
    ];
    let mut table = TextTable::new(&header);
    for item in found {
        let version = item.get("version").map(ToString::to_string);
        table.row([
            text(item, "id").to_owned(),
            format!(
                "{} v{}",
                text(item, "definitionId"),
                version.unwrap_or_default()
            ),
            screen.status(text(item, "subStatus")),
            moment::relative(text(item, "updatedAt"), now),
            text(item, "correlationId").to_owned(),
            text(item, "name").to_owned(),
        ]);
    }
    screen.table(&table);
    more(args, &answer, found.len(), screen);
    Ok(Exit::Ok)
}

async fn definitions(args: &ListArgs, client: &Client, screen: &Screen) -> Result<Exit, Failure> {
    let mut path = format!(
        "/workflow-definitions?versionOptions=Latest&page={}&pageSize={}",
        args.page, args.limit
    );
    if let Some(search) = &args.search {
        path.push_str("&searchTerm=");
        path.push_str(&segment(search));
    }
    let answer = client.get(&path).await?;
    screen.value(&answer);
    let found = items(&answer, "items");
    if found.is_empty() {
        screen.line("No definitions. Publish one: dormouse publish FILE");
        return Ok(Exit::Ok);
    }
    let mut table = TextTable::new(&["DEFINITION", "VERSION", "STATUS", "NAME"]);
    for item in found {
        let is_published = item.get("isPublished").is_some_and(|v| v == true);
        let status = if is_published { "published" } else { "draft" };
        let version = item.get("version").map(ToString::to_string);
        table.row([
            text(item, "definitionId").to_owned(),
            version.unwrap_or_default(),
            status.to_owned(),
            text(item, "name").to_owned(),
        ]);
    }
    screen.table(&table);
    more(args, &answer, found.len(), screen);
    Ok(Exit::Ok)
}

/// Says that there is more than was shown.
fn more(args: &ListArgs, answer: &Value, shown: usize, screen: &Screen) {
    let total = answer
        .get("totalCount")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let before = u64::from(args.page) * u64::from(args.limit);
    if before + (shown as u64) < total {
        let note = format!("{shown} of {total}; the next: --page {}", args.page + 1);
        screen.line(screen.dim(&note));
    }
}

/// `suspended` as Elsa writes it.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    let rest = chars.map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}
