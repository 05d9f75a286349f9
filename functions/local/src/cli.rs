//! The command line: what can be asked for. What each command does is in the file of its name.

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

/// Runs Elsa workflows that last: a server on this machine, and the tools to use one anywhere.
#[derive(Debug, Parser)]
#[command(version, after_long_help = exit::HELP, propagate_version = true, infer_subcommands = true)]
struct Cli {
    #[command(flatten)]
    server: ServerArgs,
    /// Answer in JSON, for programs; errors are JSON on the error stream then
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

/// The server that a command talks to. It may be named before the command or after it.
#[derive(Debug, Default, Args)]
struct ServerArgs {
    /// Server to talk to [env: DORMOUSE_URL] [default: http://127.0.0.1:7070]
    #[arg(long)]
    url: Option<String>,
    /// API key to authenticate with [env: DORMOUSE_API_KEY] [default: that of the server on this machine]
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
    /// Run a definition from a file, without a server, until it finishes or waits
    Run(run::RunArgs),
    /// Publish activity types of your own, and see which there are
    #[command(subcommand)]
    Activity(ActivityCommand),
    /// Save definitions from files and publish them
    Publish(Remote<publish::PublishArgs>),
    /// Start an instance of a published definition
    Start(Remote<start::StartArgs>),
    /// Resume an instance at a bookmark
    Resume(Remote<resume::ResumeArgs>),
    /// Publish an event to everybody who waits for it
    Event(Remote<event::EventArgs>),
    /// Complete tasks that workflows wait for
    #[command(subcommand)]
    Task(TaskCommand),
    /// List instances, or definitions
    List(Remote<list::ListArgs>),
    /// Show an instance: where it waits, what it did
    Show(Remote<show::ShowArgs>),
    /// Cancel instances
    Cancel(Remote<cancel::CancelArgs>),
    /// Pause the runtime: no workflow starts or resumes until `unpause`. Pending work is kept
    Pause(Remote<pause::PauseArgs>),
    /// End a pause
    Unpause(Remote<NoArgs>),
    /// Tell everything that is wrong with definitions in files, without a server
    Validate(validate::ValidateArgs),
    /// Look for what is wrong in a data folder, and mend it
    Doctor(doctor::DoctorArgs),
    /// Make an API key where no server runs that could: the first one of a table that many share
    Key(make_key::KeyArgs),
    /// Check that a running cluster keeps its promises
    Verify(Remote<verify::VerifyArgs>),
    /// Tell what a definition would cost on AWS, without a server
    Cost(cost::CostArgs),
    /// Get Elsa Studio for the console of `serve`
    #[command(subcommand)]
    Studio(studio::StudioCommand),
    /// Write a definition to a file or to the standard output
    Export(Remote<export::ExportArgs>),
}

/// What to do with tasks.
#[derive(Debug, Subcommand)]
enum TaskCommand {
    /// Complete a task with its result
    Complete(Remote<task::CompleteArgs>),
}

/// What to do with activity types.
#[derive(Debug, Subcommand)]
enum ActivityCommand {
    /// Publish activity types from files
    Publish(Remote<activity::PublishArgs>),
    /// List the activity types
    List(Remote<NoArgs>),
    /// Show an activity type as JSON
    Show(Remote<activity::ShowArgs>),
    /// Delete an activity type. Published workflows that use it go on
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
        Command::Serve(args) => serve::serve(*args, screen),
        Command::Run(args) => run::run(args, screen),
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
