//! Definitions: saved, published, listed, exported, deleted, as Elsa's clients do it.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::server::{Server, sequence, waiting};

#[tokio::test]
async fn a_body_of_elsa_is_json_in_any_case_and_errors_are_elsas_too() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let start = json!({ "DefinitionId": "w" });
    server
        .post("/workflow-starts", &json!({ "definitionId": "w" }))
        .await
        .ok(201);
    let found = server.post("/workflow-instances", &start).await.ok(200);
    assert_eq!(found["totalCount"], 1);
    let broken = server
        .post_bytes("/workflow-instances", "{not json".into())
        .await;
    let broken = broken.problem(400, "notJson");
    assert_eq!(broken["statusCode"], 400);
    assert_eq!(broken["message"], "One or more errors occurred!");
    let told = broken["errors"]["serializerErrors"][0].as_str().unwrap();
    assert!(
        told.ends_with("LineNumber: 0 | BytePositionInLine: 1."),
        "{told}"
    );
    let null = server
        .post_bytes("/workflow-definitions/w/dispatch", "null".into())
        .await;
    null.ok(200);
    let bare = Request::post("/elsa/api/workflow-definitions/w/dispatch");
    let bare = server.send(bare.body(Body::empty()).unwrap()).await;
    bare.problem(415, "notJsonType");
    let absent = server.get("/labels").await;
    absent.problem(501, "notHere");
}

#[tokio::test]
async fn a_draft_becomes_the_published_version_and_the_next_save_a_new_draft() {
    let server = Server::new();
    let save = |model: Value| {
        let server = &server;
        async move {
            server
                .post("/workflow-definitions", &json!({ "model": model }))
                .await
                .ok(200)
        }
    };
    let saved = save(waiting("w")).await;
    let model = &saved["workflowDefinition"];
    assert_eq!(
        (&model["version"], &model["isPublished"], &model["isLatest"]),
        (&1.into(), &false.into(), &true.into())
    );
    let published = server
        .post("/workflow-definitions/w/publish", &json!({}))
        .await
        .ok(200);
    assert_eq!(published["alreadyPublished"], false);
    let again = server
        .post("/workflow-definitions/w/publish", &json!({}))
        .await
        .ok(200);
    assert_eq!(again["alreadyPublished"], true);
    let second = save(waiting("w")).await;
    assert_eq!(second["workflowDefinition"]["version"], 2);
    let versions = server.get("/workflow-definitions/w/versions").await.ok(200);
    assert_eq!(versions.as_array().unwrap().len(), 2);
    let published = server
        .get("/workflow-definitions/w?versionOptions=Published")
        .await
        .ok(200);
    assert_eq!(published["version"], 1);
}

/// Everything that was sent is there, whatever has been added to it.
fn includes(whole: &Value, part: &Value) {
    match part {
        Value::Object(members) => {
            for (name, member) in members {
                includes(&whole[name], member);
            }
        }
        Value::Array(items) => {
            let all = whole
                .as_array()
                .unwrap_or_else(|| panic!("{whole}: {part}"));
            assert_eq!(all.len(), items.len(), "{whole}: {part}");
            all.iter()
                .zip(items)
                .for_each(|(whole, part)| includes(whole, part));
        }
        _ => assert_eq!(whole, part),
    }
}

#[tokio::test]
async fn what_is_not_known_comes_back_as_it_was_sent() {
    let server = Server::new();
    let mut model = sequence(
        "w",
        json!([{ "type": "Acme.Odd", "id": "odd", "line": { "a": [1] } }]),
    );
    model["strategy"] = json!({ "$schema": 1 });
    let saved = server
        .post("/workflow-definitions", &json!({ "model": model }))
        .await
        .ok(200);
    let got = server
        .get("/workflow-definitions/by-definition-id/w")
        .await
        .ok(200);
    assert_eq!(got["strategy"], model["strategy"]);
    let version_id = saved["workflowDefinition"]["id"].as_str().unwrap();
    let by_id = server
        .get(&format!("/workflow-definitions/by-id/{version_id}"))
        .await
        .ok(200);
    assert_eq!(by_id, got);
    let exported = server.get("/workflow-definitions/w/export").await;
    assert!(
        exported
            .header("content-disposition")
            .contains(&format!("workflow-definition-w-w-{version_id}.json"))
    );
    let exported = exported.json();
    includes(&exported["root"], &model["root"]);
    assert_eq!(
        exported["root"]["customProperties"]["canStartWorkflow"],
        false
    );
}

