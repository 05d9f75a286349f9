//! What a workflow declares: variables, inputs, outputs and options.

use serde_json::{Map, Value};

use super::convert::convert;
use super::data_type::DataType;
use super::fields::Fields;
use crate::time::Timestamp;

/// Where a variable's value lives while the instance waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// With the instance.
    Instance,
    /// In memory only: gone after the burst (Elsa's MemoryStorageDriver).
    Memory,
}

impl Storage {
    /// Reads an alias or any text that contains a known driver's class name. `None`: nothing is named.
    #[must_use]
    pub fn parse(name: Option<&str>) -> Option<Self> {
        let name = name?.to_ascii_lowercase();
        if name.contains("memorystorage") {
            Some(Self::Memory)
        } else {
            name.contains("workflow").then_some(Self::Instance)
        }
    }
}

/// A variable of a workflow or a container.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// What references in JSON name.
    pub id: String,
    /// What scripts name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Its value before anybody sets it.
    pub default: Value,
    /// Where it is kept.
    pub storage: Storage,
}

/// Reads the `variables` of a workflow or container whose activity id is `owner`. A variable of a type that is not
/// known is left out, as in Elsa.
#[must_use]
pub fn variables(fields: Fields<'_>, owner: &str) -> Vec<Variable> {
    fields
        .list("variables")
        .into_iter()
        .enumerate()
        .filter_map(|(index, json)| variable(Fields::of(json), owner, index + 1))
        .collect()
}

fn variable(json: Fields<'_>, owner: &str, number: usize) -> Option<Variable> {
    let name = json
        .text("name")
        .unwrap_or_else(|| format!("Variable{number}"));
    let data_type = match json.text("typeName").or_else(|| json.text("type")) {
        None => DataType::Object,
        // As in Elsa, a type is known by its alias or by its whole name with its assembly.
        Some(type_name) if type_name.contains('.') && !type_name.contains(',') => return None,
        Some(type_name) => DataType::parse(&type_name)?,
    }
    .array_if(json.flag("isArray").unwrap_or(false));
    let default = json.get("value").cloned().unwrap_or(Value::Null);
    // A default that cannot be converted is no default (Elsa warns and goes on).
    let default = convert(default, &data_type).unwrap_or(Value::Null);
    let default = through_text(default, &data_type);
    Some(Variable {
        id: json
            .text("id")
            .unwrap_or_else(|| format!("{owner}:variable-{number}")),
        name,
        data_type,
        default,
        // As in Elsa, a variable without a driver has its default again after the instance waited.
        storage: Storage::parse(
            json.text("storageDriverTypeName")
                .or_else(|| json.text("storageDriverType"))
                .as_deref(),
        )
        .unwrap_or(Storage::Memory),
    })
}

/// Elsa keeps the default of a date as .NET's short text, which has no seconds, and a `DateTime` no offset either.
fn through_text(default: Value, data_type: &DataType) -> Value {
    let Value::String(text) = &default else {
        return default;
    };
    let is_offset = matches!(data_type, DataType::DateTimeOffset);
    if !is_offset && !matches!(data_type, DataType::DateTime) {
        return default;
    }
    let Some((day, clock)) = text.split_once('T') else {
        return default;
    };
    let zone = clock.find(['Z', 'z', '+', '-']).unwrap_or(clock.len());
    let (time, zone) = clock.split_at(zone);
    if !is_offset && !zone.is_empty() {
        let utc = Timestamp::parse(text).map(|t| t.to_string());
        let utc = utc.unwrap_or_default().trim_end_matches('Z').to_owned();
        return through_text(Value::String(utc), data_type);
    }
    let minutes = time.get(..5).unwrap_or(time);
    Value::String(format!("{day}T{minutes}:00{zone}"))
}

/// An input or output that a workflow declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its name, as written.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether the value stays with the instance after the run that was given it.
    pub storage: Storage,
    /// The value when none is given.
    pub default: Value,
}

