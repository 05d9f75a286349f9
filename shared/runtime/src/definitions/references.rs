//! Changing a definition's references to another one's new version.

use dormouse_engine::definition::Definition;
use dormouse_engine::definition::name::type_key;
use serde_json::{Map, Value};

use crate::error::RuntimeError;

/// The version that references are to lead to.
pub(crate) struct Target<'a> {
    pub(crate) definition_id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) version: u32,
    pub(crate) version_id: &'a str,
    /// The ids of all its versions.
    pub(crate) version_ids: &'a [String],
}

/// The definition with its references led to the target; `None` if nothing has to change.
pub(crate) fn redirect(
    definition: &Definition,
    target: &Target<'_>,
) -> Result<Option<Definition>, RuntimeError> {
    let mut json = Value::Object(definition.raw().clone());
    let mut is_changed = false;
    visit(&mut json, target, &mut is_changed);
    if !is_changed {
        return Ok(None);
    }
    let changed =
        Definition::from_value(json).map_err(|source| RuntimeError::StoredDefinition {
            definition_id: definition.definition_id.clone().unwrap_or_default(),
            version: definition.version,
            source,
        })?;
    Ok(Some(changed))
}

fn visit(json: &mut Value, target: &Target<'_>, is_changed: &mut bool) {
    match json {
        Value::Object(object) => {
            if leads_to(object, target) {
                lead(object, target, is_changed);
            }
            for value in object.values_mut() {
                visit(value, target, is_changed);
            }
        }
        Value::Array(values) => {
            for value in values {
                visit(value, target, is_changed);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let (_, value) = object
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))?;
    value.as_str().filter(|text| !text.is_empty())
}

/// Whether an activity is the target used as one.
fn leads_to(object: &Map<String, Value>, target: &Target<'_>) -> bool {
    let Some(type_name) = text(object, "type") else {
        return false;
    };
    if let Some(id) = text(object, "workflowDefinitionId") {
        return id == target.definition_id;
    }
    if let Some(id) = text(object, "workflowDefinitionVersionId") {
        return target.version_ids.iter().any(|known| known == id);
    }
    !target.name.is_empty() && type_key(type_name) == type_key(target.name)
}

/// Changes what an activity says of the version that it uses; what it does not say is not added.
fn lead(object: &mut Map<String, Value>, target: &Target<'_>, is_changed: &mut bool) {
    let facts: [(&str, Value); 4] = [
        ("workflowDefinitionVersionId", target.version_id.into()),
        ("version", target.version.into()),
        ("latestAvailablePublishedVersion", target.version.into()),
        (
            "latestAvailablePublishedVersionId",
            target.version_id.into(),
        ),
    ];
    for (name, value) in facts {
        let there = object
            .iter_mut()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        if let Some((_, old)) = there
            && *old != value
        {
            *old = value;
            *is_changed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn target() -> Target<'static> {
        Target {
            definition_id: "child",
            name: "The Child",
            version: 3,
            version_id: "child-v3",
            version_ids: &[],
        }
    }

    #[test]
    fn references_move_to_the_new_version_and_nothing_else_changes() {
        let json = json!({"root": {"type": "Elsa.Sequence", "version": 1, "activities": [
            {"type": "TheChild", "version": 1, "workflowDefinitionId": "child", "workflowDefinitionVersionId": "child-v1"},
            {"type": "TheChild", "version": 2},
            {"type": "TheChild", "version": 1, "workflowDefinitionId": "other"},
        ]}});
        let definition = Definition::from_value(json).unwrap();
        let moved = redirect(&definition, &target()).unwrap().unwrap();
        let activities = &moved.raw()["root"]["activities"];
        assert_eq!(activities[0]["version"], 3);
        assert_eq!(activities[0]["workflowDefinitionVersionId"], "child-v3");
        assert_eq!(activities[1], json!({"type": "TheChild", "version": 3}));
        assert_eq!(activities[2]["version"], 1);
        assert_eq!(moved.raw()["root"]["version"], 1);
        assert!(redirect(&moved, &target()).unwrap().is_none());
    }
}
