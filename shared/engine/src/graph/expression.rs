//! Expressions of a definition, read and checked once.

use std::sync::Arc;

use dormouse_expressions::{Expressions, Language, Script};
use serde_json::Value;

use crate::definition::convert::{convert, text_of};
use crate::definition::data_type::DataType;
use crate::definition::fields::Fields;
use crate::definition::secret_name::secret_name;

/// What gives an input its value.
#[derive(Debug, Clone)]
pub enum Expression {
    /// The value itself, already converted.
    Literal(Value),
    /// The variable with this id.
    Variable(String),
    /// The workflow input of this name.
    Input(String),
    /// A script.
    Script(Script),
    /// The secret of this name.
    Secret(String),
    /// Something that cannot be evaluated; evaluating it faults the activity with this message.
    Invalid(Arc<str>),
}

/// Why an expression is invalid, for validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionProblem {
    /// A stable code.
    pub code: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

/// Reads `{"type": …, "value": …}` for an input of the given type. `None`: null, the activity's default applies.
///
/// # Errors
///
/// [`ExpressionProblem`] for a script that is not a program, and for languages that are not run here.
pub fn read(
    json: Fields<'_>,
    wanted: &DataType,
    expressions: &Expressions,
) -> Result<Option<Expression>, ExpressionProblem> {
    let value = json.get("value");
    let kind = json.text("type").unwrap_or_else(|| "Literal".into());
    Ok(match kind.to_ascii_lowercase().as_str() {
        // A length of time has no null in .NET: what is given as null is none at all, not the default.
        "literal" if value.is_none() && json.is_given("value") && *wanted == DataType::TimeSpan => {
            Some(Expression::Literal(Value::Null))
        }
        "literal" => value.map(|v| literal(v.clone(), wanted)),
        "object" | "json" => value.and_then(|v| object(v.clone(), wanted)),
        "variable" => value.and_then(variable_id).map(Expression::Variable),
        "input" => value.and_then(input_name).map(Expression::Input),
        "javascript" => script(Language::JavaScript, value, expressions)?,
        "liquid" => script(Language::Liquid, value, expressions)?,
        "csharp" | "c#" => script(Language::CSharp, value, expressions)?,
        "python" => {
            return Err(ExpressionProblem {
                code: "unsupportedLanguage",
                message: format!(
                    "expressions in {kind} are not run here; write it in JavaScript or Liquid instead"
                ),
            });
        }
        "secret" => match value.map(named_secret) {
            None => None,
            Some(Some(name)) => Some(Expression::Secret(name)),
            Some(None) => {
                return Err(ExpressionProblem {
                    code: "badSecretName",
                    message: "a Secret expression names a secret: a letter, and then at least one of letters, digits, dots, dashes, underscores and colons".into(),
                });
            }
        },
        "delegate" => {
            return Err(ExpressionProblem {
                code: "unsupportedExpression",
                message: format!(
                    "expressions of type {kind} have no value here; use Literal, JavaScript or Liquid"
                ),
            });
        }
        // Elsa takes an expression of a type it does not know as no value.
        _ => None,
    })
}

/// A literal, converted as far as it goes; what cannot be converted faults when it is read, as in Elsa.
#[must_use]
pub fn literal(value: Value, wanted: &DataType) -> Expression {
    // Where anything is wanted, a list or an object stays the text it is in the definition.
    if let (Value::Array(_) | Value::Object(_), DataType::Object) = (&value, wanted) {
        return Expression::Literal(Value::String(value.to_string()));
    }
    match convert(value, wanted) {
        Ok(value) => Expression::Literal(value),
        Err(error) => Expression::Invalid(error.to_string().into()),
    }
}

/// The text of an Object expression is JSON of the wanted type. Where anything or text is wanted, Elsa keeps the text.
fn object(value: Value, wanted: &DataType) -> Option<Expression> {
    let text = match value {
        Value::String(text) => text,
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.to_string(),
    };
    if text.trim().is_empty() {
        return None;
    }
    if matches!(wanted, DataType::Object | DataType::String) {
        return Some(Expression::Literal(Value::String(text)));
    }
    if *wanted == DataType::JoinMode {
        return Some(literal(Value::from(0), wanted));
    }
    // Elsa reads JSON for what begins like an object or a list, and else the text itself, quotes and all.
    if matches!(
        wanted,
        DataType::Boolean
            | DataType::Guid
            | DataType::DateTime
            | DataType::DateTimeOffset
            | DataType::TimeSpan
    ) {
        return Some(literal(Value::String(text), wanted));
    }
    Some(match serde_json::from_str(&text) {
        Ok(parsed) => literal(parsed, wanted),
        Err(error) => {
            Expression::Invalid(format!("the Object expression is not JSON: {error}").into())
        }
    })
}

fn script(
    language: Language,
    value: Option<&Value>,
    expressions: &Expressions,
) -> Result<Option<Expression>, ExpressionProblem> {
    let Some(source) = value
        .map(|v| text_of(v.clone()))
        .filter(|s| !s.trim().is_empty())
    else {
        return Ok(None);
    };
    match expressions.compile(language, &source) {
        Ok(script) => Ok(Some(Expression::Script(script))),
        Err(error) => Err(ExpressionProblem {
            code: "expressionSyntax",
            message: error.to_string(),
        }),
    }
}

/// The id in a variable reference: the variable object, the same as JSON text, or the id alone.
#[must_use]
pub fn variable_id(value: &Value) -> Option<String> {
    match value {
        Value::Object(_) => Fields::of(value).text("id"),
        Value::String(text) if text.trim_start().starts_with('{') => {
            serde_json::from_str::<Value>(text)
                .ok()
                .and_then(|v| Fields::of(&v).text("id"))
        }
        Value::String(text) => Some(text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// The name of a secret: the text, or an object with its `name`, or the same as JSON text.
fn named_secret(value: &Value) -> Option<String> {
    let named = |value: &Value| Fields::of(value).text("name");
    let name = match value {
        Value::Object(_) => named(value),
        Value::String(text) if text.trim_start().starts_with('{') => {
            named(&serde_json::from_str::<Value>(text).ok()?)
        }
        Value::String(text) => Some(text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    secret_name(&name?)
}

/// The name in a reference to an input: the whole declaration of the input, or the same as JSON text. As in Elsa,
/// anything less names nothing.
fn input_name(value: &Value) -> Option<String> {
    let declared = |value: &Value| {
        let fields = Fields::of(value);
        fields.text("type").and_then(|_| fields.text("name"))
    };
    match value {
        Value::Object(_) => declared(value),
        Value::String(text) => {
            let parsed = serde_json::from_str::<Value>(text).ok()?;
            declared(&parsed)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}
