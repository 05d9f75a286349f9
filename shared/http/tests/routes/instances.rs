//! Instances: started, watched, resumed, cancelled, deleted.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::server::{Answered, Server, literal, sequence, waiting};

async fn start(server: &Server, id: &str) -> Value {
    server
        .post("/workflow-starts", &json!({ "definitionId": id }))
        .await
        .ok(201)
}

async fn with_key(server: &Server, path: &str, key: &str, body: &Value) -> Answered {
    let request = Request::post(format!("/elsa/api{path}")).header("Idempotency-Key", key);
    server
        .send(request.body(Body::from(body.to_string())).unwrap())
        .await
}

#[tokio::test]
async fn one_address_lists_and_starts() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let started = start(&server, "w").await;
    assert_eq!(
        (&started["status"], &started["subStatus"]),
        (&"Running".into(), &"Suspended".into())
    );
    assert_eq!(started["lines"], json!(["hello"]));
    let list = server
        .post(
            "/workflow-instances",
            &json!({ "definitionId": "w", "page": 0 }),
        )
        .await
        .ok(200);
    assert_eq!(list["items"][0]["id"], started["workflowInstanceId"]);
    let none = json!({ "definitionId": "other", "page": 0, "pageSize": 5 });
    assert_eq!(
        server.post("/workflow-instances", &none).await.ok(200)["totalCount"],
        0
    );
    let by_query = server
        .get("/workflow-instances?subStatuses=Suspended&status=Running")
        .await
        .ok(200);
    assert_eq!(by_query["totalCount"], 1);
    assert_eq!(by_query["isTotalExact"], true);
    for (filter, expected) in [
        ("status=Finished", 0),
        ("status=Finished&subStatus=Suspended", 0),
        ("status=Running&subStatus=Pending", 0),
        ("status=nonsense", 0),
        ("orderBy=UpdatedAt&orderDirection=Ascending", 1),
        ("searchTerm=W", 1),
    ] {
        let found = server
            .get(&format!("/workflow-instances?{filter}"))
            .await
            .ok(200);
        assert_eq!(found["totalCount"], expected, "{filter}");
        assert_eq!(found["items"].as_array().map(Vec::len), Some(expected));
    }
    let too_deep = server
        .get("/workflow-instances?orderBy=UpdatedAt&page=1000&pageSize=100")
        .await;
    assert_eq!(too_deep.status, 400, "{too_deep:?}");
}

#[tokio::test]
async fn a_start_under_a_key_happens_once_whatever_the_address() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let body = json!({ "definitionId": "w" });
    let first = with_key(&server, "/workflow-starts", "k", &body)
        .await
        .ok(201);
    let second = with_key(&server, "/workflow-starts", "k", &body)
        .await
        .ok(200);
    assert_eq!(first["workflowInstanceId"], second["workflowInstanceId"]);
    let execute = "/workflow-definitions/w/execute";
    let one = with_key(&server, execute, "e", &json!({})).await;
    let two = with_key(&server, execute, "e", &json!({})).await;
    let id = |answer: &Answered| answer.header("x-elsa-workflow-instance-id").to_owned();
    assert_eq!(id(&one), id(&two));
    assert_eq!(
        one.json()["workflowState"]["id"],
        two.json()["workflowState"]["id"]
    );
}

#[tokio::test]
async fn an_instance_is_resumed_once_and_its_story_is_told() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let started = start(&server, "w").await;
    let id = started["workflowInstanceId"].as_str().unwrap();
    let bookmark = started["bookmarks"][0]["id"].as_str().unwrap();
    let state = server
        .get(&format!("/workflow-instances/{id}/execution-state"))
        .await
        .ok(200);
    assert_eq!(state["subStatus"], "Suspended");
    let resume = json!({ "workflowInstanceId": id, "bookmarkId": bookmark });
    let unknown = json!({ "workflowInstanceId": id, "bookmarkId": "other" });
    server
        .post("/bookmarks/resume", &unknown)
        .await
        .problem(409, "bookmarkGone");
    let resumed = server.post("/bookmarks/resume", &resume).await.ok(200);
    assert_eq!(resumed["subStatus"], "Finished");
    server
        .post("/bookmarks/resume", &resume)
        .await
        .problem(409, "instanceEnded");

    let journal = server
        .get(&format!("/workflow-instances/{id}/journal"))
        .await
        .ok(200);
    let items = journal["items"].as_array().unwrap();
    assert_eq!(journal["totalCount"], items.len());
    let sequences: Vec<u64> = items
        .iter()
        .map(|l| l["sequence"].as_u64().unwrap())
        .collect();
    assert!(sequences.is_sorted_by(|a, b| b - a == 1), "{sequences:?}");
    let filter = json!({ "filter": { "activityIds": ["hello"], "eventNames": ["Completed"] } });
    let some = server
        .post(&format!("/workflow-instances/{id}/journal"), &filter)
        .await
        .ok(200);
    assert_eq!(some["totalCount"], 1);
    let page = server
        .get(&format!("/workflow-instances/{id}/journal?skip=1&take=2"))
        .await
        .ok(200);
    assert_eq!(page["items"], json!(items[1..3]));
    let path = format!("/activity-executions/list?workflowInstanceId={id}&completed=true");
    let executions = server.get(&path).await.ok(200);
    let hello = executions["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|e| e["activityId"] == "hello");
    assert_eq!(hello.unwrap()["status"], "Completed");
}

