//! Search attributes over the API: declared with a definition, filled by its instances, found by lists and alterations.

use serde_json::{Value, json};

use crate::server::{Server, literal};

fn order(id: &str, attributes: &Value) -> Value {
    json!({
        "definitionId": id, "name": id, "toolVersion": "3.7.0.0",
        "inputs": [{ "name": "Region", "type": "String" }],
        "variables": [{ "id": "v", "name": "Customer", "typeName": "String", "storageDriverTypeName": "WorkflowInstanceStorageDriver" }],
        "customProperties": { "searchAttributes": attributes },
        "root": { "id": "s", "type": "Elsa.Sequence", "activities": [
            { "id": "set", "type": "Elsa.SetVariable", "variable": { "id": "v" },
              "value": { "typeName": "String", "expression": { "type": "JavaScript", "value": "'ACME ' + getInput('Region')" } } },
            { "id": "wait", "type": "Elsa.Event", "eventName": literal("String", &json!("moved")) },
            { "id": "again", "type": "Elsa.SetVariable", "variable": { "id": "v" }, "value": literal("String", &json!("Globex")) },
        ] },
    })
}

fn both() -> Value {
    json!([{ "name": "Customer", "variable": "Customer" }, { "name": "Region", "input": "Region" }])
}

async fn start(server: &Server, id: &str, region: &str) -> String {
    let body = json!({ "definitionId": id, "input": { "Region": region } });
    let started = server.post("/workflow-starts", &body).await.ok(201);
    started["id"].as_str().unwrap().to_owned()
}

/// The number of instances with these values, by body.
async fn count(server: &Server, wanted: Value) -> u64 {
    let body = json!({ "searchAttributes": wanted });
    let list = server.post("/workflow-instances", &body).await.ok(200);
    assert_eq!(list["isTotalExact"], true);
    let items = list["items"].as_array().unwrap().len() as u64;
    assert_eq!(list["totalCount"], items);
    items
}

#[tokio::test]
async fn instances_are_found_by_the_values_that_they_have() {
    let server = Server::new();
    server.publish(order("a", &both())).await;
    server.publish(order("b", &both())).await;
    server.publish(order("plain", &json!([]))).await;
    let first = start(&server, "a", "EU").await;
    for (id, region) in [("a", "US"), ("b", "EU"), ("plain", "EU")] {
        start(&server, id, region).await;
    }
    assert_eq!(count(&server, json!({ "Region": "EU" })).await, 2);
    assert_eq!(count(&server, json!({ "Customer": "ACME US" })).await, 1);
    assert_eq!(
        count(&server, json!({ "Customer": "ACME EU", "Region": "EU" })).await,
        2
    );
    assert_eq!(
        count(&server, json!({ "Customer": "ACME EU", "Region": "US" })).await,
        0
    );
    let path = "/workflow-instances?searchAttribute=Customer%3DACME%20EU&definitionId=a";
    let listed = server.get(path).await.ok(200);
    assert_eq!(listed["items"][0]["id"], first.as_str());
    let expected = json!({ "Customer": "ACME EU", "Region": "EU" });
    assert_eq!(listed["items"][0]["searchAttributes"], expected);
    let plain = server
        .get("/workflow-instances?definitionId=plain")
        .await
        .ok(200);
    assert_eq!(plain["items"][0].get("searchAttributes"), None);

    let event = json!({ "workflowInstanceId": first, "workflowExecutionMode": "Synchronous" });
    server.post("/events/moved/trigger", &event).await.ok(200);
    assert_eq!(count(&server, json!({ "Customer": "ACME EU" })).await, 1);
    assert_eq!(
        count(&server, json!({ "Customer": "Globex", "Region": "EU" })).await,
        1
    );

    let dry = json!({ "searchAttributes": { "Region": "EU" } });
    let selected = server.post("/alterations/dry-run", &dry).await.ok(200);
    let selected = selected["workflowInstanceIds"].as_array().unwrap().len();
    assert_eq!(selected, 2);
}

#[tokio::test]
async fn a_filter_that_cannot_be_is_refused() {
    let server = Server::new();
    let many: serde_json::Map<String, Value> =
        (0..9).map(|n| (format!("A{n}"), json!("x"))).collect();
    for wrong in [
        json!({ "A": null }),
        json!({ "A": "" }),
        json!({ "A": [1] }),
        json!({ "": "x" }),
        json!(many),
    ] {
        let body = json!({ "searchAttributes": wrong });
        server
            .post("/workflow-instances", &body)
            .await
            .problem(400, "badParameter");
    }
    let path = "/workflow-instances?searchAttribute=Customer";
    server.get(path).await.problem(400, "badParameter");
}

#[tokio::test]
async fn a_definition_with_a_wrong_attribute_is_not_published() {
    let server = Server::new();
    let wrong = json!([{ "name": "Customer", "variable": "Nobody" }]);
    let save = json!({ "model": order("a", &wrong), "publish": true });
    let told = server.post("/workflow-definitions", &save).await;
    let told = String::from_utf8_lossy(&told.body).into_owned();
    let message = "the search attribute `Customer` names the variable `Nobody`, which the workflow does not declare";
    assert!(told.contains(message), "{told}");
    let body = json!({ "definitionId": "a" });
    let status = server.post("/workflow-starts", &body).await.status.as_u16();
    assert_eq!(status, 404);
}
