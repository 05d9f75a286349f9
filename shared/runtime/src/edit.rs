//! Edits of one definition by several people: who saves over what he has not seen is told so.

use dormouse_engine::definition::Definition;
use dormouse_store::Tenant;
use dormouse_store::definition::DefinitionHead;
use serde_json::{Map, Value};

use crate::error::RuntimeError;
use crate::json_digest::json_digest;
use crate::load::read_definition;
use crate::runtime::Runtime;
use crate::version_extra::VersionExtra;

/// At most so many differences are named.
const DIFFERENCES_MAX: usize = 10;

/// What a definition's JSON says of its place and not of the workflow.
const NOT_CONTENT: [&str; 8] = [
    "$schema",
    "createdat",
    "definitionid",
    "id",
    "islatest",
    "ispublished",
    "links",
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

/// Where two values differ.
fn differences(path: &str, a: &Value, b: &Value, found: &mut Vec<String>) {
    if found.len() >= DIFFERENCES_MAX || a == b {
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

impl Runtime {
    /// What stands against an edit. `None`: nothing.
    pub(crate) async fn stale_edit(
        &self,
        tenant: &Tenant,
        head: &DefinitionHead,
        definition: &Definition,
        edit: &Edit,
    ) -> Result<Option<StaleEdit>, RuntimeError> {
        let Some(base) = &edit.base else {
            return Ok(None);
        };
        let (id, version) = (&head.definition_id, head.latest.version);
        let stored = self.store().definition_version(tenant, id, version).await?;
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
