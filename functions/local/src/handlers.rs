//! Options of `serve` and `run` for handlers of activity types on this machine.

use std::sync::Arc;

use clap::Args;
use dormouse_runtime::port::Commands;

use crate::server::Processes;

/// Permissions of handlers.
#[derive(Debug, Args)]
pub(crate) struct HandlerArgs {
    /// Let activity types run commands on this machine, with the rights of this process: for trying things, among people who
    /// trust each other
    #[arg(long)]
    allow_commands: bool,
}

impl HandlerArgs {
    /// Runner of commands, if they are allowed.
    pub(crate) fn commands(&self) -> Option<Arc<dyn Commands>> {
        self.allow_commands
            .then(|| Arc::new(Processes::new()) as Arc<dyn Commands>)
    }
}
