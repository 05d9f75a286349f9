//! Commands for those who write workflows.

use clap::{CommandFactory, Subcommand};

use super::{Cli, Remote, ServerArgs, wait};
use crate::command::{apply, generate, init, lint, schema, test};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

#[derive(Debug, Subcommand)]
pub(super) enum AuthorCommand {
    /// Run workflow tests from files, with virtual time and without a server
    Test(Remote<test::TestArgs>),
    /// Look for what is valid and probably not meant in definitions, without a server
    Lint(lint::LintArgs),
    /// Make the server's definitions those of a folder
    Apply(Remote<apply::ApplyArgs>),
    /// Print the JSON Schema of definitions, for editors
    Schema(schema::SchemaArgs),
    /// Make a project folder: a workflow, its test, a script that deploys, the editor's schema
    Init(init::InitArgs),
    /// Print the script that completes commands in a shell
    Completions(generate::CompletionsArgs),
    /// Write man pages
    Man(generate::ManArgs),
}

pub(super) fn dispatch(
    command: AuthorCommand,
    before: &ServerArgs,
    screen: &Screen,
) -> Result<Exit, Failure> {
    match command {
        AuthorCommand::Test(Remote { args, server }) => match &args.from_instance {
            Some(id) => wait(test::from_instance(id, &server.or(before).client(), screen)),
            None => test::test(&args, screen),
        },
        AuthorCommand::Lint(args) => lint::lint(&args, screen),
        AuthorCommand::Apply(Remote { args, server }) => {
            wait(apply::apply(&args, &server.or(before).client(), screen))
        }
        AuthorCommand::Schema(args) => schema::schema(&args, screen),
        AuthorCommand::Init(args) => init::init(&args, screen),
        AuthorCommand::Completions(args) => generate::completions(&args, Cli::command(), screen),
        AuthorCommand::Man(args) => generate::man(&args, Cli::command(), screen),
    }
}
