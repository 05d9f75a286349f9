//! `dormouse alter`

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::altered::{self, refuse_unknown};
use super::pages::InstanceFilter;
use super::{items, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::screen::Screen;

/// Changes, and the instances to change.
#[derive(Debug, Args)]
pub(crate) struct AlterArgs {
    /// The instances' ids; without any, the filter selects them
    #[arg(value_name = "INSTANCE", conflicts_with_all = ["definition", "status", "correlation", "attribute", "search"])]
    instances: Vec<String>,
    #[command(flatten)]
    filter: InstanceFilter,
    /// Move to this version of the definition
    #[arg(long, value_name = "NUMBER")]
    migrate: Option<u32>,
    /// Set a variable, by its id; JSON if it reads as JSON, else text
    #[arg(long, value_name = "ID=VALUE")]
    set: Vec<String>,
    /// Run an activity
    #[arg(long, value_name = "ACTIVITY")]
    run: Vec<String>,
    /// Cancel an activity
    #[arg(long, value_name = "ACTIVITY")]
    cancel_activity: Vec<String>,
    /// Cancel the instances
    #[arg(long)]
    cancel: bool,
    /// Only list the instances that the filter selects
    #[arg(long)]
    dry_run: bool,
}

impl AlterArgs {
    /// The changes as Elsa spells them.
    fn alterations(&self) -> Result<Vec<Value>, Failure> {
        let mut all = Vec::new();
        if let Some(version) = self.migrate {
            all.push(json!({ "type": "Migrate", "targetVersion": version }));
        }
        for (id, value) in input::pairs("--set", &self.set)? {
            all.push(json!({ "type": "ModifyVariable", "variableId": id, "value": value }));
        }
        for (kind, ids) in [
            ("CancelActivity", &self.cancel_activity),
            ("ScheduleActivity", &self.run),
        ] {
            all.extend(
                ids.iter()
                    .map(|id| json!({ "type": kind, "activityId": id })),
            );
        }
        if self.cancel {
            all.push(json!({ "type": "Cancel" }));
        }
        if all.is_empty() && !self.dry_run {
            return Err(bad(
                "name a change: --migrate, --set, --run, --cancel-activity or --cancel",
            ));
        }
        Ok(all)
    }

    /// The filter as Elsa spells it.
    fn selection(&self) -> Result<Value, Failure> {
        let filter = &self.filter;
        let is_empty = !filter.is_set() && self.instances.is_empty();
        if is_empty {
            return Err(bad("name instances, or a filter such as --definition ID"));
        }
        let many = |one: &Option<String>| one.iter().cloned().collect::<Vec<_>>();
        Ok(json!({
            "workflowInstanceIds": self.instances,
            "definitionIds": many(&filter.definition),
            "correlationIds": many(&filter.correlation),
            "subStatuses": filter.statuses(),
            "searchAttributes": filter.attributes()?,
            "searchTerm": filter.search,
        }))
    }
}

fn bad(message: &str) -> Failure {
    Failure::new(Exit::BadInput, "badInput", message)
}

/// Changes instances, each in one commit or not at all.
pub(crate) async fn alter(
    args: &AlterArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let alterations = args.alterations()?;
    let selection = args.selection()?;
    if args.dry_run {
        return dry_run(client, screen, &selection).await;
    }
    if !args.instances.is_empty() {
        let ids = &args.instances;
        refuse_unknown(client, ids).await?;
        let body = json!({ "alterations": alterations, "workflowInstanceIds": ids });
        let answer = client.post("/alterations/run", &body).await?;
        return Ok(altered::tell(screen, &altered::results(&answer), "Altered"));
    }
    let body = json!({ "alterations": alterations, "filter": selection });
    let submitted = client.post("/alterations/submit", &body).await?;
    let results = follow(client, text(&submitted, "planId")).await?;
    if results.is_empty() {
        screen.line("No instance matches the filter.");
    }
    Ok(altered::tell(screen, &results, "Altered"))
}

async fn dry_run(client: &Client, screen: &Screen, selection: &Value) -> Result<Exit, Failure> {
    let answer = client.post("/alterations/dry-run", selection).await?;
    screen.value(&answer);
    let ids = items(&answer, "workflowInstanceIds");
    for id in ids.iter().filter_map(Value::as_str) {
        screen.line(id);
    }
    let more = match answer.get("hasMore") {
        Some(Value::Bool(true)) => " and more",
        _ => "",
    };
    screen.line(screen.dim(&format!("{}{more} would be altered", ids.len())));
    Ok(Exit::Ok)
}

/// Waits for the end of a plan, and reads its jobs to the last one.
async fn follow(client: &Client, plan: &str) -> Result<Vec<altered::Altered>, Failure> {
    let path = format!("/alterations/{}", segment(plan));
    loop {
        let found = client.get(&path).await?;
        let status = found.get("plan").map(|p| text(p, "status").to_owned());
        if matches!(status.as_deref(), Some("Completed" | "Failed")) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let mut results = Vec::new();
    let mut after = String::new();
    loop {
        let page = client.get(&format!("{path}{after}")).await?;
        for job in items(&page, "jobs") {
            let log = items(job, "log").iter().map(|entry| text(entry, "message"));
            results.push(altered::Altered {
                instance: text(job, "workflowInstanceId").to_owned(),
                is_successful: text(job, "status") == "Completed",
                message: log.collect::<Vec<_>>().join("; "),
                sub_status: None,
            });
        }
        match text(&page, "cursor") {
            "" => return Ok(results),
            cursor => after = format!("?cursor={}", segment(cursor)),
        }
    }
}