#[tokio::test]
async fn a_definition_with_errors_is_saved_and_not_published() {
    let server = Server::new();
    let text = json!({ "typeName": "String", "expression": { "type": "Python", "value": "1" } });
    let model = sequence(
        "w",
        json!([{ "type": "Elsa.WriteLine", "id": "a", "text": text }]),
    );
    let checked = server
        .post("/workflow-definitions/validate", &model)
        .await
        .ok(200);
    assert_eq!(checked["isValid"], false);
    let refused = server
        .post(
            "/workflow-definitions",
            &json!({ "model": model, "publish": true }),
        )
        .await;
    let problem = refused.problem(400, "invalidDefinition");
    let (path, messages) = problem["errors"]
        .as_object()
        .unwrap()
        .iter()
        .next()
        .unwrap();
    assert!(path.contains("activities[0]"), "{path}");
    assert_eq!(messages.as_array().unwrap().len(), 1);
    // As in Elsa, what was to be published and cannot be is not saved either.
    server
        .get("/workflow-definitions/w")
        .await
        .problem(404, "noSuchDefinition");
    server
        .post("/workflow-definitions", &json!({ "model": model }))
        .await
        .ok(200);
    let got = server.get("/workflow-definitions/w").await.ok(200);
    assert_eq!(got["isPublished"], false);
    server
        .post("/workflow-starts", &json!({ "definitionId": "w" }))
        .await
        .problem(404, "noSuchDefinition");
}

#[tokio::test]
async fn a_list_is_filtered_ordered_and_paged() {
    let server = Server::new();
    for name in ["b", "a", "c"] {
        server.publish(waiting(name)).await;
    }
    let list = |query: &'static str| {
        let server = &server;
        async move {
            server
                .get(&format!("/workflow-definitions?{query}"))
                .await
                .ok(200)
        }
    };
    let ids = |list: &Value| -> Vec<String> {
        let items = list["items"].as_array().unwrap().iter();
        items
            .map(|i| i["definitionId"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = list("versionOptions=Latest&Page=0&PageSize=2&OrderDirection=Descending").await;
    assert_eq!(
        (ids(&all), &all["totalCount"]),
        (vec!["c".into(), "b".into()], &3.into())
    );
    let hrefs = all["links"].to_string();
    assert!(
        hrefs.contains("/bulk-actions/publish/workflow-definitions/by-definition-ids"),
        "{hrefs}"
    );
    assert_eq!(
        ids(&list("versionOptions=Latest&searchTerm=A").await),
        ["a"]
    );
    assert_eq!(
        ids(&list("DefinitionIds=b&DefinitionIds=c&versionOptions=Published").await),
        ["b", "c"]
    );
    let version_id = all["items"][0]["id"].as_str().unwrap();
    let by_id = server
        .get(&format!(
            "/workflow-definitions?versionOptions=&Ids={version_id}"
        ))
        .await
        .ok(200);
    assert_eq!(ids(&by_id), ["c"]);
    assert_eq!(
        server
            .get("/workflow-definitions/query/count")
            .await
            .ok(200)["count"],
        3
    );
    let unique = "/workflow-definitions/validation/is-name-unique?name=a";
    assert_eq!(server.get(unique).await.ok(200)["isUnique"], false);
    let own = server
        .get(&format!("{unique}&definitionId=a"))
        .await
        .ok(200);
    assert_eq!(own["isUnique"], true);
}

#[tokio::test]
async fn what_is_retracted_starts_nothing_and_what_is_deleted_is_gone() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let start = json!({ "definitionId": "w" });
    server.post("/workflow-starts", &start).await.ok(201);
    let retracted = server
        .post("/workflow-definitions/w/retract", &json!({}))
        .await
        .ok(200);
    assert_eq!(retracted["isPublished"], false);
    server
        .post("/workflow-definitions/w/retract", &json!({}))
        .await
        .problem(400, "definitionNotPublished");
    server
        .post("/workflow-starts", &start)
        .await
        .problem(404, "noSuchDefinition");
    assert_eq!(
        server
            .ask("DELETE", "/elsa/api/workflow-definitions/w")
            .await
            .status,
        204
    );
    let left = json!({ "definitionIds": ["w"] });
    let left = server.post("/workflow-instances", &left).await.ok(200);
    assert_eq!(left["totalCount"], 0, "its instances are deleted with it");
    server
        .ask("DELETE", "/elsa/api/workflow-definitions/w")
        .await
        .problem(404, "noSuchDefinition");
    server
        .get("/workflow-definitions/w")
        .await
        .problem(404, "noSuchDefinition");
    server
        .get("/workflow-definitions/w/versions")
        .await
        .problem(404, "noSuchDefinition");
    server
        .post("/workflow-definitions/w/publish", &json!({}))
        .await
        .problem(404, "noSuchDefinition");
}

#[tokio::test]
async fn an_import_is_always_a_draft() {
    let server = Server::new();
    let mut model = waiting("w");
    model["isPublished"] = true.into();
    let imported = server
        .post("/workflow-definitions/import", &model)
        .await
        .ok(200);
    assert_eq!(imported["isPublished"], false);
    model.as_object_mut().unwrap().remove("definitionId");
    let new = server
        .post("/workflow-definitions/import", &model)
        .await
        .ok(201);
    assert!(!new["definitionId"].as_str().unwrap().is_empty());
    let named = server
        .post("/workflow-definitions/other/import", &waiting("w"))
        .await
        .ok(200);
    assert_eq!(named["definitionId"], "other");
}
