//! Instances that come back: what was exported continues, and what is not whole changes nothing.

use axum::body::Body;
use dormouse_engine::http::{File, archive};
use dormouse_http::HttpConfig;
use serde_json::{Value, json};

use crate::server::{Server, literal, sequence, waiting};

/// Elsa's address for many files.
const IMPORT_BULK: &str = "/bulk-actions/import/workflow-instances";

const IMPORT: &str = "/workflow-instances/import";

async fn start(server: &Server, definition: &str) -> (String, String) {
    let body = json!({ "definitionId": definition, "correlationId": "7", "name": "Ada" });
    let started = server.post("/workflow-starts", &body).await.ok(201);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&started["id"]), text(&started["bookmarks"][0]["id"]))
}

async fn export(server: &Server, id: &str) -> Value {
    let all = json!({ "includeBookmarks": true, "includeActivityExecutionLog": true, "includeWorkflowExecutionLog": true });
    let path = format!("/workflow-instances/{id}/export");
    server.post(&path, &all).await.ok(200)
}

async fn delete(server: &Server, id: &str) {
    let path = format!("/elsa/api/workflow-instances/{id}");
    assert_eq!(server.ask("DELETE", &path).await.status, 204);
}

/// Imports when what was deleted is cleaned up.
async fn import(server: &Server, file: &Value) -> Value {
    for _ in 0..200 {
        let answered = server.post(IMPORT, file).await;
        if answered.status != 409 {
            return answered.ok(200);
        }
        answered.problem(409, "idBusy");
        tokio::task::yield_now().await;
    }
    panic!("it is never cleaned up");
}

fn backwards(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let pairs = map.iter().rev();
            Value::Object(pairs.map(|(k, v)| (k.clone(), backwards(v))).collect())
        }
        Value::Array(items) => items.iter().map(backwards).collect(),
        other => other.clone(),
    }
}

/// What people read of an instance.
async fn seen(server: &Server, id: &str) -> [Value; 3] {
    let instance = server
        .get(&format!("/workflow-instances/{id}"))
        .await
        .ok(200);
    let journal = server
        .get(&format!("/workflow-instances/{id}/journal"))
        .await
        .ok(200);
    let executions = format!("/activity-executions/list?workflowInstanceId={id}");
    [instance, journal, server.get(&executions).await.ok(200)]
}

#[tokio::test]
async fn an_instance_that_was_deleted_comes_back_and_finishes() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let (id, bookmark) = start(&server, "w").await;
    let (file, before) = (export(&server, &id).await, seen(&server, &id).await);
    server
        .post(IMPORT, &file)
        .await
        .problem(409, "instanceExists");
    delete(&server, &id).await;
    // Other tools write names in another order.
    let imported = import(&server, &backwards(&file)).await;
    assert_eq!(
        imported,
        json!({ "imported": 1, "workflowInstanceIds": [id] })
    );
    assert_eq!(seen(&server, &id).await, before);
    let path = format!("/workflow-instances/{id}/resume");
    let resume = json!({ "bookmarkId": bookmark });
    let resumed = server.post(&path, &resume).await.ok(200);
    assert_eq!(resumed["subStatus"], "Finished");
    server
        .post(IMPORT, &file)
        .await
        .problem(409, "instanceExists");
    server
        .post(&path, &resume)
        .await
        .problem(409, "instanceEnded");
}

#[tokio::test]
async fn an_event_finds_what_came_back_on_another_system_and_what_has_ended_is_for_reading() {
    let (here, there) = (Server::new(), Server::new());
    for server in [&here, &there] {
        server.publish(waiting("w")).await;
    }
    let (waits, _) = start(&here, "w").await;
    let (ended, bookmark) = start(&here, "w").await;
    let resume = json!({ "bookmarkId": bookmark });
    here.post(&format!("/workflow-instances/{ended}/resume"), &resume)
        .await
        .ok(200);
    for id in [&waits, &ended] {
        let mut before = seen(&here, id).await;
        import(&there, &export(&here, id).await).await;
        let mut after = seen(&there, id).await;
        // The same version has an id of its own on each system.
        for [instance, ..] in [&mut before, &mut after] {
            assert!(instance["definitionVersionId"].is_string());
            instance["definitionVersionId"] = Value::Null;
            instance["workflowState"]["definitionVersionId"] = Value::Null;
        }
        assert_eq!(after, before);
    }
    let event = json!({ "correlationId": "7", "workflowExecutionMode": "Synchronous" });
    there.post("/events/Go/trigger", &event).await.ok(200);
    let state = there
        .get(&format!("/workflow-instances/{waits}/execution-state"))
        .await
        .ok(200);
    assert_eq!(state["subStatus"], "Finished");
}

