//! Reading a type from JSON: all that is wrong with it at once, each with its place.

use serde_json::{Map, Value};

use super::name::{
    FUNCTION_RULE, QUEUE_RULE, is_function_name, is_identifier, is_queue_name, is_type_name, script,
};
use super::reader::{Flaw, LIST_MAX, Reader, below};
use super::{ActivityType, Handler, Retry, TIMEOUT_MS, TypeInput, TypeOutput};
use crate::definition::data_type::DataType;
use crate::definition::name::camel_case;

/// The longest attempt, in ms: 30 days.
pub(crate) const TIMEOUT_MS_MAX: i64 = 2_592_000_000;
/// The longest pause between attempts, in ms: a day.
const PAUSE_MS_MAX: i64 = 86_400_000;
/// The most attempts.
const ATTEMPTS_MAX: i64 = 1_000;

/// Members that every activity has, so that no input or output may be called so.
const TAKEN: [&str; 12] = [
    "id",
    "nodeId",
    "name",
    "type",
    "version",
    "metadata",
    "customProperties",
    "canStartWorkflow",
    "runAsynchronously",
    "workflowDefinitionId",
    "workflowDefinitionVersionId",
    "variables",
];

/// Studio's editors.
const HINTS: [&str; 7] = [
    "singleline",
    "multiline",
    "checkbox",
    "multitext",
    "code-editor",
    "json-editor",
    "datetime-picker",
];

/// Reads a type in a version.
///
/// # Errors
///
/// All its flaws.
pub fn read(json: &Value, version: u32) -> Result<ActivityType, Vec<Flaw>> {
    let mut reader = Reader::default();
    let Value::Object(members) = json else {
        reader.flaw("", "an activity type is a JSON object");
        return Err(reader.flaws);
    };
    let ty = reader.read(members, version);
    if reader.flaws.is_empty() {
        Ok(ty)
    } else {
        Err(reader.flaws)
    }
}

/// Reads the `retry` of anything: what is wrong with it besides.
pub(crate) fn retry(json: &Map<String, Value>) -> (Retry, Vec<Flaw>) {
    let mut reader = Reader::default();
    let retry = reader.retry(json);
    (retry, reader.flaws)
}

impl Reader {
    fn read(&mut self, json: &Map<String, Value>, version: u32) -> ActivityType {
        self.only(
            json,
            "",
            &[
                "type",
                "category",
                "displayName",
                "description",
                "icon",
                "inputs",
                "outputs",
                "outcomes",
                "handler",
                "timeoutMs",
                "heartbeatMs",
                "retry",
            ],
        );
        let type_name = self.text(json, "", "type");
        if !is_type_name(&type_name) {
            self.flaw(
                "type",
                "a type is named like `Acme.ChargeCard`: letters, digits and underscores, with a dot between a name of yours and its own, at most 128 characters",
            );
        } else if type_name.to_ascii_lowercase().starts_with("elsa.") {
            self.flaw(
                "type",
                format!("`{type_name}` collides with the built-in types: names that begin with `Elsa.` are theirs; put a name of yours before the dot"),
            );
        }
        let category = self.text(json, "", "category");
        let inputs = self.inputs(json);
        let outputs = self.outputs(json);
        let timeout_ms = self
            .number(json, "", "timeoutMs", 1, TIMEOUT_MS_MAX)
            .unwrap_or(TIMEOUT_MS);
        let heartbeat_ms = self.number(json, "", "heartbeatMs", 100, TIMEOUT_MS_MAX);
        if heartbeat_ms.is_some_and(|heartbeat| heartbeat > timeout_ms) {
            self.flaw(
                "heartbeatMs",
                format!("a heartbeat comes within the {timeout_ms} ms that an attempt may take (`timeoutMs`)"),
            );
        }
        ActivityType {
            type_name,
            version,
            category: if category.is_empty() {
                "Own".into()
            } else {
                category
            },
            display_name: self.text(json, "", "displayName"),
            description: self.text(json, "", "description"),
            icon: Some(self.text(json, "", "icon")).filter(|icon| !icon.is_empty()),
            inputs,
            outputs,
            outcomes: self.names(json, "", "outcomes"),
            handler: self.handler(json),
            timeout_ms,
            heartbeat_ms,
            retry: self.retry(json),
        }
    }

