//! C#: a safe subset, interpreted over the same scope and within the same limits as the other languages.
//!
//! Elsa compiles scripts, which may do anything the server may. Here a script has statements, lambdas, LINQ over
//! lists in memory, and the members of the value types; no reflection, no files, no network, no threads.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "operators and members name the kinds of values they take; every other kind is an error of the script"
)]
#![allow(
    clippy::too_many_lines,
    reason = "members and kinds of expressions are tables, an arm for each name"
)]

mod address;
mod assign;
mod builder;
mod construct;
mod control;
mod conversion;
mod date;
mod decimal;
mod declaration;
mod declared;
mod element;
mod enumeration;
mod evaluate;
mod exact;
mod expression;
mod fit;
mod frame;
mod function;
mod import;
mod instance;
mod invoke;
mod linq;
mod list;
mod literal;
mod make;
mod math;
mod members;
mod methods;
mod object;
mod operators;
mod pairing;
mod parser;
mod pattern;
mod primary;
mod query;
mod regex;
mod run;
mod sequence;
mod static_call;
mod statics;
mod syntax;
mod text_call;
mod text_method;
mod time;
mod token;
mod types;
mod value;

use serde_json::Value;

use frame::Frame;
use run::{Run, Stop};
use syntax::Statement;

use crate::budget::Budget;
use crate::{EvaluationError, Kind, Limits, Scope};

/// A script that was read.
#[derive(Debug)]
pub(crate) struct Program {
    statements: Vec<Statement>,
    /// The namespaces that it imports.
    usings: Vec<String>,
}

/// What a script gave.
pub(crate) struct Outcome {
    pub(crate) value: Value,
    pub(crate) kind: Kind,
    /// The value as the journal shows it.
    pub(crate) logged: Value,
}

impl Program {
    /// Reads a script.
    pub(crate) fn parse(source: &str) -> Result<Self, EvaluationError> {
        let read = parser::script(source);
        let (statements, usings) = read.map_err(|problem| EvaluationError::Syntax {
            message: format!("line {}: {}", problem.line, problem.message),
            line: Some(problem.line),
        })?;
        Ok(Self { statements, usings })
    }

    /// Runs it.
    pub(crate) fn evaluate(
        &self,
        scope: &mut dyn Scope,
        limits: &Limits,
    ) -> Result<Outcome, EvaluationError> {
        let budget = Budget::new(limits.clone());
        budget.begin();
        let mut run = Run {
            scope,
            budget: &budget,
            depth: 0,
            usings: &self.usings,
            is_checked: false,
            is_unchecked: false,
            enums: Vec::new(),
        };
        let frame = Frame::inside(None);
        let done = run.block(&self.statements, &frame);
        let done = match done {
            Err(Stop::Return(value)) => {
                run.plain_value(value, 0).and_then(|v| Err(Stop::Return(v)))
            }
            other => other,
        };
        if let Some(limit) = budget.exceeded() {
            return Err(limit);
        }
        let value = match done {
            Ok(()) | Err(Stop::Break | Stop::Continue | Stop::Goto(_)) => value::V::Null,
            Err(Stop::Return(value)) => value,
            Err(Stop::Throw(of, message)) => {
                return Err(EvaluationError::Thrown {
                    message: format!("{of}: {message}"),
                    stack: None,
                });
            }
            Err(Stop::Null) => value::V::Null,
            Err(Stop::Limit) => return Err(budget.error(crate::budget::Reached::Steps)),
        };
        let json = value.to_json(false, 0);
        if !budget.emit(json.to_string().len())
            && let Some(limit) = budget.exceeded()
        {
            return Err(limit);
        }
        let kind = match &value {
            value::V::Date(_) => Kind::DateTime,
            value::V::Double(_) => Kind::Double,
            value::V::Guid(_) => Kind::Guid,
            _ => Kind::Plain,
        };
        Ok(Outcome {
            logged: value.to_json(true, 0),
            value: json,
            kind,
        })
    }
}
