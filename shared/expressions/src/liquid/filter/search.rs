//! Filters that search in text: remove, replace and split.

use serde_json::Value;

use super::{Filter, Input};
use crate::EvaluationError;

type Made = Result<Value, EvaluationError>;

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("remove", |input| replace(input, "", usize::MAX)),
    ("remove_first", |input| replace(input, "", 1)),
    ("remove_last", |input| replace_last(input, "")),
    ("replace", |input| {
        replace(input, &input.text_argument(1), usize::MAX)
    }),
    ("replace_first", |input| {
        replace(input, &input.text_argument(1), 1)
    }),
    ("replace_last", |input| {
        replace_last(input, &input.text_argument(1))
    }),
    ("split", split),
];

/// Replaces the first argument, at most `count` times, counting what is made before it is.
fn replace(input: &Input<'_>, replacement: &str, count: usize) -> Made {
    let (text, search) = (input.text(), input.text_argument(0));
    if search.is_empty() {
        return input.made(text);
    }
    let found = text.matches(&*search).take(count).count();
    input.work.allocate(
        text.len()
            .saturating_add(found.saturating_mul(replacement.len())),
    )?;
    Ok(Value::String(text.replacen(&*search, replacement, count)))
}

fn replace_last(input: &Input<'_>, replacement: &str) -> Made {
    let (text, search) = (input.text(), input.text_argument(0));
    match text.rsplit_once(&*search).filter(|_| !search.is_empty()) {
        Some((before, after)) => input.made(format!("{before}{replacement}{after}")),
        None => input.made(text),
    }
}

/// Splits at a separator, or into characters at an empty one. Empty parts are left out.
fn split(input: &Input<'_>) -> Made {
    let (text, separator) = (input.text(), input.text_argument(0));
    let count = match separator.is_empty() {
        true => text.chars().count(),
        false => text.matches(&*separator).count() + 1,
    };
    input
        .work
        .allocate(text.len() + count.saturating_mul(size_of::<Value>() + 16))?;
    let mut parts: Vec<Value> = match separator.is_empty() {
        true => text
            .chars()
            .map(|character| Value::String(character.into()))
            .collect(),
        false => text.split(&*separator).map(Value::from).collect(),
    };
    parts.retain(|part| part != "");
    Ok(Value::Array(parts))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::run;

    #[test]
    fn searching_filters_do_what_fluid_does() {
        let cases = [
            ("remove", json!("a b a"), vec![json!("a")], json!(" b ")),
            (
                "remove_first",
                json!("a b a"),
                vec![json!("a")],
                json!(" b a"),
            ),
            (
                "remove_last",
                json!("a b a"),
                vec![json!("a")],
                json!("a b "),
            ),
            (
                "replace",
                json!("a b a"),
                vec![json!("a"), json!("c")],
                json!("c b c"),
            ),
            (
                "replace_first",
                json!("a b a"),
                vec![json!("a"), json!("c")],
                json!("c b a"),
            ),
            (
                "replace_last",
                json!("a b a"),
                vec![json!("a"), json!("c")],
                json!("a b c"),
            ),
            (
                "replace",
                json!("a b"),
                vec![json!(""), json!("c")],
                json!("a b"),
            ),
            (
                "split",
                json!("a,,b,,"),
                vec![json!(",")],
                json!(["a", "b"]),
            ),
            ("split", json!("aü"), vec![json!("")], json!(["a", "ü"])),
            ("split", json!(""), vec![json!(",")], json!([])),
        ];
        for (name, value, arguments, expected) in cases {
            assert_eq!(run(name, &value, &arguments), expected, "{name}");
        }
    }
}
