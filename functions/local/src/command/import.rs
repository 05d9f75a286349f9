//! `dormouse import`

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::client::Client;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Instances to import.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files that `dormouse export --instance` wrote
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Imports instances; waiting ones continue. All files are read before the first one is sent.
pub(crate) async fn import(
    args: &ImportArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let mut read = Vec::new();
    for path in &args.files {
        let bytes = std::fs::read(path).map_err(|e| Failure::file(path, &e))?;
        let file: Value = serde_json::from_slice(&bytes).map_err(|e| {
            let message = format!("{}: not JSON: {e}", path.display());
            Failure::new(Exit::BadInput, "notAnExport", message)
        })?;
        read.push((path, file));
    }
    let mut imported = Vec::new();
    for (path, file) in read {
        let answer = client.post("/workflow-instances/import", &file).await;
        let answer = answer.map_err(|failure| Failure {
            message: format!("{}: {}", path.display(), failure.message),
            ..failure
        })?;
        for id in super::items(&answer, "workflowInstanceIds") {
            let shown = id.as_str().unwrap_or_default();
            screen.line(format!("Imported {}", screen.bold(shown)));
            imported.push(id.clone());
        }
    }
    screen.value(&json!({ "workflowInstanceIds": imported }));
    Ok(Exit::Ok)
}
