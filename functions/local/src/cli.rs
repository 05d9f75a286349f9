//! The command line. Each command is in the file of its name.

mod author;
mod operate;
mod secrets;

use clap::{Args, Parser, Subcommand};

use crate::client::Client;
use crate::command::{
    activity, cancel, cost, doctor, event, export, key as make_key, list, pause, publish, resume,
    run, serve, show, start, studio, task, validate, verify,
};
use crate::exit::{self, Exit};
use crate::failure::Failure;
use crate::key;
use crate::screen::Screen;

/// Run long-running Elsa workflows: a server, and the commands to operate it.
#[derive(Debug, Parser)]
#[command(version, after_long_help = exit::HELP, propagate_version = true, infer_subcommands = true)]
struct Cli {
    #[command(flatten)]
    server: ServerArgs,
    /// Print JSON instead of text. Errors are printed as JSON on standard error
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

/// The server that a command talks to. It may be named before the command or after it.
#[derive(Debug, Default, Args)]
struct ServerArgs {
    /// Address of the server [env: DORMOUSE_URL] [default: http://127.0.0.1:7070]
    #[arg(long)]
    url: Option<String>,
    /// API key to authenticate with [env: DORMOUSE_API_KEY] [default: the key in the data folder of a local server]
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
}

impl ServerArgs {
    /// These options; what they leave out from those before the command, and from the environment.
    fn or(self, before: &Self) -> Self {
        let environment = |name| std::env::var(name).ok().filter(|text| !text.is_empty());
        let url = self.url.or_else(|| before.url.clone());
        let api_key = self.api_key.or_else(|| before.api_key.clone());
        Self {
            url: url.or_else(|| environment("DORMOUSE_URL")),
            api_key: api_key.or_else(|| environment("DORMOUSE_API_KEY")),
        }
    }

    fn client(&self) -> Client {
        let url = self.url.as_deref().unwrap_or("http://127.0.0.1:7070");
        Client::new(url, key::find(self.api_key.as_deref(), url))
    }
}

/// The options of a command that talks to a server.
#[derive(Debug, Args)]
struct Remote<T: Args> {
    #[command(flatten)]
    args: T,
    #[command(flatten)]
    server: ServerArgs,
}

/// A command without options of its own.
#[derive(Debug, Args)]
struct NoArgs {}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a server on this machine
    Serve(Box<serve::ServeArgs>),
    /// Run a definition file without a server, until the instance ends or waits for input
    Run(run::RunArgs),
    #[command(flatten)]
    Author(author::AuthorCommand),
    /// Publish activity types of your own, list and delete them
    #[command(subcommand)]
    Activity(ActivityCommand),
    /// Set, list, revoke and delete the secrets that workflows name
    #[command(subcommand)]
    Secrets(secrets::SecretsCommand),
    /// Upload definition files and publish them
    Publish(Remote<publish::PublishArgs>),
    /// Start an instance of a published definition
    Start(Remote<start::StartArgs>),
    /// Resume an instance at a bookmark
    Resume(Remote<resume::ResumeArgs>),
    /// Send an event to the instances that wait for it
    Event(Remote<event::EventArgs>),
    /// Complete a task that an instance waits for
    #[command(subcommand)]
    Task(TaskCommand),
    /// List instances, definitions or tasks
    List(Remote<list::ListArgs>),
    /// Show an instance: its status, bookmarks and journal
    Show(Remote<show::ShowArgs>),
    /// Cancel instances
    Cancel(Remote<cancel::CancelArgs>),
    /// Pause the runtime: no workflow starts or resumes until `unpause`. Pending work is kept
    Pause(Remote<pause::PauseArgs>),
    /// Resume the runtime after `pause`
    Unpause(Remote<NoArgs>),
    /// Check definition files for errors and warnings, without a server
    Validate(validate::ValidateArgs),
    /// Check a data folder or a DynamoDB table for inconsistencies, and repair them with `--fix`
    Doctor(doctor::DoctorArgs),
    /// Create an API key directly in the data folder or table. Use it for the first key of a shared table
    Key(make_key::KeyArgs),
    /// Test a running cluster: concurrency, timers, caches, failover, restarts and leases
    Verify(Remote<verify::VerifyArgs>),
    /// Estimate the AWS cost of a definition, without a server
    Cost(cost::CostArgs),
    /// Install Elsa Studio for the console of `serve`
    #[command(subcommand)]
    Studio(studio::StudioCommand),
    /// Write a definition or an instance to a file or to standard output
    Export(Remote<export::ExportArgs>),
    #[command(flatten)]
    Operate(operate::OperateCommand),
}

