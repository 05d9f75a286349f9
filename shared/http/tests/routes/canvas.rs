//! What a designer is given: every activity has an id, a node id and a type that is described. An activity that Studio
//! finds no descriptor for leaves the whole canvas empty.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::server::{Server, literal, sequence, waiting};

/// The types and versions that are described.
async fn described(server: &Server) -> BTreeSet<(String, u64)> {
    let all = server.get("/descriptors/activities").await.ok(200);
    let of = |one: &Value| {
        (
            one["typeName"].as_str().unwrap().to_owned(),
            one["version"].as_u64().unwrap(),
        )
    };
    all["items"].as_array().unwrap().iter().map(of).collect()
}

/// Every activity of a definition's JSON: whatever has a type and is no expression, variable or the like.
fn activities<'a>(json: &'a Value, found: &mut Vec<&'a Value>) {
    let children = [
        "activities",
        "body",
        "then",
        "else",
        "default",
        "entry",
        "exit",
        "trigger",
        "action",
        "activity",
    ];
    let lists = ["cases", "branches", "states", "transitions"];
    found.push(json);
    let Some(map) = json.as_object() else { return };
    for (name, value) in map {
        let name = name.to_lowercase();
        let inside: Vec<&Value> = match value {
            Value::Array(items) if name == "activities" || name == "branches" => {
                items.iter().collect()
            }
            Value::Array(items) if lists.contains(&name.as_str()) => items
                .iter()
                .flat_map(|item| item.as_object().into_iter().flatten())
                .filter(|(name, _)| children.contains(&name.to_lowercase().as_str()))
                .map(|(_, value)| value)
                .collect(),
            Value::Object(_) if children.contains(&name.as_str()) => vec![value],
            _ => Vec::new(),
        };
        for activity in inside.into_iter().filter(|v| {
            v.get("type")
                .or(v.get("Type"))
                .is_some_and(Value::is_string)
        }) {
            activities(activity, found);
        }
    }
}

/// Fails the test unless a canvas can show the definition.
#[track_caller]
fn can_be_drawn(definition: &Value, described: &BTreeSet<(String, u64)>, from: &str) {
    let mut found = Vec::new();
    activities(&definition["root"], &mut found);
    for one in found {
        for name in ["id", "nodeId"] {
            assert!(
                one[name].as_str().is_some_and(|text| !text.is_empty()),
                "{from}: no {name}: {one:#}"
            );
        }
        let kind = (
            one["type"].as_str().unwrap().to_owned(),
            one["version"].as_u64().unwrap(),
        );
        assert!(
            described.contains(&kind),
            "{from}: no descriptor of {kind:?}"
        );
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "json") {
            found.push(path);
        }
    }
}

#[tokio::test]
async fn every_definition_of_elsas_can_be_drawn() {
    let shared = std::env::var_os("DORMOUSE_SHARED").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = shared.unwrap_or(beside).join("elsa-workflows");
    let mut all = Vec::new();
    files(&folder, &mut all);
    if all.is_empty() {
        eprintln!("skipped: there is nothing in {}", folder.display());
        return;
    }
    let server = Server::new();
    let mut taken = Vec::new();
    for file in &all {
        let Ok(model) = serde_json::from_slice::<Value>(&std::fs::read(file).unwrap()) else {
            continue;
        };
        if model
            .get("root")
            .is_none_or(|root| root.get("type").is_none())
        {
            continue;
        }
        let answer = server.post("/workflow-definitions/import", &model).await;
        if answer.status.is_success() {
            taken.push((file, answer.json()["id"].as_str().unwrap().to_owned()));
        }
    }
    assert!(
        taken.len() > 70,
        "only {} of {} files were taken",
        taken.len(),
        all.len()
    );
    let described = described(&server).await;
    for (file, id) in taken {
        let answer = server
            .get(&format!("/workflow-definitions/by-id/{id}"))
            .await;
        // A later file of the same definition has taken its place.
        if answer.status == 404 {
            continue;
        }
        can_be_drawn(&answer.ok(200), &described, &file.display().to_string());
    }
}

#[tokio::test]
async fn an_unknown_activity_is_drawn_as_a_placeholder_and_kept_as_it_was() {
    let server = Server::new();
    let odd = json!({ "type": "Acme.Odd", "id": "odd", "line": { "a": [1] } });
    let model = sequence("w", json!([odd]));
    server
        .post("/workflow-definitions", &json!({ "model": model }))
        .await
        .ok(200);
    let mut drawn = server
        .get("/workflow-definitions/by-definition-id/w")
        .await
        .ok(200);
    can_be_drawn(&drawn, &described(&server).await, "w");
    assert_eq!(
        drawn["root"]["activities"][0]["missingTypeName"],
        "Acme.Odd"
    );
    drawn["root"]["activities"][0]["metadata"] =
        json!({ "designer": { "position": { "x": 5, "y": 7 } } });
    server
        .post("/workflow-definitions", &json!({ "model": drawn }))
        .await
        .ok(200);
    let file = server.get("/workflow-definitions/w/export").await.json();
    let kept = &file["root"]["activities"][0];
    assert_eq!((&kept["type"], &kept["line"]), (&odd["type"], &odd["line"]));
    assert_eq!(kept["metadata"]["designer"]["position"]["x"], 5);
}

#[tokio::test]
async fn a_workflow_that_can_be_used_as_an_activity_is_in_the_toolbox() {
    let server = Server::new();
    let mut child = waiting("Credit check");
    child["definitionId"] = "credit".into();
    child["options"] = json!({ "usableAsActivity": true });
    child["inputs"] = json!([{ "name": "Customer", "type": "String", "description": "Who asks." }]);
    child["outcomes"] = json!(["Good", "Bad"]);
    server.publish(child).await;
    let one = server
        .get("/descriptors/activities/CreditCheck")
        .await
        .ok(200);
    assert_eq!(
        (&one["displayName"], &one["isBrowsable"]),
        (&"Credit check".into(), &true.into())
    );
    assert_eq!(
        (&one["inputs"][0]["name"], &one["inputs"][0]["typeName"]),
        (&"Customer".into(), &"String".into())
    );
    assert_eq!(one["ports"][1]["name"], "Bad");
    assert_eq!(
        one["constructionProperties"]["WorkflowDefinitionId"],
        "credit"
    );
    // It is renamed; whoever uses it by its id is drawn all the same.
    let user = json!({ "type": "OldName", "id": "check", "version": 7, "workflowDefinitionId": "credit", "customer": literal("String", &"Ada".into()) });
    let saved = server.publish(sequence("loan", json!([user]))).await;
    can_be_drawn(
        &saved["workflowDefinition"],
        &described(&server).await,
        "loan",
    );
    server
        .get("/descriptors/activities/Nobody")
        .await
        .problem(404, "noSuchActivityType");
}
