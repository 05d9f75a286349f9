//! Exit codes of the process. They are stable, because scripts depend on them.

/// Result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Ok = 0,
    /// The workflow faulted or was cancelled, or the server failed.
    Failed = 1,
    /// The input is wrong: an option, a file, a definition, a value.
    BadInput = 2,
    /// No server answers.
    Unreachable = 3,
    /// A conflict: already resumed, in progress, another instance is running, a port or folder is in use.
    Conflict = 4,
    /// There is no such definition, instance or task.
    NotFound = 5,
    /// The data folder or the table cannot be used: damaged, full, or not there.
    Storage = 6,
    /// The server differs from the folder (`apply --dry-run`).
    Differs = 7,
}

/// For `dormouse --help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0  success
  1  the workflow faulted or was cancelled, or the server failed
  2  invalid input: an option, a file, a definition or a value
  3  no server answers
  4  conflict: already resumed, in progress, another instance is running, a port or data folder is in use
  5  not found: no such definition, instance or task
  6  storage error: the data folder or the table is damaged, full or missing
  7  difference: the server differs from the folder (apply --dry-run)";

impl Exit {
    /// Exit code for an HTTP status of the server.
    pub(crate) fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Ok,
            404 | 410 => Self::NotFound,
            409 | 423 | 429 | 503 => Self::Conflict,
            507 => Self::Storage,
            400..=499 => Self::BadInput,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
