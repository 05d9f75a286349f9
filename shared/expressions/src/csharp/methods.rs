//! Methods of dates, lists and maps.

use super::date::TICKS_A_MS;
use super::members::{count, no_member};
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
            "ToString" => Some(V::text(statics::formatted(
                of,
                &arguments.first().map(V::shown).unwrap_or_default(),
            ))),
            "GetType" => Some(V::Type(of.type_name())),
            "GetHashCode" => Some(V::Int(1)),
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
            V::Date(_) | V::Span(_) => time_method(of, name, &arguments),
            V::Map(_) => map_method(of, name, &arguments)?,
            V::List(list) => list_method(list, name, &arguments),
            V::Random => self.random(name, &arguments),
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

    fn random<'p>(&mut self, name: &str, arguments: &[V<'p>]) -> Option<V<'p>> {
        let number = |at: usize| arguments.get(at).and_then(operators::as_double);
        let drawn = self.scope.random() >> 11;
        #[allow(clippy::cast_precision_loss, reason = "53 bits")]
        let unit = drawn as f64 / 9_007_199_254_740_992.0;
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

fn time_method<'p>(of: &V<'p>, name: &str, arguments: &[V<'p>]) -> Option<V<'p>> {
    let first = arguments.first();
    let amount = first.and_then(operators::as_double).unwrap_or(0.0);
    #[allow(clippy::cast_possible_truncation, reason = "saturates")]
    let ticks = |unit_ms: f64| (amount * unit_ms * 10_000.0).round() as i64;
    let unit = match name {
        "AddDays" => Some(86_400_000.0),
        "AddHours" => Some(3_600_000.0),
        "AddMinutes" => Some(60_000.0),
        "AddSeconds" => Some(1_000.0),
        "AddMilliseconds" => Some(1.0),
        _ => None,
    };
    match (of, name, first) {
        (V::Date(date), _, _) if unit.is_some() => date.plus(ticks(unit?)).map(V::Date),
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        (V::Date(date), "AddMonths", _) => date.plus_months(amount as i64).map(V::Date),
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        (V::Date(date), "AddYears", _) => date.plus_months(amount as i64 * 12).map(V::Date),
        (V::Date(date), "Add", Some(V::Span(span))) => date.plus(*span).map(V::Date),
        (V::Date(date), "Subtract", Some(V::Span(span))) => date.plus(-*span).map(V::Date),
        (V::Date(date), "Subtract", Some(V::Date(other))) => Some(V::Span(date.minus(*other))),
        (V::Date(date), "ToUniversalTime" | "ToLocalTime", _) => {
            Some(V::Date(super::date::Date::utc(date.unix_ms())))
        }
        (V::Date(date), "ToUnixTimeSeconds", _) => Some(V::Long(date.unix_ms().div_euclid(1_000))),
        (V::Date(date), "ToUnixTimeMilliseconds", _) => Some(V::Long(date.unix_ms())),
        (V::Date(date), "ToShortDateString", _) => Some(V::text(date.formatted("MM/dd/yyyy"))),
        (V::Span(span), "Add", Some(V::Span(other))) => Some(V::Span(span + other)),
        (V::Span(span), "Subtract", Some(V::Span(other))) => Some(V::Span(span - other)),
        (V::Span(span), "Negate", _) => Some(V::Span(-span)),
        (V::Span(span), "Duration", _) => Some(V::Span(span.abs())),
        (V::Span(span), "Multiply", _) => operators::binary("*", &V::Span(*span), first?).ok(),
        _ => None,
    }
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
        _ => None,
    })
}

fn list_method<'p>(
    list: &super::value::List<'p>,
    name: &str,
    arguments: &[V<'p>],
) -> Option<V<'p>> {
    let first = arguments.first().cloned().unwrap_or(V::Null);
    let at = match &first {
        V::Int(at) => usize::try_from(*at).ok(),
        _ => None,
    };
    let position = || {
        list.items
            .borrow()
            .iter()
            .position(|item| operators::equal(item, &first))
    };
    Some(match name {
        "Add" => {
            list.items.borrow_mut().push(first);
            V::Null
        }
        "AddRange" => {
            if let V::List(other) = &first {
                let others = other.items.borrow().clone();
                list.items.borrow_mut().extend(others);
            }
            V::Null
        }
        "Insert" => {
            let value = arguments.get(1).cloned().unwrap_or(V::Null);
            let mut items = list.items.borrow_mut();
            let at = at.unwrap_or(0).min(items.len());
            items.insert(at, value);
            V::Null
        }
        "Remove" if !list.is_array => {
            let found = position();
            if let Some(found) = found {
                list.items.borrow_mut().remove(found);
            }
            V::Bool(found.is_some())
        }
        "RemoveAt" => {
            let mut items = list.items.borrow_mut();
            if let Some(at) = at.filter(|at| *at < items.len()) {
                items.remove(at);
            }
            V::Null
        }
        "Clear" => {
            list.items.borrow_mut().clear();
            V::Null
        }
        "Sort" => {
            list.items.borrow_mut().sort_by(operators::compare);
            V::Null
        }
        "Reverse" if !list.is_array => {
            list.items.borrow_mut().reverse();
            V::Null
        }
        "IndexOf" => position().map_or(V::Int(-1), count),
        "Contains" => V::Bool(position().is_some()),
        _ => return None,
    })
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
