//! Search attributes: names under which lists find an instance by the value of a variable or an input.
//!
//! A definition declares them in `customProperties.searchAttributes`, as a list of
//! `{"name": "Customer", "variable": "CustomerId"}` or `{"name": "Region", "input": "Region"}`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Definition;
use super::declaration::{Argument, Variable};
use super::fields::Fields;
use crate::graph::Problem;

/// The most search attributes that a definition may declare. Each is a row of the index for each instance.
pub const ATTRIBUTES_MAX: usize = 8;

/// The greatest length of an attribute's name, in characters.
pub const NAME_MAX: usize = 64;

/// Values are kept up to this length, in characters; the rest is cut off, in filters too.
pub const VALUE_MAX: usize = 100;

/// Where an attribute's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The workflow's variable at this place.
    Variable(u32),
    /// The workflow's input at this place.
    Input(u32),
}

/// A name under which instances are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchAttribute {
    /// Its name, as filters give it.
    pub name: String,
    /// Where its value comes from.
    pub source: Source,
}

/// A value as lists show and compare it. `None`: it is empty, or no plain value.
#[must_use]
pub fn search_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    let text: String = text.chars().take(VALUE_MAX).collect();
    (!text.is_empty()).then_some(text)
}

const PATH: &str = "customProperties.searchAttributes";

/// Reads the attributes that a definition declares. What cannot be read is left out, with a problem.
pub(crate) fn search_attributes(
    definition: &Definition,
    problems: &mut Vec<Problem>,
) -> Vec<SearchAttribute> {
    let custom = Fields::of_map(definition.raw()).object("customProperties");
    let mut problem = |path: String, message: String| {
        problems.push(Problem {
            path,
            code: "badSearchAttribute",
            message,
            is_error: true,
        });
    };
    let declared = match custom.get("searchAttributes") {
        None => return Vec::new(),
        Some(Value::Array(declared)) => declared,
        Some(_) => {
            problem(
                PATH.into(),
                "search attributes are a list, such as [{\"name\": \"Customer\", \"variable\": \"CustomerId\"}]".into(),
            );
            return Vec::new();
        }
    };
    if declared.len() > ATTRIBUTES_MAX {
        problem(
            PATH.into(),
            format!(
                "the definition declares {} search attributes; the limit is {ATTRIBUTES_MAX}. Remove those that lists need not find",
                declared.len()
            ),
        );
    }
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    for (place, json) in declared.iter().take(ATTRIBUTES_MAX).enumerate() {
        match attribute(definition, Fields::of(json)) {
            Ok(attribute) if names.insert(attribute.name.to_lowercase()) => found.push(attribute),
            Ok(attribute) => problem(
                format!("{PATH}[{place}].name"),
                format!(
                    "the search attribute `{}` is declared more than once; give each its own name",
                    attribute.name
                ),
            ),
            Err((member, message)) => problem(format!("{PATH}[{place}]{member}"), message),
        }
    }
    found
}

/// Reads one declaration. `Err`: the member that is wrong, and what is wrong with it.
fn attribute(
    definition: &Definition,
    json: Fields<'_>,
) -> Result<SearchAttribute, (&'static str, String)> {
    let name = json.text("name").unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_plain) {
        let message = format!(
            "`name` of a search attribute has 1 to {NAME_MAX} letters, digits, `_`, `-` or `.`"
        );
        return Err((".name", message));
    }
    let source = match (json.text("variable"), json.text("input")) {
        (Some(wanted), None) => variable(&definition.variables, &wanted)
            .map(Source::Variable)
            .ok_or_else(|| (".variable", missing(&name, "variable", &wanted)))?,
        (None, Some(wanted)) => input(&definition.inputs, &wanted)
            .map(Source::Input)
            .ok_or_else(|| (".input", missing(&name, "input", &wanted)))?,
        (None, None) | (Some(_), Some(_)) => {
            let message = format!(
                "the search attribute `{name}` names either a `variable` or an `input` of the workflow"
            );
            return Err(("", message));
        }
    };
    Ok(SearchAttribute { name, source })
}

fn missing(name: &str, kind: &str, wanted: &str) -> String {
    format!(
        "the search attribute `{name}` names the {kind} `{wanted}`, which the workflow does not declare"
    )
}

