//! The API's OpenAPI document, made from the table of rules: it names every route that there is, and who may use it.
//!
//! Bodies are JSON as Elsa has it; what of it is always the same is in `openapi/shape.rs`. Every refusal is a problem.

mod shape;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use serde_json::{Map, Value, json};

use crate::access::{Access, DESIGNER, RULES, Rule};
use crate::app::App;
use crate::made_once::MadeOnce;
use crate::router::API;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/openapi.json", get(answer))
}

/// Making it takes milliseconds, and anybody may ask for it.
static DOCUMENT: LazyLock<MadeOnce> =
    LazyLock::new(|| MadeOnce::new(document().to_string().into_bytes()));

async fn answer(headers: HeaderMap) -> Response {
    DOCUMENT.answer(&headers)
}

fn document() -> Value {
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for rule in RULES.iter().chain(DESIGNER) {
        let path = paths.entry(format!("{API}{}", rule.path)).or_default();
        let operations = rule
            .methods
            .iter()
            .map(|method| (method.to_lowercase(), operation(rule, method)));
        path.extend(operations);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Dormouse",
            "description": "Elsa's REST API over durable workflows.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "key": { "type": "apiKey", "in": "header", "name": "Authorization", "description": "`ApiKey ` and the key" },
            },
            "schemas": { "Problem": problem() },
        },
    })
}

fn operation(rule: &Rule, method: &str) -> Value {
    let names = rule.path.split('/').filter_map(|step| {
        let name = step.strip_prefix('{')?.strip_suffix('}')?;
        Some(json!({
            "name": name,
            "in": "path",
            "required": true,
            "schema": if name == "version" { json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }) } else { json!({ "type": "string", "minLength": 1 }) },
        }))
    });
    let tag = rule.path.split('/').nth(1).unwrap_or_default();
    let queries = match method {
        "GET" => shape::find(shape::QUERIES, rule.path).unwrap_or_default(),
        _ => "",
    };
    let queries = shape::fields(queries).map(|(name, kind, is_required)| {
        json!({ "name": name, "in": "query", "required": is_required, "schema": shape::of_kind(kind) })
    });
    let answer = shape::find(shape::ANSWERS, &format!("{method} {}", rule.path));
    let mut done = json!({ "description": "Done, as in Elsa." });
    if let (Value::Object(done), Some(answer)) = (&mut done, answer) {
        let schema = shape::object(answer);
        done.insert(
            "content".into(),
            json!({ "application/json": { "schema": schema } }),
        );
    }
    let described = json!({
        "operationId": format!("{} {}", method.to_lowercase(), rule.path),
        "tags": [tag],
        "parameters": names.chain(queries).collect::<Vec<_>>(),
        "responses": {
            "2XX": done,
            "default": {
                "description": "Refused: the problem says why, and what to do.",
                "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
            },
        },
        "security": match rule.access {
            Access::Anybody => json!([]),
            Access::Known | Access::Any(_) => json!([{ "token": [] }, { "key": [] }]),
        },
    });
    let mut operation = Map::new();
    if let Access::Any(permissions) = rule.access {
        let asked = format!("Asks for {}.", permissions.join(" or "));
        operation.insert("description".into(), asked.into());
    }
    if matches!(method, "POST" | "PUT") {
        let body = shape::find(shape::BODIES, rule.path).unwrap_or_default();
        let body = json!({ "application/json": { "schema": shape::object(body) } });
        operation.insert("requestBody".into(), json!({ "content": body }));
    }
    if let Value::Object(described) = described {
        operation.extend(described);
    }
    operation.into()
}

/// RFC 9457, with the code that stays the same.
fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "code", "detail"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "code": { "type": "string" },
            "detail": { "type": "string", "minLength": 1 },
        },
    })
}