    /// The name and the type of an input or output, and the property that it is in an activity.
    fn declared(
        &mut self,
        json: &Map<String, Value>,
        path: &str,
        before: &[String],
    ) -> (String, String, DataType, String) {
        let name = self.text(json, path, "name");
        let property = camel_case(&name);
        let at = below(path, "name");
        if !is_identifier(&name) {
            self.flaw(&at, "a name is made of letters, digits and underscores and begins with a letter, at most 128 characters");
        } else if TAKEN.iter().any(|taken| taken.eq_ignore_ascii_case(&name)) {
            self.flaw(
                &at,
                format!("every activity has a member `{name}`; choose another name"),
            );
        } else if before
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&property))
        {
            self.flaw(
                &at,
                format!("`{name}` is there twice; inputs and outputs share their names"),
            );
        }
        let mut type_name = self.text(json, path, "type");
        if type_name.is_empty() {
            type_name = "Object".into();
        }
        let data_type = DataType::parse(&type_name);
        if data_type.is_none() {
            self.flaw(&below(path, "type"), format!("there is no type `{type_name}`; there are String, Boolean, Int32, Int64, Double, Decimal, DateTime, Object, and lists such as String[]"));
        }
        (
            name,
            property,
            data_type.unwrap_or(DataType::Object),
            type_name,
        )
    }

    fn inputs(&mut self, json: &Map<String, Value>) -> Vec<TypeInput> {
        let mut names = Vec::new();
        let mut inputs = Vec::new();
        for (place, item) in self.list(json, "", "inputs").iter().enumerate() {
            let path = format!("inputs[{place}]");
            let Value::Object(item) = item else {
                self.flaw(&path, "an input is an object with a name");
                continue;
            };
            self.only(
                item,
                &path,
                &[
                    "name",
                    "type",
                    "description",
                    "uiHint",
                    "defaultValue",
                    "isRequired",
                    "isSensitive",
                ],
            );
            let (name, property, data_type, type_name) = self.declared(item, &path, &names);
            let hint = self.text(item, &path, "uiHint");
            let ui_hint = HINTS.into_iter().find(|known| *known == hint);
            if ui_hint.is_none() && !hint.is_empty() {
                self.flaw(
                    &below(&path, "uiHint"),
                    format!(
                        "there is no editor `{hint}`; there are: {}",
                        HINTS.join(", ")
                    ),
                );
            }
            names.push(property.clone());
            inputs.push(TypeInput {
                name,
                property,
                data_type,
                type_name,
                description: self.text(item, &path, "description"),
                ui_hint,
                default: item.get("defaultValue").cloned().unwrap_or(Value::Null),
                is_required: self.flag(item, &path, "isRequired", false),
                is_sensitive: self.flag(item, &path, "isSensitive", false),
            });
        }
        inputs
    }

    fn outputs(&mut self, json: &Map<String, Value>) -> Vec<TypeOutput> {
        let inputs = self.list(json, "", "inputs").iter();
        let mut names: Vec<String> = inputs
            .filter_map(|input| input.get("name")?.as_str().map(camel_case))
            .collect();
        let mut outputs = Vec::new();
        for (place, item) in self.list(json, "", "outputs").iter().enumerate() {
            let path = format!("outputs[{place}]");
            let Value::Object(item) = item else {
                self.flaw(&path, "an output is an object with a name");
                continue;
            };
            self.only(item, &path, &["name", "type", "description"]);
            let (name, property, data_type, type_name) = self.declared(item, &path, &names);
            names.push(property.clone());
            outputs.push(TypeOutput {
                name,
                property,
                data_type,
                type_name,
                description: self.text(item, &path, "description"),
            });
        }
        outputs
    }

    fn handler(&mut self, json: &Map<String, Value>) -> Handler {
        let nobody = Handler::Worker {
            queue: String::new(),
        };
        let Some(Value::Object(handler)) = json.get("handler") else {
            self.flaw("handler", "a type needs a handler: an object with a `kind`");
            return nobody;
        };
        let kind = self.text(handler, "handler", "kind");
        let mut only = |member: &str| self.only(handler, "handler", &["kind", member]);
        match kind.as_str() {
            "http" => only("url"),
            "javascript" => only("source"),
            "worker" => only("queue"),
            "command" => only("command"),
            "lambda" => only("function"),
            other => {
                let other: String = other.chars().take(64).collect();
                self.flaw("handler.kind", format!("there is no kind of handler `{other}`; there are: worker, lambda, http, javascript, command"));
                return nobody;
            }
        }
        match kind.as_str() {
            "http" => {
                let url = self.text(handler, "handler", "url");
                let rest = url
                    .strip_prefix("https://")
                    .or_else(|| url.strip_prefix("http://"));
                if !rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/')) {
                    self.flaw(
                        "handler.url",
                        "a handler of the kind `http` has an absolute http or https `url`",
                    );
                }
                Handler::Http { url }
            }
            "javascript" => {
                let source = match handler.get("source") {
                    Some(Value::String(source)) => source.clone(),
                    Some(_) | None => String::new(),
                };
                if script(&source).is_none() {
                    self.flaw("handler.source", "a handler of the kind `javascript` has a `source` with one `export default` before its function, such as `export default ({input}) => ({outputs: {y: input.x * 2}})`");
                }
                Handler::JavaScript { source }
            }
            "lambda" => {
                let function = self.text(handler, "handler", "function");
                if !is_function_name(&function) {
                    self.flaw("handler.function", FUNCTION_RULE);
                }
                Handler::Lambda { function }
            }
            "command" => {
                let command = self.names_of_command(handler);
                Handler::Command { command }
            }
            _ => {
                let queue = self.text(handler, "handler", "queue");
                if !is_queue_name(&queue) {
                    self.flaw("handler.queue", QUEUE_RULE);
                }
                Handler::Worker { queue }
            }
        }
    }

    fn names_of_command(&mut self, handler: &Map<String, Value>) -> Vec<String> {
        let parts = match handler.get("command") {
            Some(Value::Array(parts)) if (1..=LIST_MAX).contains(&parts.len()) => parts.as_slice(),
            Some(_) | None => &[],
        };
        let texts: Option<Vec<String>> = parts
            .iter()
            .map(|part| part.as_str().map(str::to_owned))
            .collect();
        match texts.filter(|texts| texts.first().is_some_and(|program| !program.is_empty())) {
            Some(texts) => texts,
            None => {
                self.flaw("handler.command", "a handler of the kind `command` has a `command`: a list of texts, the program first");
                Vec::new()
            }
        }
    }

    fn retry(&mut self, json: &Map<String, Value>) -> Retry {
        let usual = Retry::default();
        let retry = match json.get("retry") {
            None | Some(Value::Null) => return usual,
            Some(Value::Object(retry)) => retry,
            Some(_) => {
                self.flaw("retry", "`retry` is an object");
                return usual;
            }
        };
        self.only(
            retry,
            "retry",
            &[
                "maxAttempts",
                "intervalMs",
                "backoff",
                "jitter",
                "maxIntervalMs",
                "not",
            ],
        );
        let mut number = |name: &str, least: i64, most: i64, usual: i64| {
            self.number(retry, "retry", name, least, most)
                .unwrap_or(usual)
        };
        let attempts_max = number("maxAttempts", 1, ATTEMPTS_MAX, 3);
        let interval_ms = number("intervalMs", 0, PAUSE_MS_MAX, usual.interval_ms);
        let interval_ms_max = number("maxIntervalMs", 0, PAUSE_MS_MAX, usual.interval_ms_max);
        let backoff = match retry.get("backoff") {
            None | Some(Value::Null) => usual.backoff,
            Some(backoff) => {
                let backoff = backoff.as_f64().filter(|b| (1.0..=100.0).contains(b));
                if backoff.is_none() {
                    self.flaw("retry.backoff", "`backoff` is a number from 1 to 100");
                }
                backoff.unwrap_or(usual.backoff)
            }
        };
        Retry {
            attempts_max: u32::try_from(attempts_max).unwrap_or(1),
            interval_ms,
            backoff,
            has_jitter: self.flag(retry, "retry", "jitter", usual.has_jitter),
            interval_ms_max,
            not: self.names(retry, "retry", "not"),
        }
    }
}

#[cfg(test)]
mod tests;
