//! What an activity type looks like from outside: names, inputs, outputs, ports. Studio's toolbox is made of these.

use serde_json::Value;

use crate::definition::data_type::DataType;

/// How an activity runs. Elsa's activity kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActivityKind {
    /// In the burst.
    #[default]
    Action,
    /// May start instances.
    Trigger,
    /// In the burst, or in the background if asked.
    Task,
    /// Always in the background.
    Job,
}

/// An input of an activity type.
#[derive(Debug, Clone, PartialEq)]
pub struct InputDescriptor {
    /// The name in JSON (camelCase).
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Elsa's name of the type.
    pub type_name: String,
    /// The value when it is not set.
    pub default: Value,
    /// What it means.
    pub description: String,
    /// Studio's editor for it: `singleline`, `checkbox`, `dropdown`, `multiline`, `code-editor`, …
    pub ui_hint: &'static str,
    /// What may be chosen.
    pub options: Vec<&'static str>,
    /// Evaluated by the activity itself.
    pub is_lazy: bool,
    /// Never logged.
    pub is_sensitive: bool,
    /// Plain JSON rather than an expression.
    pub is_plain: bool,
}

/// An output of an activity type.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputDescriptor {
    /// The name in JSON (camelCase).
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Elsa's name of the type.
    pub type_name: String,
    /// What it means.
    pub description: String,
    /// Whether it is never shown: a file, a request, an answer.
    pub is_opaque: bool,
}

/// An activity type.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Descriptor {
    /// The type's name.
    pub type_name: String,
    /// The type's version.
    pub version: u32,
    /// The name shown.
    pub display_name: String,
    /// Where the toolbox shows it.
    pub category: String,
    /// What it does.
    pub description: String,
    /// How it runs.
    pub kind: ActivityKind,
    /// Its inputs that hold expressions.
    pub inputs: Vec<InputDescriptor>,
    /// Its properties that hold plain JSON.
    pub plain: Vec<InputDescriptor>,
    /// Its outputs.
    pub outputs: Vec<OutputDescriptor>,
    /// Properties that hold child activities.
    pub ports: Vec<&'static str>,
    /// The outcomes it can have in a flowchart; empty: `Done`.
    pub outcomes: Vec<String>,
    /// Whether it holds a list of activities.
    pub is_container: bool,
    /// Whether it ends what it is in.
    pub is_terminal: bool,
    /// Whether it is not offered in the toolbox.
    pub is_hidden: bool,
}

impl Descriptor {
    /// A type with a full name such as `Elsa.WriteLine`.
    #[must_use]
    pub fn new(type_name: &str, category: &str, description: &str) -> Self {
        let short = type_name.rsplit('.').next().unwrap_or(type_name);
        let mut display_name = String::new();
        for c in short.chars() {
            if c.is_uppercase() && display_name.chars().last().is_some_and(char::is_lowercase) {
                display_name.push(' ');
            }
            display_name.push(c);
        }
        Self {
            type_name: type_name.into(),
            version: 1,
            display_name,
            category: category.into(),
            description: description.into(),
            ..Self::default()
        }
    }

    /// With a kind.
    #[must_use]
    pub fn kind(mut self, kind: ActivityKind) -> Self {
        self.kind = kind;
        self
    }

    /// With an input of a type in Elsa's spelling.
    #[must_use]
    pub fn input(mut self, name: &str, type_name: &str, description: &str) -> Self {
        self.inputs.push(input(name, type_name, description));
        self
    }

    /// Changes the last input.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut InputDescriptor)) -> Self {
        if let Some(last) = self.inputs.last_mut() {
            change(last);
        }
        self
    }

    /// With a default for the last input.
    #[must_use]
    pub fn default_value(self, value: impl Into<Value>) -> Self {
        let value = value.into();
        self.with(|i| i.default = value)
    }

    /// With a name of its own rather than one made from the type's.
    #[must_use]
    pub fn titled(mut self, display_name: &str) -> Self {
        self.display_name = display_name.into();
        self
    }

    /// With Studio's editor for the last input.
    #[must_use]
    pub fn hint(self, ui_hint: &'static str) -> Self {
        self.with(|i| i.ui_hint = ui_hint)
    }

    /// With the last input evaluated by the activity itself.
    #[must_use]
    pub fn lazy(self) -> Self {
        self.with(|i| i.is_lazy = true)
    }

    /// With the last input never logged.
    #[must_use]
    pub fn sensitive(self) -> Self {
        self.with(|i| i.is_sensitive = true)
    }

    /// With choices for the last input.
    #[must_use]
    pub fn options(self, options: &[&'static str]) -> Self {
        let options = options.to_vec();
        self.with(|i| {
            i.options = options;
            i.ui_hint = "dropdown";
        })
    }

    /// With a property of plain JSON.
    #[must_use]
    pub fn plain(mut self, name: &str, type_name: &str, description: &str) -> Self {
        self.plain.push(InputDescriptor {
            is_plain: true,
            ..input(name, type_name, description)
        });
        self
    }

    /// Changes the last property of plain JSON.
    #[must_use]
    pub fn with_plain(mut self, change: impl FnOnce(&mut InputDescriptor)) -> Self {
        if let Some(last) = self.plain.last_mut() {
            change(last);
        }
        self
    }

    /// With an output.
    #[must_use]
    pub fn output(mut self, name: &str, type_name: &str, description: &str) -> Self {
        self.outputs.push(OutputDescriptor {
            name: name.into(),
            data_type: DataType::parse(type_name).unwrap_or(DataType::Object),
            type_name: type_name.into(),
            description: description.into(),
            is_opaque: false,
        });
        self
    }

    /// With the last output never shown: a file, a request, an answer.
    #[must_use]
    pub fn opaque(mut self) -> Self {
        if let Some(last) = self.outputs.last_mut() {
            last.is_opaque = true;
        }
        self
    }

    /// With a property that holds a child activity.
    #[must_use]
    pub fn port(mut self, name: &'static str) -> Self {
        self.ports.push(name);
        self
    }

    /// With outcomes.
    #[must_use]
    pub fn outcomes(mut self, names: &[&str]) -> Self {
        self.outcomes = names.iter().map(|n| (*n).to_owned()).collect();
        self
    }

    /// Holding a list of activities.
    #[must_use]
    pub fn container(mut self) -> Self {
        self.is_container = true;
        self
    }

    /// Ending what it is in.
    #[must_use]
    pub fn terminal(mut self) -> Self {
        self.is_terminal = true;
        self
    }
}

fn input(name: &str, type_name: &str, description: &str) -> InputDescriptor {
    let data_type = DataType::parse(type_name).unwrap_or(DataType::Object);
    InputDescriptor {
        name: name.into(),
        ui_hint: match data_type {
            DataType::Boolean => "checkbox",
            DataType::List(_) => "multitext",
            DataType::Map
            | DataType::StringMap
            | DataType::Json
            | DataType::JsonObject
            | DataType::Node => "json-editor",
            DataType::Object
            | DataType::String
            | DataType::JoinMode
            | DataType::Byte
            | DataType::Short
            | DataType::Integer
            | DataType::Long
            | DataType::Single
            | DataType::Number
            | DataType::Decimal
            | DataType::Guid
            | DataType::DateTime
            | DataType::DateTimeOffset
            | DataType::TimeSpan
            | DataType::Bytes => "singleline",
        },
        data_type,
        type_name: type_name.into(),
        default: Value::Null,
        description: description.into(),
        options: Vec::new(),
        is_lazy: false,
        is_sensitive: false,
        is_plain: false,
    }
}
