//! Properties of plain JSON that readers of the journal are shown.

use serde_json::Value;

use crate::activity;
use crate::definition::data_type::DataType;
use crate::definition::fields::Fields;

/// The properties of plain JSON that readers of the journal are shown; those that hold activities are not values.
pub(super) fn plain(fields: Fields<'_>, descriptor: &activity::Descriptor) -> Vec<(String, Value)> {
    let shown = descriptor.plain.iter().filter(|p| {
        !matches!(
            p.name.as_str(),
            "branches" | "catches" | "states" | "transitions"
        )
    });
    shown
        .filter_map(|property| {
            let given = fields.get(&property.name).unwrap_or(&property.default);
            let given = match (given, &property.data_type) {
                (Value::Null, DataType::Boolean) => &Value::Bool(false),
                (given, _) => given,
            };
            (!given.is_null()).then(|| (property.name.clone(), with_alias(given)))
        })
        .collect()
}

/// A variable's type and where it is stored, under the aliases that Elsa writes for them.
fn with_alias(given: &Value) -> Value {
    let mut given = given.clone();
    if let Some(Value::String(driver)) = given.get_mut("storageDriverTypeName")
        && let Some(class) = driver.strip_suffix(", Elsa.Workflows.Core")
    {
        *driver = class.rsplit('.').next().unwrap_or(class).to_owned();
    }
    if let Some(Value::String(alias)) = given.get_mut("typeName")
        && alias == "Long"
    {
        *alias = "Int64".into();
    }
    given
}
