//! Commands for those who look after instances.

use clap::Subcommand;

use super::{Remote, ServerArgs, wait};
use crate::command::{
    alter, backup, dead_letters, delete, import, incidents, logs, retry, schedules, watch,
};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

#[derive(Debug, Subcommand)]
pub(super) enum OperateCommand {
    /// Run faulted activities of instances again
    Retry(Remote<retry::RetryArgs>),
    /// List incidents
    Incidents(Remote<incidents::IncidentsArgs>),
    /// List, replay or delete dead letters
    #[command(subcommand)]
    DeadLetters(DeadLettersCommand),
    /// List schedules and timers, or skip an occurrence
    #[command(subcommand)]
    Schedules(SchedulesCommand),
    /// Change instances: version, variables, activities
    Alter(Remote<alter::AlterArgs>),
    /// Delete instances or a definition
    #[command(subcommand)]
    Delete(DeleteCommand),
    /// Retract a definition: it cannot be started any more, and its instances continue
    Retract(Remote<delete::RetractArgs>),
    /// Import instances that `dormouse export --instance` wrote
    Import(Remote<import::ImportArgs>),
    /// Print changes of instances as they happen
    Watch(Remote<watch::WatchArgs>),
    /// Print the journal of an instance
    Logs(Remote<logs::LogsArgs>),
    /// Copy a data folder as it is at this moment. The server may be running
    Backup(backup::BackupArgs),
    /// Make a data folder of a backup
    Restore(backup::RestoreArgs),
}

/// Actions on dead letters.
#[derive(Debug, Subcommand)]
pub(super) enum DeadLettersCommand {
    /// List dead letters, newest first
    List(Remote<dead_letters::DeadLettersListArgs>),
    /// Deliver dead letters again
    Replay(Remote<dead_letters::ReplayArgs>),
    /// Delete dead letters
    Delete(Remote<dead_letters::DeadLettersDeleteArgs>),
}

/// Actions on schedules.
#[derive(Debug, Subcommand)]
pub(super) enum SchedulesCommand {
    /// List recurring triggers with their next occurrences
    List(Remote<schedules::SchedulesListArgs>),
    /// List the timers that instances wait for, soonest first
    Timers(Remote<schedules::TimersArgs>),
    /// Skip the next occurrence of a schedule
    Skip(Remote<schedules::SkipArgs>),
}

/// Kinds of items to delete.
#[derive(Debug, Subcommand)]
pub(super) enum DeleteCommand {
    /// Delete instances with their history
    Instances(Remote<delete::DeleteInstancesArgs>),
    /// Delete a definition or one of its versions
    Definition(Remote<delete::DeleteDefinitionArgs>),
}

pub(super) fn dispatch(
    command: OperateCommand,
    before: &ServerArgs,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let client = |server: ServerArgs| server.or(before).client();
    match command {
        OperateCommand::Retry(Remote { args, server }) => {
            wait(retry::retry(&args, &client(server), screen))
        }
        OperateCommand::Incidents(Remote { args, server }) => {
            wait(incidents::incidents(&args, &client(server), screen))
        }
        OperateCommand::DeadLetters(command) => match command {
            DeadLettersCommand::List(Remote { args, server }) => {
                wait(dead_letters::list(&args, &client(server), screen))
            }
            DeadLettersCommand::Replay(Remote { args, server }) => {
                wait(dead_letters::replay(&args, &client(server), screen))
            }
            DeadLettersCommand::Delete(Remote { args, server }) => {
                wait(dead_letters::delete(&args, &client(server), screen))
            }
        },
        OperateCommand::Schedules(command) => match command {
            SchedulesCommand::List(Remote { args, server }) => {
                wait(schedules::list(&args, &client(server), screen))
            }
            SchedulesCommand::Timers(Remote { args, server }) => {
                wait(schedules::timers(&args, &client(server), screen))
            }
            SchedulesCommand::Skip(Remote { args, server }) => {
                wait(schedules::skip(&args, &client(server), screen))
            }
        },
        OperateCommand::Alter(Remote { args, server }) => {
            wait(alter::alter(&args, &client(server), screen))
        }
        OperateCommand::Delete(command) => match command {
            DeleteCommand::Instances(Remote { args, server }) => {
                wait(delete::instances(&args, &client(server), screen))
            }
            DeleteCommand::Definition(Remote { args, server }) => {
                wait(delete::definition(&args, &client(server), screen))
            }
        },
        OperateCommand::Retract(Remote { args, server }) => {
            wait(delete::retract(&args, &client(server), screen))
        }
        OperateCommand::Import(Remote { args, server }) => {
            wait(import::import(&args, &client(server), screen))
        }
        OperateCommand::Watch(Remote { args, server }) => {
            wait(watch::watch(&args, &client(server), screen))
        }
        OperateCommand::Logs(Remote { args, server }) => {
            wait(logs::logs(&args, &client(server), screen))
        }
        OperateCommand::Backup(args) => wait(backup::backup(&args, screen)),
        OperateCommand::Restore(args) => wait(backup::restore(&args, screen)),
    }
}
