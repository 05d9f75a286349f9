//! `dormouse apply`

mod difference;
mod folder;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use dormouse_engine::definition::Definition;
use dormouse_runtime::json_digest;
use serde_json::{Value, json};

use super::pages::PageArgs;
use super::{items, publish, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;
use difference::is_same;

/// The folder to apply.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// Folder of definition files
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Environment: definitions in DIR/env/NAME replace those with the same id, or are added
    #[arg(long, value_name = "NAME")]
    env: Option<String>,
    /// Only tell what differs; the exit code is 7 if anything does
    #[arg(long)]
    dry_run: bool,
    /// Retract definitions that were applied from this source and are not in the folder any more. Their instances continue
    #[arg(long)]
    prune: bool,
    /// Name of the source, which marks the definitions that it applied [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
}

/// Member of a definition's custom properties that names the source it was applied from.
const SOURCE: &str = "dormouse:source";

/// Change that a definition needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Create,
    Update,
    Keep,
    Retract,
}

impl Action {
    /// The word before it is done, after it, and for programs.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Create => ("would create", "created", "create"),
            Self::Update => ("would update", "updated", "update"),
            Self::Keep => ("unchanged", "unchanged", "unchanged"),
            Self::Retract => ("would retract", "retracted", "retract"),
        }
    }
}

/// A definition and what happens to it.
struct Change {
    id: String,
    action: Action,
    /// `None`: it is not in the folder.
    definition: Option<Definition>,
}

/// Makes the server's definitions those of a folder. Nothing is sent unless every file can be read.
pub(crate) async fn apply(
    args: &ApplyArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let source = match &args.source {
        Some(source) => source.clone(),
        None => folder::name(&args.folder)?,
    };
    let wanted = folder::definitions(&args.folder, args.env.as_deref(), &source)?;
    let changes = plan(args, client, wanted, &source).await?;
    let differs = changes.iter().any(|c| c.action != Action::Keep);
    if args.dry_run {
        tell(screen, &changes, true);
        return Ok(if differs { Exit::Differs } else { Exit::Ok });
    }
    publish_all(client, &changes).await?;
    for change in changes.iter().filter(|c| c.action == Action::Retract) {
        let path = format!("/workflow-definitions/{}/retract", segment(&change.id));
        client.post(&path, &json!({})).await?;
    }
    tell(screen, &changes, false);
    Ok(Exit::Ok)
}

async fn plan(
    args: &ApplyArgs,
    client: &Client,
    wanted: BTreeMap<String, Definition>,
    source: &str,
) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    for (id, definition) in &wanted {
        let raw = Value::Object(definition.raw().clone());
        let action = match published(client, id).await? {
            None => Action::Create,
            Some(there) if is_same(&raw, &there) => Action::Keep,
            Some(_) => Action::Update,
        };
        changes.push(Change {
            id: id.clone(),
            action,
            definition: Some(definition.clone()),
        });
    }
    if args.prune {
        for id in applied_before(client, source).await? {
            if !wanted.contains_key(&id) {
                changes.push(Change {
                    id,
                    action: Action::Retract,
                    definition: None,
                });
            }
        }
    }
    Ok(changes)
}

/// The published version of a definition as the server exports it.
async fn published(client: &Client, id: &str) -> Result<Option<Value>, Failure> {
    let id = segment(id);
    let path = format!("/workflow-definitions/{id}/export?versionOptions=Published");
    match client.get(&path).await {
        Ok(there) => Ok(Some(there)),
        Err(failure) if failure.exit == Exit::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Ids of published definitions that this source applied.
async fn applied_before(client: &Client, source: &str) -> Result<Vec<String>, Failure> {
    let pages = PageArgs {
        limit: 1_000,
        page: 0,
        all: true,
    };
    let list = "/workflow-definitions?versionOptions=Published";
    let answer = pages.by_query(client, list).await?;
    let mut found = Vec::new();
    for one in items(&answer, "items") {
        let id = text(one, "definitionId");
        let there = published(client, id).await?.unwrap_or_default();
        let custom = there.get("customProperties").unwrap_or(&Value::Null);
        if text(custom, SOURCE) == source {
            found.push(id.to_owned());
        }
    }
    Ok(found)
}

/// Publishes what is new or differs. A definition that is refused is tried again as long as another one got through: it
/// may use that one.
async fn publish_all(client: &Client, changes: &[Change]) -> Result<(), Failure> {
    let is_sent = |c: &&Change| matches!(c.action, Action::Create | Action::Update);
    let mut left: Vec<&Change> = changes.iter().filter(is_sent).collect();
    while !left.is_empty() {
        let count = left.len();
        let mut refused = Vec::new();
        let mut reasons = Vec::new();
        for change in left {
            let Some(definition) = &change.definition else {
                continue;
            };
            match publish::save(client, definition, true).await {
                Ok(_) => {}
                Err(failure) if failure.exit != Exit::BadInput => return Err(failure),
                Err(failure) => {
                    let mut message = format!("{}: {}", change.id, failure.message);
                    publish::errors(&failure, &mut message);
                    reasons.push((message, failure));
                    refused.push(change);
                }
            }
        }
        if refused.len() == count {
            let messages: Vec<String> = reasons.iter().map(|r| r.0.clone()).collect();
            let first = reasons.into_iter().next().map(|r| r.1);
            let mut failure = first.unwrap_or_else(|| Failure::new(Exit::BadInput, "refused", ""));
            failure.message = messages.join("\n  ");
            return Err(failure);
        }
        left = refused;
    }
    Ok(())
}

fn tell(screen: &Screen, changes: &[Change], is_dry: bool) {
    let each = changes.iter().map(|change| {
        let raw = change.definition.as_ref().map(|d| d.raw().clone());
        json!({
            "definitionId": change.id,
            "action": change.action.words().2,
            "digest": raw.map(|raw| json_digest(&Value::Object(raw))),
        })
    });
    let differs = changes.iter().any(|c| c.action != Action::Keep);
    screen.value(&json!({
        "isApplied": !is_dry,
        "differs": differs,
        "definitions": each.collect::<Vec<_>>(),
    }));
    for change in changes {
        let (before, after, _) = change.action.words();
        let word = if is_dry { before } else { after };
        screen.line(format!("{word:<13} {}", screen.bold(&change.id)));
    }
    if !differs {
        screen.line("The server has the folder's definitions.");
    }
}
