//! Which value a generated accessor (`getOrder`, `setOrder`, `getResultFromStep1`) means in a scope.

use serde_json::Value;

use crate::{Kind, Scope};

/// What an accessor reads.
pub(super) struct Found {
    pub(super) value: Value,
    pub(super) kind: Kind,
    /// The variable that has it.
    pub(super) variable: Option<String>,
}

impl Found {
    pub(super) fn new(value: Value, kind: Kind) -> Self {
        Self {
            value,
            kind,
            variable: None,
        }
    }

    pub(super) fn of_variable(scope: &dyn Scope, name: &str) -> Option<Self> {
        Some(Self {
            value: scope.variable(name)?,
            kind: scope.variable_kind(name),
            variable: Some(name.to_owned()),
        })
    }
}

/// The value that `get<suffix>()` reads; `None`: the scope has no such accessor.
///
/// Where several things share the name, later registrations win in Elsa: arguments before outputs, before
/// inputs, before variables. Inside a composite the scope's input is the variable of that name.
pub(super) fn read(scope: &dyn Scope, suffix: &str) -> Option<Found> {
    let argument = scope
        .arguments()
        .into_iter()
        .find(|(name, _)| answers(name, suffix));
    if let Some((_, value)) = argument {
        return Some(Found::new(value, Kind::Plain));
    }
    if suffix.contains("From") {
        let output = scope.output_names().into_iter().find(|(activity, output)| {
            suffix == format!("{}From{}", pascal_case(output), pascal_case(activity))
        });
        if let Some((activity, output)) = output {
            let value = scope.output_from(&activity, Some(&output));
            return Some(Found::new(value.unwrap_or(Value::Null), Kind::Plain));
        }
    }
    if scope.is_input(suffix) {
        let value = scope.input(suffix).unwrap_or(Value::Null);
        return Some(Found::new(value, scope.input_kind(suffix)));
    }
    if let Some((name, value)) = variable(scope, suffix) {
        return Some(Found {
            value,
            kind: scope.variable_kind(&name),
            variable: Some(name),
        });
    }
    let input = scope
        .input_names()
        .into_iter()
        .find(|name| pascal_case(name) == suffix)?;
    let value = scope.input(&input).unwrap_or(Value::Null);
    Some(Found::new(value, scope.input_kind(&input)))
}

/// The variable that `get<suffix>` and `set<suffix>` mean: that of the exact name before that of the name in
/// camel case.
pub(super) fn variable(scope: &dyn Scope, suffix: &str) -> Option<(String, Value)> {
    if !suffix.chars().all(char::is_alphanumeric) {
        return None;
    }
    let named = |name: String| scope.variable(&name).map(|value| (name, value));
    named(suffix.to_owned()).or_else(|| named(camel_case(suffix)))
}

/// The suffixes of all accessors of a scope, for scripts that reach them in ways their text does not show.
pub(super) fn suffixes(scope: &dyn Scope) -> Vec<String> {
    let plain = |name: &String| name.chars().all(char::is_alphanumeric);
    let variables = scope.variable_names().into_iter().filter(plain);
    let arguments = scope.arguments().into_iter().map(|(name, _)| name);
    let mut suffixes: Vec<String> = variables
        .chain(arguments)
        .map(|n| pascal_case(&n))
        .collect();
    for input in scope.input_names() {
        suffixes.push(pascal_case(&input));
        suffixes.push(input);
    }
    for (activity, output) in scope.output_names() {
        suffixes.push(format!(
            "{}From{}",
            pascal_case(&output),
            pascal_case(&activity)
        ));
    }
    suffixes.sort();
    suffixes.dedup();
    suffixes
}

/// Upper-cases the first letter and each letter after blanks, `_` and `-`, which vanish: what Elsa's Humanizer
/// does, and before digits, too, so that an activity named "Step 1" can be reached.
pub(super) fn pascal_case(name: &str) -> String {
    let mut result = String::with_capacity(name.len());
    let mut starts_word = true;
    for character in name.chars() {
        if matches!(character, ' ' | '_' | '-') {
            starts_word = true;
            continue;
        }
        result.push(if starts_word {
            character.to_ascii_uppercase()
        } else {
            character
        });
        starts_word = false;
    }
    result
}

fn answers(name: &str, suffix: &str) -> bool {
    name == suffix || pascal_case(name) == suffix
}

fn camel_case(suffix: &str) -> String {
    let mut characters = suffix.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pascal_case_leaves_what_an_identifier_can_hold() {
        let cases = [
            ("counter", "Counter"),
            ("LoanAdvisory", "LoanAdvisory"),
            ("child with output 1", "ChildWithOutput1"),
            ("order_id", "OrderId"),
            ("post-body", "PostBody"),
            ("änderung", "änderung"),
            ("1st", "1st"),
            ("", ""),
        ];
        for (name, expected) in cases {
            assert_eq!(pascal_case(name), expected);
        }
    }
}
