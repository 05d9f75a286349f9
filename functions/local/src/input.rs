//! Values that a person gives on the command line: JSON, a file, the standard input, or `name=value`.

use std::io::Read;
use std::path::Path;

use clap::Args;
use dormouse_engine::definition::convert::convert;
use dormouse_engine::definition::data_type::DataType;
use dormouse_engine::definition::declaration::Argument;
use serde_json::{Map, Value};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Inputs of a workflow or an activity.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Inputs as a JSON object; `@FILE` reads it from a file, `-` from standard input
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// One input. The value is parsed as JSON if possible, otherwise it is text. Repeatable
    #[arg(short = 'i', long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
}

impl InputArgs {
    /// All values together; what `--set` names wins.
    pub(crate) fn read(&self) -> Result<Map<String, Value>, Failure> {
        let mut values = match self.input.as_deref().map(json).transpose()? {
            None => Map::new(),
            Some(Value::Object(values)) => values,
            Some(_) => {
                return Err(bad(
                    "--input takes a JSON object such as '{\"Name\": \"Ada\"}'",
                ));
            }
        };
        values.append(&mut pairs("-i", &self.set)?);
        Ok(values)
    }
}

/// Compares values with the inputs that a workflow declares: one that cannot be read as its declared type is an error,
/// one that is not declared a warning.
pub(crate) fn check(
    screen: &Screen,
    values: &Map<String, Value>,
    declared: &[Argument],
    is_strict: bool,
) -> Result<(), Failure> {
    for (name, value) in values {
        let found = declared.iter().find(|d| d.name.eq_ignore_ascii_case(name));
        match found {
            Some(declared) if !is_readable(value, &declared.data_type) => {
                return Err(bad(format!(
                    "the input `{}` is a {}, and {value} cannot be read as one",
                    declared.name,
                    kind_name(&declared.data_type)
                )));
            }
            Some(_) => {}
            None => {
                let names: Vec<_> = declared.iter().map(|d| d.name.as_str()).collect();
                let known = match names.as_slice() {
                    [] => "it declares none".to_owned(),
                    names => format!("it declares {}", names.join(", ")),
                };
                warn_or_refuse(
                    screen,
                    is_strict,
                    &format!("the workflow declares no input `{name}`; {known}"),
                )?;
            }
        }
    }
    Ok(())
}

/// The name of a type for a person.
fn kind_name(data_type: &DataType) -> String {
    format!("{data_type:?}").replace(['(', ')', '"'], " ")
}

/// True if a value can be read as a type. Elsa gives the type's default to a workflow where it has none.
fn is_readable(value: &Value, wanted: &DataType) -> bool {
    let Value::String(text) = value else {
        return convert(value.clone(), wanted).is_ok();
    };
    let text = text.trim();
    match wanted {
        _ if text.is_empty() => true,
        DataType::Byte
        | DataType::Short
        | DataType::Integer
        | DataType::Long
        | DataType::Single
        | DataType::Number
        | DataType::Decimal => text.parse::<f64>().is_ok(),
        DataType::Boolean => {
            text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
        }
        DataType::Guid | DataType::DateTime | DataType::DateTimeOffset | DataType::TimeSpan => {
            // What has no reading becomes the type's default, as a text that surely has none does.
            let default = convert("no value of the type".into(), wanted).ok();
            let read = convert(text.into(), wanted).ok();
            read.is_some() && (read != default || text.starts_with("00"))
        }
        DataType::Object
        | DataType::String
        | DataType::JoinMode
        | DataType::Bytes
        | DataType::Json
        | DataType::JsonObject
        | DataType::Node
        | DataType::Map
        | DataType::StringMap
        | DataType::List(_) => convert(value.clone(), wanted).is_ok(),
    }
}

/// Warns on the error stream; an error instead where everything is to be as declared.
pub(crate) fn warn_or_refuse(
    screen: &Screen,
    is_strict: bool,
    message: &str,
) -> Result<(), Failure> {
    if is_strict {
        return Err(bad(message));
    }
    screen.warn(message);
    Ok(())
}

/// Reads `name=value` pairs; values are JSON if they read as JSON, else text.
pub(crate) fn pairs(option: &str, pairs: &[String]) -> Result<Map<String, Value>, Failure> {
    let mut values = Map::new();
    for pair in pairs {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            bad(format!(
                "`{pair}` has no value; write {option} {pair}=VALUE"
            ))
        })?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        values.insert(name.to_owned(), value);
    }
    Ok(values)
}

/// Reads JSON from the text itself, from `@FILE` or, for `-`, from the standard input.
pub(crate) fn json(text: &str) -> Result<Value, Failure> {
    let read = match (text, text.strip_prefix('@')) {
        ("-", _) => {
            let mut all = String::new();
            let done = std::io::stdin().read_to_string(&mut all);
            done.map_err(|e| bad(format!("the standard input cannot be read: {e}")))?;
            all
        }
        (_, Some(file)) => {
            let path = Path::new(file);
            std::fs::read_to_string(path).map_err(|e| Failure::file(path, &e))?
        }
        (text, None) => text.to_owned(),
    };
    serde_json::from_str(&read).map_err(|e| {
        bad(format!("not JSON: {e}"))
            .help("write text as '\"text\"', with the double quotes inside the single ones")
    })
}

fn bad(message: impl Into<String>) -> Failure {
    Failure::new(Exit::BadInput, "badInput", message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn args(input: Option<&str>, set: &[&str]) -> InputArgs {
        InputArgs {
            input: input.map(str::to_owned),
            set: set.iter().map(|&s| s.to_owned()).collect(),
        }
    }

    #[test]
    fn single_values_are_json_where_they_can_be_and_win() {
        let read = args(Some("{\"a\": 1, \"b\": 2}"), &["b=[3]", "c=x=y", "d=007"]).read();
        let expected = json!({ "a": 1, "b": [3], "c": "x=y", "d": "007" });
        assert_eq!(Value::Object(read.unwrap()), expected);
    }

    #[test]
    fn what_is_no_object_is_bad_input() {
        for bad in [
            args(Some("[1]"), &[]),
            args(Some("{"), &[]),
            args(None, &["x"]),
        ] {
            assert_eq!(bad.read().unwrap_err().exit, Exit::BadInput);
        }
        assert_eq!(
            args(Some("@/no/such/file"), &[]).read().unwrap_err().code,
            "file"
        );
    }
}
