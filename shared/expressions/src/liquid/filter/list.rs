//! Filters on lists, and `size`, `keys` and `default`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::Value;

use super::{Filter, Input, failure};
use crate::EvaluationError;
use crate::liquid::value::{
    Amount, compare, equal, is_empty, is_truthy, member, size, to_text, weight,
};

type Made = Result<Value, EvaluationError>;

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("join", join),
    ("first", |input| {
        Ok(at_end(input, |text| text.chars().next(), "first"))
    }),
    ("last", |input| {
        Ok(at_end(input, |text| text.chars().last(), "last"))
    }),
    ("size", |input| {
        Ok(Some(size(input.value))
            .filter(|size| !size.is_null())
            .unwrap_or(0.into()))
    }),
    ("concat", concat),
    ("reverse", |input| {
        if let Value::String(text) = input.value {
            return input.made(text.chars().rev().collect::<String>());
        }
        copied(input).map(|mut items| {
            items.reverse();
            Value::Array(items)
        })
    }),
    ("sort", |input| {
        sort(input, |a, b| {
            compare(a, b).unwrap_or_else(|| rank(a).cmp(&rank(b)))
        })
    }),
    ("sort_natural", |input| sort(input, natural)),
    ("uniq", uniq),
    ("compact", |input| select(input, |value| !value.is_null())),
    ("map", map),
    ("where", |input| {
        select(input, |value| matches(input, value))
    }),
    ("reject", |input| {
        select(input, |value| !matches(input, value))
    }),
    ("has", |input| Ok(position(input).is_some().into())),
    ("find", |input| {
        Ok(position(input)
            .and_then(|at| input.items().get(at))
            .cloned()
            .unwrap_or_default())
    }),
    ("find_index", |input| {
        Ok(position(input).map_or(Value::Null, Value::from))
    }),
    ("sum", sum),
    ("keys", keys),
    ("default", default),
];

/// The first or last item of a list, or character of a text.
fn at_end(input: &Input<'_>, of_text: fn(&str) -> Option<char>, name: &str) -> Value {
    match input.value {
        Value::String(text) => of_text(text).map_or(Value::Null, |c| Value::String(c.into())),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => member(other, &name.into()).into_owned(),
    }
}

fn join(input: &Input<'_>) -> Made {
    let separator = if input.has_argument(0) {
        input.text_argument(0)
    } else {
        "".into()
    };
    let mut text = String::new();
    for (index, item) in input.items().iter().enumerate() {
        let item = to_text(item);
        let separator = if index > 0 { &*separator } else { "" };
        input.work.allocate(separator.len() + item.len())?;
        text.push_str(separator);
        text.push_str(&item);
    }
    Ok(Value::String(text))
}

fn concat(input: &Input<'_>) -> Made {
    let other = input.argument(0);
    input.work.allocate(weight(other))?;
    if !input.value.is_array() {
        return Ok(input.value.clone());
    }
    let mut items = copied(input)?;
    if let Value::Array(others) = other {
        items.extend(others.iter().cloned());
    }
    Ok(Value::Array(items))
}

fn copied(input: &Input<'_>) -> Result<Vec<Value>, EvaluationError> {
    input.work.allocate(weight(input.value))?;
    Ok(input.items().to_vec())
}

/// The member that the first argument names, or the value itself where there is no argument.
fn key<'v>(input: &Input<'_>, value: &'v Value) -> Cow<'v, Value> {
    let argument = input.argument(0);
    let Some(path) = argument.as_str() else {
        return if argument.is_null() {
            Cow::Borrowed(value)
        } else {
            member(value, argument)
        };
    };
    // "customer.name" leads into a value.
    path.split('.')
        .fold(Cow::Borrowed(value), |value, name| match value {
            Cow::Borrowed(value) => member(value, &name.into()),
            Cow::Owned(value) => Cow::Owned(member(&value, &name.into()).into_owned()),
        })
}

fn sort(input: &Input<'_>, order: fn(&Value, &Value) -> Ordering) -> Made {
    let mut items = copied(input)?;
    input
        .work
        .charge(weight(input.value).saturating_add(items.len().saturating_mul(20)))?;
    // Nil comes last, whatever the order.
    items.sort_by(|a, b| {
        let (a, b) = (key(input, a), key(input, b));
        a.is_null().cmp(&b.is_null()).then_with(|| order(&a, &b))
    });
    Ok(Value::Array(items))
}

/// An order between kinds of values that have none among each other.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 5,
        Value::Bool(false) => 0,
        Value::Bool(true) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) | Value::Object(_) => 4,
    }
}

fn natural(a: &Value, b: &Value) -> Ordering {
    to_text(a).to_lowercase().cmp(&to_text(b).to_lowercase())
}

fn uniq(input: &Input<'_>) -> Made {
    let mut seen = BTreeSet::new();
    // The JSON of a value is equal where the value is.
    select(input, |value| seen.insert(value.to_string()))
}

fn select(input: &Input<'_>, mut keep: impl FnMut(&Value) -> bool) -> Made {
    input.work.allocate(weight(input.value))?;
    Ok(input
        .items()
        .iter()
        .filter(|item| keep(item))
        .cloned()
        .collect())
}

