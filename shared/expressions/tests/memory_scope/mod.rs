//! A scope in memory, for tests and benchmarks: it records everything scripts do to it.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its own part"
)]
#![allow(clippy::panic, reason = "a test fails by it")]

use std::collections::BTreeMap;

use dormouse_expressions::{EvaluationError, Expressions, Identity, Language, Limits, Scope};
use serde_json::{Value, json};

/// A scope in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryScope {
    pub variables: Vec<(String, Value)>,
    pub inputs: BTreeMap<String, Value>,
    pub outputs: Vec<(String, String, Value)>,
    pub last_result: Option<Value>,
    pub arguments: Vec<(String, Value)>,
    pub configuration: BTreeMap<String, Value>,
    pub secrets: BTreeMap<String, Value>,
    pub event_address: Option<String>,
    pub correlation_id: Option<String>,
    pub name: Option<String>,
    pub outcomes: Vec<String>,
    pub now_ms: i64,
    pub random_state: u64,
}

impl Default for MemoryScope {
    fn default() -> Self {
        Self {
            variables: Vec::new(),
            inputs: BTreeMap::new(),
            outputs: Vec::new(),
            last_result: None,
            arguments: Vec::new(),
            configuration: BTreeMap::new(),
            secrets: BTreeMap::new(),
            event_address: None,
            correlation_id: None,
            name: None,
            outcomes: Vec::new(),
            now_ms: 1_700_000_000_123,
            random_state: 7,
        }
    }
}

impl MemoryScope {
    /// A scope with these variables.
    pub fn with(variables: &[(&str, Value)]) -> Self {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
        Self {
            variables: variables.collect(),
            ..Self::default()
        }
    }

    /// The variable's value, or null.
    pub fn get(&self, name: &str) -> Value {
        self.variable(name).unwrap_or_default()
    }
}

impl Scope for MemoryScope {
    fn identity(&self) -> Identity {
        Identity {
            definition_id: "definition-1".to_owned(),
            definition_version_id: "version-1".to_owned(),
            definition_version: 3,
            instance_id: "instance-1".to_owned(),
            correlation_id: self.correlation_id.clone(),
            name: self.name.clone(),
        }
    }

    fn set_correlation_id(&mut self, id: Option<String>) {
        self.correlation_id = id;
    }

    fn set_name(&mut self, name: Option<String>) {
        self.name = name;
    }

    fn variable(&self, name: &str) -> Option<Value> {
        self.variables
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    }

    fn variable_names(&self) -> Vec<String> {
        self.variables
            .iter()
            .map(|(name, _)| name.clone())
            .collect()
    }

    fn set_variable(&mut self, name: &str, value: Value) {
        match self.variables.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.variables.push((name.to_owned(), value)),
        }
    }

    fn input(&self, name: &str) -> Option<Value> {
        self.inputs.get(name).cloned()
    }

    fn input_names(&self) -> Vec<String> {
        self.inputs.keys().cloned().collect()
    }

    fn is_input(&self, name: &str) -> bool {
        self.inputs.contains_key(name)
    }

    fn output_names(&self) -> Vec<(String, String)> {
        let names =
            |(activity, output, _): &(String, String, Value)| (activity.clone(), output.clone());
        self.outputs.iter().map(names).collect()
    }

    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value> {
        let output = output.unwrap_or("Result");
        let mut outputs = self.outputs.iter();
        let found = outputs.find(|(a, o, _)| a == activity && o == output);
        found.map(|(_, _, value)| value.clone())
    }

    fn has_activity(&self, activity: &str) -> bool {
        activity != "nothing"
    }

    fn last_result(&self) -> Option<Value> {
        self.last_result.clone()
    }

    fn arguments(&self) -> Vec<(String, Value)> {
        self.arguments.clone()
    }

    fn set_outcomes(&mut self, outcomes: Vec<String>) {
        self.outcomes = outcomes;
    }

    fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn random(&mut self) -> u64 {
        self.random_state = self
            .random_state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.random_state
    }

    fn event_trigger_url(&mut self, event: &str, expires_at_ms: Option<i64>) -> Option<String> {
        let address = self.event_address.as_ref()?;
        Some(format!(
            "{address}/{event}?until={}",
            expires_at_ms.unwrap_or(0)
        ))
    }

    fn secret(&self, name: &str) -> Option<Value> {
        self.secrets.get(name).cloned()
    }

    fn shows_configuration(&self) -> bool {
        !self.configuration.is_empty()
    }

    fn configuration(&self, path: &str) -> Option<Value> {
        self.configuration.get(path).cloned()
    }
}

/// An order, as workflows have it.
pub fn order() -> Value {
    json!({
        "id": 7,
        "customer": { "name": "Ada", "email": "ada@example.com" },
        "lines": [{ "sku": "a", "count": 2, "price": 3.5 }, { "sku": "b", "count": 1, "price": 10 }],
    })
}

/// Runs JavaScript over a scope, with the default limits.
pub fn run(source: &str, scope: &mut MemoryScope) -> Result<Value, EvaluationError> {
    run_within(Limits::default(), Language::JavaScript, source, scope)
}

/// Runs JavaScript over a scope, and expects a value.
pub fn value(source: &str, scope: &mut MemoryScope) -> Value {
    run(source, scope).unwrap_or_else(|error| panic!("{source}: {error:?}"))
}

/// Renders Liquid over a scope, and expects a text.
pub fn rendered(source: &str, scope: &mut MemoryScope) -> String {
    let value = run_within(Limits::default(), Language::Liquid, source, scope);
    let value = value.unwrap_or_else(|error| panic!("{source}: {error:?}"));
    value.as_str().unwrap_or_default().to_owned()
}

/// Compiles and runs a script within limits of its own.
pub fn run_within(
    limits: Limits,
    language: Language,
    source: &str,
    scope: &mut MemoryScope,
) -> Result<Value, EvaluationError> {
    thread_local! {
        static DEFAULT: Expressions = Expressions::default();
    }
    if format!("{limits:?}") == format!("{:?}", Limits::default()) {
        return DEFAULT.with(|expressions| {
            expressions.evaluate(&expressions.compile(language, source)?, scope)
        });
    }
    let expressions = Expressions::new(limits);
    expressions.evaluate(&expressions.compile(language, source)?, scope)
}