#[tokio::test]
async fn an_event_wakes_who_waits_and_is_kept_where_nobody_does() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let started = start(&server, "w").await;
    let event = json!({ "workflowExecutionMode": "Synchronous", "input": 1 });
    let done = server.post("/events/Go/trigger", &event).await.ok(200);
    assert_eq!(
        done["delivered"]["resumed"],
        json!([started["workflowInstanceId"]])
    );
    let kept = server.post("/events/Go/trigger", &event).await.ok(200);
    assert_eq!(kept["delivered"]["isKept"], true);
    // The kept one is for the next instance that waits, and for one only.
    let next = start(&server, "w").await;
    let id = next["workflowInstanceId"].as_str().unwrap().to_owned();
    for _ in 0..500 {
        let state = server
            .get(&format!("/workflow-instances/{id}/execution-state"))
            .await
            .ok(200);
        if state["subStatus"] == "Finished" {
            assert_eq!(start(&server, "w").await["subStatus"], "Suspended");
            return;
        }
        tokio::task::yield_now().await;
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    panic!("the kept event was not delivered");
}

#[tokio::test]
async fn a_cancelled_instance_stays_cancelled_and_a_deleted_one_gone() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let started = start(&server, "w").await;
    let id = started["workflowInstanceId"].as_str().unwrap();
    let bookmark = &started["bookmarks"][0]["id"];
    let cancel = format!("/cancel/workflow-instances/{id}");
    assert_eq!(server.post(&cancel, &json!({})).await.ok(200), Value::Null);
    assert_eq!(server.post(&cancel, &json!({})).await.ok(200), Value::Null);
    let resume = json!({ "workflowInstanceId": id, "bookmarkId": bookmark });
    server
        .post("/bookmarks/resume", &resume)
        .await
        .problem(409, "instanceEnded");
    let path = format!("/elsa/api/workflow-instances/{id}");
    assert_eq!(server.ask("DELETE", &path).await.status, 204);
    server
        .ask("DELETE", &path)
        .await
        .problem(404, "noSuchInstance");
    server
        .ask("GET", &path)
        .await
        .problem(404, "noSuchInstance");
    server
        .post("/bookmarks/resume", &resume)
        .await
        .problem(410, "instanceDeleted");
}

#[tokio::test]
async fn a_singleton_is_refused_a_second_start_in_elsas_way_and_in_ours() {
    let server = Server::new();
    let mut model = waiting("w");
    model["options"] = json!({ "activationStrategyType": "Elsa.Workflows.ActivationValidators.SingletonStrategy, Elsa.Workflows.Core" });
    server.publish(model).await;
    start(&server, "w").await;
    server
        .post("/workflow-starts", &json!({ "definitionId": "w" }))
        .await
        .problem(409, "startRefused");
    let execute = server
        .post("/workflow-definitions/w/execute", &json!({}))
        .await;
    assert_eq!(
        (
            execute.status.as_u16(),
            execute.header("x-elsa-workflow-cannot-start")
        ),
        (200, "True")
    );
}

#[tokio::test]
async fn execute_answers_with_the_state_and_500_where_the_workflow_failed() {
    let server = Server::new();
    let fault =
        json!([{ "type": "Elsa.Fault", "id": "f", "message": literal("String", &"no".into()) }]);
    server.publish(sequence("bad", fault)).await;
    let failed = server
        .post("/workflow-definitions/bad/execute", &json!({}))
        .await;
    let body = failed.ok(500);
    assert_eq!(body["workflowState"]["incidents"][0]["message"], "no");
    assert_eq!(failed.header("x-elsa-response"), "true");
    server
        .get("/workflow-definitions/nothing/execute")
        .await
        .problem(404, "noSuchDefinition");
}

#[tokio::test]
async fn dispatch_promises_a_start_and_says_under_which_id() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let done = server
        .post(
            "/workflow-definitions/w/dispatch",
            &json!({ "instanceId": "mine" }),
        )
        .await
        .ok(200);
    assert_eq!(done["workflowInstanceId"], "mine");
    server
        .post("/workflow-definitions/x/dispatch", &json!({}))
        .await
        .problem(404, "noSuchDefinition");
}

#[tokio::test]
async fn dead_letters_that_do_not_exist_are_told_so() {
    let server = Server::new();
    let list = server.get("/bookmark-queue/dead-letters").await.ok(200);
    assert_eq!(
        (&list["items"], &list["totalCount"]),
        (&json!([]), &0.into())
    );
    server
        .get("/bookmark-queue/dead-letters/x")
        .await
        .problem(404, "noSuchDeadLetter");
    server
        .post("/bookmark-queue/dead-letters/x/replay", &json!({}))
        .await
        .problem(404, "noSuchDeadLetter");
    server
        .post("/tasks/none/complete", &json!({}))
        .await
        .problem(404, "noSuchTask");
}
