//! `dormouse show`

mod timeline;

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use dormouse_drawing::{Picture, State};
use serde_json::{Map, Value, json};

pub(super) use timeline::{activity, note};

use super::{items, text};
use crate::client::{Client, segment};
use crate::drawing;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment;
use crate::screen::Screen;
use crate::wait;

/// Journal lines of a page; the server's limit.
const PAGE: usize = 1_000;

/// Instance to show.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Id of the instance
    instance: String,
    /// Maximum number of journal lines. The last ones are shown
    #[arg(long, default_value_t = 200)]
    lines: usize,
    /// Draw its workflow with the state of each activity instead
    #[arg(long, value_enum, value_name = "FORMAT")]
    graph: Option<GraphFormat>,
}

/// The format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GraphFormat {
    /// An SVG document
    Svg,
    /// Mermaid text
    Mermaid,
}

/// Shows an instance with its journal as a timeline.
pub(crate) async fn show(
    args: &ShowArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let id = segment(&args.instance);
    let instance = client.get(&format!("/workflow-instances/{id}")).await?;
    if let Some(format) = args.graph {
        return draw(&instance, format, client, screen).await;
    }
    let variables = format!("/workflow-instances/{id}/variables");
    let variables = client.get(&variables).await?;
    let variables = items(&variables, "items");
    let state = instance.get("workflowState").unwrap_or(&Value::Null);
    let total = state.get("executionLogSequence").and_then(Value::as_u64);
    let total = usize::try_from(total.unwrap_or(0)).unwrap_or(usize::MAX);
    let journal = journal(&id, total.saturating_sub(args.lines), client).await?;
    screen.value(&json!({ "instance": instance, "variables": variables, "journal": journal }));
    head(screen, &instance);
    values(
        screen,
        "Output",
        state.get("output").and_then(Value::as_object),
    );
    values(screen, "Variables", Some(&by_name(variables)));
    for incident in items(state, "incidents") {
        let (activity, message) = (
            text(incident, "activityId"),
            super::incidents::told(incident),
        );
        screen.line(format!(
            "{} in {activity}: {message}",
            screen.status("Faulted")
        ));
    }
    wait::tell(screen, &args.instance, items(state, "bookmarks"));
    screen.line("");
    for line in timeline::lines(screen, text(&instance, "createdAt"), &journal) {
        screen.line(line);
    }
    Ok(Exit::Ok)
}

/// Draws the version of the definition that an instance runs.
async fn draw(
    instance: &Value,
    format: GraphFormat,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let version = segment(text(instance, "definitionVersionId"));
    let path = format!("/workflow-definitions/by-id/{version}");
    let definition = client.get(&path).await?;
    let mut states = BTreeMap::new();
    for line in journal(&segment(text(instance, "id")), 0, client).await? {
        let state = State::after(text(&line, "eventName"));
        states.insert(text(&line, "activityId").to_owned(), state);
    }
    let root = definition.get("root").unwrap_or(&Value::Null);
    let picture = Picture::of(root, &states);
    let (name, drawn) = match format {
        GraphFormat::Svg => ("svg", drawing::svg(&picture)),
        GraphFormat::Mermaid => ("mermaid", drawing::mermaid(&picture)),
    };
    screen.value(&json!({ "format": name, "graph": drawn }));
    screen.line(drawn.trim_end());
    Ok(Exit::Ok)
}

/// Reads the journal of an instance from a line on.
pub(crate) async fn journal(
    id: &str,
    mut skip: usize,
    client: &Client,
) -> Result<Vec<Value>, Failure> {
    let mut lines = Vec::new();
    loop {
        let path = format!("/workflow-instances/{id}/journal?skip={skip}&take={PAGE}");
        let page = client.get(&path).await?;
        let found = items(&page, "items");
        lines.extend(found.iter().cloned());
        skip += PAGE;
        if found.len() < PAGE {
            return Ok(lines);
        }
    }
}

/// Variables that have a value. An ended instance has none.
fn by_name(variables: &[Value]) -> Map<String, Value> {
    let pair = |v: &Value| {
        let value = v.get("value").cloned().unwrap_or_default();
        (text(v, "name").to_owned(), value)
    };
    variables
        .iter()
        .map(pair)
        .filter(|(_, value)| !value.is_null())
        .collect()
}

fn head(screen: &Screen, instance: &Value) {
    let version = instance.get("version").map(ToString::to_string);
    let name = match text(instance, "name") {
        "" => String::new(),
        name => format!(" “{name}”"),
    };
    screen.line(format!(
        "{}{name}  {} version {}  {}",
        screen.bold(text(instance, "id")),
        text(instance, "definitionId"),
        version.unwrap_or_default(),
        screen.status(text(instance, "subStatus")),
    ));
    let started = text(instance, "createdAt");
    let ago = moment::relative(started, moment::now());
    let ended = match text(instance, "finishedAt") {
        "" => String::new(),
        ended => format!(", ended {ended}"),
    };
    screen.line(format!("started {started} ({ago}){ended}"));
    for (label, name) in [
        ("correlation", "correlationId"),
        ("parent", "parentWorkflowInstanceId"),
    ] {
        let value = text(instance, name);
        if !value.is_empty() {
            screen.line(format!("{label} {value}"));
        }
    }
}

fn values(screen: &Screen, label: &str, values: Option<&Map<String, Value>>) {
    let Some(values) = values.filter(|v| !v.is_empty()) else {
        return;
    };
    screen.line(format!("{label}:"));
    for (name, value) in values {
        screen.line(format!("  {name} = {value}"));
    }
}
