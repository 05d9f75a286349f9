//! The evaluator: compiles scripts and runs them over a scope.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::budget::Budget;
use crate::javascript::JavaScript;
use crate::liquid::Template;
use crate::script::Program;
use crate::{EvaluationError, Kind, Language, Library, Limits, Scope, Script};

/// Compiles and evaluates scripts. One per process; every thread may use it at the same time.
#[derive(Debug, Clone)]
pub struct Expressions {
    javascript: JavaScript,
}

impl Expressions {
    /// An evaluator whose every evaluation stays within `limits`.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            javascript: javascript(limits, Arc::from([])),
        }
    }

    /// An evaluator whose JavaScript also has the globals of `libraries`.
    ///
    /// # Errors
    ///
    /// What a library threw or which limit it reached when it was loaded.
    pub fn with_libraries(
        limits: Limits,
        libraries: Vec<Library>,
    ) -> Result<Self, EvaluationError> {
        let expressions = Self {
            javascript: javascript(limits, libraries.into()),
        };
        expressions.javascript.compile("1")?;
        Ok(expressions)
    }

    /// The limits of each evaluation.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.javascript.limits
    }

    /// Checks the syntax of `source` and makes it ready to run.
    ///
    /// # Errors
    ///
    /// [`EvaluationError::Syntax`] if it is not a program of that language, [`EvaluationError::Limit`] if it is
    /// too long or nested too deep to be read.
    pub fn compile(&self, language: Language, source: &str) -> Result<Script, EvaluationError> {
        let (limit, value) = match language {
            Language::JavaScript | Language::CSharp => {
                ("script_bytes_max", self.limits().script_bytes_max)
            }
            Language::Liquid => ("template_bytes_max", self.limits().template_bytes_max),
        };
        if source.len() > value {
            return Err(EvaluationError::Limit {
                limit,
                value: value as u64,
            });
        }
        let program = match language {
            Language::JavaScript => Program::JavaScript(self.javascript.compile(source)?),
            Language::Liquid => Program::Liquid(Template::new(source)?),
            Language::CSharp => Program::CSharp(crate::csharp::Program::parse(source)?),
        };
        Ok(Script {
            language,
            source: source.into(),
            program: Arc::new(program),
        })
    }

    /// Runs `script` over `scope`.
    ///
    /// What the script sets, it sets at once: an error later does not take it back.
    ///
    /// # Errors
    ///
    /// [`EvaluationError::Thrown`] if it threw, [`EvaluationError::Limit`] if it reached a limit.
    pub fn evaluate(
        &self,
        script: &Script,
        scope: &mut dyn Scope,
    ) -> Result<Value, EvaluationError> {
        self.evaluate_kind(script, scope)
            .map(|evaluated| evaluated.value)
    }

    /// Runs `script` over `scope`, and tells besides its value what it is where JSON cannot.
    ///
    /// # Errors
    ///
    /// As [`Self::evaluate`].
    pub fn evaluate_kind(
        &self,
        script: &Script,
        scope: &mut dyn Scope,
    ) -> Result<Evaluated, EvaluationError> {
        let (value, kind) = match &*script.program {
            Program::JavaScript(plan) => self.javascript.evaluate(plan, scope)?,
            Program::Liquid(_) if script.source.trim().is_empty() => (Value::Null, Kind::Plain),
            Program::Liquid(template) => {
                let text = template.render(scope, Budget::new(self.limits().clone()))?;
                (Value::String(text), Kind::Plain)
            }
            Program::CSharp(program) => {
                let outcome = program.evaluate(scope, self.limits())?;
                return Ok(Evaluated {
                    value: outcome.value,
                    kind: outcome.kind,
                    logged: Some(outcome.logged),
                });
            }
        };
        Ok(Evaluated {
            value,
            kind,
            logged: None,
        })
    }
}

/// What a script gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// The value.
    pub value: Value,
    /// What it is where JSON cannot say so.
    pub kind: Kind,
    /// The value as journals show it before it is converted; `None`: they show the converted one.
    pub logged: Option<Value>,
}

impl Default for Expressions {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

fn javascript(limits: Limits, libraries: Arc<[Library]>) -> JavaScript {
    static IDS: AtomicU64 = AtomicU64::new(0);
    JavaScript {
        id: IDS.fetch_add(1, Ordering::Relaxed),
        limits,
        libraries,
    }
}
