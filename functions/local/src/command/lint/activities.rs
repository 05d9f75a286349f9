//! The activities of a definition's JSON, with their places.

use dormouse_engine::definition::fields::Fields;
use serde_json::Value;

/// Deepest nesting that is read.
const DEPTH_MAX: u32 = 200;

/// An activity.
#[derive(Debug)]
pub(super) struct Activity<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
    pub(super) id: String,
    pub(super) kind: String,
    /// The activity that it is in, by its place in the list.
    pub(super) parent: Option<usize>,
}

impl Activity<'_> {
    pub(super) fn fields(&self) -> Fields<'_> {
        Fields::of(self.value)
    }

    /// The name for people.
    pub(super) fn shown(&self) -> String {
        let name = self.fields().text("name").filter(|name| !name.is_empty());
        name.unwrap_or_else(|| self.id.clone())
    }

    /// True if it starts instances instead of waiting.
    pub(super) fn can_start(&self) -> bool {
        let fields = self.fields();
        let flag = fields.object("customProperties").flag("canStartWorkflow");
        flag.or(fields.flag("canStartWorkflow")).unwrap_or(false)
    }
}

/// All activities, parents before children.
pub(super) fn of(definition: &Value) -> Vec<Activity<'_>> {
    let mut found = Vec::new();
    let root = definition.as_object().into_iter().flatten();
    for (name, value) in root.filter(|(name, _)| name.eq_ignore_ascii_case("root")) {
        walk(value, name.clone(), None, DEPTH_MAX, &mut found);
    }
    found
}

fn walk<'a>(
    value: &'a Value,
    path: String,
    parent: Option<usize>,
    depth: u32,
    found: &mut Vec<Activity<'a>>,
) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    match value {
        Value::Object(entries) => {
            let fields = Fields::of(value);
            let mut parent = parent;
            if let (Some(id), Some(kind)) = (fields.text("id"), fields.text("type")) {
                let place = found.len();
                found.push(Activity {
                    path: path.clone(),
                    value,
                    id,
                    kind,
                    parent,
                });
                parent = Some(place);
            }
            for (name, inner) in entries {
                let is_other = ["expression", "metadata", "customProperties", "variables"]
                    .iter()
                    .any(|other| name.eq_ignore_ascii_case(other));
                if !is_other {
                    walk(inner, format!("{path}.{name}"), parent, depth, found);
                }
                // What undoes an activity may be written in place.
                let undo = Fields::of(inner).get("compensate");
                if let Some(undo) = undo.filter(|_| name.eq_ignore_ascii_case("customProperties")) {
                    let path = format!("{path}.{name}.compensate");
                    walk(undo, path, parent, depth, found);
                }
            }
        }
        Value::Array(items) => {
            for (place, inner) in items.iter().enumerate() {
                walk(inner, format!("{path}[{place}]"), parent, depth, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