/// Commands for tasks.
#[derive(Debug, Subcommand)]
enum TaskCommand {
    /// Complete a task with its result
    Complete(Remote<task::CompleteArgs>),
    /// Report that a task failed
    Fail(Remote<task::FailArgs>),
}

/// Commands for activity types.
#[derive(Debug, Subcommand)]
enum ActivityCommand {
    /// Publish activity types from files
    Publish(Remote<activity::PublishArgs>),
    /// List the activity types
    List(Remote<NoArgs>),
    /// Show an activity type as JSON
    Show(Remote<activity::ShowArgs>),
    /// Delete an activity type. Published workflows that use it continue
    Delete(Remote<activity::NameArgs>),
}

/// The process, from its arguments to its exit code.
pub(crate) fn main() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too, and are no failure.
            let _nobody_reads = error.print();
            return if error.use_stderr() {
                Exit::BadInput
            } else {
                Exit::Ok
            };
        }
    };
    let screen = Screen::new(cli.json);
    match dispatch(cli.command, &cli.server, &screen) {
        Ok(exit) => exit,
        Err(failure) => {
            failure.tell(cli.json);
            failure.exit
        }
    }
}

fn dispatch(command: Command, before: &ServerArgs, screen: &Screen) -> Result<Exit, Failure> {
    let client = |server: ServerArgs| server.or(before).client();
    match command {
        Command::Operate(command) => operate::dispatch(command, before, screen),
        Command::Serve(args) => serve::serve(*args, screen),
        Command::Run(args) => run::run(args, screen),
        Command::Author(command) => author::dispatch(command, before, screen),
        Command::Validate(args) => validate::validate(&args, screen),
        Command::Studio(command) => studio::studio(&command, screen),
        Command::Doctor(args) => wait(doctor::doctor(&args, screen)),
        Command::Key(args) => wait(make_key::key(&args, screen)),
        Command::Cost(args) => wait(cost::cost(&args, screen)),
        Command::Verify(Remote { args, server }) => {
            let key = server.or(before).api_key;
            wait(verify::verify(&args, key.as_deref(), screen))
        }
        Command::Activity(command) => match command {
            ActivityCommand::Publish(Remote { args, server }) => {
                wait(activity::publish(&args, &client(server), screen))
            }
            ActivityCommand::List(Remote { server, .. }) => {
                wait(activity::list(&client(server), screen))
            }
            ActivityCommand::Show(Remote { args, server }) => {
                wait(activity::show(&args, &client(server), screen))
            }
            ActivityCommand::Delete(Remote { args, server }) => {
                wait(activity::delete(&args, &client(server), screen))
            }
        },
        Command::Secrets(command) => secrets::dispatch(command, before, screen),
        Command::Publish(Remote { args, server }) => {
            wait(publish::publish(&args, &client(server), screen))
        }
        Command::Start(Remote { args, server }) => {
            wait(start::start(&args, &client(server), screen))
        }
        Command::Resume(Remote { args, server }) => {
            wait(resume::resume(&args, &client(server), screen))
        }
        Command::Event(Remote { args, server }) => {
            wait(event::event(&args, &client(server), screen))
        }
        Command::Task(TaskCommand::Complete(Remote { args, server })) => {
            wait(task::complete(&args, &client(server), screen))
        }
        Command::Task(TaskCommand::Fail(Remote { args, server })) => {
            wait(task::fail(&args, &client(server), screen))
        }
        Command::List(Remote { args, server }) => wait(list::list(&args, &client(server), screen)),
        Command::Show(Remote { args, server }) => wait(show::show(&args, &client(server), screen)),
        Command::Cancel(Remote { args, server }) => {
            wait(cancel::cancel(&args, &client(server), screen))
        }
        Command::Pause(Remote { args, server }) => {
            wait(pause::pause(&args, &client(server), screen))
        }
        Command::Unpause(Remote { server, .. }) => wait(pause::unpause(&client(server), screen)),
        Command::Export(Remote { args, server }) => {
            wait(export::export(&args, &client(server), screen))
        }
    }
}

/// Runs a command that talks to a server.
fn wait(work: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(Exit::Failed, "system", format!("cannot begin: {e}")))?;
    runtime.block_on(work)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
