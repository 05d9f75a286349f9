//! What the process's exit code means. Stable, for scripts decide by it.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// As asked.
    Ok = 0,
    /// The workflow failed or was cancelled, or the server failed.
    Failed = 1,
    /// The input is wrong: an option, a file, a definition, a value.
    BadInput = 2,
    /// No server answers.
    Unreachable = 3,
    /// Not now: resumed already, in progress, refused while another runs, a port or folder in use.
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
  0  as asked
  1  the workflow failed or was cancelled, or the server failed
  2  wrong input: an option, a file, a definition, a value
  3  no server answers
  4  not now: resumed already, in progress, refused while another runs, a port or data folder in use
  5  no such definition, instance or task
  6  the data folder or the table cannot be used: it is damaged, full, or not there
  7  the server differs from the folder (apply --dry-run)";

impl Exit {
    /// What an HTTP status of the server means for the exit code.
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
