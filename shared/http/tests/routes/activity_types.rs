//! Activity types that are data: published, listed, drawn, checked, deleted.

use serde_json::{Value, json};

use crate::server::{Answered, Server, literal, sequence};

pub(crate) const CHARGE: &str = "/activity-types/Acme.Charge";

pub(crate) fn charge(more: Value) -> Value {
    let mut ty = json!({
        "category": "Payments", "displayName": "Charge a card", "icon": "card",
        "inputs": [
            { "name": "amount", "type": "Decimal", "isRequired": true, "description": "How much." },
            { "name": "card", "type": "String", "isSensitive": true },
        ],
        "outputs": [{ "name": "receipt", "type": "String" }],
        "outcomes": ["Done", "Declined"],
        "handler": { "kind": "worker", "queue": "pay" },
    });
    let more = more.as_object().unwrap().clone();
    ty.as_object_mut().unwrap().extend(more);
    ty
}

pub(crate) async fn put(server: &Server, path: &str, body: &Value) -> Answered {
    let request = axum::http::Request::builder()
        .method("PUT")
        .uri(format!("/elsa/api{path}"))
        .header("content-type", "application/json");
    let body = axum::body::Body::from(body.to_string());
    server.send(request.body(body).unwrap()).await
}

pub(crate) async fn delete(server: &Server, path: &str) -> Answered {
    server.ask("DELETE", &format!("/elsa/api{path}")).await
}

pub(crate) fn uses_charge(id: &str, more: Value) -> Value {
    let mut activity = json!({
        "id": "c", "type": "Acme.Charge", "amount": literal("Decimal", &json!(3)), "card": literal("String", &json!("4242")),
    });
    let more = more.as_object().unwrap().clone();
    activity.as_object_mut().unwrap().extend(more);
    sequence(id, json!([activity]))
}

#[tokio::test]
async fn a_type_is_published_in_versions_that_stay() {
    let server = Server::new();
    let first = put(&server, CHARGE, &charge(json!({}))).await.ok(201);
    assert_eq!(
        (&first["version"], &first["type"]),
        (&json!(1), &json!("Acme.Charge"))
    );
    put(&server, CHARGE, &charge(json!({}))).await.ok(200);
    // What was read may be sent back.
    let read = server.get(CHARGE).await.ok(200);
    let again = put(&server, CHARGE, &read).await.ok(200);
    assert_eq!(again["version"], 1);
    let second = put(&server, CHARGE, &charge(json!({ "category": "Money" })))
        .await
        .ok(201);
    assert_eq!(second["version"], 2);
    let old = server.get(&format!("{CHARGE}?version=1")).await.ok(200);
    assert_eq!(old["category"], "Payments");
    server
        .get(&format!("{CHARGE}?version=3"))
        .await
        .problem(404, "noSuchActivityType");
    server
        .get("/activity-types/Acme.Odd")
        .await
        .problem(404, "noSuchActivityType");
    let list = server.get("/activity-types").await.ok(200);
    assert_eq!(
        (&list["count"], &list["items"][0]["version"]),
        (&json!(1), &json!(2))
    );
    delete(&server, CHARGE).await.ok(204);
    delete(&server, CHARGE)
        .await
        .problem(404, "noSuchActivityType");
    assert_eq!(server.get("/activity-types").await.ok(200)["count"], 0);
    // A number is not used again.
    let third = put(&server, CHARGE, &charge(json!({}))).await.ok(201);
    assert_eq!(third["version"], 3);
}

#[tokio::test]
async fn what_is_no_type_is_refused_with_all_that_is_wrong() {
    let server = Server::new();
    let bad = json!({ "handler": { "kind": "lambda", "function": "arn:x" }, "timeoutMs": -1, "colour": 1 });
    let told = put(&server, CHARGE, &bad)
        .await
        .problem(422, "invalidActivityType");
    let detail = told["detail"].as_str().unwrap();
    for part in ["has a `function`", "timeoutMs", "colour"] {
        assert!(detail.contains(part), "{part}: {detail}");
    }
    for (path, handler, part) in [
        (
            "/activity-types/Elsa.WriteLine",
            json!({ "kind": "worker", "queue": "q" }),
            "built-in",
        ),
        (
            "/activity-types/Charge",
            json!({ "kind": "worker", "queue": "q" }),
            "named like",
        ),
        (
            CHARGE,
            json!({ "kind": "command", "command": ["true"] }),
            "--allow-commands",
        ),
        (
            CHARGE,
            json!({ "kind": "http", "url": "https://x.example" }),
            "DORMOUSE_WEBHOOK_SECRET",
        ),
        (
            CHARGE,
            json!({ "kind": "javascript", "source": "export default (" }),
            "no program",
        ),
        (
            CHARGE,
            json!({ "kind": "javascript", "source": format!("export default 1 /*{}*/", "x".repeat(70_000)) }),
            "bytes",
        ),
    ] {
        let told = put(&server, path, &json!({ "handler": handler })).await;
        let told = told.problem(422, "invalidActivityType");
        assert!(
            told["detail"].as_str().unwrap().contains(part),
            "{part}: {told}"
        );
    }
    let other = json!({ "type": "Acme.Other", "handler": { "kind": "worker", "queue": "q" } });
    put(&server, CHARGE, &other)
        .await
        .problem(400, "wrongShape");
    put(&server, CHARGE, &json!([1]))
        .await
        .problem(400, "wrongShape");
}

