//! Why an evaluation gave no value.

/// Why an evaluation gave no value. The texts are shown to the author of the workflow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// The text is not a program.
    #[error("{message}")]
    Syntax {
        /// What is wrong.
        message: String,
        /// The line, from 1, where known.
        line: Option<u32>,
    },
    /// The script threw.
    #[error("{message}")]
    Thrown {
        /// What it threw.
        message: String,
        /// The script's own stack, where there is one.
        stack: Option<String>,
    },
    /// A limit was reached.
    #[error("the expression was stopped: it reached the limit {limit} = {value}")]
    Limit {
        /// The limit's name in [`crate::Limits`].
        limit: &'static str,
        /// The limit's value.
        value: u64,
    },
}
