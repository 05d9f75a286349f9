//! template.yaml as JSON: the short forms of CloudFormation (`!Ref`, `!GetAtt`, `!Sub`) written out, so that a test
//! can look at what refers to what.

use std::collections::BTreeMap;
use std::path::PathBuf;

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Value, json};

/// The template.
pub struct Template(Value);

impl Template {
    /// The repository's own.
    #[must_use]
    pub fn read() -> Self {
        Self(documents("template.yaml").remove(0))
    }

    /// A section, like `Parameters`.
    #[must_use]
    pub fn section(&self, name: &str) -> &Map<String, Value> {
        self.0[name].as_object().expect("a section of the template")
    }

    /// A resource.
    #[must_use]
    pub fn resource(&self, name: &str) -> &Value {
        let found = self.section("Resources").get(name);
        found.unwrap_or_else(|| panic!("template.yaml has no {name}"))
    }

    /// The properties of a resource.
    #[must_use]
    pub fn properties(&self, name: &str) -> &Value {
        &self.resource(name)["Properties"]
    }

    /// The names and properties of all resources of a type.
    #[must_use]
    pub fn of_type(&self, kind: &str) -> BTreeMap<&str, &Value> {
        let resources = self.section("Resources").iter();
        resources
            .filter(|(_, resource)| resource["Type"] == kind)
            .map(|(name, resource)| (name.as_str(), &resource["Properties"]))
            .collect()
    }

    /// What every function has.
    #[must_use]
    pub fn globals(&self) -> &Value {
        &self.0["Globals"]["Function"]
    }

    /// The statements of a role or a policy.
    #[must_use]
    pub fn statements(&self, name: &str) -> Vec<&Value> {
        let properties = self.properties(name);
        let inline = properties["Policies"].as_array().into_iter().flatten();
        let documents = inline
            .map(|policy| &policy["PolicyDocument"])
            .chain(properties.get("PolicyDocument"));
        documents
            .flat_map(|document| document["Statement"].as_array().expect("statements"))
            .collect()
    }
}

/// The documents of a YAML file of the repository.
#[must_use]
pub fn documents(path: &str) -> Vec<Value> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(path);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{path}: {e}"));
    let documents = Yaml::load_from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
    documents.iter().map(plain).collect()
}

/// One value or a list of them.
#[must_use]
pub fn each(value: &Value) -> Vec<&Value> {
    let several = value.as_array().map(|several| several.iter().collect());
    several.unwrap_or_else(|| vec![value])
}

/// One text or a list of them.
#[must_use]
pub fn texts(value: &Value) -> Vec<&str> {
    each(value).into_iter().filter_map(Value::as_str).collect()
}

fn plain(node: &Yaml<'_>) -> Value {
    match node {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(is)) => json!(is),
        Yaml::Value(Scalar::Integer(number)) => json!(number),
        Yaml::Value(Scalar::FloatingPoint(number)) => json!(number.into_inner()),
        Yaml::Value(Scalar::String(text)) => json!(text),
        Yaml::Sequence(items) => items.iter().map(plain).collect(),
        Yaml::Mapping(entries) => {
            let entry = |(key, value): (&Yaml<'_>, _)| {
                let key = key.as_str().expect("a key is text").to_owned();
                (key, plain(value))
            };
            Value::Object(entries.iter().map(entry).collect())
        }
        Yaml::Tagged(tag, node) => {
            let name = match tag.suffix.as_str() {
                "Ref" | "Condition" => tag.suffix.clone(),
                function => format!("Fn::{function}"),
            };
            json!({ name: plain(node) })
        }
        other @ (Yaml::Alias(_) | Yaml::BadValue | Yaml::Representation(..)) => {
            panic!("{other:?} is not known here")
        }
    }
}
