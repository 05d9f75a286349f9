//! Commands that are handlers of activities.

use async_trait::async_trait;

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandAnswer {
    /// It ended well; what it wrote.
    Done(Vec<u8>),
    /// It ended otherwise, or never began.
    Failed {
        /// Why, in a sentence.
        message: String,
    },
    /// It was stopped because it took too long.
    TimedOut,
    /// It was stopped because it wrote more than is taken.
    TooLong,
}

/// Runs commands on this machine.
#[async_trait]
pub trait Commands: Send + Sync + 'static {
    /// Runs a program with arguments, gives it a text to read, and waits for its end at most `timeout_ms`. It is
    /// stopped where it writes more than `bytes_max`.
    async fn run(
        &self,
        command: &[String],
        input: Vec<u8>,
        timeout_ms: u64,
        bytes_max: usize,
    ) -> CommandAnswer;
}
