//! `dormouse schedules`

use clap::Args;
use serde_json::{Value, json};

use super::pages::CursorArgs;
use super::{items, text};
use crate::client::Client;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment;
use crate::screen::Screen;
use crate::text_table::TextTable;

/// Schedules to list.
#[derive(Debug, Args)]
pub(crate) struct SchedulesListArgs {
    #[command(flatten)]
    pages: CursorArgs,
}

/// Timers to list.
#[derive(Debug, Args)]
pub(crate) struct TimersArgs {
    #[command(flatten)]
    pages: CursorArgs,
}

/// Occurrence to skip.
#[derive(Debug, Args)]
pub(crate) struct SkipArgs {
    /// Id of the definition
    #[arg(value_name = "DEFINITION")]
    definition: String,
    /// Id of the trigger's activity; not needed if the definition has one schedule
    #[arg(value_name = "ACTIVITY")]
    activity: Option<String>,
}

/// Lists recurring triggers with their next occurrences.
pub(crate) async fn list(
    args: &SchedulesListArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let answer = args.pages.read(client, "/schedules?").await?;
    screen.value(&answer);
    let found = items(&answer, "items");
    if found.is_empty() {
        screen.line(
            "No schedules. A published definition with a Timer, Cron or StartAt trigger has one.",
        );
        return Ok(Exit::Ok);
    }
    let mut table = TextTable::new(&[
        "DEFINITION",
        "ACTIVITY",
        "SCHEDULE",
        "NEXT",
        "THEN",
        "OVERLAP",
    ]);
    for item in found {
        let next = items(item, "nextOccurrences");
        let at = |place: usize| next.get(place).and_then(Value::as_str).unwrap_or_default();
        table.row([
            text(item, "definitionId").to_owned(),
            text(item, "activityId").to_owned(),
            rhythm(item),
            format!("{} ({})", at(0), moment::relative(at(0), moment::now())),
            at(1).to_owned(),
            text(item, "overlapPolicy").to_owned(),
        ]);
    }
    screen.table(&table);
    args.pages.tell_more(screen, &answer);
    Ok(Exit::Ok)
}

/// When a schedule fires, in words.
fn rhythm(item: &Value) -> String {
    let (kind, expression, zone) = (
        text(item, "kind"),
        text(item, "expression"),
        text(item, "zone"),
    );
    match (kind, zone) {
        ("at", _) => "once".to_owned(),
        ("every", _) => format!("every {expression}"),
        (_, "" | "UTC") => format!("cron {expression}"),
        (_, zone) => format!("cron {expression} ({zone})"),
    }
}

/// Lists the timers that instances wait for.
pub(crate) async fn timers(
    args: &TimersArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let answer = args.pages.read(client, "/schedules/timers?").await?;
    screen.value(&answer);
    if answer.get("areListed") == Some(&Value::Bool(false)) {
        screen.line("The timers of this server lie in a scheduler outside; it does not list them.");
        return Ok(Exit::Ok);
    }
    let found = items(&answer, "items");
    if found.is_empty() {
        screen.line("No instance waits for a timer.");
        return Ok(Exit::Ok);
    }
    let mut table = TextTable::new(&["DUE", "INSTANCE", "DEFINITION", "CORRELATION"]);
    for item in found {
        let due = text(item, "due");
        table.row([
            format!("{due} ({})", moment::relative(due, moment::now())),
            text(item, "workflowInstanceId").to_owned(),
            text(item, "definitionId").to_owned(),
            text(item, "correlationId").to_owned(),
        ]);
    }
    screen.table(&table);
    args.pages.tell_more(screen, &answer);
    Ok(Exit::Ok)
}

/// Skips the next occurrence of a schedule.
pub(crate) async fn skip(
    args: &SkipArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let all = CursorArgs::everything();
    let answer = all.read(client, "/schedules?").await?;
    let is_meant = |item: &&Value| {
        let activity = args.activity.as_deref();
        text(item, "definitionId") == args.definition
            && activity.is_none_or(|activity| text(item, "activityId") == activity)
    };
    let found: Vec<&Value> = items(&answer, "items").iter().filter(is_meant).collect();
    let schedule = match found.as_slice() {
        [schedule] => *schedule,
        [] => {
            let message = format!(
                "`{}` has no such schedule; `dormouse schedules list` lists all",
                args.definition
            );
            return Err(Failure::new(Exit::NotFound, "noSuchSchedule", message));
        }
        several => {
            let ids = several.iter().map(|item| text(item, "activityId"));
            let message = format!(
                "`{}` has several schedules; name one: {}",
                args.definition,
                ids.collect::<Vec<_>>().join(", ")
            );
            return Err(Failure::new(Exit::BadInput, "badInput", message));
        }
    };
    let occurrence = items(schedule, "nextOccurrences").first();
    let request = json!({
        "definitionId": args.definition,
        "activityId": text(schedule, "activityId"),
        "occurrence": occurrence,
    });
    let answer = client.post("/schedules/skip", &request).await?;
    screen.value(&answer);
    let skipped = screen.bold(text(&answer, "skipped"));
    screen.line(match text(&answer, "next") {
        "" => format!("Skipped {skipped}; there is no other occurrence."),
        next => format!("Skipped {skipped}; the next occurrence is that of {next}."),
    });
    Ok(Exit::Ok)
}
