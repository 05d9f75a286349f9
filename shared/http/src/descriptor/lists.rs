//! The short lists behind Studio's pickers: what the engine knows, under Elsa's names.

use axum::Json as Answer;
use serde_json::{Value, json};

use crate::path::Path;
use crate::refusal::Refusal;

/// Types of variables: (alias, shown as, group).
const VARIABLES: [(&str, &str, &str); 17] = [
    ("Object", "Object", "Primitives"),
    ("String", "String", "Primitives"),
    ("Boolean", "Boolean", "Primitives"),
    ("Int32", "Integer (32 bit)", "Primitives"),
    ("Int64", "Integer (64 bit)", "Primitives"),
    ("Double", "Double", "Primitives"),
    ("Decimal", "Decimal", "Primitives"),
    ("Guid", "Guid", "Primitives"),
    ("DateTime", "Date/Time", "Primitives"),
    ("DateTimeOffset", "Date/Time Offset", "Primitives"),
    ("TimeSpan", "Time Span", "Primitives"),
    ("ByteArray", "Bytes", "Primitives"),
    ("JsonNode", "JSON", "Dynamic"),
    ("JsonObject", "JSON Object", "Dynamic"),
    ("ExpandoObject", "Dynamic Object", "Dynamic"),
    ("ObjectDictionary", "Dictionary", "Lookups"),
    ("StringDictionary", "String Dictionary", "Lookups"),
];

/// Languages of expressions: (type, shown as, the editor's language).
const EXPRESSIONS: [(&str, &str, Option<&str>); 6] = [
    ("Literal", "Default", None),
    ("Object", "Object", Some("json")),
    ("Variable", "Variable", None),
    ("Input", "Input", None),
    ("JavaScript", "JavaScript", Some("javascript")),
    ("Liquid", "Liquid", Some("liquid")),
];

const ACTIVATION: &str = "Elsa.Workflows.ActivationValidators";
const INCIDENTS: &str = "Elsa.Workflows.IncidentStrategies";
const LOGS: &str = "Elsa.Workflows.LogPersistence.Strategies";

/// What is installed, under the names that Studio asks for. The hub that pushes changes is not among them: Studio
/// polls then.
const FEATURES: [(&str, &str, &str); 6] = [
    ("Elsa", "Elsa", "Workflows."),
    ("Workflows", "Elsa", "Definitions and instances."),
    ("WorkflowsApi", "Elsa", "The REST API."),
    ("JavaScript", "Elsa", "Expressions in JavaScript."),
    ("Liquid", "Elsa", "Expressions in Liquid."),
    (
        "Alterations",
        "Elsa.Alterations.ShellFeatures",
        "Changes of running instances.",
    ),
];

fn items(items: Vec<Value>) -> Answer<Value> {
    let count = items.len();
    Answer(json!({ "items": items, "count": count }))
}

/// `GET /descriptors/variables`
pub(super) async fn variables() -> Answer<Value> {
    let one = |(name, shown, group): &(&str, &str, &str)| json!({ "typeName": name, "displayName": shown, "category": group, "description": null });
    items(VARIABLES.iter().map(one).collect())
}

/// `GET /descriptors/storage-drivers`
pub(super) async fn storage_drivers() -> Answer<Value> {
    items(vec![
        json!({
            "typeName": "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core",
            "displayName": "Workflow Instance",
            "priority": 5,
            "deprecated": false,
        }),
        json!({
            "typeName": "Elsa.Workflows.MemoryStorageDriver, Elsa.Workflows.Core",
            "displayName": "Memory",
            "priority": 0,
            "deprecated": false,
        }),
    ])
}

/// `GET /descriptors/expression-descriptors`
pub(super) async fn expressions() -> Answer<Value> {
    let one = |(kind, shown, language): &(&str, &str, Option<&str>)| {
        let properties = match language {
            Some(language) => json!({ "MonacoLanguage": language }),
            None => json!({}),
        };
        json!({
            "type": kind,
            "displayName": shown,
            "isSerializable": true,
            "isBrowsable": true,
            "properties": properties,
        })
    };
    items(EXPRESSIONS.iter().map(one).collect())
}

