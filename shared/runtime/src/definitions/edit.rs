//! Edits of one definition by several people: who saves over what he has not seen is told so.

use dormouse_engine::definition::Definition;
use dormouse_store::Tenant;
use dormouse_store::definition::head::DefinitionHead;
use serde_json::{Map, Value};

use crate::definitions::Definitions;
use crate::error::RuntimeError;
use crate::graph::version_extra::VersionExtra;
use crate::json_digest::json_digest;
use crate::loading::load::read_definition;

/// At most so many differences are named.
const DIFFERENCES_MAX: usize = 10;

/// What a definition's JSON says of its place and not of the workflow.
const NOT_CONTENT: [&str; 11] = [
    "$schema",
    "createdat",
    "definitionid",
    "id",
    "islatest",
    "ispublished",
    "links",
    "materializercontext",
    "materializername",
    "providername",
    "version",
];

/// Who saves a definition, and over what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// Who. `None`: a program of ours.
    pub by: Option<String>,
    /// The [`content_digest`] of what he has edited. `None`: he does not say, and it is not asked.
    pub base: Option<String>,
}

/// An edit that came too late: somebody else has saved something else meanwhile. Nothing is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleEdit {
    /// Who has, where that is known.
    pub by: Option<String>,
    /// Where what is stored and what was to be saved differ: paths such as `root.activities[1].text`.
    pub differences: Vec<String>,
}

/// A digest of what a definition does, whatever its version, its flags and its place are.
#[must_use]
pub fn content_digest(definition: &Definition) -> String {
    let mut digest = json_digest(&content(definition));
    // Enough to tell edits apart.
    digest.truncate(32);
    digest
}

fn content(definition: &Definition) -> Value {
    let raw = definition.raw().iter();
    let content = raw.filter(|(name, _)| !NOT_CONTENT.contains(&name.to_lowercase().as_str()));
    let content: Map<String, Value> = content
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    content.into()
}

/// Whether a value says as little as none: editors spell out what files leave out.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_nothing),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// Where two values differ.
fn differences(path: &str, a: &Value, b: &Value, found: &mut Vec<String>) {
    if found.len() >= DIFFERENCES_MAX || a == b || (is_nothing(a) && is_nothing(b)) {
        return;
    }
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let more = b.keys().filter(|name| !a.contains_key(*name));
            for name in a.keys().chain(more) {
                let separator = if path.is_empty() { "" } else { "." };
                let here = format!("{path}{separator}{name}");
                let value = |map: &Map<String, Value>| map.get(name).cloned().unwrap_or_default();
                differences(&here, &value(a), &value(b), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (place, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{place}]"), a, b, found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

impl Definitions<'_> {
    /// What stands against an edit. `None`: nothing.
    pub(crate) async fn stale_edit(
        self,
        tenant: &Tenant,
        head: &DefinitionHead,
        definition: &Definition,
        edit: &Edit,
    ) -> Result<Option<StaleEdit>, RuntimeError> {
        let Some(base) = &edit.base else {
            return Ok(None);
        };
        let (id, version) = (&head.definition_id, head.latest.version);
        let stored = self
            .store()
            .definitions()
            .definition_version(tenant, id, version)
            .await?;
        let Some(stored) = stored else {
            return Ok(None);
        };
        let by = VersionExtra::read(&stored.info)?.saved_by;
        // An editor may save once more before it has the answer to the save before.
        let is_his_own = by.is_some() && by == edit.by;
        let now = read_definition(&stored)?;
        if is_his_own || content_digest(&now) == *base {
            return Ok(None);
        }
        let mut found = Vec::new();
        differences("", &content(&now), &content(definition), &mut found);
        Ok((!found.is_empty()).then_some(StaleEdit {
            by,
            differences: found,
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_named_by_their_places_and_nothing_is_no_difference() {
        let told = |a: Value, b: Value| {
            let mut found = Vec::new();
            differences("", &a, &b, &mut found);
            found
        };
        let a = json!({ "name": "a", "isSystem": false, "root": { "activities": [{ "text": "x" }, { "text": "y" }] } });
        let b = json!({ "name": "a", "options": { "usableAsActivity": false }, "root": { "activities": [{ "text": "x" }, { "text": "z" }] } });
        assert_eq!(told(a.clone(), b), ["root.activities[1].text"]);
        let fewer =
            json!({ "description": "d", "name": "a", "root": { "activities": [{ "text": "x" }] } });
        assert_eq!(told(a.clone(), fewer), ["root.activities", "description"]);
        let many: Vec<Value> = (0..40).map(Value::from).collect();
        let others: Vec<Value> = (100..140).map(Value::from).collect();
        assert_eq!(told(many.into(), others.into()).len(), DIFFERENCES_MAX);
    }

    #[test]
    fn a_digest_is_of_the_content_whatever_version_it_is() {
        let digest = |json: Value| content_digest(&Definition::from_value(json).unwrap());
        let root = json!({ "type": "Elsa.Sequence", "id": "s", "activities": [] });
        let one = json!({ "id": "v1", "definitionId": "d", "version": 1, "isLatest": true, "root": root });
        let two = json!({ "root": root, "Version": 2, "definitionId": "d", "createdAt": "2026-01-01T00:00:00Z" });
        assert_eq!(digest(one.clone()), digest(two));
        let mut other = one.clone();
        other["name"] = "n".into();
        assert_ne!(digest(one), digest(other));
    }
}
