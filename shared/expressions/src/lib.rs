//! JavaScript and Liquid over workflow data, within limits of work, memory, depth and output.
//!
//! A script sees what its [`Scope`] shows it and nothing else: no clock, no randomness, no files, no network
//! but what the scope hands in. The same script over the same scope gives the same value, always.

use serde_json::Value;

/// The languages that run here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// JavaScript as Elsa's expressions use it.
    JavaScript,
    /// Liquid as Elsa's expressions use it.
    Liquid,
}

/// A checked script, ready to run on any thread. Cheap to clone (an `Arc` inside).
#[derive(Debug, Clone)]
pub struct Script {
    /// What it is written in.
    pub language: Language,
    /// The text.
    pub source: std::sync::Arc<str>,
}

/// Who is running: Elsa's identity functions read it.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// The definition's id.
    pub definition_id: String,
    /// The version's id.
    pub definition_version_id: String,
    /// The version's number.
    pub definition_version: u32,
    /// The instance's id.
    pub instance_id: String,
    /// The instance's correlation id.
    pub correlation_id: Option<String>,
    /// The instance's name.
    pub name: Option<String>,
}

/// What a script sees and may change. Implemented by the engine over the running activity.
pub trait Scope {
    /// Ids, correlation id and name of the instance.
    fn identity(&self) -> Identity;
    /// `setCorrelationId`.
    fn set_correlation_id(&mut self, id: Option<String>);
    /// `setWorkflowInstanceName`.
    fn set_name(&mut self, name: Option<String>);
    /// The variable of that exact name nearest to the running activity; `None`: there is no such variable.
    fn variable(&self, name: &str) -> Option<Value>;
    /// Names of all variables in scope, nearest first.
    fn variable_names(&self) -> Vec<String>;
    /// Sets a variable, or makes a dynamic one on the nearest container.
    fn set_variable(&mut self, name: &str, value: Value);
    /// A workflow input (inside a composite: the same-named variable first). `None`: not given.
    fn input(&self, name: &str) -> Option<Value>;
    /// Names of the workflow's declared and given inputs.
    fn input_names(&self) -> Vec<String>;
    /// Whether `name` is an input of the running *workflow* (then `variables.name` is not written back).
    fn is_input(&self, name: &str) -> bool {
        self.input_names().iter().any(|n| n == name)
    }
    /// `(activity, output name)` pairs with a generated accessor `get<Output>From<Activity>()`; `activity` is
    /// the activity's name (modern tool version) or id (older), as the definition wants it.
    fn output_names(&self) -> Vec<(String, String)>;
    /// The first recorded value of an activity's output, by activity id or name; default output `Result`.
    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value>;
    /// The last recorded output named `Result`.
    fn last_result(&self) -> Option<Value>;
    /// `args.<name>` and `get<Arg>()`: extra arguments of this evaluation (BulkDispatch's correlation function).
    fn arguments(&self) -> Vec<(String, Value)> {
        Vec::new()
    }
    /// `setOutcome`, `setOutcomes` of RunJavaScript; ignored elsewhere.
    fn set_outcomes(&mut self, _outcomes: Vec<String>) {}
    /// The time given to the instance for this burst, milliseconds since 1970 (`Date.now()`, `new Date()`).
    fn now_ms(&self) -> i64;
    /// The next number of the instance's own deterministic sequence (`Math.random()`, `newGuid()`).
    fn random(&mut self) -> u64;
    /// Configuration a host allows scripts to read (`getConfig`, Liquid `Configuration`).
    fn configuration(&self, _path: &str) -> Option<Value> {
        None
    }
}

/// How far one evaluation may go.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Work, counted by the interpreter in its own steps of about ten thousand operations: the same on every machine.
    pub steps_max: u64,
    /// Heap of the interpreter, bytes.
    pub memory_bytes_max: usize,
    /// Stack of the interpreter, bytes.
    pub stack_bytes_max: usize,
    /// Size of the result as JSON, bytes.
    pub output_bytes_max: usize,
    /// A last resort in real time, milliseconds; only reached where the counted work is slow.
    pub time_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps_max: 100_000,
            memory_bytes_max: 64 << 20,
            stack_bytes_max: 512 << 10,
            output_bytes_max: 4 << 20,
            time_ms_max: 30_000,
        }
    }
}

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
        /// The limit's name in [`Limits`].
        limit: &'static str,
        /// The limit's value.
        value: u64,
    },
}
