//! `dormouse studio`: Elsa Studio comes from npm, at set-up, and is never part of this program.

use std::path::Path;
use std::process::{Command, Stdio};

use clap::Subcommand;
use dormouse_console::{MANIFEST, PACKAGE, Studio};
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::server::StudioArgs;

/// Commands for Elsa Studio.
#[derive(Debug, Subcommand)]
pub(crate) enum StudioCommand {
    /// Install Elsa Studio with npm: a download of about 50 MB, 93 MB on disk
    Install(StudioArgs),
}

/// Does it.
pub(crate) fn studio(command: &StudioCommand, screen: &Screen) -> Result<Exit, Failure> {
    let StudioCommand::Install(args) = command;
    let folder = &args.studio;
    std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e))?;
    for (name, text) in MANIFEST {
        let file = folder.join(name);
        std::fs::write(&file, text).map_err(|e| Failure::file(&file, &e))?;
    }
    screen.line(format!("Fetching {PACKAGE} from npm …"));
    install(folder)?;
    let found = Studio::find(folder).ok_or_else(|| {
        let message = format!("npm has left no {PACKAGE} in {}", folder.display());
        Failure::new(Exit::Failed, "npm", message)
    })?;
    let version = found.version();
    screen.value(&json!({ "package": PACKAGE, "version": version, "folder": folder }));
    screen.line(format!(
        "Installed {PACKAGE} {version} in {}. Start the server (again), and open /workflows/definitions",
        folder.display()
    ));
    Ok(Exit::Ok)
}

/// Exactly the version of the lock file, checked against its hash. No script of the package runs.
fn install(folder: &Path) -> Result<(), Failure> {
    let npm = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    let help = "npm comes with Node.js; it must reach a registry";
    let ran = npm.map_err(|e| {
        Failure::new(Exit::Failed, "npm", format!("npm cannot be run: {e}")).help(help)
    })?;
    if ran.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&ran.stderr);
    let message = format!("npm has failed: {}", told.trim());
    Err(Failure::new(Exit::Failed, "npm", message).help(help))
}