/// Reads `inputs` or `outputs`.
#[must_use]
pub fn arguments(fields: Fields<'_>, property: &str) -> Vec<Argument> {
    fields
        .list(property)
        .into_iter()
        .filter_map(|json| {
            let json = Fields::of(json);
            let many =
                json.flag("isArray").unwrap_or(false) || json.flag("isCollection").unwrap_or(false);
            Some(Argument {
                name: json.text("name")?,
                data_type: json
                    .text("type")
                    .or_else(|| json.text("typeName"))
                    .and_then(|t| DataType::parse(&t))
                    .unwrap_or(DataType::Object)
                    .array_if(many),
                storage: Storage::parse(json.text("storageDriverType").as_deref())
                    .unwrap_or(Storage::Memory),
                default: json.get("defaultValue").cloned().unwrap_or(Value::Null),
            })
        })
        .collect()
}

/// Who may start an instance while others run (Elsa's activation strategies).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// Anybody.
    #[default]
    Always,
    /// One running instance of the definition.
    Singleton,
    /// One running instance of any definition for a correlation id.
    Correlation,
    /// One running instance of the definition for a correlation id.
    CorrelatedSingleton,
}

/// What happens to the instance when an activity fails (Elsa's incident strategies).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IncidentStrategy {
    /// The instance becomes faulted.
    #[default]
    Fault,
    /// The instance goes on with what else it has to do, and waits then.
    ContinueWithIncidents,
}

/// When a burst is committed besides at its end (Elsa's commit strategies).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommitStrategy {
    /// Before the workflow's first activity.
    pub workflow_executing: bool,
    /// Before each activity.
    pub activity_executing: bool,
    /// After each activity.
    pub activity_executed: bool,
}

impl CommitStrategy {
    /// The strategy of a name; unknown names commit at the end only.
    #[must_use]
    pub fn parse(name: Option<&str>) -> Self {
        let name = name.unwrap_or_default().to_ascii_lowercase();
        let ends = |tail: &str| name.ends_with(tail) || name.ends_with(&format!("{tail}strategy"));
        Self {
            workflow_executing: ends("workflowexecuting"),
            activity_executing: ends("activityexecuting"),
            activity_executed: ends("activityexecuted"),
        }
    }
}

/// The options of a workflow.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// Who may start.
    pub activation: Activation,
    /// Whether other workflows can use it as an activity.
    pub usable_as_activity: bool,
    /// Whether publishing it moves the workflows that use it to the new version.
    pub auto_update_consuming_workflows: bool,
    /// Where the toolbox shows it.
    pub activity_category: Option<String>,
    /// What a failure does.
    pub incident_strategy: IncidentStrategy,
    /// When to commit.
    pub commit_strategy: CommitStrategy,
}

impl Options {
    /// Reads a definition's `options` and the old top-level spelling of `usableAsActivity`.
    #[must_use]
    pub fn read(definition: Fields<'_>) -> Self {
        let options = definition.object("options");
        let class = |name: &str| {
            let text = options.text(name).unwrap_or_default().to_ascii_lowercase();
            let head = text.split(',').next().unwrap_or_default();
            head.rsplit('.').next().unwrap_or_default().to_owned()
        };
        let activation = match class("activationStrategyType").trim_end_matches("strategy") {
            "singleton" => Activation::Singleton,
            "correlation" => Activation::Correlation,
            "correlatedsingleton" => Activation::CorrelatedSingleton,
            _ => Activation::Always,
        };
        let incident_strategy =
            if class("incidentStrategyType").starts_with("continuewithincidents") {
                IncidentStrategy::ContinueWithIncidents
            } else {
                IncidentStrategy::Fault
            };
        Self {
            activation,
            usable_as_activity: options
                .flag("usableAsActivity")
                .or_else(|| definition.flag("usableAsActivity"))
                .unwrap_or(false),
            auto_update_consuming_workflows: options
                .flag("autoUpdateConsumingWorkflows")
                .unwrap_or(false),
            activity_category: options.text("activityCategory"),
            incident_strategy,
            commit_strategy: CommitStrategy::parse(options.text("commitStrategyName").as_deref()),
        }
    }
}

/// Properties of the definition that scripts, designers and modules keep there.
#[must_use]
pub fn custom_properties(fields: Fields<'_>) -> Map<String, Value> {
    fields
        .get("customProperties")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}
