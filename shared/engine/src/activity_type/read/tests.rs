use serde_json::json;

use super::*;

fn flaws(json: &Value) -> Vec<(String, String)> {
    let flaws = read(json, 1).unwrap_err();
    flaws.into_iter().map(|f| (f.path, f.message)).collect()
}

#[test]
fn a_whole_type_is_read() {
    let json = json!({
        "type": "Acme.ChargeCard", "category": "Payments", "displayName": "Charge card", "icon": "card",
        "inputs": [
            { "name": "Amount", "type": "Decimal", "isRequired": true },
            { "name": "card", "type": "String", "isSensitive": true, "uiHint": "multiline" },
        ],
        "outputs": [{ "name": "receipt", "type": "Object" }], "outcomes": ["Done", "Declined"],
        "handler": { "kind": "http", "url": "https://pay.example/charge" },
        "timeoutMs": 30000, "heartbeatMs": 10000,
        "retry": { "maxAttempts": 5, "intervalMs": 500, "backoff": 2, "jitter": true, "maxIntervalMs": 60000, "not": ["Declined"] },
    });
    let ty = read(&json, 3).unwrap();
    assert_eq!(
        (ty.version, ty.timeout_ms, ty.heartbeat_ms),
        (3, 30_000, Some(10_000))
    );
    assert_eq!((ty.retry.attempts_max, ty.retry.not.len()), (5, 1));
    let descriptor = ty.descriptor();
    assert_eq!(descriptor.display_name, "Charge card");
    assert_eq!(descriptor.inputs[0].name, "amount");
    assert_eq!(ty.inputs[0].name, "Amount");
    assert!(descriptor.inputs[1].is_sensitive);
    assert_eq!(descriptor.inputs[1].ui_hint, "multiline");
    assert_eq!(descriptor.outcomes, ["Done", "Declined"]);
}

#[test]
fn every_mistake_is_told_with_its_place() {
    let json = json!({
        "type": "Charge", "colour": 1, "category": 7,
        "inputs": [{ "name": "version" }, { "name": "a", "type": "Monye" }, { "name": "A" }, 3, { "name": "b", "uiHint": "slider" }],
        "outputs": [{ "name": "a" }, { "name": "9" }],
        "outcomes": ["Done", "Done", ""],
        "handler": { "kind": "worker", "queue": "a queue", "url": "x" },
        "timeoutMs": 0, "heartbeatMs": "1",
        "retry": { "maxAttempts": 0, "backoff": 0.5, "not": "x", "jitter": 1 },
    });
    let places: Vec<String> = flaws(&json).into_iter().map(|(path, _)| path).collect();
    for place in [
        "type",
        "colour",
        "category",
        "inputs[0].name",
        "inputs[1].type",
        "inputs[2].name",
        "inputs[3]",
        "inputs[4].uiHint",
        "outputs[0].name",
        "outputs[1].name",
        "outcomes[1]",
        "outcomes[2]",
        "handler.url",
        "handler.queue",
        "timeoutMs",
        "heartbeatMs",
        "retry.maxAttempts",
        "retry.backoff",
        "retry.not",
        "retry.jitter",
    ] {
        assert!(
            places.iter().any(|p| p == place),
            "{place} is missing in {places:?}"
        );
    }
    assert_eq!(places.len(), 20, "{places:?}");
}

#[test]
fn names_of_built_in_types_are_theirs() {
    for name in ["Elsa.WriteLine", "elsa.Own"] {
        let told = flaws(&json!({ "type": name, "handler": { "kind": "worker", "queue": "q" } }));
        assert!(told[0].1.contains("built-in"), "{told:?}");
    }
}

#[test]
fn a_handler_is_of_a_kind_that_there_is() {
    let told = |handler: Value| {
        flaws(&json!({ "type": "A.B", "handler": handler }))
            .remove(0)
            .1
    };
    assert!(told(json!({ "kind": "lambda", "function": "arn:x" })).contains("has a `function`"));
    assert!(told(json!({ "kind": "grpc" })).contains("there is no kind"));
    assert!(told(json!(null)).contains("needs a handler"));
    assert!(told(json!({ "kind": "http", "url": "/charge" })).contains("absolute"));
    assert!(told(json!({ "kind": "javascript", "source": "return 1" })).contains("export default"));
    assert!(told(json!({ "kind": "command", "command": [] })).contains("the program first"));
}

#[test]
fn a_handlers_script_is_called_with_its_task() {
    let text = script("const f = 2; export default ({input}) => input.x * f").unwrap();
    assert!(text.starts_with("const f = 2; const $handler ="));
    assert!(text.ends_with("return $handler(args.task);"));
    assert_eq!(script("export default a; export default b"), None);
}
