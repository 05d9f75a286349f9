#![doc = include_str!("README.md")]

mod answer;
mod name;
mod read;
mod reader;

pub use answer::{Answer, Failure, misfit};
pub use name::{is_function_name, is_match, is_queue_name, is_type_name, script};
pub use read::read;
pub(crate) use read::{TIMEOUT_MS_MAX, retry};
pub use reader::Flaw;

use crate::activity::Descriptor;
use crate::definition::data_type::DataType;

/// The most bytes of a type as JSON, its script included.
pub const TYPE_BYTES_MAX: usize = 65_536;
/// The most bytes of an answer of a handler as JSON.
pub const ANSWER_BYTES_MAX: usize = 4_194_304;
/// How long an attempt may take where the type does not say, in ms.
pub const TIMEOUT_MS: i64 = 300_000;

/// An activity type in one version.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityType {
    /// The name, such as `Acme.ChargeCard`.
    pub type_name: String,
    /// The version, from 1.
    pub version: u32,
    /// Where the toolbox shows it.
    pub category: String,
    /// The name shown.
    pub display_name: String,
    /// What it does.
    pub description: String,
    /// What is drawn for it.
    pub icon: Option<String>,
    /// What it is given.
    pub inputs: Vec<TypeInput>,
    /// What it gives.
    pub outputs: Vec<TypeOutput>,
    /// The ways out; empty: `Done`.
    pub outcomes: Vec<String>,
    /// Who does it.
    pub handler: Handler,
    /// How long an attempt may take, in ms.
    pub timeout_ms: i64,
    /// How long nothing may be heard of an attempt, in ms. `None`: as long as it may take.
    pub heartbeat_ms: Option<i64>,
    /// What happens when it fails.
    pub retry: Retry,
}

/// An input of a type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeInput {
    /// The name as its handler has it.
    pub name: String,
    /// The name in an activity's JSON (camelCase).
    pub property: String,
    /// Its type.
    pub data_type: DataType,
    /// Elsa's name of the type.
    pub type_name: String,
    /// What it means.
    pub description: String,
    /// Studio's editor for it.
    pub ui_hint: Option<&'static str>,
    /// The value where none is given.
    pub default: serde_json::Value,
    /// Whether there must be a value.
    pub is_required: bool,
    /// Never logged.
    pub is_sensitive: bool,
}

/// An output of a type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeOutput {
    /// The name as its handler gives it.
    pub name: String,
    /// The name in an activity's JSON (camelCase).
    pub property: String,
    /// Its type.
    pub data_type: DataType,
    /// Elsa's name of the type.
    pub type_name: String,
    /// What it means.
    pub description: String,
}

/// Who does the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handler {
    /// An address that is sent a signed request.
    Http {
        /// Where to.
        url: String,
    },
    /// A script in the sandbox. It is part of the step.
    JavaScript {
        /// The script, with an `export default`.
        source: String,
    },
    /// Whoever asks for work of a queue.
    Worker {
        /// The queue.
        queue: String,
    },
    /// A function of AWS Lambda.
    Lambda {
        /// Its name or ARN, with or without a version or alias.
        function: String,
    },
    /// A process beside the server.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
    },
}

impl Handler {
    /// Its name in JSON.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Http { .. } => "http",
            Self::JavaScript { .. } => "javascript",
            Self::Worker { .. } => "worker",
            Self::Lambda { .. } => "lambda",
            Self::Command { .. } => "command",
        }
    }
}

/// When a failed attempt is followed by another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// Attempts in all.
    pub attempts_max: u32,
    /// The pause after the first one, in ms.
    pub interval_ms: i64,
    /// By how much each pause is longer than the one before.
    pub backoff: f64,
    /// Whether pauses are spread, from half to one and a half times as long.
    pub has_jitter: bool,
    /// No pause is longer, in ms.
    pub interval_ms_max: i64,
    /// Types of errors that are final; `*` stands for any characters.
    pub not: Vec<String>,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts_max: 1,
            interval_ms: 1_000,
            backoff: 2.0,
            has_jitter: true,
            interval_ms_max: 60_000,
            not: Vec::new(),
        }
    }
}

impl Retry {
    /// Whether another attempt follows one (from 1) that failed so.
    #[must_use]
    pub fn is_worth_another(&self, attempt: u32, failure: &Failure) -> bool {
        let is_final = !failure.is_retryable || self.not.iter().any(|p| is_match(p, &failure.kind));
        !is_final && attempt < self.attempts_max
    }

    /// The pause after an attempt (from 1) that failed, in ms. `None`: it was the last one, or the failure is final.
    #[must_use]
    pub fn pause_ms(&self, attempt: u32, failure: &Failure, random: u64) -> Option<i64> {
        if !self.is_worth_another(attempt, failure) {
            return None;
        }
        let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "what is too large is the greatest, and bounded next"
        )]
        let pause = (self.interval_ms as f64 * self.backoff.powi(exponent)) as i64;
        let mut pause = pause.clamp(0, self.interval_ms_max);
        if self.has_jitter {
            let spread = i64::try_from(random % 1_001).unwrap_or(0);
            pause = pause / 2 + pause / 1_000 * spread + pause % 1_000 * spread / 1_000;
        }
        Some(pause.min(self.interval_ms_max))
    }
}

impl ActivityType {
    /// What it looks like to Studio and to the builder of graphs.
    #[must_use]
    pub fn descriptor(&self) -> Descriptor {
        let mut descriptor = Descriptor::new(&self.type_name, &self.category, &self.description);
        if !self.display_name.is_empty() {
            descriptor.display_name.clone_from(&self.display_name);
        }
        descriptor.version = self.version;
        descriptor.outcomes.clone_from(&self.outcomes);
        for input in &self.inputs {
            descriptor = descriptor
                .input(&input.property, &input.type_name, &input.description)
                .default_value(input.default.clone());
            if let Some(hint) = input.ui_hint {
                descriptor = descriptor.hint(hint);
            }
            if input.is_sensitive {
                descriptor = descriptor.sensitive();
            }
        }
        for output in &self.outputs {
            descriptor =
                descriptor.output(&output.property, &output.type_name, &output.description);
        }
        descriptor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_bound_and_end() {
        let retry = Retry {
            attempts_max: 5,
            interval_ms: 500,
            backoff: 3.0,
            has_jitter: false,
            interval_ms_max: 4_000,
            not: vec!["Declined".into()],
        };
        let failure = Failure::new("Busy", "try again");
        let pauses: Vec<_> = (1..=5).map(|n| retry.pause_ms(n, &failure, 0)).collect();
        let pauses_as_asked = [Some(500), Some(1_500), Some(4_000), Some(4_000), None];
        assert_eq!(pauses, pauses_as_asked);
        assert_eq!(retry.pause_ms(1, &Failure::new("Declined", ""), 0), None);
        assert_eq!(retry.pause_ms(1, &failure.for_good(), 0), None);
    }

    #[test]
    fn jitter_stays_between_half_and_one_and_a_half() {
        let retry = Retry {
            attempts_max: 2,
            ..Retry::default()
        };
        let failure = Failure::new("Busy", "");
        assert_eq!(retry.pause_ms(1, &failure, 0), Some(500));
        assert_eq!(retry.pause_ms(1, &failure, 1_000), Some(1_500));
    }
}
