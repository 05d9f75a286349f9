//! The evaluator: compiles scripts and runs them over a scope.

use serde_json::Value;

use crate::{EvaluationError, Language, Limits, Scope, Script};

/// Compiles and evaluates scripts. One per process; every thread may use it at the same time.
#[derive(Debug, Default)]
pub struct Expressions {
    limits: Limits,
}

impl Expressions {
    /// An evaluator whose every evaluation stays within `limits`.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits }
    }

    /// The limits of each evaluation.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Checks the syntax of `source` and makes it ready to run.
    ///
    /// # Errors
    ///
    /// [`EvaluationError::Syntax`] if it is not a program of that language.
    pub fn compile(&self, language: Language, source: &str) -> Result<Script, EvaluationError> {
        Ok(Script {
            language,
            source: source.into(),
        })
    }

    /// Runs `script` over `scope`.
    ///
    /// # Errors
    ///
    /// [`EvaluationError::Thrown`] if it threw, [`EvaluationError::Limit`] if it reached a limit.
    pub fn evaluate(
        &self,
        _script: &Script,
        _scope: &mut dyn Scope,
    ) -> Result<Value, EvaluationError> {
        Err(EvaluationError::Thrown {
            message: "scripts do not run yet".to_owned(),
            stack: None,
        })
    }
}
