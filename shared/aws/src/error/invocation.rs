//! What an invocation of a Lambda function means that has no answer.

use dormouse_runtime::port::FunctionAnswer;

/// A function of Lambda that was invoked and has thrown: `{errorType, errorMessage}`.
pub(crate) fn thrown(body: &[u8]) -> FunctionAnswer {
    let (kind, message) = told(body, "errorType", "errorMessage");
    match kind.as_str() {
        "Function.ResponseSizeTooLarge" => return FunctionAnswer::TooLong,
        "Sandbox.Timedout" => return failed("Timeout", message, true),
        _ => {}
    }
    // As it was told before the type existed.
    if kind.is_empty() && message.contains("Task timed out after") {
        return failed("Timeout", message, true);
    }
    let kind = if kind.is_empty() {
        "FunctionError"
    } else {
        &kind
    };
    failed(kind, message, true)
}

/// A function of Lambda that was not invoked, by the statuses of the API action `Invoke`.
pub(crate) fn not_invoked(status: u16, body: &[u8]) -> FunctionAnswer {
    let (_, message) = told(body, "Type", "message");
    let message = format!("Lambda has not invoked the function (status {status}): {message}");
    match status {
        429 => failed("Throttled", message, true),
        404 => failed("HandlerGone", message, false),
        413 => failed("InputTooLarge", message, false),
        // A function that is being changed, and Lambda's own troubles.
        409 | 500..=599 => failed("HandlerFailed", message, true),
        _ => failed("HandlerRefused", message, false),
    }
}

fn failed(kind: &str, message: String, is_retryable: bool) -> FunctionAnswer {
    FunctionAnswer::Failed {
        kind: kind.to_owned(),
        message,
        is_retryable,
    }
}

/// The name and the sentence in a body that may be anything.
fn told(body: &[u8], kind: &str, message: &str) -> (String, String) {
    let json: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |name: &str| {
        let text = json.get(name)?.as_str()?;
        Some(text.to_owned())
    };
    // Some answers say `Message`.
    let sentence = text(message).or_else(|| text("Message"));
    let sentence = sentence.unwrap_or_else(|| "it did not say why".to_owned());
    (text(kind).unwrap_or_default(), sentence)
}