#[tokio::test]
async fn a_name_is_a_workflows_or_a_types() {
    let server = Server::new();
    let child = |id: &str| {
        let mut child = sequence(id, json!([]));
        child["name"] = json!("Acme Charge");
        child["options"] = json!({ "usableAsActivity": true });
        child
    };
    server.publish(child("w")).await;
    let taken = put(&server, CHARGE, &charge(json!({})))
        .await
        .problem(409, "activityTypeTaken");
    assert!(taken["detail"].as_str().unwrap().contains("`w`"));
    let server = Server::new();
    put(&server, CHARGE, &charge(json!({}))).await.ok(201);
    let body = json!({ "model": child("w"), "publish": true });
    let refused = server.post("/workflow-definitions", &body).await;
    let refused = String::from_utf8_lossy(&refused.body).into_owned();
    assert!(
        refused.contains("which is an activity type already"),
        "{refused}"
    );
}

#[tokio::test]
async fn designers_see_a_type_with_its_ports_and_inputs() {
    let server = Server::new();
    put(&server, CHARGE, &charge(json!({ "outcomes": [] })))
        .await
        .ok(201);
    put(&server, CHARGE, &charge(json!({}))).await.ok(201);
    let told = server
        .get("/descriptors/activities/Acme.Charge")
        .await
        .ok(200);
    assert_eq!(
        (&told["version"], &told["isBrowsable"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(
        (&told["category"], &told["displayName"]),
        (&json!("Payments"), &json!("Charge a card"))
    );
    let ports: Vec<&Value> = told["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| &p["name"])
        .collect();
    assert_eq!(ports, ["Done", "Declined"]);
    assert_eq!(
        (&told["inputs"][0]["name"], &told["inputs"][0]["isRequired"]),
        (&json!("Amount"), &json!(true))
    );
    assert_eq!(told["inputs"][1]["isSensitive"], true);
    assert_eq!(told["outputs"][0]["name"], "Receipt");
    let old = server
        .get("/descriptors/activities/Acme.Charge?version=1")
        .await
        .ok(200);
    assert_eq!(
        (&old["isBrowsable"], &old["ports"][0]["name"]),
        (&json!(false), &json!("Done"))
    );
    // A canvas shows the activity, and not Elsa's placeholder.
    server.publish(uses_charge("w", json!({}))).await;
    let read = server
        .get("/workflow-definitions/by-definition-id/w")
        .await
        .ok(200);
    let drawn = &read["root"]["activities"][0];
    assert_eq!(
        (&drawn["type"], &drawn["version"]),
        (&json!("Acme.Charge"), &json!(2))
    );
}

#[tokio::test]
async fn validation_knows_versions_and_required_inputs() {
    let server = Server::new();
    let publish = async |model: Value| {
        let body = json!({ "model": model, "publish": true });
        let answer = server.post("/workflow-definitions", &body).await;
        String::from_utf8_lossy(&answer.body).into_owned()
    };
    let unknown = publish(uses_charge("w", json!({}))).await;
    assert!(
        unknown.contains("there is no activity type `Acme.Charge`"),
        "{unknown}"
    );
    put(&server, CHARGE, &charge(json!({}))).await.ok(201);
    let missing = publish(uses_charge("w", json!({ "amount": null }))).await;
    assert!(missing.contains("needs its input `amount`"), "{missing}");
    let version = publish(uses_charge("w", json!({ "version": 7 }))).await;
    assert!(version.contains("has no version 7"), "{version}");
    delete(&server, CHARGE).await.ok(204);
    let deleted = publish(uses_charge("w", json!({}))).await;
    assert!(deleted.contains("was deleted"), "{deleted}");
}
