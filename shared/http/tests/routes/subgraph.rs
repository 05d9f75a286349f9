//! Parts of a definition as Studio opens them: an activity, and the workflow that it stands for.

use serde_json::{Value, json};

use crate::server::{Server, literal, sequence, waiting};

/// A workflow `loan` that uses `credit` in a branch of a decision.
async fn loan(server: &Server) -> Value {
    let mut child = waiting("Credit check");
    child["definitionId"] = "credit".into();
    child["options"] = json!({ "usableAsActivity": true });
    server.publish(child).await;
    let model = sequence(
        "loan",
        json!([{
            "type": "Elsa.If", "id": "choice", "name": "Choice",
            "condition": literal("Boolean", &true.into()),
            "then": { "type": "CreditCheck", "id": "check", "name": "Check", "workflowDefinitionId": "credit" },
        }]),
    );
    server.publish(model).await["workflowDefinition"].clone()
}

#[tokio::test]
async fn the_node_ids_that_are_drawn_are_those_of_the_journal() {
    let server = Server::new();
    let drawn = loan(&server).await;
    let started = server
        .post("/workflow-starts", &json!({ "definitionId": "loan" }))
        .await
        .ok(201);
    let id = started["id"].as_str().unwrap();
    let journal = server
        .get(&format!("/workflow-instances/{id}/journal"))
        .await
        .ok(200);
    let lines = journal["items"].as_array().unwrap().iter();
    let nodes: Vec<_> = lines.map(|l| l["nodeId"].as_str().unwrap()).collect();
    let check = drawn["root"]["activities"][0]["then"]["nodeId"]
        .as_str()
        .unwrap();
    assert!(nodes.contains(&check), "{check} is not among {nodes:?}");
    // So are those of the workflow inside.
    let version = drawn["id"].as_str().unwrap();
    let part = server
        .get(&format!(
            "/workflow-definitions/subgraph/{version}?parentNodeId={check}"
        ))
        .await
        .ok(200);
    assert_eq!(part["nodeId"], check);
    assert_eq!(
        (&part["port"], &part["activity"]["id"]),
        (&"Then".into(), &"check".into())
    );
    let inner = &part["activity"]["root"]["root"];
    let go = inner["activities"][1]["nodeId"].as_str().unwrap();
    assert!(nodes.contains(&go), "{go} is not among {nodes:?}");
    assert!(drawn["root"]["activities"][0]["then"]["root"].is_null());
}

#[tokio::test]
async fn the_way_to_an_activity_leads_through_what_it_stands_in_but_flowcharts() {
    let server = Server::new();
    let drawn = loan(&server).await;
    let version = drawn["id"].as_str().unwrap();
    let check = drawn["root"]["activities"][0]["then"]["nodeId"]
        .as_str()
        .unwrap();
    let part = server
        .get(&format!(
            "/workflow-definitions/subgraph/{version}?parentNodeId={check}"
        ))
        .await
        .ok(200);
    let go = part["activity"]["root"]["root"]["activities"][1]["nodeId"].clone();
    let go = go.as_str().unwrap();
    let way = server
        .get(&format!(
            "/workflow-definitions/subgraph/segments/{version}?childNodeId={go}"
        ))
        .await
        .ok(200);
    assert_eq!(way["childNode"]["activity"]["id"], "go");
    assert_eq!(way["container"]["activity"]["id"], "all");
    let ids: Vec<_> = way["pathSegments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (&s["activityId"], &s["portName"]))
        .collect();
    assert_eq!(
        ids,
        [
            (&json!("all"), &json!("Activities")),
            (&json!("choice"), &json!("Then")),
            (&json!("check"), &json!("Root")),
            (&json!("all"), &json!("Activities"))
        ]
    );
    assert_eq!(way["pathSegments"][1]["activityName"], "Choice");
}

#[tokio::test]
async fn a_part_that_there_is_not_is_said() {
    let server = Server::new();
    let drawn = loan(&server).await;
    let version = drawn["id"].as_str().unwrap();
    let path = format!("/workflow-definitions/subgraph/{version}");
    let root = server.get(&path).await.ok(200);
    assert_eq!(root["activity"], drawn["root"]);
    server
        .get(&format!("{path}?parentNodeId=none"))
        .await
        .problem(404, "noSuchActivity");
    server
        .get("/workflow-definitions/subgraph/none")
        .await
        .problem(404, "noSuchDefinition");
    let segments = format!("/workflow-definitions/subgraph/segments/{version}");
    server.get(&segments).await.problem(404, "noSuchActivity");
}

#[tokio::test]
async fn a_version_is_drawn_with_a_place_for_every_activity() {
    let server = Server::new();
    let version = loan(&server).await["id"].as_str().unwrap().to_owned();
    let path = format!("/workflow-definitions/graph/{version}");
    let graph = server.get(&path).await.ok(200);
    let nodes = graph["nodes"].as_array().unwrap();
    let ids: Vec<&str> = nodes.iter().map(|n| n["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["choice", "check"]);
    assert_eq!(nodes[0]["type"], "If");
    assert!(
        nodes.iter().all(|n| n["x"].is_f64() && n["y"].is_f64()),
        "{graph}"
    );
    let arrow = json!({ "from": 0, "to": 1, "label": "then", "isInner": true });
    assert_eq!(graph["arrows"], json!([arrow]));
    server.get("/workflow-definitions/graph/none").await.ok(404);
}
