//! Scripts that are only a path into one value, such as `getOrder().customer.name`: most of the scripts there
//! are. They are read straight from the scope, exactly as the interpreter would, without starting it.

use serde_json::Value;

use super::accessor::{self, Found};
use super::from_js;
use super::plan::Judge;
use super::scanner::{Kind, Token};
use crate::{Kind as Looks, Limits, Scope};

/// A value of the scope and the keys that lead into it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    root: Root,
    keys: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Root {
    Accessor(String),
    Variable(String),
    Input(String),
}

impl Path {
    /// The path that the script is, if it is one.
    pub(super) fn new(tokens: &[Token<'_>], judge: &dyn Judge) -> Option<Self> {
        let tokens = match tokens {
            [first, rest @ ..] if first.is("return") => {
                // `return` and a line's end would be a script without a value.
                (!rest.first()?.on_new_line).then_some(rest)?
            }
            _ => tokens,
        };
        let tokens = match tokens {
            [rest @ .., last] if last.is(";") => rest,
            _ => tokens,
        };
        let (root, rest) = root(tokens, judge)?;
        let mut keys = Vec::new();
        for pair in rest.chunks(2) {
            let [dot, key] = pair else { return None };
            if !dot.is(".") || key.kind != Kind::Word || key.text.contains(['\\', '#']) {
                return None;
            }
            keys.push(key.text.to_owned());
        }
        Some(Self { root, keys })
    }

    /// The value at the end of the path; `None`: only the interpreter knows (a missing key may be inherited,
    /// a missing accessor is an error with a text, a limit may be reached).
    pub(super) fn read(&self, scope: &dyn Scope, limits: &Limits) -> Option<(Value, Looks)> {
        let found = match &self.root {
            Root::Accessor(suffix) => accessor::read(scope, suffix)?,
            Root::Variable(name) => Found::of_variable(scope, name)?,
            Root::Input(name) => Found::new(scope.input(name)?, scope.input_kind(name)),
        };
        let kind = kind(found.kind, &self.keys)?;
        let mut value = found.value;
        for key in &self.keys {
            let Value::Object(mut entries) = value else {
                return None;
            };
            value = entries.swap_remove(key)?;
        }
        let mut bytes_left = limits.output_bytes_max;
        as_javascript(&mut value, limits.depth_max, &mut bytes_left)?;
        let kind = match (kind, &value) {
            (_, Value::Number(_)) => Looks::Double,
            (Looks::Plain, _) | (_, Value::Object(_)) => kind,
            _ => Looks::Plain,
        };
        Some((value, kind))
    }
}

/// What the end of a path is; `None`: only the interpreter knows.
fn kind(of_root: Looks, keys: &[String]) -> Option<Looks> {
    match of_root {
        Looks::Plain => Some(Looks::Plain),
        // Its members are nothing but their JSON.
        Looks::Json | Looks::Dictionary | Looks::Node if !keys.is_empty() => Some(Looks::Node),
        Looks::Texts if !keys.is_empty() => Some(Looks::Plain),
        Looks::Json | Looks::Dictionary | Looks::Node | Looks::Texts => Some(of_root),
        Looks::Double
        | Looks::DateTime
        | Looks::TimeSpan
        | Looks::Guid
        | Looks::Bytes
        | Looks::ListOfJson
        | Looks::BigInteger
        | Looks::Function
        | Looks::Opaque => None,
    }
}

fn root<'a, 'b>(tokens: &'a [Token<'b>], judge: &dyn Judge) -> Option<(Root, &'a [Token<'b>])> {
    match tokens {
        [name, open, close, rest @ ..]
            if !judge.is_global(name.text) && open.is("(") && close.is(")") =>
        {
            let suffix = name
                .text
                .strip_prefix("get")
                .filter(|suffix| !suffix.is_empty())?;
            Some((Root::Accessor(suffix.to_owned()), rest))
        }
        [name, open, text, close, rest @ ..]
            if text.kind == Kind::Text && open.is("(") && close.is(")") =>
        {
            let text = text.text.get(1..text.text.len() - 1)?;
            let argument = (!text.contains('\\')).then(|| text.to_owned())?;
            match name.text {
                "getVariable" => Some((Root::Variable(argument), rest)),
                "getInput" => Some((Root::Input(argument), rest)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Makes a value what it would be after a way through the interpreter, where every number is a double.
fn as_javascript(value: &mut Value, depth_left: usize, bytes_left: &mut usize) -> Option<()> {
    *bytes_left = bytes_left.checked_sub(8)?;
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::String(text) => *bytes_left = bytes_left.checked_sub(text.len())?,
        Value::Number(number) => *value = from_js::number(number.as_f64()?),
        Value::Array(items) => {
            let depth_left = depth_left.checked_sub(1)?;
            for item in items {
                as_javascript(item, depth_left, bytes_left)?;
            }
        }
        Value::Object(entries) => {
            let depth_left = depth_left.checked_sub(1)?;
            for (key, entry) in entries.iter_mut() {
                // JavaScript puts keys that look like an index first.
                if key.starts_with(|first: char| first.is_ascii_digit()) {
                    return None;
                }
                *bytes_left = bytes_left.checked_sub(key.len())?;
                as_javascript(entry, depth_left, bytes_left)?;
            }
        }
    }
    Some(())
}
