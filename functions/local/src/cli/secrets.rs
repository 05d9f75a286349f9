//! Commands for secrets.

use clap::Subcommand;

use super::{NoArgs, Remote, ServerArgs, wait};
use crate::command::secrets;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Actions on secrets.
#[derive(Debug, Subcommand)]
pub(super) enum SecretsCommand {
    /// Set a secret, or give it another value. The value is read from standard input
    Set(Remote<secrets::SetArgs>),
    /// List secrets without their values
    List(Remote<NoArgs>),
    /// Delete a secret with its value
    Delete(Remote<secrets::NameArgs>),
    /// Revoke a secret: it keeps its name and loses its value for good
    Revoke(Remote<secrets::NameArgs>),
    /// Test if the value of a secret can be read, without showing it
    Test(Remote<secrets::NameArgs>),
    /// Seal all values with another key
    RotateKey(Remote<NoArgs>),
}

/// Carries an action out.
pub(super) fn dispatch(
    command: SecretsCommand,
    before: &ServerArgs,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let client = |server: ServerArgs| server.or(before).client();
    match command {
        SecretsCommand::Set(Remote { args, server }) => {
            wait(secrets::set(&args, &client(server), screen))
        }
        SecretsCommand::List(Remote { server, .. }) => wait(secrets::list(&client(server), screen)),
        SecretsCommand::Delete(Remote { args, server }) => {
            wait(secrets::delete(&args, &client(server), screen))
        }
        SecretsCommand::Revoke(Remote { args, server }) => {
            wait(secrets::revoke(&args, &client(server), screen))
        }
        SecretsCommand::Test(Remote { args, server }) => {
            wait(secrets::test(&args, &client(server), screen))
        }
        SecretsCommand::RotateKey(Remote { server, .. }) => {
            wait(secrets::rotate_key(&client(server), screen))
        }
    }
}
