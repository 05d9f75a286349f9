//! `dormouse completions` and `dormouse man`

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// The completions to print.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// The folder for man pages.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder to write the pages to; made if it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints the script that completes commands and options in a shell.
pub(crate) fn completions(
    args: &CompletionsArgs,
    mut command: Command,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "dormouse", &mut script);
    let script = String::from_utf8_lossy(&script);
    screen.value(&json!({ "shell": args.shell.to_string(), "script": script }));
    screen.text(&script);
    Ok(Exit::Ok)
}

/// Writes a man page for each command.
pub(crate) fn man(args: &ManArgs, command: Command, screen: &Screen) -> Result<Exit, Failure> {
    let folder = &args.folder;
    let failed = |e: &std::io::Error| Failure::file(folder, e);
    std::fs::create_dir_all(folder).map_err(|e| failed(&e))?;
    clap_mangen::generate_to(command, folder).map_err(|e| failed(&e))?;
    screen.value(&json!({ "folder": folder }));
    let shown = folder.display();
    screen.line(format!(
        "Wrote the pages to {shown}; read one: man -l {shown}/dormouse.1"
    ));
    Ok(Exit::Ok)
}
