//! Values that a person gives on the command line: JSON, a file, the standard input, or `name=value`.

use std::io::Read;
use std::path::Path;

use clap::Args;
use serde_json::{Map, Value};

use crate::exit::Exit;
use crate::failure::Failure;

/// What a workflow or an activity receives.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Values by name as a JSON object; `@FILE` reads it from a file, `-` from the standard input
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// One value; JSON if it reads as JSON, else text. Can be given again and again
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
        values.append(&mut pairs("--set", &self.set)?);
        Ok(values)
    }
}

/// Reads `name=value` pairs; values are JSON if they read as JSON, else text.
pub(crate) fn pairs(option: &str, pairs: &[String]) -> Result<Map<String, Value>, Failure> {
    let mut values = Map::new();
    for pair in pairs {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| bad(format!("{option} {pair}: write it as name=value")))?;
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
