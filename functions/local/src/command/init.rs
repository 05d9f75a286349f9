//! `dormouse init`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::schema;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// The folder to make.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder of the project; made if it is missing
    folder: PathBuf,
}

const WORKFLOW: &str = include_str!("../../examples/approval.json");
const TEST: &str = include_str!("../../examples/approval.test.yaml");

/// Elsa's address of the schema in the example; the project has a schema of its own.
const ELSAS_SCHEMA: &str =
    "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json";

const SETTINGS: &str = r#"{
  "json.schemas": [{ "fileMatch": ["/workflows/*.json"], "url": "./workflow.schema.json" }]
}
"#;

const DEPLOY: &str = r#"#!/usr/bin/env bash
# Tests the workflows and applies them to the server that DORMOUSE_URL names, with the key in DORMOUSE_API_KEY.
set -euo pipefail
cd "$(dirname "$0")"
dormouse lint workflows
dormouse test workflows
dormouse apply workflows "$@"
"#;

const README: &str = "# Workflows

`workflows/` has the definitions and, beside each, its tests.

```sh
dormouse test workflows                # run the tests; no server is needed
dormouse lint workflows                # look for what is probably not meant
dormouse serve                         # a server on this machine, in a second terminal
dormouse apply workflows --dry-run     # what would change on the server
./deploy.sh                            # lint, test and apply
dormouse schema -o workflow.schema.json  # the editor's schema, again after an update
```
";

const IGNORED: &str = "dormouse-data/\n";

/// Makes a project folder: a workflow, its test, a script that deploys, and the editor's schema. Files that are there
/// are never written over.
pub(crate) fn init(args: &InitArgs, screen: &Screen) -> Result<Exit, Failure> {
    let workflow = WORKFLOW.replace(ELSAS_SCHEMA, "../workflow.schema.json");
    // A `Value` always has a text.
    let schema = serde_json::to_string_pretty(&schema::document(&[])).unwrap_or_default() + "\n";
    let files = [
        ("workflows/approval.json", workflow.as_str()),
        ("workflows/approval.test.yaml", TEST),
        ("workflow.schema.json", &schema),
        (".vscode/settings.json", SETTINGS),
        ("deploy.sh", DEPLOY),
        ("README.md", README),
        (".gitignore", IGNORED),
    ];
    let there = files.iter().map(|(name, _)| args.folder.join(name));
    if let Some(there) = there.into_iter().find(|file| file.exists()) {
        let message = format!("{} is there already", there.display());
        return Err(Failure::new(Exit::Conflict, "exists", message)
            .help("name a new folder; nothing was written"));
    }
    for (name, text) in files {
        let file = args.folder.join(name);
        let folder = file.parent().unwrap_or(&args.folder);
        std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e))?;
        std::fs::write(&file, text).map_err(|e| Failure::file(&file, &e))?;
        #[cfg(unix)]
        if name.ends_with(".sh") {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&file, mode).map_err(|e| Failure::file(&file, &e))?;
        }
    }
    screen.value(&json!({ "folder": args.folder, "files": files.map(|(name, _)| name) }));
    for (name, _) in files {
        screen.line(format!("Wrote {}", args.folder.join(name).display()));
    }
    let workflows = args.folder.join("workflows");
    screen.line(format!("Next: dormouse test {}", workflows.display()));
    Ok(Exit::Ok)
}