#[tokio::test]
async fn what_is_not_as_it_was_exported_is_refused_with_its_place() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let (id, _) = start(&server, "w").await;
    let file = export(&server, &id).await;
    delete(&server, &id).await;
    let refused = async |change: &dyn Fn(&mut Value), told: &str| {
        let mut file = file.clone();
        change(&mut file);
        let problem = server.post(IMPORT, &file).await.problem(400, "notAnExport");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(told), "{detail}");
    };
    refused(
        &|f| f["WorkflowState"]["Name"] = json!("Eve"),
        "`WorkflowState` is not as",
    )
    .await;
    refused(&|f| f["Bookmarks"] = json!([]), "`Bookmarks` is not as").await;
    refused(&|f| f["More"] = json!(1), "`More` is not as").await;
    refused(
        &|f| f["Dormouse"]["Commit"] = json!(9),
        "`Dormouse` is not as",
    )
    .await;
    refused(
        &|f| f["Dormouse"]["State"] = json!("AAAA"),
        "`Dormouse` is not as",
    )
    .await;
    refused(
        &|f| f["Dormouse"]["Format"] = json!(2),
        "`Dormouse.Format` is not 1",
    )
    .await;
    refused(&|f| f["Dormouse"] = json!({ "Format": 1 }), "missing field").await;
    refused(
        &|f| {
            f.as_object_mut().unwrap().remove("Bookmarks");
        },
        "`Bookmarks` is not as",
    )
    .await;
    // As Elsa writes it.
    refused(
        &|f| {
            f.as_object_mut().unwrap().remove("Dormouse");
        },
        "no part `Dormouse`",
    )
    .await;
    for body in ["", "[]", "{", "null", "\"x\""] {
        server
            .post_bytes(IMPORT, Body::from(body))
            .await
            .problem(400, "notAnExport");
    }
    server
        .get(&format!("/workflow-instances/{id}"))
        .await
        .problem(404, "noSuchInstance");
    import(&server, &file).await;
}

/// Somebody who knows how the digests are made.
#[tokio::test]
async fn a_state_that_is_forged_with_its_digests_is_looked_at_all_the_same() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use dormouse_runtime::json_digest;

    let server = Server::new();
    server.publish(waiting("w")).await;
    let (id, _) = start(&server, "w").await;
    let (other, _) = start(&server, "w").await;
    let (file, foreign) = (export(&server, &id).await, export(&server, &other).await);
    delete(&server, &id).await;
    let forged = async |change: &dyn Fn(&mut Value), told: &str| {
        let mut file = file.clone();
        change(&mut file);
        let mut bare = file["Dormouse"].clone();
        bare["Digests"] = json!({});
        file["Dormouse"]["Digests"]["Dormouse"] = json_digest(&bare).into();
        let problem = server.post(IMPORT, &file).await.problem(400, "notAnExport");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(told), "{detail}");
    };
    let state = STANDARD
        .decode(file["Dormouse"]["State"].as_str().unwrap())
        .unwrap();
    forged(&|f| f["Dormouse"]["State"] = json!("!"), "`Dormouse.State`").await;
    forged(&|f| f["Dormouse"]["State"] = json!(""), "`Dormouse.State`").await;
    forged(
        &|f| f["Dormouse"]["State"] = foreign["Dormouse"]["State"].clone(),
        "not of the instance",
    )
    .await;
    forged(
        &|f| f["Dormouse"]["Journal"] = json!([]),
        "`Dormouse.Journal`",
    )
    .await;
    forged(
        &|f| f["Dormouse"]["Journal"][0] = json!("AAAA"),
        "`Dormouse.Journal`",
    )
    .await;
    forged(
        &|f| f["Dormouse"]["Pinned"] = json!("AAAA"),
        "`Dormouse.Pinned`",
    )
    .await;
    // Cut off anywhere it cannot be read.
    for length in (1..state.len()).step_by(7) {
        let text = STANDARD.encode(&state[..length]);
        forged(
            &|f| f["Dormouse"]["State"] = json!(text),
            "`Dormouse.State`",
        )
        .await;
    }
    server
        .get(&format!("/workflow-instances/{id}"))
        .await
        .problem(404, "noSuchInstance");
}

