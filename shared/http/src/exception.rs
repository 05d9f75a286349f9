//! What callers are told of a failure. As in Elsa, the failure of an input is one thing and what made it fail another.

use serde_json::{Value, json};

/// Elsa's name of the failure of an input where it has registered none.
const INPUT: &str =
    "UnregisteredClrType:Elsa.Workflows.Exceptions.InputEvaluationException, Elsa.Workflows.Core";

/// The sentence of a failure, without what made it fail.
pub(crate) fn head(message: &str) -> &str {
    split(message).map_or(message, |(head, _)| head)
}

/// What made an input fail.
pub(crate) fn cause(message: &str) -> Option<&str> {
    split(message).map(|(_, cause)| cause)
}

/// An exception with what caused it as its inner exception.
pub(crate) fn told(exception: &Value) -> Value {
    with_inner(exception, "Exception")
}

/// The same of an activity that was only tried.
pub(crate) fn of_test(exception: &Value) -> Value {
    with_inner(exception, INPUT)
}

fn with_inner(exception: &Value, of_input: &str) -> Value {
    let mut told = exception.clone();
    let message = exception["message"].as_str().unwrap_or_default();
    if let (Some((head, cause)), Value::Object(members)) = (split(message), &mut told) {
        let kind = members.insert("type".into(), of_input.into());
        members.insert("kind".into(), kind.unwrap_or_default());
        members.insert("message".into(), head.into());
        members.insert("innerException".into(), inner(cause));
    }
    told
}

/// An error that a script threw has its name before its message; Elsa tells it without, and twice.
fn inner(cause: &str) -> Value {
    let name = cause
        .split_once(": ")
        .map(|(name, rest)| (name, rest.lines().next().unwrap_or_default()));
    match name {
        Some((name, message)) if name.ends_with("Error") && !name.contains(' ') => json!({
            "type": "JavaScriptException",
            "message": message,
            "innerException": { "type": "Jint.JavaScriptErrorWrapperException", "message": message },
        }),
        _ => json!({ "type": "Exception", "message": cause }),
    }
}

fn split(message: &str) -> Option<(&str, &str)> {
    let rest = message.strip_prefix("Failed to evaluate activity input '")?;
    let (_, cause) = rest.split_once("': ")?;
    let head = message.get(..message.len() - cause.len() - 2)?;
    Some((head, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_made_an_input_fail_is_the_inner_exception() {
        let message = "Failed to evaluate activity input 'Text': Error: no: never";
        assert_eq!(head(message), "Failed to evaluate activity input 'Text'");
        assert_eq!(cause(message), Some("Error: no: never"));
        let exception = told(&json!({ "type": "ExpressionError", "message": message }));
        let inner = &exception["innerException"];
        assert_eq!(exception["type"], "Exception");
        assert_eq!(inner["message"], "no: never");
        assert_eq!(inner["innerException"]["message"], "no: never");
    }

    #[test]
    fn other_failures_are_told_as_they_are() {
        let exception = json!({ "type": "Fault", "message": "stop: here" });
        assert_eq!(told(&exception), exception);
        assert_eq!(head("stop: here"), "stop: here");
        assert_eq!(told(&Value::Null), Value::Null);
    }
}
