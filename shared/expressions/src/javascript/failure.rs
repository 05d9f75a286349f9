//! What went wrong in a script, in words for its author.

use rquickjs::{Coerced, Ctx, Error, Exception, FromJs as _, Object, Value as JsValue};

use crate::EvaluationError;
use crate::budget::{Budget, Reached};

/// The longest message and stack that are kept of an error, characters.
const TEXT_MAX: usize = 4_000;

/// The error of an evaluation. A limit counts before whatever the script made of it.
pub(super) fn explain(ctx: &Ctx<'_>, error: Error, budget: &Budget) -> EvaluationError {
    let thrown = matches!(error, Error::Exception).then(|| ctx.catch());
    if matches!(error, Error::Allocation) {
        budget.reach(Reached::Memory);
    }
    if let Some(value) = &thrown {
        note_limit(value, budget);
    }
    if let Some(limit) = budget.exceeded() {
        return limit;
    }
    match thrown {
        Some(value) => describe(ctx, value),
        None => EvaluationError::Thrown {
            message: error.to_string(),
            stack: None,
        },
    }
}

/// The error of a text that is no program. It was read with a line of ours behind its `lines`.
pub(super) fn syntax_error(
    ctx: &Ctx<'_>,
    error: Error,
    budget: &Budget,
    lines: u32,
) -> EvaluationError {
    match explain(ctx, error, budget) {
        EvaluationError::Thrown { message, stack } => match stack.as_deref().and_then(line_of) {
            Some(line) if line > lines => {
                let message = "SyntaxError: unexpected end of the script".to_owned();
                EvaluationError::Syntax {
                    message,
                    line: Some(lines),
                }
            }
            line => EvaluationError::Syntax { message, line },
        },
        other @ (EvaluationError::Syntax { .. } | EvaluationError::Limit { .. }) => other,
    }
}

/// Recognises the interpreter's own errors about memory and stack.
fn note_limit(value: &JsValue<'_>, budget: &Budget) {
    // Without memory for an error object, the interpreter throws null.
    let Some(exception) = value
        .as_object()
        .and_then(|o| Exception::from_object(o.clone()))
    else {
        return;
    };
    match own_text(exception.as_object(), "message").as_deref() {
        Some("out of memory" | "string too long") => budget.reach(Reached::Memory),
        Some("Maximum call stack size exceeded" | "stack overflow") => budget.reach(Reached::Stack),
        Some(_) | None => {}
    }
}

fn describe<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> EvaluationError {
    let stack = value
        .as_object()
        .and_then(|object| own_text(object, "stack"));
    let text = Coerced::<String>::from_js(ctx, value);
    let message = match text {
        Ok(Coerced(text)) => text,
        Err(_) => {
            ctx.catch();
            "the script threw something that has no text".to_owned()
        }
    };
    let stack = stack
        .map(|stack| shorten(stack.trim_end()))
        .filter(|stack| !stack.is_empty());
    EvaluationError::Thrown {
        message: shorten(&message),
        stack,
    }
}

fn own_text(object: &Object<'_>, key: &str) -> Option<String> {
    let text = object.get::<_, JsValue>(key);
    if text.is_err() {
        object.ctx().catch();
    }
    text.ok()?.into_string()?.to_string().ok()
}

fn shorten(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// The line in `    at expression:3:5`.
fn line_of(stack: &str) -> Option<u32> {
    let place = stack
        .lines()
        .find_map(|line| line.split("expression:").nth(1))?;
    place.split(':').next()?.parse().ok()
}
