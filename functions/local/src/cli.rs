//! The command line: what can be asked for. What each command does is in the file of its name.

use clap::{Parser, Subcommand};

use crate::client::Client;
use crate::command::{
    cancel, cost, doctor, event, export, key as make_key, list, pause, publish, resume, run, serve,
    show, start, studio, task, validate, verify,
};
use crate::exit::{self, Exit};
use crate::failure::Failure;
use crate::key;
use crate::screen::Screen;

/// Runs Elsa workflows that last: a server on this machine, and the tools to use one anywhere.
#[derive(Debug, Parser)]
#[command(version, after_long_help = exit::HELP, propagate_version = true, infer_subcommands = true)]
struct Cli {
    /// The server to talk to
    #[arg(
        long,
        global = true,
        env = "DORMOUSE_URL",
        default_value = "http://127.0.0.1:7070"
    )]
    url: String,
    /// The API key to show; without it, the one in the data folder of the server on this machine
    #[arg(
        long,
        global = true,
        value_name = "KEY",
        env = "DORMOUSE_API_KEY",
        hide_env_values = true
    )]
    api_key: Option<String>,
    /// Answer in JSON, for programs; errors are JSON on the error stream then
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a server on this machine
    Serve(Box<serve::ServeArgs>),
    /// Run a definition from a file, without a server, until it finishes or waits
    Run(run::RunArgs),
    /// Save definitions from files and publish them
    Publish(publish::PublishArgs),
    /// Start an instance of a published definition
    Start(start::StartArgs),
    /// Resume an instance at a bookmark
    Resume(resume::ResumeArgs),
    /// Publish an event to everybody who waits for it
    Event(event::EventArgs),
    /// Complete tasks that workflows wait for
    #[command(subcommand)]
    Task(task::TaskCommand),
    /// List instances, or definitions
    List(list::ListArgs),
    /// Show an instance: where it waits, what it did
    Show(show::ShowArgs),
    /// Cancel instances
    Cancel(cancel::CancelArgs),
    /// Keep all workflows from starting and going on, without losing anything
    Pause(pause::PauseArgs),
    /// Let workflows start and go on again
    Unpause,
    /// Tell everything that is wrong with definitions in files, without a server
    Validate(validate::ValidateArgs),
    /// Look for what is wrong in a data folder, and mend it
    Doctor(doctor::DoctorArgs),
    /// Make an API key where no server runs that could: the first one of a table that many share
    Key(make_key::KeyArgs),
    /// Check that a running cluster keeps its promises
    Verify(verify::VerifyArgs),
    /// Tell what a definition would cost on AWS, without a server
    Cost(cost::CostArgs),
    /// Get Elsa Studio for the console of `serve`
    #[command(subcommand)]
    Studio(studio::StudioCommand),
    /// Write a definition to a file or to the standard output
    Export(export::ExportArgs),
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
    match dispatch(cli.command, &cli.url, cli.api_key.as_deref(), &screen) {
        Ok(exit) => exit,
        Err(failure) => {
            failure.tell(cli.json);
            failure.exit
        }
    }
}

fn dispatch(
    command: Command,
    url: &str,
    key: Option<&str>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let client = || Client::new(url, key::find(key, url));
    match command {
        Command::Serve(args) => serve::serve(*args, screen),
        Command::Run(args) => run::run(args, screen),
        Command::Validate(args) => validate::validate(&args, screen),
        Command::Studio(command) => studio::studio(&command, screen),
        Command::Doctor(args) => wait(doctor::doctor(&args, screen)),
        Command::Key(args) => wait(make_key::key(&args, screen)),
        Command::Verify(args) => wait(verify::verify(&args, key, screen)),
        Command::Cost(args) => wait(cost::cost(&args, screen)),
        Command::Publish(args) => wait(publish::publish(&args, &client(), screen)),
        Command::Start(args) => wait(start::start(&args, &client(), screen)),
        Command::Resume(args) => wait(resume::resume(&args, &client(), screen)),
        Command::Event(args) => wait(event::event(&args, &client(), screen)),
        Command::Task(args) => wait(task::task(&args, &client(), screen)),
        Command::List(args) => wait(list::list(&args, &client(), screen)),
        Command::Show(args) => wait(show::show(&args, &client(), screen)),
        Command::Cancel(args) => wait(cancel::cancel(&args, &client(), screen)),
        Command::Pause(args) => wait(pause::pause(&args, &client(), screen)),
        Command::Unpause => wait(pause::unpause(&client(), screen)),
        Command::Export(args) => wait(export::export(&args, &client(), screen)),
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
