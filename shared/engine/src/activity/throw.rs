//! `Dormouse.Throw`: raises an error of a type, for a `Dormouse.TryCatch` around it.

use serde_json::{Map, Value};

use super::{Activity, BuiltIn, Descriptor};
use crate::activity_type::Failure;
use crate::step::{Cx, Fault, Then};

/// The type of an error that says none.
const ERROR: &str = "Error";
/// The most bytes of an error's data as JSON.
const DATA_BYTES_MAX: usize = 65_536;

#[derive(Debug)]
struct Throw;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Dormouse.Throw",
            "Errors",
            "Raises an error. The nearest TryCatch with a matching catch deals with it; without one it is an incident.",
        )
        .input(
            "errorType",
            "String",
            "Type of the error, such as `Payment.Declined`.",
        )
        .default_value(ERROR)
        .input("message", "String", "What went wrong, in a sentence.")
        .input("data", "ObjectDictionary", "Facts that the catch decides by: an object, at most 64 KiB.")
        .hint("json-editor"),
        build: |_, _| Box::new(Throw),
    }
}

impl Activity for Throw {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let kind = cx.text("errorType")?.filter(|kind| !kind.trim().is_empty());
        let message = cx.text("message")?.filter(|text| !text.is_empty());
        let data = match cx.input("data")? {
            Value::Null => Map::new(),
            Value::Object(data) => data,
            other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                Map::from_iter([("value".to_owned(), other)])
            }
        };
        let bytes = serde_json::to_vec(&data).map_or(0, |json| json.len());
        if bytes > DATA_BYTES_MAX {
            let message = format!(
                "the data of an error has at most {DATA_BYTES_MAX} bytes, and these have {bytes}; put them in a variable instead"
            );
            return Err(Fault::new("InvalidInput", message));
        }
        let kind = kind.as_deref().unwrap_or(ERROR).trim();
        // The bounds are those of the errors that handlers answer with.
        let bounded = Failure::new(
            kind,
            message.unwrap_or_else(|| format!("The workflow raised the error {kind}.")),
        );
        let mut fault = Fault::new(&bounded.kind, bounded.message);
        fault.metadata = data;
        Err(fault)
    }
}
