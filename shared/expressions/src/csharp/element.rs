//! `JsonElement`: a part of a JSON document that was read, which is no number and no text until it is asked for one.

use serde_json::Value;

use super::members::{count, no_member};
use super::run::{Done, Run, thrown};
use super::statics;
use super::syntax::Type;
use super::text_method::plain;
use super::value::{MapKind, V};

/// The members of an object as elements; everything else is an element as a whole.
pub(super) fn object_of_elements<'p>(value: &Value, kind: MapKind) -> V<'p> {
    match value {
        Value::Object(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| (V::text(key.as_str()), element(value)));
            V::map(kind, entries.collect())
        }
        other => element(other),
    }
}

pub(super) fn element<'p>(value: &Value) -> V<'p> {
    match value {
        Value::Null => V::Null,
        other => V::Element(std::rc::Rc::new(other.clone())),
    }
}

/// The text that `ToString` gives.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => if *flag { "True" } else { "False" }.to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn kind(value: &Value) -> (&'static str, i64) {
    match value {
        Value::Object(_) => ("Object", 1),
        Value::Array(_) => ("Array", 2),
        Value::String(_) => ("String", 3),
        Value::Number(_) => ("Number", 4),
        Value::Bool(true) => ("True", 5),
        Value::Bool(false) => ("False", 6),
        Value::Null => ("Null", 7),
    }
}

pub(super) fn element_member<'p>(value: &Value, name: &str) -> Option<V<'p>> {
    let (kind, number) = kind(value);
    (name == "ValueKind").then(|| V::member("JsonValueKind", kind, number))
}

/// `element[index]`, where it is a list.
pub(super) fn element_item<'p>(value: &Value, at: &V<'p>) -> Done<'p, V<'p>> {
    match (value, at) {
        (Value::Array(items), V::Int(at)) => {
            match usize::try_from(*at).ok().and_then(|at| items.get(at)) {
                Some(item) => Ok(element(item)),
                None => thrown(
                    "IndexOutOfRangeException",
                    "Index was outside the bounds of the array.",
                ),
            }
        }
        _ => thrown(
            "InvalidOperationException",
            "The requested operation requires an element of type 'Array'.",
        ),
    }
}

