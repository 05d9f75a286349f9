//! The names a template finds in the scope, as Elsa gives them to Fluid.

use std::borrow::Cow;

use serde_json::Value;

use super::element::with_elements;
use super::value::{date, to_text};
use crate::dotnet::Span;
use crate::moment::Moment;
use crate::{Kind, Scope};

/// The text under which a global is remembered, and the members that are left to walk into its value.
///
/// `Variables.Order.Id` asks for the variable `Order`; `Configuration.A.B` asks for the path `A:B`.
pub(super) fn key<'m, 'v>(
    root: &str,
    members: &'m [Cow<'v, Value>],
) -> (String, &'m [Cow<'v, Value>]) {
    let taken = match root {
        "Variables" | "Input" => members.len().min(1),
        "Configuration" => members.len(),
        _ => 0,
    };
    let (names, rest) = members.split_at(taken);
    let names: Vec<_> = names.iter().map(|name| to_text(name)).collect();
    (format!("{root}.{}", names.join(":")), rest)
}

/// A value as Fluid has it: dates and lengths of time are dates, which print as such, and bytes are numbers.
fn seen(value: Value, kind: Kind) -> Value {
    if matches!(kind, Kind::Json | Kind::Dictionary | Kind::ListOfJson) {
        return with_elements(value);
    }
    let Value::String(text) = &value else {
        return value;
    };
    let moment = match kind {
        Kind::DateTime => Moment::parse(text),
        Kind::TimeSpan => text
            .parse::<Span>()
            .ok()
            .map(|Span(milliseconds)| Moment::new(milliseconds, 0)),
        Kind::Bytes => {
            use base64::Engine as _;
            let bytes = base64::engine::general_purpose::STANDARD.decode(text);
            return bytes.map_or(value, |bytes| bytes.into_iter().map(Value::from).collect());
        }
        Kind::Plain
        | Kind::Double
        | Kind::Guid
        | Kind::Json
        | Kind::Dictionary
        | Kind::Node
        | Kind::ListOfJson
        | Kind::Texts
        | Kind::BigInteger
        | Kind::Function
        | Kind::Opaque => None,
    };
    match moment {
        Some(moment) => date(&moment),
        None => value,
    }
}

/// The value of a global; `None`: there is none.
pub(super) fn find(scope: &dyn Scope, root: &str, key: &str) -> Option<Value> {
    let name = key.strip_prefix(root)?.strip_prefix('.')?;
    let identity = || scope.identity();
    match root {
        // What they are themselves is a type of Elsa.
        "Variables" | "Input" if name.is_empty() => {
            Some("Elsa.Expressions.Liquid.Helpers.LiquidPropertyAccessor".into())
        }
        "ExpressionExecutionContext" => {
            Some("Elsa.Expressions.Models.ExpressionExecutionContext".into())
        }
        "Variables" => Some(seen(scope.variable(name)?, scope.variable_kind(name))),
        "Input" => Some(seen(scope.input(name)?, scope.input_kind(name))),
        "Configuration" => scope.configuration(name),
        "WorkflowInstanceId" => Some(identity().instance_id.into()),
        "WorkflowDefinitionId" => Some(identity().definition_id.into()),
        "WorkflowDefinitionVersionId" => Some(identity().definition_version_id.into()),
        "WorkflowDefinitionVersion" => Some(identity().definition_version.into()),
        "CorrelationId" => identity().correlation_id.map(Value::String),
        _ => None,
    }
}
