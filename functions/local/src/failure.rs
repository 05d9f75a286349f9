//! Why a command did not do what it was asked: a sentence for people, a code for programs, and what to do.

use std::io::Write;

use dormouse_runtime::{RuntimeError, StoreError, TableError};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::screen::one_line;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Stable, for programs. The server's own code where it refused.
    pub(crate) code: String,
    /// Message that names the thing and the reason.
    pub(crate) message: String,
    /// Remedy, if the message does not contain it.
    pub(crate) help: Option<String>,
    /// Problems of the definition that was refused.
    pub(crate) problems: Vec<Value>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, code: &str, message: impl Into<String>) -> Self {
        Self {
            exit,
            code: code.to_owned(),
            message: message.into(),
            help: None,
            problems: Vec::new(),
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: &std::path::Path, error: &std::io::Error) -> Self {
        let message = format!("{}: {error}", path.display());
        Self::new(Exit::BadInput, "file", message)
    }

    /// The operating system gives no threads, signals or the like.
    #[allow(clippy::needless_pass_by_value, reason = "an argument of map_err")]
    pub(crate) fn system(error: std::io::Error) -> Self {
        Self::new(Exit::Failed, "system", format!("cannot begin: {error}"))
    }

    /// The server's problem JSON.
    pub(crate) fn problem(status: u16, problem: &Value) -> Self {
        let text = |name: &str| problem.get(name).and_then(Value::as_str);
        let message = text("detail")
            .or(text("title"))
            .map_or_else(|| format!("the server answered {status}"), str::to_owned);
        let code = text("code").unwrap_or("refused");
        let mut failure = Self::new(Exit::of_status(status), code, message);
        let problems = problem.get("problems").and_then(Value::as_array);
        failure.problems = problems.cloned().unwrap_or_default();
        match code {
            "paused" => failure.help("to end the pause: dormouse unpause"),
            _ => failure,
        }
    }

    /// A use case that failed in this process.
    pub(crate) fn runtime(error: &RuntimeError) -> Self {
        let is_full = matches!(
            error,
            RuntimeError::Store(StoreError::Table(TableError::Full(_)))
        );
        let is_unusable = matches!(
            error,
            RuntimeError::Store(StoreError::Table(TableError::Unusable(..)))
        );
        let (exit, code) = match (is_full, is_unusable) {
            (true, _) => (Exit::Storage, "diskFull"),
            (_, true) => (Exit::Storage, "folderUnusable"),
            _ if error.is_busy() => (Exit::Conflict, "busy"),
            _ => (Exit::Failed, "failed"),
        };
        Self::new(exit, code, error.to_string())
    }

    /// Writes it to the error stream.
    pub(crate) fn tell(&self, as_json: bool) {
        let mut err = std::io::stderr().lock();
        let plain = |text: &str| {
            text.split('\n')
                .map(one_line)
                .collect::<Vec<_>>()
                .join("\n")
        };
        let message = plain(&self.message);
        let _nobody_reads = if as_json {
            let body = json!({ "code": self.code, "message": self.message, "help": self.help });
            writeln!(err, "{}", json!({ "error": body }))
        } else {
            match &self.help {
                None => writeln!(err, "error: {message}"),
                Some(help) => writeln!(err, "error: {message}\n  help: {}", plain(help)),
            }
        };
    }
}
