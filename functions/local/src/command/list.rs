//! `dormouse list`

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::pages::{InstanceFilter, PageArgs};
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
    /// Open tasks, those of the oldest instances first
    Tasks,
}

/// Layout of a list.
struct Shown {
    header: &'static [&'static str],
    row: fn(&Screen, &Value) -> Vec<String>,
    none: &'static str,
}

impl What {
    fn shown(self) -> Shown {
        match self {
            Self::Instances => Shown {
                header: &INSTANCES,
                row: instance,
                none: "No instances. Start one: dormouse start DEFINITION",
            },
            Self::Definitions => Shown {
                header: &DEFINITIONS,
                row: definition,
                none: "No definitions. Publish one: dormouse publish FILE",
            },
            Self::Tasks => Shown {
                header: &TASKS,
                row: task,
                none: "No open tasks.",
            },
        }
    }
}

/// Items to list, and their filter.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Items to list
    #[arg(value_enum, default_value = "instances")]
    what: What,
    #[command(flatten)]
    filter: InstanceFilter,
    /// Only tasks of this name
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    #[command(flatten)]
    pages: PageArgs,
}

/// Lists.
pub(crate) async fn list(
    args: &ListArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    if args.task.is_some() && args.what != What::Tasks {
        let message = "--task is for `dormouse list tasks`";
        return Err(Failure::new(Exit::BadInput, "badInput", message));
    }
    if args.what == What::Tasks && (args.pages.page > 0 || !args.filter.status.is_empty()) {
        let message = "`dormouse list tasks` takes neither --page nor --status: tasks are those of suspended instances, and --limit or --all shows more";
        return Err(Failure::new(Exit::BadInput, "badInput", message));
    }
    let pages = &args.pages;
    let answer = match args.what {
        What::Instances => {
            let request = args.filter.request()?;
            pages.by_body(client, "/workflow-instances", &request).await
        }
        What::Definitions => definitions(args, client).await,
        What::Tasks => tasks(args, client).await,
    }?;
    screen.value(&answer);
    let found = items(&answer, "items");
    let shown = args.what.shown();
    let more = pages.more(&answer);
    if found.is_empty() {
        screen.line(shown.none);
    } else {
        let mut table = TextTable::new(shown.header);
        for item in found {
            table.row((shown.row)(screen, item));
        }
        screen.table(&table);
        pages.by_cursor().tell_more(screen, &answer);
    }
    if let Some(note) = more {
        screen.line(screen.dim(&note));
    }
    Ok(Exit::Ok)
}

const INSTANCES: [&str; 6] = [
    "INSTANCE",
    "DEFINITION",
    "STATUS",
    "CHANGED",
    "CORRELATION",
    "NAME",
];

fn instance(screen: &Screen, item: &Value) -> Vec<String> {
    vec![
        text(item, "id").to_owned(),
        format!("{} v{}", text(item, "definitionId"), version(item)),
        screen.status(text(item, "subStatus")),
        moment::relative(text(item, "updatedAt"), moment::now()),
        text(item, "correlationId").to_owned(),
        text(item, "name").to_owned(),
    ]
}

const DEFINITIONS: [&str; 4] = ["DEFINITION", "VERSION", "STATUS", "NAME"];

fn definition(_: &Screen, item: &Value) -> Vec<String> {
    let is_published = item.get("isPublished").is_some_and(|v| v == true);
    let status = if is_published { "published" } else { "draft" };
    vec![
        text(item, "definitionId").to_owned(),
        version(item),
        status.to_owned(),
        text(item, "name").to_owned(),
    ]
}

fn version(item: &Value) -> String {
    let version = item.get("version").map(ToString::to_string);
    version.unwrap_or_default()
}

async fn definitions(args: &ListArgs, client: &Client) -> Result<Value, Failure> {
    let mut path = "/workflow-definitions?versionOptions=Latest".to_owned();
    if let Some(search) = &args.filter.search {
        path.push_str("&searchTerm=");
        path.push_str(&segment(search));
    }
    args.pages.by_query(client, &path).await
}

const TASKS: [&str; 5] = ["TASK", "NAME", "INSTANCE", "DEFINITION", "SINCE"];

fn task(_: &Screen, item: &Value) -> Vec<String> {
    vec![
        text(item, "taskId").to_owned(),
        text(item, "taskName").to_owned(),
        text(item, "workflowInstanceId").to_owned(),
        text(item, "definitionId").to_owned(),
        moment::relative(text(item, "createdAt"), moment::now()),
    ]
}

/// Open tasks, read page by page until there are enough.
async fn tasks(args: &ListArgs, client: &Client) -> Result<Value, Failure> {
    let filter = &args.filter;
    let named = [
        ("task", &args.task),
        ("definitionId", &filter.definition),
        ("correlationId", &filter.correlation),
        ("searchTerm", &filter.search),
    ];
    let named = named
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let attributes = filter.attribute.iter();
    let attributes = attributes.map(|pair| ("searchAttribute", pair));
    let parameters = named.chain(attributes);
    let parameters: String = parameters
        .map(|(name, value)| format!("{name}={}&", segment(value)))
        .collect();
    let path = format!("/tasks?{parameters}");
    args.pages.by_cursor().read(client, &path).await
}
