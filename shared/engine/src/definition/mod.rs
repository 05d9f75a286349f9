//! A workflow definition as Elsa writes it: the JSON, kept unchanged, and what its head declares.
//!
//! Nothing is refused here that Elsa takes. What is wrong with the content is told by [`crate::validate`].

pub mod convert;
pub mod convert_kind;
pub mod data_type;
mod date;
pub mod declaration;
pub mod fields;
pub mod name;
pub mod search_attribute;
pub mod secret_name;

use serde_json::{Map, Value};

use declaration::{Argument, Options, Variable, arguments, variables};
use fields::Fields;

/// The largest definition taken, bytes of JSON.
pub const DEFINITION_BYTES_MAX: usize = 4 << 20;

/// Why a text is not a definition at all.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// It is too large.
    #[error(
        "the definition has {size} bytes; the limit is {DEFINITION_BYTES_MAX}. Split it into workflows that call each other"
    )]
    TooLarge {
        /// Its size in bytes.
        size: usize,
    },
    /// It is not JSON.
    #[error("the definition is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// It is JSON, but not an object with a root activity.
    #[error(
        "the definition has no `root` activity; it should be an object like {{\"name\": …, \"root\": {{\"type\": \"Elsa.Flowchart\", …}}}}"
    )]
    NoRoot,
}

/// A loaded definition. The JSON is written back as it was read, unknown properties and all.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    raw: Map<String, Value>,
    /// The version's id (`id` in JSON).
    pub version_id: Option<String>,
    /// The id that all versions share.
    pub definition_id: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The version's number; 0 where the file gives none.
    pub version: u32,
    /// Whether script accessors use activity names (tool version 3 and later) rather than ids.
    pub modern: bool,
    /// Whether it is the newest version.
    pub is_latest: bool,
    /// Whether it is the published version.
    pub is_published: bool,
    /// Whether it refuses changes.
    pub is_readonly: bool,
    /// Whether lists hide it.
    pub is_system: bool,
    /// Variables of the workflow.
    pub variables: Vec<Variable>,
    /// Inputs it takes.
    pub inputs: Vec<Argument>,
    /// Outputs it gives.
    pub outputs: Vec<Argument>,
    /// Ports it has when used as an activity.
    pub outcomes: Vec<String>,
    /// Its options.
    pub options: Options,
}

impl Definition {
    /// Reads a definition from JSON text.
    ///
    /// # Errors
    ///
    /// [`DefinitionError`] if it is no definition at all. Everything else is told by validation.
    pub fn from_json(text: &[u8]) -> Result<Self, DefinitionError> {
        if text.len() > DEFINITION_BYTES_MAX {
            return Err(DefinitionError::TooLarge { size: text.len() });
        }
        // Editors on Windows put a byte-order mark in front.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Self::from_value(serde_json::from_slice(text)?)
    }

    /// Takes parsed JSON.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::NoRoot`] if it is no object or has no root activity.
    pub fn from_value(value: Value) -> Result<Self, DefinitionError> {
        let Value::Object(raw) = value else {
            return Err(DefinitionError::NoRoot);
        };
        let fields = Fields::of_map(&raw);
        if !fields.object("root").is_present() {
            return Err(DefinitionError::NoRoot);
        }
        let major = fields
            .text("toolVersion")
            .and_then(|v| v.split('.').next().and_then(|m| m.parse::<u32>().ok()));
        Ok(Self {
            version_id: fields.text("id"),
            definition_id: fields.text("definitionId"),
            name: fields.text("name"),
            description: fields.text("description"),
            version: fields
                .integer("version")
                .and_then(|v| u32::try_from(v).ok())
                .unwrap_or(0),
            modern: major.is_some_and(|m| m >= 3),
            is_latest: fields.flag("isLatest").unwrap_or(false),
            is_published: fields.flag("isPublished").unwrap_or(false),
            is_readonly: fields.flag("isReadonly").unwrap_or(false),
            is_system: fields.flag("isSystem").unwrap_or(false),
            variables: variables(fields, "Workflow1"),
            inputs: arguments(fields, "inputs"),
            outputs: arguments(fields, "outputs"),
            outcomes: fields
                .list("outcomes")
                .into_iter()
                .filter_map(|v| v.as_str().map(str::to_owned))
                .collect(),
            options: Options::read(fields),
            raw,
        })
    }

    /// The JSON as it was read, with the identity that [`Self::identify`] gave it.
    #[must_use]
    pub fn raw(&self) -> &Map<String, Value> {
        &self.raw
    }

    /// The root activity's JSON.
    #[must_use]
    pub fn root(&self) -> &Value {
        Fields::of_map(&self.raw)
            .get("root")
            .unwrap_or(&Value::Null)
    }

    /// A property of the definition, in any case.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Value> {
        Fields::of_map(&self.raw).get(name)
    }

    /// Gives the definition its place among the versions. Only these properties of the JSON change.
    pub fn identify(&mut self, definition_id: &str, version_id: &str, version: u32) {
        self.definition_id = Some(definition_id.to_owned());
        self.version_id = Some(version_id.to_owned());
        self.version = version;
        self.put("definitionId", definition_id.into());
        self.put("id", version_id.into());
        self.put("version", version.into());
    }

    /// Says whether it is the latest and the published version. Only these properties of the JSON change.
    pub fn mark(&mut self, is_latest: bool, is_published: bool) {
        self.is_latest = is_latest;
        self.is_published = is_published;
        self.put("isLatest", is_latest.into());
        self.put("isPublished", is_published.into());
    }

    /// Gives it a name.
    pub fn rename(&mut self, name: &str) {
        self.name = Some(name.to_owned());
        self.put("name", name.into());
    }

    fn put(&mut self, name: &str, value: Value) {
        let key = self
            .raw
            .keys()
            .find(|k| k.eq_ignore_ascii_case(name))
            .cloned();
        self.raw
            .insert(key.unwrap_or_else(|| name.to_owned()), value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_properties_are_written_back() {
        let json = json!({"Name": "x", "strategy": {"$schema": 1}, "root": {"type": "Acme.Odd", "line": 3}});
        let definition = Definition::from_value(json.clone()).unwrap();
        assert_eq!(definition.name.as_deref(), Some("x"));
        assert_eq!(Value::Object(definition.raw().clone()), json);
    }

    #[test]
    fn what_is_no_definition_is_refused_with_a_reason() {
        assert!(matches!(
            Definition::from_json(b"{"),
            Err(DefinitionError::NotJson(_))
        ));
        assert!(matches!(
            Definition::from_json(b"[]"),
            Err(DefinitionError::NoRoot)
        ));
        assert!(matches!(
            Definition::from_json(b"{\"name\":\"x\"}"),
            Err(DefinitionError::NoRoot)
        ));
    }
}
