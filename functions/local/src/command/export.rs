//! `dormouse export`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Definition to export, and its destination.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Id of the definition; with --instance, of the instance
    #[arg(value_name = "ID")]
    definition: String,
    /// Export an instance with its state and journal, as `dormouse import` reads it
    #[arg(long)]
    instance: bool,
    /// Version of the definition: Latest, Published or a number
    #[arg(
        long,
        value_name = "VERSION",
        default_value = "Latest",
        conflicts_with = "instance"
    )]
    version_options: String,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Exports a definition as Elsa's JSON, or an instance.
pub(crate) async fn export(
    args: &ExportArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let id = segment(&args.definition);
    let version = segment(&args.version_options);
    let path = match args.instance {
        true => format!("/workflow-instances/{id}/export"),
        false => format!("/workflow-definitions/{id}/export?versionOptions={version}"),
    };
    let definition = client.get(&path).await?;
    // A `Value` always has a text.
    let text = serde_json::to_string_pretty(&definition).unwrap_or_default();
    match &args.output {
        Some(file) => {
            std::fs::write(file, text + "\n").map_err(|e| Failure::file(file, &e))?;
            screen.value(&json!({ "file": file }));
            screen.line(format!("Wrote {}", file.display()));
        }
        None => {
            screen.value(&definition);
            screen.line(text);
        }
    }
    Ok(Exit::Ok)
}