impl Run<'_> {
    pub(super) fn element_method<'p>(
        &mut self,
        value: &Value,
        name: &str,
        types: &[Type],
        arguments: &[V<'p>],
    ) -> Done<'p, V<'p>> {
        let wrong = || {
            let (kind, _) = kind(value);
            let message =
                format!("The requested operation requires another element than '{kind}'.");
            thrown("InvalidOperationException", message)
        };
        let plain_value = V::from_json(value, MapKind::Node);
        let made = match (name, value) {
            ("ToString", _) => V::text(shown(value)),
            ("GetRawText", _) => V::text(value.to_string()),
            ("Clone", _) => element(value),
            ("GetString", Value::String(_)) | ("GetBoolean", Value::Bool(_)) => plain_value,
            (
                "GetInt32" | "GetInt64" | "GetDouble" | "GetDecimal" | "GetSingle" | "GetInt16",
                Value::Number(_),
            ) => {
                let class = match name {
                    "GetInt32" => "int",
                    "GetInt16" => "short",
                    "GetInt64" => "long",
                    "GetDouble" => "double",
                    "GetSingle" => "float",
                    _ => "decimal",
                };
                let of = Type {
                    name: class.into(),
                    ..Type::default()
                };
                if value.is_f64() && matches!(class, "int" | "long" | "short") {
                    return thrown(
                        "FormatException",
                        "One of the identified items was in an invalid format.",
                    );
                }
                super::operators::check_range(&plain_value, &of)?;
                super::operators::cast(plain_value, &of)?
            }
            ("GetDateTime" | "GetDateTimeOffset" | "GetGuid", Value::String(text)) => {
                let class = name.strip_prefix("Get").unwrap_or(name);
                match statics::parsed(class, text) {
                    Some(found) => found,
                    None => {
                        return thrown(
                            "FormatException",
                            "One of the identified items was in an invalid format.",
                        );
                    }
                }
            }
            (
                "TryGetInt32" | "TryGetInt64" | "TryGetDouble" | "TryGetDecimal",
                Value::Number(_),
            ) => {
                let has = V::Bool(!value.is_f64() || !name.contains("Int"));
                V::Tuple(std::rc::Rc::new(vec![(None, has), (None, plain_value)]))
            }
            ("GetArrayLength", Value::Array(items)) => count(items.len()),
            ("EnumerateArray", Value::Array(items)) => V::lazy(items.iter().map(element).collect()),
            ("EnumerateObject", Value::Object(entries)) => {
                let pair = |(key, value): (&String, &Value)| {
                    V::anonymous(vec![
                        ("Name", V::text(key.as_str())),
                        ("Value", element(value)),
                    ])
                };
                V::lazy(entries.iter().map(pair).collect())
            }
            ("GetProperty", Value::Object(entries)) => match entries.get(&plain(arguments.first()))
            {
                Some(found) => V::Element(std::rc::Rc::new(found.clone())),
                None => {
                    return thrown(
                        "KeyNotFoundException",
                        "The given key was not present in the dictionary.",
                    );
                }
            },
            ("TryGetProperty", Value::Object(entries)) => {
                let found = entries.get(&plain(arguments.first()));
                let has = V::Bool(found.is_some());
                V::Tuple(std::rc::Rc::new(vec![
                    (None, has),
                    (None, found.map_or(V::Null, element)),
                ]))
            }
            ("Deserialize", _) => match types.first() {
                Some(of) => {
                    super::exact::deserialized(V::from_json(value, MapKind::Dictionary), of)?
                }
                None => element(value),
            },
            ("GetType", _) => V::Type("JsonElement".into()),
            ("Equals", _) => {
                V::Bool(matches!(arguments.first(), Some(V::Element(other)) if **other == *value))
            }
            ("GetHashCode", _) => V::Int(1),
            (name, _)
                if name.starts_with("Get")
                    || name.starts_with("TryGet")
                    || name.starts_with("Enumerate") =>
            {
                return wrong();
            }
            _ => return no_member(&V::text("JsonElement"), name),
        };
        self.made(made)
    }
}

/// .NET's random numbers of a seed: Knuth's subtractive generator.
pub(super) struct Seeded {
    seeds: [i32; 56],
    next: usize,
    other: usize,
}

impl Seeded {
    pub(super) fn new(seed: i32) -> Self {
        let mut seeds = [0_i32; 56];
        let mut last = 161_803_398 - seed.checked_abs().unwrap_or(i32::MAX);
        let mut rest = 1;
        if let Some(end) = seeds.get_mut(55) {
            *end = last;
        }
        for step in 1..55_usize {
            if let Some(place) = seeds.get_mut(21 * step % 55) {
                *place = rest;
            }
            rest = last.wrapping_sub(rest);
            if rest < 0 {
                rest = rest.wrapping_add(i32::MAX);
            }
            last = seeds.get(21 * step % 55).copied().unwrap_or(0);
        }
        for _ in 1..5 {
            for at in 1..56_usize {
                let by = seeds.get(1 + (at + 30) % 55).copied().unwrap_or(0);
                if let Some(place) = seeds.get_mut(at) {
                    *place = place.wrapping_sub(by);
                    if *place < 0 {
                        *place = place.wrapping_add(i32::MAX);
                    }
                }
            }
        }
        Self {
            seeds,
            next: 0,
            other: 21,
        }
    }

    /// The next number from 0 up to, and without, 1.
    pub(super) fn unit(&mut self) -> f64 {
        let step = |at: usize| if at >= 55 { 1 } else { at + 1 };
        (self.next, self.other) = (step(self.next), step(self.other));
        let by = self.seeds.get(self.other).copied().unwrap_or(0);
        let Some(place) = self.seeds.get_mut(self.next) else {
            return 0.0;
        };
        let mut found = place.wrapping_sub(by);
        if found == i32::MAX {
            found -= 1;
        }
        if found < 0 {
            found = found.wrapping_add(i32::MAX);
        }
        *place = found;
        f64::from(found) * (1.0 / f64::from(i32::MAX))
    }
}
