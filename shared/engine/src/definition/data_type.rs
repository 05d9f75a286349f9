//! The types of inputs, outputs and variables, and the aliases Elsa's files use for them.

use dormouse_expressions::Kind;
use serde::{Deserialize, Serialize};

/// What a value should be. Types we have no use for are `Object`: the value passes as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DataType {
    /// Anything.
    Object,
    /// Text.
    String,
    /// Name of a mode of `FlowJoin`.
    JoinMode,
    /// True or false.
    Boolean,
    /// A whole number of 8 bits without a sign.
    Byte,
    /// A whole number of 16 bits.
    Short,
    /// A whole number of 32 bits.
    Integer,
    /// A whole number of 64 bits.
    Long,
    /// A number of single precision.
    Single,
    /// A number.
    Number,
    /// A decimal number.
    Decimal,
    /// Text of a GUID.
    Guid,
    /// ISO 8601 text.
    DateTime,
    /// ISO 8601 text with an offset.
    DateTimeOffset,
    /// Text in .NET's constant format.
    TimeSpan,
    /// Base64 text.
    Bytes,
    /// A JSON object (.NET's `ExpandoObject`).
    Json,
    /// A JSON object (.NET's `JsonObject`).
    JsonObject,
    /// Any parsed JSON (`JsonNode`, `JsonElement`).
    Node,
    /// Values by name.
    Map,
    /// Texts by name.
    StringMap,
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
            "flowjoinmode" => Self::JoinMode,
            "string" | "uri" | "httpstatuscode" | "logpersistencemode" | "type" => Self::String,
            "boolean" | "bool" => Self::Boolean,
            "byte" => Self::Byte,
            "int16" | "short" => Self::Short,
            "int32" | "int" => Self::Integer,
            "int64" | "long" | "uint32" | "uint64" => Self::Long,
            "single" | "float" => Self::Single,
            "double" => Self::Number,
            "decimal" => Self::Decimal,
            "guid" => Self::Guid,
            "datetime" => Self::DateTime,
            "datetimeoffset" => Self::DateTimeOffset,
            "timespan" => Self::TimeSpan,
            "bytearray" | "stream" => Self::Bytes,
            "json" | "jobject" => Self::Json,
            "jsonobject" => Self::JsonObject,
            "jsonelement" | "jsonnode" | "jsonarray" | "jarray" => Self::Node,
            "stringdictionary" | "stringmap" => Self::StringMap,
            "objectdictionary"
            | "objectmap"
            | "httpheaders"
            | "httpresponseheaders"
            | "variablesdictionary" => Self::Map,
            _ => return None,
        })
    }

    /// What C# scripts need to know of the type; see `Scope::variable_type`.
    pub(crate) fn script_type(&self) -> &'static str {
        match self {
            Self::Long => "Int64",
            Self::Integer => "Int32",
            Self::Single => "Single",
            Self::Number => "Double",
            Self::String => "String",
            Self::Boolean => "Boolean",
            Self::Decimal => "Decimal",
            Self::DateTimeOffset => "DateTimeOffset",
            Self::Map | Self::JoinMode | Self::StringMap => "Dictionary",
            Self::Object | Self::Json => "Object",
            Self::JsonObject | Self::Node => "JsonObject",
            Self::Byte
            | Self::Short
            | Self::Guid
            | Self::DateTime
            | Self::TimeSpan
            | Self::Bytes
            | Self::List(_) => "",
        }
    }

    /// How scripts see values of the type.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::DateTime | Self::DateTimeOffset => Kind::DateTime,
            Self::TimeSpan => Kind::TimeSpan,
            Self::Guid => Kind::Guid,
            Self::Bytes => Kind::Bytes,
            Self::Json => Kind::Json,
            Self::JsonObject => Kind::Node,
            Self::Map => Kind::Dictionary,
            Self::StringMap => Kind::Texts,
            Self::List(of) => {
                let kind = of.kind();
                if kind == Kind::Node || **of == Self::Object {
                    Kind::ListOfJson
                } else if matches!(kind, Kind::DateTime | Kind::TimeSpan | Kind::Guid) {
                    kind
                } else {
                    Kind::Plain
                }
            }
            Self::Object
            | Self::String
            | Self::JoinMode
            | Self::Boolean
            | Self::Byte
            | Self::Short
            | Self::Integer
            | Self::Long
            | Self::Single
            | Self::Number
            | Self::Decimal
            | Self::Node => Kind::Plain,
        }
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
