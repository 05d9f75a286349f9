//! Activity types that are data, as designers draw them: the newest versions of each, the latest one in the toolbox.

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_engine::activity_type::ActivityType;
use dormouse_engine::definition::fields::Fields;
use serde_json::{Value, json};

use super::activity::model;
use crate::app::App;
use crate::refusal::Refusal;

/// All types, old versions first.
pub(crate) struct OwnTypes(Vec<Arc<ActivityType>>);

impl OwnTypes {
    /// Reads them.
    pub(crate) async fn read(app: &App) -> Result<Self, Refusal> {
        let types = app.runtime().definitions().types();
        Ok(Self(types.drawn(app.tenant()).await?))
    }

    /// Their descriptors.
    pub(crate) fn descriptors(&self) -> Vec<Value> {
        let mut latest: BTreeMap<&str, u32> = BTreeMap::new();
        for ty in &self.0 {
            latest.insert(&ty.type_name, ty.version);
        }
        let told = |ty: &Arc<ActivityType>| {
            let mut descriptor = ty.descriptor();
            descriptor.is_hidden = latest.get(ty.type_name.as_str()) != Some(&ty.version);
            let mut model = model(&descriptor);
            if let Value::Object(members) = &mut model {
                let properties = json!({ "Handler": ty.handler.kind(), "Icon": ty.icon });
                members.insert("customProperties".into(), properties);
                require(members.get_mut("inputs"), ty);
            }
            model
        };
        self.0.iter().map(told).collect()
    }

    /// The version under which an activity's type is listed: the one that it names, else the latest one.
    pub(crate) fn version_for(&self, activity: &Value) -> Option<u32> {
        let fields = Fields::of(activity);
        let name = fields.text("type")?;
        let named = fields.integer("version");
        let mut all = self.0.iter().filter(|ty| ty.type_name == name);
        let found = all.clone().find(|ty| named == Some(ty.version.into()));
        found.or(all.next_back()).map(|ty| ty.version)
    }
}

/// Says which inputs must have a value.
fn require(inputs: Option<&mut Value>, ty: &ActivityType) {
    let inputs = inputs.and_then(Value::as_array_mut).into_iter().flatten();
    for (input, declared) in inputs.zip(&ty.inputs) {
        if let Value::Object(input) = input {
            input.insert("isRequired".into(), declared.is_required.into());
        }
    }
}
