//! Methods of dates, lists and maps.

use super::date::TICKS_A_MS;
use super::members::no_member;
use super::operators;
use super::run::{Done, Run, thrown};
use super::statics;
use super::syntax::Type;
use super::text_method::{plain, text_method};
use super::value::{MapKind, V};

impl Run<'_> {
    pub(super) fn method<'p>(
        &mut self,
        of: &V<'p>,
        name: &str,
        types: &[Type],
        arguments: Vec<V<'p>>,
    ) -> Done<'p, V<'p>> {
        if let V::Host(host) = of {
            return self.host_method(host, name, types, &arguments);
        }
        if let (V::Null, "GetValueOrDefault") = (of, name) {
            return Ok(arguments.first().cloned().unwrap_or(V::Int(0)));
        }
        if matches!(of, V::Null) {
            return thrown(
                "NullReferenceException",
                "Object reference not set to an instance of an object.",
            );
        }
        // A member that is a function.
        if let V::Map(map) = of
            && map.kind != MapKind::Dictionary
        {
            let entries = map.entries.borrow();
            let found = entries
                .iter()
                .find(|(key, value)| key.shown() == name && matches!(value, V::Func(_)));
            let function = found.map(|(_, value)| value.clone());
            drop(entries);
            if let Some(function) = function {
                return self.call(&function, &arguments);
            }
        }
        let found = match name {
            _ if matches!(of, V::Builder(_) | V::Element(_)) => None,
            "ToString" if matches!(of, V::Object(_) | V::Enum(_)) && arguments.is_empty() => {
                let text = self.text_of(of)?;
                Some(V::text(text))
            }
            "ToString" => Some(V::text(statics::formatted(
                of,
                &arguments.first().map(V::shown).unwrap_or_default(),
            ))),
            "GetType" => Some(V::Type(match statics::entry(of, "InnerException") {
                V::Null if matches!(statics::entry(of, "Type"), V::Text(_)) => {
                    statics::entry(of, "Type").shown()
                }
                _ => of.type_name(),
            })),
            "GetHashCode" => Some(V::Int(hash(&of.shown()))),
            "Equals" if arguments.len() == 1 => Some(V::Bool(
                arguments.first().is_some_and(|a| operators::equal(of, a)),
            )),
            "CompareTo" => Some(V::Int(
                match operators::compare(of, arguments.first().unwrap_or(&V::Null)) {
                    std::cmp::Ordering::Less => -1,
                    std::cmp::Ordering::Equal => 0,
                    std::cmp::Ordering::Greater => 1,
                },
            )),
            "GetValueOrDefault" if !matches!(of, V::Map(_)) => Some(of.clone()),
            "Invoke" => return self.call(of, &arguments),
            _ => None,
        };
        if let Some(found) = found {
            return self.made(found);
        }
        let found = match of {
            V::Text(text) => text_method(text, name, &arguments)?,
            V::Date(_) | V::Span(_) => super::time::time_method(of, name, &arguments),
            V::Map(_) => map_method(of, name, &arguments)?,
            V::List(list) => self.list_method(list, name, &arguments)?,
            V::Builder(builder) => return self.builder_method(builder, name, &arguments),
            V::Regex(regex) => return self.regex_method(regex, name, &arguments),
            V::Uri(address) if matches!(name, "GetLeftPart" | "MakeRelativeUri") => {
                Some(V::text(&**address))
            }
            V::Enum(member) if name == "HasFlag" => Some(V::Bool(arguments.first().is_some_and(
                |a| matches!(a, V::Enum(flag) if member.number & flag.number == flag.number),
            ))),
            V::Guid(_) if name == "ToByteArray" => Some(V::bytes(&guid_bytes(&of.shown()))),
            V::Random | V::Seeded(_) => self.random(of, name, &arguments),
            V::Element(value) => return self.element_method(value, name, types, &arguments),
            _ => None,
        };
        if let Some(found) = found {
            return self.made(found);
        }
        if let Some(found) = json_method(of, name, types, &arguments) {
            return found;
        }
        if matches!(of, V::List(_) | V::Text(_) | V::Map(_)) {
            return self.query(of, name, types, &arguments);
        }
        no_member(of, name)
    }

    fn random<'p>(&mut self, of: &V<'p>, name: &str, arguments: &[V<'p>]) -> Option<V<'p>> {
        let number = |at: usize| arguments.get(at).and_then(operators::as_double);
        let unit = match of {
            V::Seeded(seeded) => seeded.borrow_mut().unit(),
            _ => {
                let drawn = self.scope.random() >> 11;
                #[allow(clippy::cast_precision_loss, reason = "53 bits")]
                let unit = drawn as f64 / 9_007_199_254_740_992.0;
                unit
            }
        };
        let (low, high) = match (number(0), number(1)) {
            (Some(high), None) => (0.0, high),
            (Some(low), Some(high)) => (low, high),
            _ => (0.0, f64::from(i32::MAX)),
        };
        #[allow(
            clippy::cast_possible_truncation,
            reason = "within the range of the arguments"
        )]
        match name {
            "Next" => Some(V::Int((unit * (high - low) + low).floor() as i32)),
            "NextInt64" => Some(V::Long((unit * (high - low) + low).floor() as i64)),
            "NextDouble" | "NextSingle" => Some(V::Double(unit)),
            _ => None,
        }
    }
}

