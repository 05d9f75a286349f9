//! The types of inputs, outputs and variables, and the aliases Elsa's files use for them.

use serde::{Deserialize, Serialize};

/// What a value should be. Types we have no use for are `Object`: the value passes as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DataType {
    /// Anything.
    Object,
    /// Text.
    String,
    /// True or false.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Text of a GUID.
    Guid,
    /// ISO 8601 text.
    DateTime,
    /// Text in .NET's constant format.
    TimeSpan,
    /// Base64 text.
    Bytes,
    /// Parsed JSON.
    Json,
    /// Values by name.
    Map,
    /// A list of values of one type.
    List(Box<DataType>),
}

impl DataType {
    /// Reads an alias (`String`, `Int32?`, `Object[]`, `List<String>`, `IDictionary<String, Object>`) or an
    /// assembly-qualified .NET name, in any case. `None`: a type nobody knows.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.trim();
        if let Some(inner) = name.strip_suffix('?') {
            return Self::parse(inner);
        }
        if let Some(inner) = name.strip_suffix("[]") {
            return Some(Self::List(Box::new(
                Self::parse(inner).unwrap_or(Self::Object),
            )));
        }
        if let Some((outer, inner)) = name.strip_suffix('>').and_then(|n| n.split_once('<')) {
            return Some(if outer.to_ascii_lowercase().contains("dictionary") {
                Self::Map
            } else {
                Self::List(Box::new(Self::parse(inner).unwrap_or(Self::Object)))
            });
        }
        // `System.Int32, System.Private.CoreLib` → `int32`
        let qualified = name.split_once(',').map_or(name, |(head, _)| head);
        let simple = qualified
            .rsplit('.')
            .next()
            .unwrap_or(qualified)
            .to_ascii_lowercase();
        Some(match simple.as_str() {
            "object"
            | "formfile"
            | "httprequest"
            | "httpresponsemessage"
            | "exceptionstate"
            | "httpcontext"
            | "downloadable" => Self::Object,
            "string" | "uri" | "httpstatuscode" | "flowjoinmode" | "logpersistencemode"
            | "type" => Self::String,
            "boolean" | "bool" => Self::Boolean,
            "int16" | "int32" | "int64" | "int" | "long" | "short" | "byte" | "uint32"
            | "uint64" => Self::Integer,
            "single" | "double" | "decimal" | "float" => Self::Number,
            "guid" => Self::Guid,
            "datetime" | "datetimeoffset" | "dateonly" => Self::DateTime,
            "timespan" => Self::TimeSpan,
            "bytearray" | "stream" => Self::Bytes,
            "json" | "jsonelement" | "jsonnode" | "jsonobject" | "jsonarray" | "jobject"
            | "jarray" | "expandoobject" => Self::Json,
            "stringdictionary"
            | "objectdictionary"
            | "stringmap"
            | "objectmap"
            | "httpheaders"
            | "httpresponseheaders"
            | "variablesdictionary" => Self::Map,
            _ => return None,
        })
    }

    /// The type with `isArray` applied.
    #[must_use]
    pub fn array_if(self, is_array: bool) -> Self {
        if is_array && !matches!(self, Self::List(_)) {
            Self::List(Box::new(self))
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_and_qualified_names_are_the_same_types() {
        let list = |t| Some(DataType::List(Box::new(t)));
        assert_eq!(DataType::parse("int32?"), Some(DataType::Integer));
        assert_eq!(
            DataType::parse("System.Net.HttpStatusCode, System.Net.Primitives"),
            Some(DataType::String)
        );
        assert_eq!(DataType::parse("Object[]"), list(DataType::Object));
        assert_eq!(
            DataType::parse("ICollection<String>"),
            list(DataType::String)
        );
        assert_eq!(
            DataType::parse("IDictionary<String, Object>"),
            Some(DataType::Map)
        );
        assert_eq!(DataType::parse("Acme.Order"), None);
    }
}
