//! Functions of AWS Lambda that are handlers of activities.

use async_trait::async_trait;

/// Result of an invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FunctionAnswer {
    /// The function has returned this.
    Done(Vec<u8>),
    /// The function has thrown, or could not be invoked.
    Failed {
        /// A stable name.
        kind: String,
        /// A sentence.
        message: String,
        /// Whether another attempt may fare better.
        is_retryable: bool,
    },
    /// There was no answer in time.
    TimedOut,
    /// The answer has more bytes than are taken.
    TooLong,
}

/// Invokes functions of AWS Lambda.
#[async_trait]
pub trait Functions: Send + Sync + 'static {
    /// Whether the configuration allows this name or ARN.
    fn allows(&self, function: &str) -> bool;

    /// Invokes a function and waits for its answer at most `timeout_ms`. One that is not allowed is not invoked.
    async fn invoke(
        &self,
        function: &str,
        input: Vec<u8>,
        timeout_ms: u64,
        bytes_max: usize,
    ) -> FunctionAnswer;
}

/// What is said of a function that the configuration does not name.
pub(crate) fn not_allowed(function: &str) -> String {
    format!(
        "the function `{function}` may not be invoked here; name it with --allow-lambda, DORMOUSE_LAMBDA_FUNCTIONS or the parameter LambdaFunctions"
    )
}
