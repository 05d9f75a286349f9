//! Options of `serve` and `run` for handlers of activity types on this machine.

use std::sync::Arc;

use clap::Args;
use dormouse_runtime::port::{Commands, Functions};

#[cfg(not(feature = "aws"))]
use crate::exit::Exit;
use crate::failure::Failure;
use crate::server::Processes;

/// Permissions of handlers.
#[derive(Debug, Args)]
pub(crate) struct HandlerArgs {
    /// Let activity types run commands on this machine, with the rights of this process: for trying things, among people who
    /// trust each other
    #[arg(long)]
    allow_commands: bool,
    /// Let activity types invoke this function of AWS Lambda: a name or an ARN, in which `*` stands for any characters.
    /// Repeatable. Region and credentials come from the AWS environment
    #[arg(
        long,
        value_name = "FUNCTION",
        env = "DORMOUSE_LAMBDA_FUNCTIONS",
        value_delimiter = ','
    )]
    allow_lambda: Vec<String>,
}

impl HandlerArgs {
    /// Runner of commands, if they are allowed.
    pub(crate) fn commands(&self) -> Option<Arc<dyn Commands>> {
        self.allow_commands
            .then(|| Arc::new(Processes::new()) as Arc<dyn Commands>)
    }

    /// Functions of AWS Lambda, if some are allowed.
    #[cfg(feature = "aws")]
    pub(crate) async fn functions(&self) -> Result<Option<Arc<dyn Functions>>, Failure> {
        let allowed = self.allowed();
        if allowed.is_empty() {
            return Ok(None);
        }
        let aws = dormouse_aws::config::AwsConfig::from_environment().await;
        Ok(dormouse_aws::lambda_functions::LambdaFunctions::port(
            &aws, &allowed,
        ))
    }

    /// Functions of AWS Lambda, which this build cannot invoke.
    #[cfg(not(feature = "aws"))]
    #[allow(clippy::unused_async, reason = "it waits where AWS is")]
    pub(crate) async fn functions(&self) -> Result<Option<Arc<dyn Functions>>, Failure> {
        if self.allowed().is_empty() {
            return Ok(None);
        }
        let message = "this build has no client of AWS, so it invokes no functions";
        let failure = Failure::new(Exit::BadInput, "badOptions", message);
        Err(failure.help("build it with `--features aws`, or leave --allow-lambda out"))
    }

    /// An empty variable names nothing.
    fn allowed(&self) -> Vec<String> {
        let named = self.allow_lambda.iter().map(|name| name.trim());
        let named = named.filter(|name| !name.is_empty());
        named.map(str::to_owned).collect()
    }
}
