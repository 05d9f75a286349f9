//! `dormouse activity`

use std::path::PathBuf;

use clap::Args;
use dormouse_runtime::{Runtime, Tenant, TypePublished};
use serde_json::{Value, json};

use super::{items, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::text_table::TextTable;

/// Which types to publish.
#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// Files with an activity type each
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Which type.
#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// The type's name, such as Acme.ChargeCard
    #[arg(value_name = "TYPE")]
    name: String,
}

/// Which version of which type.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    of: NameArgs,
    /// The version, if not the latest
    #[arg(long, value_name = "NUMBER")]
    version_number: Option<u32>,
}

/// A type and the file that it comes from.
struct TypeFile {
    path: PathBuf,
    name: String,
    json: Value,
}

fn read(path: &PathBuf) -> Result<TypeFile, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::file(path, &error))?;
    let wrong = |message: String| {
        let message = format!("{}: {message}", path.display());
        Failure::new(Exit::BadInput, "notAnActivityType", message)
    };
    let json: Value = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    let name = text(&json, "type").to_owned();
    if name.is_empty() {
        return Err(
            wrong("an activity type has a `type`, such as `Acme.ChargeCard`".into())
                .help("a workflow is published with `dormouse publish`"),
        );
    }
    Ok(TypeFile {
        path: path.clone(),
        name,
        json,
    })
}

fn path_of(name: &str) -> String {
    format!("/activity-types/{}", segment(name))
}

/// Publishes types. Nothing is sent if one of the files cannot be read.
pub(crate) async fn publish(
    args: &PublishArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let files: Result<Vec<TypeFile>, Failure> = args.files.iter().map(read).collect();
    let mut published = Vec::new();
    for file in files? {
        let answer = client.put(&path_of(&file.name), &file.json).await?;
        let version = answer.get("version").map(ToString::to_string);
        screen.line(format!(
            "Published {} version {} ({})",
            screen.bold(&file.name),
            version.unwrap_or_default(),
            file.path.display(),
        ));
        published.push(answer);
    }
    screen.value(&json!({ "published": published }));
    Ok(Exit::Ok)
}

/// Publishes types to a node of this process.
pub(super) async fn publish_to(
    node: &Runtime,
    tenant: &Tenant,
    files: &[PathBuf],
) -> Result<(), Failure> {
    for path in files {
        let file = read(path)?;
        let published = node.definitions().types().publish(tenant, &file.json).await;
        let message = match published.map_err(|error| Failure::runtime(&error))? {
            TypePublished::Done { .. } => continue,
            TypePublished::Invalid(flaws) => {
                let told = flaws
                    .iter()
                    .map(|flaw| format!("{}: {}", flaw.path, flaw.message));
                told.collect::<Vec<_>>().join("\n  ")
            }
            TypePublished::NameTaken { definition_id } => {
                format!("the workflow `{definition_id}` is used as an activity under this name")
            }
            TypePublished::TooMany { what, limit } => format!("there are {limit} {what} already"),
        };
        let message = format!("{}: {message}", path.display());
        return Err(Failure::new(Exit::BadInput, "invalidActivityType", message));
    }
    Ok(())
}

/// Lists the types.
pub(crate) async fn list(client: &Client, screen: &Screen) -> Result<Exit, Failure> {
    let answer = client.get("/activity-types").await?;
    let mut table = TextTable::new(&["TYPE", "VERSION", "HANDLER", "WHAT"]);
    for item in items(&answer, "items") {
        let handler = item.get("handler").unwrap_or(&Value::Null);
        let version = item.get("version").map(ToString::to_string);
        table.row([
            text(item, "type").to_owned(),
            version.unwrap_or_default(),
            text(handler, "kind").to_owned(),
            text(item, "displayName").to_owned(),
        ]);
    }
    if items(&answer, "items").is_empty() {
        screen.line("There are none. Publish one: dormouse activity publish FILE");
    }
    screen.table(&table);
    screen.value(&answer);
    Ok(Exit::Ok)
}

/// Shows a type as JSON.
pub(crate) async fn show(
    args: &ShowArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let query = args
        .version_number
        .map(|version| format!("?version={version}"));
    let path = format!("{}{}", path_of(&args.of.name), query.unwrap_or_default());
    let answer = client.get(&path).await?;
    screen.line(format!("{answer:#}"));
    screen.value(&answer);
    Ok(Exit::Ok)
}

/// Deletes a type. Workflows that use it continue.
pub(crate) async fn delete(
    args: &NameArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    client.delete(&path_of(&args.name)).await?;
    screen.line(format!(
        "Deleted {}; published workflows that use it go on",
        screen.bold(&args.name)
    ));
    screen.value(&json!({ "deleted": args.name }));
    Ok(Exit::Ok)
}