/// The place of a variable of the workflow by its id or its name.
fn variable(variables: &[Variable], wanted: &str) -> Option<u32> {
    let exact = |v: &Variable| v.id == wanted || v.name == wanted;
    let place = variables.iter().position(exact);
    u32::try_from(place?).ok()
}

/// The place of an input; its name may be in any case, as wherever inputs are given.
fn input(inputs: &[Argument], wanted: &str) -> Option<u32> {
    let place = inputs
        .iter()
        .position(|input| input.name.eq_ignore_ascii_case(wanted));
    u32::try_from(place?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(attributes: Value) -> (Vec<SearchAttribute>, Vec<(String, String)>) {
        let definition = Definition::from_value(json!({
            "variables": [
                { "id": "v1", "name": "Other", "typeName": "String" },
                { "id": "v2", "name": "CustomerId", "typeName": "String" },
            ],
            "inputs": [{ "name": "Region", "type": "String" }],
            "customProperties": { "searchAttributes": attributes },
            "root": { "type": "Elsa.Sequence", "activities": [] },
        }))
        .unwrap();
        let mut problems = Vec::new();
        let found = search_attributes(&definition, &mut problems);
        let told = problems.into_iter().map(|p| (p.path, p.message));
        (found, told.collect())
    }

    #[test]
    fn an_attribute_names_a_variable_or_an_input() {
        let (found, problems) = read(json!([
            { "name": "Customer", "variable": "CustomerId" },
            { "name": "region", "input": "region" },
            { "name": "Third", "variable": "v1" },
        ]));
        let sources: Vec<_> = found.iter().map(|a| (a.name.as_str(), a.source)).collect();
        let expected = [
            ("Customer", Source::Variable(1)),
            ("region", Source::Input(0)),
            ("Third", Source::Variable(0)),
        ];
        assert_eq!(sources, expected);
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn what_cannot_be_an_attribute_is_told_with_its_place() {
        let long = "n".repeat(NAME_MAX + 1);
        for (json, path, part) in [
            (json!("x"), "", "are a list"),
            (json!([{ "variable": "CustomerId" }]), "[0].name", "1 to 64"),
            (
                json!([{ "name": "a b", "variable": "CustomerId" }]),
                "[0].name",
                "letters",
            ),
            (
                json!([{ "name": long, "variable": "CustomerId" }]),
                "[0].name",
                "1 to 64",
            ),
            (
                json!([{ "name": "A" }]),
                "[0]",
                "either a `variable` or an `input`",
            ),
            (
                json!([{ "name": "A", "variable": "CustomerId", "input": "Region" }]),
                "[0]",
                "either",
            ),
            (
                json!([{ "name": "A", "variable": "Nope" }]),
                "[0].variable",
                "variable `Nope`",
            ),
            (
                json!([{ "name": "A", "input": "Nope" }]),
                "[0].input",
                "input `Nope`",
            ),
            (
                json!([{ "name": "A", "input": "Region" }, { "name": "a", "input": "Region" }]),
                "[1].name",
                "more than once",
            ),
        ] {
            let (_, problems) = read(json.clone());
            let [(at, message)] = problems.as_slice() else {
                panic!("{json}: {problems:?}")
            };
            assert_eq!(*at, format!("{PATH}{path}"), "{json}");
            assert!(message.contains(part), "{json}: {message}");
        }
        let many: Vec<_> = (0..=ATTRIBUTES_MAX)
            .map(|n| json!({ "name": format!("A{n}"), "input": "Region" }))
            .collect();
        let (found, problems) = read(Value::Array(many));
        assert_eq!((found.len(), problems.len()), (ATTRIBUTES_MAX, 1));
        assert!(problems[0].1.contains("the limit is 8"));
    }

    #[test]
    fn a_plain_value_has_a_text_of_bounded_length() {
        let text = |value: Value| search_text(&value);
        assert_eq!(text(json!("ACME")).as_deref(), Some("ACME"));
        assert_eq!(text(json!(12.5)).as_deref(), Some("12.5"));
        assert_eq!(text(json!(true)).as_deref(), Some("true"));
        assert_eq!(text(json!("ö".repeat(300))), Some("ö".repeat(VALUE_MAX)));
        for none in [json!(null), json!(""), json!([1]), json!({ "a": 1 })] {
            assert_eq!(text(none), None);
        }
    }
}
