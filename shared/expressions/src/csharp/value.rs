//! Values of C# scripts, and how they leave as JSON.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Map as JsonMap, Number, Value};

use super::date::Date;
use super::decimal::Decimal;
use super::frame::Closure;
use crate::dotnet::number_text;

/// A value.
#[derive(Clone)]
pub(super) enum V<'p> {
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Single(f32),
    Double(f64),
    Decimal(Decimal),
    Char(char),
    Text(Rc<str>),
    Date(Date),
    /// Ticks of 100 nanoseconds.
    Span(i64),
    Guid(Rc<str>),
    Uri(Rc<str>),
    List(Rc<List<'p>>),
    Map(Rc<Map<'p>>),
    Tuple(Rc<Vec<(Option<String>, V<'p>)>>),
    Func(Rc<Closure<'p>>),
    Type(String),
    /// A type's member such as `DayOfWeek.Monday`.
    Enum(Member),
    Builder(Rc<RefCell<String>>),
    Regex(Rc<super::regex::Regex>),
    /// A type that the script declares, and an object of one.
    Class(Rc<super::object::ClassOf<'p>>),
    Object(Rc<super::object::Object<'p>>),
    Random,
    /// Random numbers of a seed.
    Seeded(Rc<RefCell<super::element::Seeded>>),
    Element(Rc<Value>),
    /// Something of the running workflow: `Variables`, `Input`, …
    Host(&'static str),
}

/// A member of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) class: Rc<str>,
    pub(super) name: Rc<str>,
    pub(super) number: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    Array,
    /// Bytes, which are written in base 64.
    Bytes,
    List,
    Set,
    Queue,
    Stack,
    /// What a method of LINQ gave.
    Lazy,
}

pub(super) struct List<'p> {
    pub(super) kind: ListKind,
    pub(super) items: RefCell<Vec<V<'p>>>,
    /// Of a sorted list: the keys of each item, and which of them descend.
    pub(super) keys: Option<SortKeys<'p>>,
}

pub(super) struct SortKeys<'p> {
    pub(super) keys: Vec<Vec<V<'p>>>,
    pub(super) descends: Vec<bool>,
}

impl List<'_> {
    pub(super) fn is_array(&self) -> bool {
        matches!(self.kind, ListKind::Array | ListKind::Bytes)
    }
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
        Self::items_of(ListKind::List, items)
    }

    pub(super) fn array(items: Vec<Self>) -> Self {
        Self::items_of(ListKind::Array, items)
    }

    /// What a method of LINQ gives.
    pub(super) fn lazy(items: Vec<Self>) -> Self {
        Self::items_of(ListKind::Lazy, items)
    }

    pub(super) fn bytes(bytes: &[u8]) -> Self {
        let items = bytes.iter().map(|byte| Self::Int(i32::from(*byte)));
        Self::items_of(ListKind::Bytes, items.collect())
    }

    pub(super) fn items_of(kind: ListKind, items: Vec<Self>) -> Self {
        Self::List(Rc::new(List {
            kind,
            items: RefCell::new(items),
            keys: None,
        }))
    }

    pub(super) fn member(class: &str, name: &str, number: i64) -> Self {
        Self::Enum(Member {
            class: class.into(),
            name: name.into(),
            number,
        })
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
                let items = items.iter().map(|i| Self::from_json(i, kind)).collect();
                // Nodes of JSON count as lists do.
                if kind == MapKind::Node {
                    Self::list(items)
                } else {
                    Self::array(items)
                }
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
            Self::Null
            | Self::Func(_)
            | Self::Random
            | Self::Seeded(_)
            | Self::Host(_)
            | Self::Regex(_)
            | Self::Class(_)
            | Self::Object(_) => Value::Null,
            Self::Element(value) => Value::clone(value),
            Self::Single(_) => self.shown().parse::<f64>().map_or(Value::Null, Value::from),
            Self::Builder(text) => {
                let length = text.borrow().chars().count();
                serde_json::json!({ "Capacity": length.max(16), "MaxCapacity": i32::MAX, "Length": length })
            }
            Self::Bool(flag) => Value::from(*flag),
            Self::Int(number) => Value::from(*number),
            Self::Long(number) => Value::from(*number),
            Self::Double(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
            Self::Decimal(number) => match number.text().parse::<i64>() {
                Ok(whole) => Value::from(whole),
                Err(_) => Number::from_f64(number.as_f64()).map_or(Value::Null, Value::Number),
            },
            Self::Char(character) => Value::from(character.to_string()),
            Self::Text(text) | Self::Guid(text) | Self::Uri(text) => Value::from(&**text),
            Self::Date(date) => Value::from(date.json()),
            Self::Span(ticks) => Value::from(super::date::span_text(*ticks)),
            Self::Enum(member) => Value::from(member.number),
            Self::Type(name) => Value::from(name.as_str()),
            Self::List(list) if list.kind == ListKind::Bytes => {
                use base64::Engine as _;
                let bytes = super::conversion::bytes_of(self);
                Value::from(base64::engine::general_purpose::STANDARD.encode(bytes))
            }
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
            Self::Single(number) => single_text(*number),
            Self::Double(number) => number_text(*number),
            Self::Decimal(number) => number.text(),
            Self::Char(character) => character.to_string(),
            Self::Text(text) | Self::Guid(text) => text.to_string(),
            Self::Uri(address) => super::address::uri_text(address),
            Self::Date(date) => date.text(),
            Self::Span(ticks) => super::date::span_text(*ticks),
            Self::Enum(member) => member.name.to_string(),
            Self::Type(name) => name.clone(),
            Self::Builder(text) => text.borrow().clone(),
            Self::Regex(regex) => regex.source.clone(),
            Self::Object(object) => object.shown(),
            Self::Element(value) => super::element::shown(value),
            Self::Class(class) => format!("Submission#0+{}", class.declared.name),
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
            Self::List(_)
            | Self::Map(_)
            | Self::Func(_)
            | Self::Random
            | Self::Seeded(_)
            | Self::Host(_) => {
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
            Self::Single(_) => "Single",
            Self::Double(_) => "Double",
            Self::Decimal(_) => "Decimal",
            Self::Char(_) => "Char",
            Self::Text(_) => "String",
            Self::Date(date) if date.part == super::date::Part::Day => "DateOnly",
            Self::Date(date) if date.part == super::date::Part::Clock => "TimeOnly",
            Self::Date(date) if date.offset.is_some() => "DateTimeOffset",
            Self::Date(_) => "DateTime",
            Self::Span(_) => "TimeSpan",
            Self::Guid(_) => "Guid",
            Self::Uri(_) => "Uri",
            Self::List(list) => match list.kind {
                ListKind::Array => "Object[]",
                ListKind::Bytes => "Byte[]",
                ListKind::List => "List`1",
                ListKind::Set => "HashSet`1",
                ListKind::Queue => "Queue`1",
                ListKind::Stack => "Stack`1",
                ListKind::Lazy => "IEnumerable`1",
            },
            Self::Map(map) => match map.kind {
                MapKind::Dictionary => "Dictionary`2",
                MapKind::Expando => "ExpandoObject",
                MapKind::Anonymous => "<>f__AnonymousType0",
                MapKind::Node => "JsonObject",
            },
            Self::Tuple(_) => "ValueTuple`2",
            Self::Func(_) => "Func`2",
            Self::Type(_) => "RuntimeType",
            Self::Enum(member) => return member.class.to_string(),
            Self::Builder(_) => "StringBuilder",
            Self::Class(_) => "RuntimeType",
            Self::Object(object) => return object.class.declared.name.clone(),
            Self::Regex(_) => "Regex",
            Self::Random | Self::Seeded(_) => "Random",
            Self::Element(_) => "JsonElement",
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

/// A float as .NET writes it: the shortest text that is read back as the same number.
fn single_text(number: f32) -> String {
    let text = format!("{number:e}");
    number_text(text.parse().unwrap_or(f64::NAN))
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