fn map(input: &Input<'_>) -> Made {
    input.work.allocate(weight(input.value))?;
    Ok(input
        .items()
        .iter()
        .map(|item| key(input, item).into_owned())
        .collect())
}

/// Whether the member the first argument names equals the second, or is true where there is no second.
fn matches(input: &Input<'_>, item: &Value) -> bool {
    let found = key(input, item);
    match input.arguments.get(1) {
        Some(wanted) => equal(&found, wanted),
        None => is_truthy(&found),
    }
}

fn position(input: &Input<'_>) -> Option<usize> {
    input.items().iter().position(|item| matches(input, item))
}

fn sum(input: &Input<'_>) -> Made {
    input.work.charge(input.items().len())?;
    let total = input.items().iter().fold(Value::from(0), |total, item| {
        let amount = Amount::or_zero(item);
        Amount::or_zero(&total).combine(amount, i64::checked_add, |a, b| a + b)
    });
    Ok(total)
}

fn keys(input: &Input<'_>) -> Made {
    input.work.allocate(weight(input.value))?;
    match input.value {
        Value::Object(entries) => Ok(entries.keys().cloned().map(Value::String).collect()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Err(failure("the filter `keys` is for dictionaries"))
        }
        Value::Null | Value::Array(_) => Ok(Value::Null),
    }
}

/// The argument where the value is nil, false or empty; `allow_false: true` lets false pass.
fn default(input: &Input<'_>) -> Made {
    let named = input.named.iter().find(|(name, _)| *name == "allow_false");
    let allows_false = named.is_some_and(|(_, value)| is_truthy(value));
    let is_false = *input.value == Value::Bool(false);
    let is_missing = input.value.is_null() || is_empty(input.value) || is_false && !allows_false;
    Ok(if is_missing {
        input.argument(0).clone()
    } else {
        input.value.clone()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::run;

    fn check(value: &Value, cases: &[(&str, Value, Value)]) {
        for (name, arguments, expected) in cases {
            let found = run(name, value, arguments.as_array().unwrap());
            assert_eq!(found, *expected, "{value} | {name}: {arguments}");
        }
    }

    #[test]
    fn list_filters_do_what_fluid_does() {
        check(
            &json!([3, null, 1.5, 3]),
            &[
                ("join", json!([", "]), json!("3, , 1.5, 3")),
                ("first", json!([]), json!(3)),
                ("last", json!([]), json!(3)),
                ("size", json!([]), json!(4)),
                (
                    "concat",
                    json!([[1, [2]]]),
                    json!([3, null, 1.5, 3, 1, [2]]),
                ),
                ("reverse", json!([]), json!([3, 1.5, null, 3])),
                ("sort", json!([]), json!([1.5, 3, 3, null])),
                ("uniq", json!([]), json!([3, null, 1.5])),
                ("compact", json!([]), json!([3, 1.5, 3])),
                ("sum", json!([]), json!(7.5)),
            ],
        );
        check(
            &json!(["b", "A", "c"]),
            &[("sort_natural", json!([]), json!(["A", "b", "c"]))],
        );
        check(
            &json!([0.1, 0.2, "1", "x"]),
            &[("sum", json!([]), json!(1.3))],
        );
        check(
            &json!({"b": 1, "a": 2}),
            &[("keys", json!([]), json!(["b", "a"]))],
        );
        check(
            &json!("aü"),
            &[
                ("size", json!([]), json!(2)),
                ("default", json!([1]), json!("aü")),
            ],
        );
        check(&json!(""), &[("default", json!([1]), json!(1))]);
        check(
            &json!(0),
            &[
                ("size", json!([]), json!(0)),
                ("default", json!([1]), json!(0)),
            ],
        );
        check(
            &json!([]),
            &[
                ("last", json!([]), Value::Null),
                ("join", json!([]), json!("")),
            ],
        );
    }

    #[test]
    fn filters_on_lists_of_objects_look_at_a_member() {
        let zoe = json!({"name": "Zoe", "age": 3, "boss": {"name": "A"}});
        let adam = json!({"name": "adam", "age": 1});
        let bob = json!({"name": "Bob", "age": 2, "active": true});
        check(
            &json!([zoe, adam, bob]),
            &[
                ("map", json!(["boss.name"]), json!(["A", null, null])),
                ("has", json!(["name", "Bob"]), json!(true)),
                ("has", json!(["name", "Eve"]), json!(false)),
                ("find", json!(["age", 3]), zoe.clone()),
                ("find_index", json!(["age", 1]), json!(1)),
                ("find_index", json!(["age", 9]), Value::Null),
                ("sum", json!(["age"]), json!(0)),
                ("where", json!(["active"]), json!([bob])),
                ("reject", json!(["active"]), json!([zoe, adam])),
                ("sort", json!(["age"]), json!([adam, bob, zoe])),
                ("sort_natural", json!(["name"]), json!([adam, bob, zoe])),
            ],
        );
    }
}
