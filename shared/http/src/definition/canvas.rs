//! A definition as a designer needs it: every activity has its id, its node id and a type that there is.
//!
//! Only answers are changed, not what is stored. A type that nobody knows goes out as Elsa's `NotFoundActivity` with
//! the original inside, and comes back as what it was.

use dormouse_engine::activity::built_ins;
use dormouse_engine::definition::Definition;
use dormouse_engine::definition::fields::Fields;
use dormouse_engine::graph::Place;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::body::DEPTH_MAX;
use crate::descriptor::{Composites, NOT_FOUND, OwnTypes};
use crate::refusal::Refusal;

/// Completes the root of a definition's JSON for a canvas.
pub(super) async fn complete(
    app: &App,
    definition: &Definition,
    json: &mut Map<String, Value>,
) -> Result<(), Refusal> {
    let Some(root) = json.get_mut("root") else {
        return Ok(());
    };
    let places = app
        .runtime()
        .graphs()
        .places(app.tenant(), definition)
        .await?;
    let own: Vec<&Place> = places.iter().filter(|place| place.host.is_none()).collect();
    complete_root(app, &own, root).await
}

/// Completes the root of one workflow, given the places in it.
pub(super) async fn complete_root(
    app: &App,
    places: &[&Place],
    root: &mut Value,
) -> Result<(), Refusal> {
    let is_known = |place: &Place| built_ins().contains_key(&place.type_name);
    let composites = if places.iter().all(|place| is_known(place)) {
        None
    } else {
        Some(Composites::read(app).await?)
    };
    let own_types = match &composites {
        None => None,
        Some(_) => Some(OwnTypes::read(app).await?),
    };
    for place in places {
        let Some(activity) = at(root, &place.path) else {
            continue;
        };
        if is_known(place) {
            identify(activity, place);
            put(activity, "version", 1.into());
        } else if let Some((name, version)) = composites.as_ref().and_then(|c| c.type_for(activity))
        {
            identify(activity, place);
            put(activity, "type", name.into());
            put(activity, "version", version.into());
        } else if let Some(version) = own_types.as_ref().and_then(|o| o.version_for(activity)) {
            identify(activity, place);
            put(activity, "version", version.into());
        } else {
            replace(activity, place);
        }
    }
    spell(root);
    Ok(())
}