/// Some number that equal texts share.
fn hash(text: &str) -> i32 {
    text.bytes().fold(5_381_i32, |hash, byte| {
        hash.wrapping_mul(33) ^ i32::from(byte)
    })
}

#[allow(clippy::cast_precision_loss, reason = "as .NET divides")]
pub(super) fn ratio(of: i64, by: i64) -> f64 {
    of as f64 / by as f64
}

fn map_method<'p>(of: &V<'p>, name: &str, arguments: &[V<'p>]) -> Done<'p, Option<V<'p>>> {
    let V::Map(map) = of else {
        return Ok(None);
    };
    let key = arguments.first().cloned().unwrap_or(V::Null);
    let found = {
        let entries = map.entries.borrow();
        entries
            .iter()
            .find(|(known, _)| operators::equal(known, &key))
            .map(|(_, value)| value.clone())
    };
    Ok(match name {
        "ContainsKey" => Some(V::Bool(found.is_some())),
        "TryGetValue" => {
            let has = V::Bool(found.is_some());
            let value = found.unwrap_or(V::Null);
            Some(V::Tuple(std::rc::Rc::new(vec![(None, has), (None, value)])))
        }
        "GetValueOrDefault" => {
            Some(found.unwrap_or_else(|| arguments.get(1).cloned().unwrap_or(V::Null)))
        }
        "Add" | "TryAdd" if arguments.len() == 2 => {
            if found.is_some() && name == "Add" {
                return thrown(
                    "ArgumentException",
                    "An item with the same key has already been added.",
                );
            }
            let value = arguments.get(1).cloned().unwrap_or(V::Null);
            if found.is_none() {
                statics::set_entry(of, key, value);
            }
            Some(V::Bool(found.is_none()))
        }
        "Remove" => {
            map.entries
                .borrow_mut()
                .retain(|(known, _)| !operators::equal(known, &key));
            Some(V::Bool(found.is_some()))
        }
        "Clear" => {
            map.entries.borrow_mut().clear();
            Some(V::Null)
        }
        "ContainsValue" => Some(V::Bool(
            map.entries
                .borrow()
                .iter()
                .any(|(_, value)| operators::equal(value, &key)),
        )),
        _ => None,
    })
}

/// The bytes of a GUID: its first three groups are little-endian.
fn guid_bytes(text: &str) -> Vec<u8> {
    let digits = text.replace('-', "");
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..32).step_by(2).filter_map(byte).collect();
    let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    order
        .iter()
        .filter_map(|at| bytes.get(*at).copied())
        .collect()
}

/// Methods of JSON values, which are what other values are.
fn json_method<'p>(
    of: &V<'p>,
    name: &str,
    types: &[Type],
    arguments: &[V<'p>],
) -> Option<Done<'p, V<'p>>> {
    let entry = || statics::entry(of, &plain(arguments.first()));
    Some(match name {
        "GetProperty" => Ok(entry()),
        "GetInt32" | "GetInt64" | "GetDouble" | "GetDecimal" | "GetString" | "GetBoolean"
        | "AsArray" | "AsObject" | "AsValue" | "EnumerateArray" | "EnumerateObject" | "Clone" => {
            Ok(of.clone())
        }
        "GetValue" | "Deserialize" => match types.first() {
            Some(of_type) => statics::convert(of.clone(), of_type),
            None => Ok(of.clone()),
        },
        "ToJsonString" | "GetRawText" => Ok(V::text(crate::dotnet::json_text(
            &of.to_json(false, 0),
            true,
        ))),
        "TryGetProperty" => {
            let value = entry();
            let has = V::Bool(!matches!(value, V::Null));
            Ok(V::Tuple(std::rc::Rc::new(vec![(None, has), (None, value)])))
        }
        _ => return None,
    })
}

/// Milliseconds as ticks.
pub(super) fn span_of_ms<'p>(ms: f64) -> V<'p> {
    #[allow(clippy::cast_possible_truncation, reason = "saturates")]
    V::Span((ms * 10_000.0).round() as i64 / TICKS_A_MS * TICKS_A_MS)
}
