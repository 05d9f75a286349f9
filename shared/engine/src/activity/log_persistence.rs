//! Which inputs and outputs the journal shows: Elsa's log persistence modes, old and new spelling.

use serde_json::{Map, Value};

use crate::definition::fields::Fields;

/// Whether a workflow leaves inputs and outputs out unless an activity says otherwise.
pub(crate) fn is_log_excluded(definition: &Map<String, Value>) -> bool {
    let custom = Fields::of_map(definition).object("customProperties");
    default_of(custom) == Some(false)
}

/// Whether the journal shows an activity's input (`part` = `inputs`) or output (`outputs`).
pub(crate) fn is_logged(activity: Fields<'_>, part: &str, name: &str, is_excluded: bool) -> bool {
    let custom = activity.object("customProperties");
    let own = custom
        .object("logPersistenceConfig")
        .object(part)
        .get(name)
        .and_then(mode);
    let legacy = custom
        .object("logPersistenceMode")
        .object(part)
        .get(name)
        .and_then(mode);
    own.or(legacy)
        .or_else(|| default_of(custom))
        .unwrap_or(!is_excluded)
}

fn default_of(custom: Fields<'_>) -> Option<bool> {
    let config = custom
        .object("logPersistenceConfig")
        .get("default")
        .and_then(mode);
    config.or_else(|| match custom.get("logPersistenceMode") {
        Some(Value::Object(_)) => custom
            .object("logPersistenceMode")
            .get("default")
            .and_then(mode),
        Some(other) => mode(other),
        None => None,
    })
}

/// `Include` is shown, `Exclude` is not, `Inherit` and anything else says nothing.
fn mode(value: &Value) -> Option<bool> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Object(_) => Fields::of(value).text("strategyType").unwrap_or_default(),
        Value::Number(n) => match n.as_i64() {
            Some(1) => "Include".into(),
            Some(2) => "Exclude".into(),
            Some(_) | None => String::new(),
        },
        Value::Null | Value::Bool(_) | Value::Array(_) => String::new(),
    };
    let head = text.split(',').next().unwrap_or_default();
    let class = head
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .trim_end_matches("Strategy");
    match class {
        "Include" => Some(true),
        "Exclude" => Some(false),
        _ => None,
    }
}
