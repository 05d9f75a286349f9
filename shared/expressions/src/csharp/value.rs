//! Values of C# scripts, and how they leave as JSON.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Map as JsonMap, Number, Value};

use super::date::Date;
use super::decimal::Decimal;
use super::run::Closure;
use crate::dotnet::number_text;

/// A value.
#[derive(Clone)]
pub(super) enum V<'p> {
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Decimal(Decimal),
    Char(char),
    Text(Rc<str>),
    Date(Date),
    /// Ticks of 100 nanoseconds.
    Span(i64),
    Guid(Rc<str>),
    List(Rc<List<'p>>),
    Map(Rc<Map<'p>>),
    Tuple(Rc<Vec<(Option<String>, V<'p>)>>),
    Func(Rc<Closure<'p>>),
    Type(String),
    /// A type's member such as `DayOfWeek.Monday`.
    Enum(String),
    Random,
    /// Something of the running workflow: `Variables`, `Input`, …
    Host(&'static str),
}

pub(super) struct List<'p> {
    pub(super) is_array: bool,
    pub(super) items: RefCell<Vec<V<'p>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MapKind {
    Dictionary,
    /// Its entries are members, too.
    Expando,
    /// Its entries are members alone; they are written in camel case.
    Anonymous,
    /// `JsonObject`
    Node,
}

pub(super) struct Map<'p> {
    pub(super) kind: MapKind,
    pub(super) entries: RefCell<Vec<(V<'p>, V<'p>)>>,
}

impl<'p> V<'p> {
    pub(super) fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(List {
            is_array: false,
            items: RefCell::new(items),
        }))
    }

    pub(super) fn array(items: Vec<Self>) -> Self {
        Self::List(Rc::new(List {
            is_array: true,
            items: RefCell::new(items),
        }))
    }

    pub(super) fn map(kind: MapKind, entries: Vec<(Self, Self)>) -> Self {
        Self::Map(Rc::new(Map {
            kind,
            entries: RefCell::new(entries),
        }))
    }

    pub(super) fn anonymous(entries: Vec<(&str, Self)>) -> Self {
        let entries = entries
            .into_iter()
            .map(|(name, value)| (Self::text(name), value));
        Self::map(MapKind::Anonymous, entries.collect())
    }

    /// A value of the workflow. Objects are of `kind`.
    pub(super) fn from_json(value: &Value, kind: MapKind) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => i32::try_from(whole).map_or(Self::Long(whole), Self::Int),
                None => Self::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Self::text(text.as_str()),
            Value::Array(items) => {
                Self::array(items.iter().map(|i| Self::from_json(i, kind)).collect())
            }
            Value::Object(entries) => {
                let inner = if kind == MapKind::Dictionary {
                    MapKind::Expando
                } else {
                    kind
                };
                let entries = entries.iter();
                let entries =
                    entries.map(|(k, v)| (Self::text(k.as_str()), Self::from_json(v, inner)));
                Self::map(kind, entries.collect())
            }
        }
    }

    /// The value as JSON; `camel`: members begin with a small letter, as in the journal.
    pub(super) fn to_json(&self, camel: bool, depth: usize) -> Value {
        if depth > 64 {
            return Value::Null;
        }
        match self {
            Self::Null | Self::Func(_) | Self::Random | Self::Host(_) => Value::Null,
            Self::Bool(flag) => Value::from(*flag),
            Self::Int(number) => Value::from(*number),
            Self::Long(number) => Value::from(*number),
            Self::Double(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
            Self::Decimal(number) => match number.text().parse::<i64>() {
                Ok(whole) => Value::from(whole),
                Err(_) => Number::from_f64(number.as_f64()).map_or(Value::Null, Value::Number),
            },
            Self::Char(character) => Value::from(character.to_string()),
            Self::Text(text) | Self::Guid(text) => Value::from(&**text),
            Self::Date(date) => Value::from(date.json()),
            Self::Span(ticks) => Value::from(super::date::span_text(*ticks)),
            Self::Enum(name) | Self::Type(name) => Value::from(name.as_str()),
            Self::List(list) => list
                .items
                .borrow()
                .iter()
                .map(|i| i.to_json(camel, depth + 1))
                .collect(),
            Self::Tuple(_) => Value::Object(JsonMap::new()),
            Self::Map(map) => {
                let lowers = camel && map.kind == MapKind::Anonymous;
                let entries = map.entries.borrow();
                let entries = entries.iter().map(|(key, value)| {
                    let key = key.shown();
                    let key = if lowers { camel_case(&key) } else { key };
                    (key, value.to_json(camel, depth + 1))
                });
                Value::Object(entries.collect())
            }
        }
    }

    /// The value as `ToString` gives it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Bool(flag) => if *flag { "True" } else { "False" }.into(),
            Self::Int(number) => number.to_string(),
            Self::Long(number) => number.to_string(),
            Self::Double(number) => number_text(*number),
            Self::Decimal(number) => number.text(),
            Self::Char(character) => character.to_string(),
            Self::Text(text) | Self::Guid(text) => text.to_string(),
            Self::Date(date) => date.text(),
            Self::Span(ticks) => super::date::span_text(*ticks),
            Self::Enum(name) | Self::Type(name) => name.clone(),
            Self::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|(_, item)| item.shown()).collect();
                format!("({})", items.join(", "))
            }
            Self::Map(map) if map.kind == MapKind::Anonymous => {
                let entries = map.entries.borrow();
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(k, v)| format!("{} = {}", k.shown(), v.shown()))
                    .collect();
                format!("{{ {} }}", entries.join(", "))
            }
            Self::Map(map) if map.kind == MapKind::Node => {
                crate::dotnet::json_text(&self.to_json(false, 0), true)
            }
            Self::List(_) | Self::Map(_) | Self::Func(_) | Self::Random | Self::Host(_) => {
                format!("System.{}", self.type_name())
            }
        }
    }

    /// The name of the value's type.
    pub(super) fn type_name(&self) -> String {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "Boolean",
            Self::Int(_) => "Int32",
            Self::Long(_) => "Int64",
            Self::Double(_) => "Double",
            Self::Decimal(_) => "Decimal",
            Self::Char(_) => "Char",
            Self::Text(_) => "String",
            Self::Date(date) if date.offset.is_some() => "DateTimeOffset",
            Self::Date(_) => "DateTime",
            Self::Span(_) => "TimeSpan",
            Self::Guid(_) => "Guid",
            Self::List(list) if list.is_array => "Object[]",
            Self::List(_) => "List`1",
            Self::Map(map) => match map.kind {
                MapKind::Dictionary => "Dictionary`2",
                MapKind::Expando => "ExpandoObject",
                MapKind::Anonymous => "<>f__AnonymousType0",
                MapKind::Node => "JsonObject",
            },
            Self::Tuple(_) => "ValueTuple`2",
            Self::Func(_) => "Func`2",
            Self::Type(_) => "RuntimeType",
            Self::Enum(_) => "Enum",
            Self::Random => "Random",
            Self::Host(name) => name,
        }
        .to_owned()
    }

    /// About how many bytes it holds of its own.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.len() + 32,
            Self::List(list) => list.items.borrow().len() * size_of::<Self>() + 32,
            Self::Map(map) => map.entries.borrow().len() * 2 * size_of::<Self>() + 32,
            _ => size_of::<Self>(),
        }
    }
}

/// The name as .NET's camel case has it: capitals at the beginning become small but for the last before a small one.
fn camel_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut result = String::with_capacity(name.len());
    for (at, letter) in letters.iter().enumerate() {
        let next_is_small = letters.get(at + 1).is_some_and(|c| !c.is_uppercase());
        if !letter.is_uppercase() || at > 0 && next_is_small {
            result.extend(letters.iter().skip(at));
            return result;
        }
        result.extend(letter.to_lowercase());
    }
    result
}
