//! One activity's JSON, written the way Elsa Studio writes it.

use serde_json::{Map, Value, json};

/// An expression: what gives an input its value.
#[derive(Debug, Clone)]
pub struct Expr {
    kind: &'static str,
    value: Value,
}

/// A script in JavaScript.
#[must_use]
pub fn js(script: &str) -> Expr {
    Expr {
        kind: "JavaScript",
        value: script.into(),
    }
}

/// A template in Liquid.
#[must_use]
pub fn liquid(template: &str) -> Expr {
    Expr {
        kind: "Liquid",
        value: template.into(),
    }
}

/// A literal, given as JSON.
#[must_use]
pub fn literal(value: impl Into<Value>) -> Expr {
    Expr {
        kind: "Literal",
        value: value.into(),
    }
}

/// An object, which Elsa keeps as JSON text.
#[must_use]
#[allow(
    clippy::needless_pass_by_value,
    reason = "calls read better with a `json!` in them"
)]
pub fn object(value: Value) -> Expr {
    Expr {
        kind: "Object",
        value: value.to_string().into(),
    }
}

/// The value of the variable with an id.
#[must_use]
pub fn variable(id: &str) -> Expr {
    Expr {
        kind: "Variable",
        value: json!({ "id": id }),
    }
}

impl From<&str> for Expr {
    /// Text is a literal.
    fn from(text: &str) -> Self {
        literal(text)
    }
}

impl From<bool> for Expr {
    fn from(flag: bool) -> Self {
        literal(flag)
    }
}

impl From<i64> for Expr {
    fn from(number: i64) -> Self {
        literal(number)
    }
}

impl Expr {
    /// `{"type", "value"}`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({ "type": self.kind, "value": self.value })
    }

    /// The same value as a script gives it: where anything may stand, Elsa takes JSON in a definition for a text.
    pub(crate) fn scripted(self) -> Self {
        let text = match (self.kind, &self.value) {
            ("Object", Value::String(text)) => text.clone(),
            ("Object" | "Literal", value) => value.to_string(),
            _ => return self,
        };
        js(&format!("({text})"))
    }
}

/// An activity of a definition under construction.
#[derive(Debug, Clone)]
pub struct Activity(Map<String, Value>);

/// An activity of a type, without an id.
#[must_use]
pub fn activity(type_name: &str) -> Activity {
    Activity(Map::new())
        .set("type", type_name)
        .set("version", 1)
}

impl Activity {
    /// With an id, which is also its name.
    #[must_use]
    pub fn id(self, id: &str) -> Self {
        self.set("id", id).set("name", id)
    }

    /// With a plain property.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// With an input.
    #[must_use]
    pub fn input(self, name: &str, expr: impl Into<Expr>) -> Self {
        let expression = expr.into().json();
        self.set(
            name,
            json!({ "typeName": "Object", "expression": expression }),
        )
    }

    /// With a child activity in a port.
    #[must_use]
    pub fn port(self, name: &str, child: Activity) -> Self {
        self.set(name, child.json())
    }

    /// With a list of child activities.
    #[must_use]
    pub fn children(self, name: &str, children: impl IntoIterator<Item = Activity>) -> Self {
        let children: Vec<Value> = children.into_iter().map(Activity::json).collect();
        self.set(name, children)
    }

    /// With an output bound to a variable id or the name of a workflow output.
    #[must_use]
    pub fn bind(self, output: &str, to: &str) -> Self {
        self.set(
            output,
            json!({ "typeName": "Object", "memoryReference": { "id": to } }),
        )
    }

    /// With a custom property.
    #[must_use]
    pub fn custom(mut self, name: &str, value: impl Into<Value>) -> Self {
        let custom = self
            .0
            .entry("customProperties")
            .or_insert_with(|| json!({}));
        custom[name] = value.into();
        self
    }

    /// With a variable of its own; for containers.
    #[must_use]
    pub fn variable(mut self, name: &str, type_name: &str, value: impl Into<Value>) -> Self {
        let variables = self.0.entry("variables").or_insert_with(|| json!([]));
        let one = variable_json(
            name,
            type_name,
            value.into(),
            Some("WorkflowInstanceStorageDriver"),
        );
        variables.as_array_mut().unwrap().push(one);
        self
    }

    /// Marked as one that starts instances.
    #[must_use]
    pub fn trigger(self) -> Self {
        self.custom("canStartWorkflow", true)
    }

    /// Marked to run in the background.
    #[must_use]
    pub fn background(self) -> Self {
        self.custom("runAsynchronously", true)
    }

    /// The JSON.
    #[must_use]
    pub fn json(self) -> Value {
        Value::Object(self.0)
    }
}

/// A variable's JSON; its id is its name.
pub(crate) fn variable_json(
    name: &str,
    type_name: &str,
    value: Value,
    driver: Option<&str>,
) -> Value {
    json!({
        "id": name, "name": name, "typeName": type_name, "value": value,
        "storageDriverTypeName": driver,
    })
}