/// A class of Elsa's that names a strategy.
fn strategy(namespace: &str, class: &str, shown: &str, description: &str) -> Value {
    json!({
        "typeName": format!("{namespace}.{class}, Elsa.Workflows.Core"),
        "displayName": shown,
        "description": description,
    })
}

/// `GET /descriptors/workflow-activation-strategies`
pub(super) async fn activation() -> Answer<Value> {
    let one = |class: &str, shown, description| strategy(ACTIVATION, class, shown, description);
    items(vec![
        one("AllowAlwaysStrategy", "Always", "Start whenever asked."),
        one(
            "SingletonStrategy",
            "Singleton",
            "One running instance of the workflow.",
        ),
        one(
            "CorrelationStrategy",
            "Correlation",
            "One running instance of any workflow for a correlation id.",
        ),
        one(
            "CorrelatedSingletonStrategy",
            "Correlated singleton",
            "One running instance of the workflow for a correlation id.",
        ),
    ])
}

/// `GET /descriptors/incident-strategies`
pub(super) async fn incidents() -> Answer<Value> {
    items(vec![
        strategy(
            INCIDENTS,
            "FaultStrategy",
            "Fault",
            "The instance becomes faulted.",
        ),
        strategy(
            INCIDENTS,
            "ContinueWithIncidentsStrategy",
            "Continue with incidents",
            "The instance goes on with what else it has to do.",
        ),
    ])
}

/// `GET /descriptors/log-persistence-strategies`
pub(super) async fn log_persistence() -> Answer<Value> {
    let one = |class: &str, description| strategy(LOGS, class, class, description);
    items(vec![
        one("Inherit", "As the workflow says."),
        one("Include", "The journal shows values."),
        one("Exclude", "The journal leaves values out."),
    ])
}

/// `GET /descriptors/commit-strategies/workflows`
pub(super) async fn workflow_commits() -> Answer<Value> {
    let one = |name: &str, shown: &str, description: &str| json!({ "name": name, "displayName": shown, "description": description });
    items(vec![
        one(
            "WorkflowExecuting",
            "Workflow executing",
            "Commit before the first activity.",
        ),
        one(
            "WorkflowExecuted",
            "Workflow executed",
            "Commit when the burst is over.",
        ),
        one(
            "ActivityExecuting",
            "Activity executing",
            "Commit before each activity.",
        ),
        one(
            "ActivityExecuted",
            "Activity executed",
            "Commit after each activity.",
        ),
    ])
}

/// `GET /descriptors/commit-strategies/activities`
pub(super) async fn activity_commits() -> Answer<Value> {
    let one = |name: &str, shown: &str, description: &str| json!({ "name": name, "displayName": shown, "description": description });
    items(vec![
        one("CommitAlways", "Always", "Commit before and after."),
        one("CommitNever", "Never", "Do not commit for this activity."),
        one("Executing", "Executing", "Commit before."),
        one("Executed", "Executed", "Commit after."),
    ])
}

/// A list with nothing in it.
pub(super) async fn none() -> Answer<Value> {
    items(Vec::new())
}

fn feature_model((name, namespace, description): &(&str, &str, &str)) -> Value {
    json!({
        "name": name,
        "namespace": namespace,
        "fullName": format!("{namespace}.{name}"),
        "displayName": name,
        "description": description,
    })
}

/// `GET /features/installed`
pub(super) async fn features() -> Answer<Value> {
    items(FEATURES.iter().map(feature_model).collect())
}

/// `GET /features/installed/{fullName}`
pub(super) async fn feature(Path(name): Path<String>) -> Result<Answer<Value>, Refusal> {
    let mut all = FEATURES.iter().map(feature_model);
    let found = all.find(|feature| feature.get("fullName").is_some_and(|full| *full == name));
    found.map(Answer).ok_or(Refusal::NoSuchFeature { name })
}
