//! `dormouse start`

use clap::Args;
use dormouse_engine::definition::Definition;
use serde_json::{Map, Value, json};

use super::{idempotency_key, tell_burst, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, InputArgs};
use crate::screen::Screen;

/// Instance to start.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// Id of the definition
    definition: String,
    #[command(flatten)]
    input: InputArgs,
    /// Correlation id of the instance, which events and searches can refer to
    #[arg(long, value_name = "ID")]
    correlation: Option<String>,
    /// Name of the instance
    #[arg(long)]
    name: Option<String>,
    /// Start at this trigger activity, as if it had fired
    #[arg(long, value_name = "ACTIVITY")]
    trigger: Option<String>,
    /// Version of the definition: Published, Latest or a number
    #[arg(long, value_name = "VERSION", default_value = "Published")]
    version_options: String,
    /// Idempotency key: a repeated start with the same key returns the first instance
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Reject inputs that the definition does not declare
    #[arg(long)]
    strict: bool,
}

/// Compares input and trigger with what the definition declares. A definition that cannot be read is told by the start itself.
async fn check(
    args: &StartArgs,
    given: &Map<String, Value>,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    let (id, version) = (segment(&args.definition), segment(&args.version_options));
    let path = format!("/workflow-definitions/by-definition-id/{id}?versionOptions={version}");
    let Ok(found) = client.get(&path).await else {
        return Ok(());
    };
    if let Some(id) = args
        .trigger
        .as_deref()
        .filter(|id| !has_activity(&found, id))
    {
        // Elsa starts such an instance at its beginning, and so does the server.
        return Err(Failure::new(
            Exit::NotFound,
            "noSuchActivity",
            format!(
                "the workflow `{}` has no activity `{id}` to start at",
                args.definition
            ),
        ));
    }
    match Definition::from_value(found) {
        Ok(definition) => input::check(screen, given, &definition.inputs, args.strict),
        Err(_) => Ok(()),
    }
}

/// True if a definition has such an activity, at any depth.
fn has_activity(value: &Value, id: &str) -> bool {
    match value {
        Value::Object(members) => {
            let is_it = members.contains_key("type") && members.get("id").is_some_and(|v| v == id);
            is_it || members.values().any(|member| has_activity(member, id))
        }
        Value::Array(items) => items.iter().any(|item| has_activity(item, id)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Starts an instance and tells what it did until it waited or ended.
pub(crate) async fn start(
    args: &StartArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let key = idempotency_key(args.key.as_deref())?;
    let input = args.input.read()?;
    if !input.is_empty() || args.trigger.is_some() {
        check(args, &input, client, screen).await?;
    }
    let body = json!({
        "definitionId": args.definition,
        "versionOptions": args.version_options,
        "input": input,
        "correlationId": args.correlation,
        "name": args.name,
        "triggerActivityId": args.trigger,
    });
    let answer = client.post_once("/workflow-starts", &body, key).await?;
    let id = text(&answer, "workflowInstanceId");
    if answer.get("isRepeated").is_some_and(|v| v == true) {
        screen.line(format!("Was started before: {}", screen.bold(id)));
    } else {
        let version = answer.get("version").map(ToString::to_string);
        screen.line(format!(
            "Started {} ({} version {})",
            screen.bold(id),
            args.definition,
            version.unwrap_or_default()
        ));
    }
    Ok(tell_burst(screen, &answer))
}