#[tokio::test]
async fn an_instance_comes_back_only_to_the_version_it_ran() {
    let (here, bare, other) = (Server::new(), Server::new(), Server::new());
    here.publish(waiting("w")).await;
    let line = json!([{ "type": "Elsa.WriteLine", "id": "hello", "text": literal("String", &"x".into()) }]);
    other.publish(sequence("w", line)).await;
    let (id, _) = start(&here, "w").await;
    let file = export(&here, &id).await;
    let problem = bare
        .post(IMPORT, &file)
        .await
        .problem(409, "versionNotHere");
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("version 1 of the definition `w`")
    );
    other
        .post(IMPORT, &file)
        .await
        .problem(409, "versionDiffers");
    for server in [&bare, &other] {
        let list = server
            .post("/workflow-instances", &json!({ "page": 0 }))
            .await
            .ok(200);
        assert_eq!(list["totalCount"], 0);
    }
}

#[tokio::test]
async fn archives_come_back_whole_or_not_at_all() {
    let (here, there) = (Server::new(), Server::new());
    for server in [&here, &there] {
        server.publish(waiting("w")).await;
    }
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(start(&here, "w").await.0);
    }
    let zip = here
        .post(
            "/bulk-actions/export/workflow-instances",
            &json!({ "ids": ids[..2] }),
        )
        .await;
    assert_eq!(zip.status, 200);
    let third = export(&here, &ids[2]).await.to_string().into_bytes();
    let count = async || {
        there
            .post("/workflow-instances", &json!({ "page": 0 }))
            .await
            .ok(200)["totalCount"]
            .clone()
    };
    let files = |more: Vec<u8>| {
        [
            ("all.zip", zip.body.clone()),
            ("third.json", third.clone()),
            ("more.json", more),
        ]
    };
    there
        .upload(IMPORT_BULK, &files(b"{}".to_vec()))
        .await
        .problem(400, "notAnExport");
    // The same one twice.
    there
        .upload(IMPORT_BULK, &files(third.clone()))
        .await
        .problem(400, "notAnExport");
    let broken = [("all.zip", zip.body[..zip.body.len() / 2].to_vec())];
    there
        .upload(IMPORT_BULK, &broken)
        .await
        .problem(400, "notAnArchive");
    let many: Vec<File> = (0..101)
        .map(|n| File {
            name: format!("{n}.json"),
            bytes: b"{}".to_vec(),
            ..File::default()
        })
        .collect();
    there
        .upload(IMPORT_BULK, &[("many.zip", archive(&many).unwrap())])
        .await
        .problem(400, "badParameter");
    assert_eq!(count().await, 0);
    let whole = there
        .upload(IMPORT_BULK, &files(third.clone())[..2])
        .await
        .ok(200);
    assert_eq!(whole["imported"], 3);
    assert_eq!(count().await, 3);
    // An archive may be the body itself. Now they are in use.
    there
        .post_bytes(IMPORT, Body::from(zip.body.clone()))
        .await
        .problem(409, "instanceExists");
}

#[tokio::test]
async fn an_export_is_no_larger_than_what_an_import_takes() {
    let config = HttpConfig {
        body_bytes_max: 8_000,
        ..HttpConfig::default()
    };
    let server = Server::with(config);
    server.publish(waiting("w")).await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(start(&server, "w").await.0);
    }
    let path = format!("/workflow-instances/{}/export", ids[0]);
    let bare = server.get(&path).await;
    assert!(bare.ok(200)["Dormouse"].is_object() && bare.body.len() < 8_000);
    let all = json!({ "ids": ids });
    let told = server
        .post("/bulk-actions/export/workflow-instances", &all)
        .await
        .problem(413, "exportTooLarge");
    assert!(told["detail"].as_str().unwrap().contains("8000 bytes"));
    let large = json!({ "definitionId": "w", "name": "x".repeat(7_000) });
    let large = server.post("/workflow-starts", &large).await.ok(201);
    let path = format!(
        "/workflow-instances/{}/export",
        large["id"].as_str().unwrap()
    );
    server.get(&path).await.problem(413, "exportTooLarge");
}
