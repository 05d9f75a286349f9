//! Result of a check, and the commands that it needs.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It holds, as this shows.
    Passed(String),
    /// It does not, as this shows.
    Failed(String),
    /// It was not looked at, because of this.
    Skipped(String),
}

/// A check that was done.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    pub(super) took: Duration,
}

impl Checked {
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.verdict, Verdict::Failed(_))
    }

    fn words(&self) -> (&'static str, &str) {
        match &self.verdict {
            Verdict::Passed(detail) => ("passed", detail),
            Verdict::Failed(detail) => ("failed", detail),
            Verdict::Skipped(detail) => ("skipped", detail),
        }
    }

    pub(super) fn row(&self, screen: &Screen) -> [String; 3] {
        let (verdict, detail) = self.words();
        let painted = match &self.verdict {
            Verdict::Passed(_) => screen.status("Finished").replace("Finished", verdict),
            Verdict::Failed(_) => screen.status("Faulted").replace("Faulted", verdict),
            Verdict::Skipped(_) => screen.dim(verdict),
        };
        let name = format!("  {:<19}", self.name);
        [name, painted, detail.to_owned()]
    }

    pub(super) fn json(&self) -> Value {
        let (verdict, detail) = self.words();
        let ms = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX);
        json!({ "name": self.name, "verdict": verdict, "detail": detail, "tookMs": ms })
    }
}

/// Runs a command of the shell to its end.
pub(super) async fn shell(command: &str) -> Result<(), Failure> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    // What it starts may live on, and must not hold what reads our output.
    shell.stdin(Stdio::null()).stdout(Stdio::null());
    let ended = tokio::task::spawn_blocking(move || shell.status()).await;
    let wrong = |why: String| {
        let message = format!("the command `{command}` {why}");
        Failure::new(Exit::BadInput, "command", message)
    };
    match ended {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(wrong(format!("ended with {status}"))),
        Ok(Err(error)) => Err(wrong(format!("cannot be run: {error}"))),
        Err(error) => Err(wrong(format!("cannot be run: {error}"))),
    }
}
