//! `dormouse incidents`

use clap::Args;
use serde_json::{Value, json};

use super::pages::PageArgs;
use super::{items, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment;
use crate::screen::Screen;
use crate::text_table::TextTable;

/// Incidents to list.
#[derive(Debug, Args)]
pub(crate) struct IncidentsArgs {
    /// Only incidents of this definition
    #[arg(long, value_name = "ID")]
    definition: Option<String>,
    #[command(flatten)]
    pages: PageArgs,
}

/// Lists incidents, those of the newest instances first.
pub(crate) async fn incidents(
    args: &IncidentsArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let filter = json!({ "hasIncidents": true, "definitionId": args.definition });
    let path = "/workflow-instances";
    let answer = args.pages.by_body(client, path, &filter).await?;
    let mut found = Vec::new();
    for one in items(&answer, "items") {
        let id = text(one, "id");
        let instance = match client.get(&format!("{path}/{}", segment(id))).await {
            Ok(instance) => instance,
            // It was deleted meanwhile.
            Err(failure) if failure.exit == Exit::NotFound => continue,
            Err(failure) => return Err(failure),
        };
        let state = instance.get("workflowState").unwrap_or(&Value::Null);
        for incident in items(state, "incidents") {
            found.push(json!({
                "workflowInstanceId": id,
                "definitionId": text(one, "definitionId"),
                "subStatus": text(one, "subStatus"),
                "activityId": text(incident, "activityId"),
                "activityType": text(incident, "activityType"),
                "message": told(incident),
                "timestamp": text(incident, "timestamp"),
            }));
        }
    }
    screen.value(&json!({ "items": found, "instances": answer.get("totalCount") }));
    if found.is_empty() {
        screen.line("No incidents.");
        return Ok(Exit::Ok);
    }
    let header = [
        "INSTANCE",
        "DEFINITION",
        "STATUS",
        "ACTIVITY",
        "SINCE",
        "MESSAGE",
    ];
    let mut table = TextTable::new(&header);
    for incident in &found {
        table.row([
            text(incident, "workflowInstanceId").to_owned(),
            text(incident, "definitionId").to_owned(),
            screen.status(text(incident, "subStatus")),
            text(incident, "activityId").to_owned(),
            moment::relative(text(incident, "timestamp"), moment::now()),
            text(incident, "message").to_owned(),
        ]);
    }
    screen.table(&table);
    if let Some(note) = args.pages.more(&answer) {
        screen.line(screen.dim(&format!("instances: {note}")));
    }
    screen.line("Run failed activities again: dormouse retry INSTANCE");
    Ok(Exit::Ok)
}

/// The message of an incident, with its cause.
pub(super) fn told(incident: &Value) -> String {
    let message = text(incident, "message");
    match text(incident, "cause") {
        "" => message.to_owned(),
        cause => format!("{message}: {cause}"),
    }
}