/// Writes what Elsa always writes of an activity and of a connection, where it is not set.
pub(super) fn spell(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let is_activity =
                map.get("type").is_some_and(Value::is_string) && map.contains_key("id");
            if is_activity {
                let is_flowchart = map.get("type").is_some_and(|t| t == "Elsa.Flowchart");
                let is_container = map.get("type").and_then(Value::as_str).is_some_and(|t| {
                    matches!(t, "Elsa.Sequence" | "Elsa.Flowchart" | "Elsa.Parallel")
                });
                if is_container {
                    map.entry("variables").or_insert_with(|| json!([]));
                }
                // Elsa's value of a variable is anything, whatever it was saved as.
                if map.get("type").is_some_and(|t| t == "Elsa.SetVariable")
                    && let Some(Value::Object(value)) = map.get_mut("value")
                    && value.contains_key("typeName")
                {
                    value.insert("typeName".into(), "Object".into());
                }
                map.entry("metadata").or_insert_with(|| json!({}));
                let custom = map.entry("customProperties").or_insert_with(|| json!({}));
                if let Value::Object(custom) = custom {
                    for name in ["canStartWorkflow", "runAsynchronously"] {
                        custom.entry(name).or_insert(false.into());
                    }
                    if is_flowchart {
                        let name = "notFoundConnections";
                        custom.entry(name).or_insert_with(|| json!([]));
                    }
                }
                let connections = map.get_mut("connections").and_then(Value::as_array_mut);
                for connection in connections.into_iter().flatten() {
                    if let Value::Object(connection) = connection {
                        connection.entry("vertices").or_insert_with(|| json!([]));
                    }
                }
            }
            for (name, value) in map.iter_mut() {
                // What is in there is people's.
                if !matches!(name.as_str(), "customProperties" | "metadata" | "value") {
                    spell(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(spell),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Names the place of each activity below a parent, which is a workflow at first.
pub(super) fn name_places(value: &mut Value, parent: &str) {
    match value {
        Value::Object(map) => {
            let id = map.get("id").and_then(Value::as_str);
            let id = id.filter(|_| map.get("type").is_some_and(Value::is_string));
            let own = id.map(|id| format!("{parent}:{id}"));
            if let Some(own) = &own {
                map.insert("nodeId".into(), own.as_str().into());
            }
            let own = own.as_deref().unwrap_or(parent);
            for (name, value) in map.iter_mut() {
                // What is in there is people's.
                if !matches!(name.as_str(), "customProperties" | "metadata" | "value") {
                    name_places(value, own);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| name_places(item, parent)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The JSON of the activity at a place of its definition.
pub(crate) fn activity_at(definition: &Definition, path: &str) -> Option<Value> {
    at(&mut definition.root().clone(), path).map(Value::take)
}

fn identify(activity: &mut Value, place: &Place) {
    put(activity, "id", place.id.as_str().into());
    put(activity, "nodeId", place.node_id.as_str().into());
}

/// Sets a property under the name it has there, whatever its case.
fn put(activity: &mut Value, name: &str, value: Value) {
    let Value::Object(map) = activity else { return };
    let key = map.keys().find(|key| key.eq_ignore_ascii_case(name));
    let key = key.cloned().unwrap_or_else(|| name.to_owned());
    map.insert(key, value);
}

/// The activity at a path such as `root.activities[2].body`.
pub(super) fn at<'a>(root: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let mut found = root;
    for step in path.split('.').skip(1) {
        let (name, place) = match step.split_once('[') {
            Some((name, place)) => (name, place.trim_end_matches(']').parse::<usize>().ok()),
            None => (step, None),
        };
        found = property(found, name)?;
        if let Some(place) = place {
            found = item(found, place)?;
        }
    }
    Some(found)
}

fn property<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let map = value.as_object_mut()?;
    let key = if map.get(name).is_some_and(|v| !v.is_null()) {
        name.to_owned()
    } else {
        let mut keys = map.keys();
        keys.find(|key| key.eq_ignore_ascii_case(name))?.clone()
    };
    map.get_mut(&key)
}

/// An item of a list as [`Fields::list`] reads lists.
fn item(list: &mut Value, place: usize) -> Option<&mut Value> {
    if list.is_object() {
        let fields = Fields::of(list);
        let inner = ["$values", "items"]
            .into_iter()
            .find(|name| matches!(fields.get(name), Some(Value::Array(_))));
        return match inner {
            Some(name) => property(list, name)?.get_mut(place),
            None => (place == 0).then_some(list),
        };
    }
    list.get_mut(place)
}

/// Puts Elsa's placeholder where an activity of an unknown type stands.
fn replace(activity: &mut Value, place: &Place) {
    if place.type_name == NOT_FOUND {
        identify(activity, place);
        put(activity, "version", 1.into());
        return;
    }
    let fields = Fields::of(activity);
    let mut placeholder = json!({
        "id": place.id,
        "nodeId": place.node_id,
        "type": NOT_FOUND,
        "version": 1,
        "missingTypeName": place.type_name,
        "missingTypeVersion": fields.integer("version").unwrap_or(1),
        "originalActivityJson": activity.to_string(),
    });
    for name in ["name", "metadata", "customProperties"] {
        if let Some(value) = fields.get(name) {
            put(&mut placeholder, name, value.clone());
        }
    }
    *activity = placeholder;
}

/// Puts back what placeholders stand for, where they stand now on the canvas.
pub(super) fn restore(json: &mut Value) -> Result<(), Refusal> {
    restore_below(json, 0)
}

fn restore_below(json: &mut Value, depth: usize) -> Result<(), Refusal> {
    if depth > DEPTH_MAX {
        return Err(Refusal::JsonTooDeep { limit: DEPTH_MAX });
    }
    if let Some(mut original) = original(json) {
        if let Some(now) = Fields::of(json).get("metadata") {
            put(&mut original, "metadata", now.clone());
        }
        *json = original;
    }
    match json {
        Value::Array(items) => items
            .iter_mut()
            .try_for_each(|item| restore_below(item, depth + 1)),
        Value::Object(map) => map
            .values_mut()
            .try_for_each(|value| restore_below(value, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn original(json: &Value) -> Option<Value> {
    let fields = Fields::of(json);
    if fields.text("type")? != NOT_FOUND {
        return None;
    }
    let original: Value = serde_json::from_str(&fields.text("originalActivityJson")?).ok()?;
    // One placeholder in another would be put back for ever.
    let type_name = Fields::of(&original).text("type")?;
    (type_name != NOT_FOUND).then_some(original)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_its_activity_however_it_is_written() {
        let mut root = json!({ "Activities": { "$values": [{}, { "Body": { "id": "b" } }] } });
        assert_eq!(
            at(&mut root, "root.activities[1].body").unwrap(),
            &json!({ "id": "b" })
        );
        assert!(at(&mut root, "root.activities[7]").is_none());
        assert!(at(&mut root, "root.activities[0].body").is_none());
    }

    #[test]
    fn a_placeholder_comes_back_as_what_it_was_and_where_it_is_now() {
        let place = Place {
            path: "root".into(),
            id: "odd".into(),
            node_id: "Workflow1:odd".into(),
            type_name: "Acme.Odd".into(),
            host: None,
            workflow: None,
        };
        let was = json!({ "id": "odd", "type": "Acme.Odd", "line": { "a": [1] }, "metadata": { "x": 1 } });
        let mut activity = was.clone();
        replace(&mut activity, &place);
        assert_eq!(activity["missingTypeName"], "Acme.Odd");
        activity["metadata"] = json!({ "x": 2 });
        restore(&mut activity).unwrap();
        let mut expected = was;
        expected["metadata"] = json!({ "x": 2 });
        assert_eq!(activity, expected);
    }

    #[test]
    fn placeholders_nested_beyond_the_limit_are_refused() {
        let mut text = json!({ "type": "Acme.Odd" }).to_string();
        for _ in 0..8 {
            let body = json!({ "type": NOT_FOUND, "originalActivityJson": text });
            text = json!({ "type": "Acme.Odd", "body": [[[[[[[[[[[[[[[[[[body]]]]]]]]]]]]]]]]]] })
                .to_string();
        }
        let mut json: Value = serde_json::from_str(&text).unwrap();
        assert!(matches!(
            restore(&mut json),
            Err(Refusal::JsonTooDeep { .. })
        ));
    }
}
