//! What scripts can call, for Studio's editor: TypeScript declarations for one definition.

use std::fmt::Write;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use dormouse_engine::definition::Definition;
use dormouse_engine::definition::data_type::DataType;
use dormouse_engine::definition::name::pascal_case;
use dormouse_runtime::DefinitionHandle;

use crate::app::App;
use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// What every script has.
const ALWAYS: &str = "\
declare function getWorkflowDefinitionId(): string;
declare function getWorkflowDefinitionVersionId(): string;
declare function getWorkflowDefinitionVersion(): number;
declare function getWorkflowInstanceId(): string;
declare function getWorkflowInstanceName(): string | null;
declare function setWorkflowInstanceName(name: string): void;
declare function getCorrelationId(): string | null;
declare function setCorrelationId(correlationId: string): void;
declare function getVariable(name: string): any;
declare function setVariable(name: string, value: any): void;
declare function getInput(name: string): any;
declare function getOutputFrom(activity: string, output?: string): any;
declare function getLastResult(): any;
declare function setOutcome(name: string): void;
declare function setOutcomes(names: string[]): void;
declare function getConfig(path: string): any;
declare function getSecret(name: string): any;
declare function isNullOrWhiteSpace(text: string): boolean;
declare function isNullOrEmpty(text: string): boolean;
declare function toJson(value: any): string;
declare const variables: { [name: string]: any };
";

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/scripting/javascript/type-definitions/{id}", post(types))
}

async fn types(Scoped(app): Scoped, Path(id): Path<String>) -> Result<Response, Refusal> {
    let handle = DefinitionHandle::latest(&id);
    let view = app
        .runtime()
        .query()
        .definition(app.tenant(), &handle)
        .await?;
    let missing = || {
        Refusal::invalid(
            "generalErrors",
            format!("Workflow definition {id} not found"),
        )
    };
    let view = view.ok_or_else(missing)?;
    let kind = [(header::CONTENT_TYPE, "application/x-typescript")];
    Ok((kind, declarations(&view.definition)).into_response())
}

fn declarations(definition: &Definition) -> String {
    let mut out = String::from(ALWAYS);
    let variables = definition.variables.iter();
    let readable = variables.map(|v| (&v.name, &v.data_type, true));
    let inputs = definition.inputs.iter();
    let all = readable.chain(inputs.map(|i| (&i.name, &i.data_type, false)));
    for (name, data_type, is_variable) in all {
        let name = pascal_case(name);
        // A name with anything else in it cannot be called, and would break the other lines.
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let kind = type_of(data_type);
        let _never_fails = if is_variable {
            writeln!(
                out,
                "declare function get{name}(): {kind};\ndeclare function set{name}(value: {kind}): void;"
            )
        } else {
            writeln!(out, "declare function get{name}(): {kind};")
        };
    }
    out
}

fn type_of(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::String
        | DataType::JoinMode
        | DataType::Guid
        | DataType::DateTime
        | DataType::DateTimeOffset
        | DataType::TimeSpan
        | DataType::Bytes => "string",
        DataType::Boolean => "boolean",
        DataType::Byte
        | DataType::Short
        | DataType::Integer
        | DataType::Long
        | DataType::Single
        | DataType::Number
        | DataType::Decimal => "number",
        DataType::List(_) => "any[]",
        DataType::Map | DataType::StringMap => "{ [name: string]: any }",
        DataType::Object | DataType::Json | DataType::JsonObject | DataType::Node => "any",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_and_inputs_can_be_called_by_name() {
        let json = json!({
            "variables": [{ "name": "order total", "typeName": "Int32" }, { "name": "a); evil(", "typeName": "String" }],
            "inputs": [{ "name": "Lines", "type": "String", "isArray": true }],
            "root": { "type": "Elsa.Sequence" },
        });
        let told = declarations(&Definition::from_value(json).unwrap());
        for line in [
            "declare function getOrderTotal(): number;",
            "declare function setOrderTotal(value: number): void;",
            "declare function getLines(): any[];",
        ] {
            assert!(told.contains(line), "{told}");
        }
        assert!(!told.contains("evil"), "{told}");
    }
}
