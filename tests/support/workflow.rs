//! A whole definition under construction.

use serde_json::{Value, json};

use crate::activity::{Activity, variable_json};

/// A definition.
#[derive(Debug, Clone)]
pub struct Workflow(Value);

/// A published workflow with a name, which is also its definition id, and a root activity.
#[must_use]
pub fn workflow(name: &str, root: Activity) -> Workflow {
    Workflow(json!({
        "id": format!("{name}-v1"), "definitionId": name, "name": name, "version": 1,
        "toolVersion": "3.6.0.0", "isLatest": true, "isPublished": true,
        "variables": [], "inputs": [], "outputs": [], "outcomes": [], "options": {},
        "root": root.json(),
    }))
}

impl Workflow {
    /// With any property.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0[name] = value.into();
        self
    }

    /// As another version.
    #[must_use]
    pub fn version(self, version: u32) -> Self {
        let id = format!(
            "{}-v{version}",
            self.0["definitionId"].as_str().unwrap_or_default()
        );
        self.set("version", version).set("id", id)
    }

    /// With a variable that stays with the instance.
    #[must_use]
    pub fn variable(self, name: &str, type_name: &str, value: impl Into<Value>) -> Self {
        self.variable_in(
            name,
            type_name,
            value,
            Some("WorkflowInstanceStorageDriver"),
        )
    }

    /// With a variable of a storage driver.
    #[must_use]
    pub fn variable_in(
        self,
        name: &str,
        type_name: &str,
        value: impl Into<Value>,
        driver: Option<&str>,
    ) -> Self {
        let json = variable_json(name, type_name, value.into(), driver);
        self.push("variables", json)
    }

    /// With an input.
    #[must_use]
    pub fn input(self, name: &str, type_name: &str) -> Self {
        self.push("inputs", json!({ "name": name, "type": type_name }))
    }

    /// With an input that stays with the instance.
    #[must_use]
    pub fn kept_input(self, name: &str, type_name: &str) -> Self {
        self.push(
            "inputs",
            json!({ "name": name, "type": type_name, "storageDriverType": "WorkflowInstanceStorageDriver" }),
        )
    }

    /// With an output.
    #[must_use]
    pub fn output(self, name: &str, type_name: &str) -> Self {
        self.push("outputs", json!({ "name": name, "type": type_name }))
    }

    /// With outcomes, for use as an activity.
    #[must_use]
    pub fn outcomes(self, names: &[&str]) -> Self {
        self.set("outcomes", json!(names))
    }

    /// With an option.
    #[must_use]
    pub fn option(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0["options"][name] = value.into();
        self
    }

    /// Usable as an activity.
    #[must_use]
    pub fn as_activity(self) -> Self {
        self.option("usableAsActivity", true)
    }

    /// Going on when an activity fails.
    #[must_use]
    pub fn continue_with_incidents(self) -> Self {
        self.option(
            "incidentStrategyType",
            "Elsa.Workflows.IncidentStrategies.ContinueWithIncidentsStrategy, Elsa.Workflows.Core",
        )
    }

    fn push(mut self, list: &str, value: Value) -> Self {
        self.0[list].as_array_mut().unwrap().push(value);
        self
    }

    /// The JSON.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.0
    }
}
