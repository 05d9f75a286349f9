//! Instances changed by an operator: all of a change or nothing, and each instance by itself.

use std::collections::BTreeSet;

use dormouse_http::HttpConfig;
use dormouse_runtime::{DefinitionHandle, StartRequest, Tenant};
use serde_json::{Value, json};

use crate::access::{self, ask};
use crate::server::{Server, literal, sequence, waiting};

/// Waits for the event `Go`, and writes what is in its variable then. Another variable is in memory only.
pub(crate) fn counting(id: &str) -> Value {
    let mut model = waiting(id);
    model["variables"] = json!([
        { "id": "n", "name": "N", "typeName": "Int32", "value": "1", "storageDriverTypeName": "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core" },
        { "id": "m", "name": "M", "typeName": "Int32", "storageDriverTypeName": "Elsa.Workflows.Services.MemoryStorageDriver, Elsa.Workflows.Core" },
    ]);
    let write = json!({
        "type": "Elsa.WriteLine", "id": "told",
        "text": { "typeName": "String", "expression": { "type": "JavaScript", "value": "`n is ${getN()}`" } },
    });
    model["root"]["activities"]
        .as_array_mut()
        .unwrap()
        .push(write);
    model
}

pub(crate) async fn start(server: &Server, id: &str) -> (String, String) {
    let body = json!({ "definitionId": id });
    let started = server.post("/workflow-starts", &body).await.ok(201);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&started["id"]), text(&started["bookmarks"][0]["id"]))
}

#[tokio::test]
async fn a_variable_that_is_set_from_outside_is_what_the_workflow_reads() {
    let server = Server::new();
    server.publish(counting("w")).await;
    let (id, bookmark) = start(&server, "w").await;
    let path = format!("/workflow-instances/{id}/variables");
    let set = json!({ "variables": [{ "id": "n", "value": "41" }] });
    let answer = server.post(&path, &set).await.ok(200);
    assert_eq!(
        answer["items"][0],
        // As in Elsa, the value is kept as it is given.
        json!({ "id": "n", "name": "N", "value": "41" })
    );
    assert_eq!(answer, server.get(&path).await.ok(200));
    let resume = json!({ "bookmarkId": bookmark });
    let resumed = server
        .post(&format!("/workflow-instances/{id}/resume"), &resume)
        .await;
    assert_eq!(resumed.ok(200)["lines"], json!(["n is 41"]));
    let journal = server
        .get(&format!("/workflow-instances/{id}/journal"))
        .await
        .ok(200);
    let altered = journal["items"].as_array().unwrap().iter();
    let altered: Vec<_> = altered
        .filter(|line| line["eventName"].as_str().unwrap().contains("Altera"))
        .collect();
    assert_eq!(altered, Vec::<&Value>::new());
}

#[tokio::test]
async fn what_is_no_variable_is_left_out_and_what_has_ended_is_not_changed() {
    let server = Server::new();
    server.publish(counting("w")).await;
    let (id, _) = start(&server, "w").await;
    let path = format!("/workflow-instances/{id}/variables");
    let set = json!({ "variables": [{ "id": "none", "value": 3 }] });
    let now = server.post(&path, &set).await.ok(200);
    assert_eq!(now["items"][0]["value"], 1);
    let set = json!({ "variables": [{ "id": "n", "value": 2 }] });
    server
        .post("/workflow-instances/none/variables", &set)
        .await
        .ok(200);
    server
        .post(&format!("/cancel/workflow-instances/{id}"), &json!({}))
        .await
        .ok(200);
    server.post(&path, &set).await.problem(409, "instanceEnded");
}

#[tokio::test]
async fn alterations_are_made_in_one_commit_for_each_instance() {
    let server = Server::new();
    server.publish(counting("w")).await;
    let (first, _) = start(&server, "w").await;
    let (second, _) = start(&server, "w").await;
    let run = |alterations: Value, ids: Value| {
        let server = &server;
        async move {
            let body = json!({ "alterations": alterations, "workflowInstanceIds": ids });
            server.post("/alterations/run", &body).await
        }
    };
    let modify = json!({ "type": "ModifyVariable", "variableId": "n", "value": 7 });
    let none = json!({ "type": "CancelActivity", "activityId": "none" });
    // The second change cannot be made, so the first one is not either.
    let answer = run(json!([modify, none]), json!([first])).await.ok(200);
    assert_eq!(answer["results"][0]["isSuccessful"], false);
    let variables = server
        .get(&format!("/workflow-instances/{first}/variables"))
        .await;
    assert_eq!(variables.ok(200)["items"][0]["value"], 1);
    // The activity that waits is cancelled, and the workflow goes on behind it.
    let go = json!({ "type": "CancelActivity", "activityId": "go" });
    let answer = run(json!([modify, go]), json!([first, "none", second]))
        .await
        .ok(200);
    let successes: Vec<_> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["isSuccessful"])
        .collect();
    assert_eq!(successes, [true, false, true]);
    assert!(
        answer["results"][1]["log"]["logEntries"][0]["message"]
            .as_str()
            .unwrap()
            .contains("no such instance")
    );
    let state = |id: String| {
        let server = &server;
        async move {
            server
                .get(&format!("/workflow-instances/{id}/execution-state"))
                .await
                .ok(200)["subStatus"]
                .clone()
        }
    };
    assert_ne!(state(first).await, "Faulted");
    let (third, _) = start(&server, "w").await;
    run(json!([{ "type": "Cancel" }]), json!([third]))
        .await
        .ok(200);
    assert_eq!(state(third).await, "Cancelled");
}

#[tokio::test]
async fn one_execution_of_an_activity_is_cancelled_by_its_id() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let (id, _) = start(&server, "w").await;
    let list = format!("/activity-executions/list?workflowInstanceId={id}");
    let list = server.get(&list).await.ok(200);
    let waits = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|e| e["activityId"] == "go")
        .unwrap();
    let whole = waits["id"].as_str().unwrap();
    let own = whole;
    let cancel = |execution: &str| {
        json!({
            "alterations": [{ "type": "CancelActivity", "activityInstanceId": execution }],
            "workflowInstanceIds": [id],
        })
    };
    let none = server
        .post("/alterations/run", &cancel("none"))
        .await
        .ok(200);
    assert_eq!(none["results"][0]["isSuccessful"], false);
    let done = server.post("/alterations/run", &cancel(own)).await.ok(200);
    assert_eq!(done["results"][0]["isSuccessful"], true);
    let list = server
        .get(&format!(
            "/activity-executions/list?workflowInstanceId={id}"
        ))
        .await
        .ok(200);
    let waits = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|e| e["activityId"] == "go")
        .unwrap();
    assert_eq!(waits["status"], "Canceled");
}

#[tokio::test]
async fn what_is_not_offered_is_said_and_changes_nothing() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let (id, _) = start(&server, "w").await;
    let alterations = |last: Value| json!([{ "type": "Cancel" }, last]);
    for (last, code) in [
        (json!({ "type": "Nonsense" }), "alterationNotOffered"),
        (json!({ "type": "Migrate" }), "badParameter"),
        (
            json!({ "type": "Migrate", "targetVersion": "x" }),
            "wrongShape",
        ),
        (json!(7), "wrongShape"),
    ] {
        for (route, ids) in [("run", "workflowInstanceIds"), ("submit", "filter")] {
            let ids_of = if ids == "filter" {
                json!({ "workflowInstanceIds": [id] })
            } else {
                json!([id])
            };
            let body = json!({ "alterations": alterations(last.clone()), ids: ids_of });
            let problem = server.post(&format!("/alterations/{route}"), &body).await;
            problem.problem(400, code);
        }
    }
    // Elsa answers this one for each instance, and changes none.
    let aimless = alterations(json!({ "type": "ScheduleActivity" }));
    let body = json!({ "alterations": aimless, "workflowInstanceIds": [id] });
    let told = server.post("/alterations/run", &body).await.ok(200);
    assert_eq!(told["results"][0]["isSuccessful"], false);
    let two = json!([{ "type": "Migrate", "targetVersion": 2 }, { "type": "Migrate", "targetVersion": 3 }]);
    for (route, body) in [
        ("run", json!({ "workflowInstanceIds": [id] })),
        (
            "run",
            json!({ "alterations": two, "workflowInstanceIds": [id] }),
        ),
        (
            "submit",
            json!({ "filter": { "emptyFilterSelectsAll": true } }),
        ),
        (
            "submit",
            json!({ "alterations": [{ "type": "Cancel" }], "filter": { "activityFilters": [{}] } }),
        ),
    ] {
        let problem = server.post(&format!("/alterations/{route}"), &body).await;
        problem.problem(400, "badParameter");
    }
    let all = json!({ "alterations": [{ "type": "Cancel" }], "filter": 7 });
    server
        .post("/alterations/submit", &all)
        .await
        .problem(400, "wrongShape");
    server
        .get("/alterations/none")
        .await
        .problem(404, "noSuchPlan");
    let state = server
        .get(&format!("/workflow-instances/{id}/execution-state"))
        .await;
    assert_eq!(state.ok(200)["subStatus"], "Suspended");
}

#[tokio::test]
async fn a_dry_run_names_the_instances_that_a_filter_takes() {
    let server = Server::new();
    server.publish(waiting("a")).await;
    server.publish(waiting("b")).await;
    let (a, _) = start(&server, "a").await;
    let (b, _) = start(&server, "b").await;
    let dry = |filter: Value| {
        let server = &server;
        async move {
            let found = server.post("/alterations/dry-run", &filter).await.ok(200);
            let mut ids: Vec<String> =
                serde_json::from_value(found["workflowInstanceIds"].clone()).unwrap();
            ids.sort();
            ids
        }
    };
    let mut both = vec![a.clone(), b.clone()];
    both.sort();
    assert!(dry(json!({})).await.is_empty());
    assert_eq!(dry(json!({ "emptyFilterSelectsAll": true })).await, both);
    assert_eq!(
        dry(json!({ "definitionIds": ["a"] })).await,
        std::slice::from_ref(&a)
    );
    assert_eq!(
        dry(json!({ "workflowInstanceIds": [a, "none", b], "definitionIds": ["b"] })).await,
        [b]
    );
    assert!(dry(json!({ "statuses": ["Finished"] })).await.is_empty());
    for (activity, found) in [("go", vec![a.clone()]), ("none", Vec::new())] {
        let filters = json!([{ "activityId": activity, "status": "running" }]);
        let filter = json!({ "definitionIds": ["a"], "activityFilters": filters });
        assert_eq!(dry(filter).await, found, "{activity}");
    }
    server
        .post(
            "/alterations/dry-run",
            &json!({ "correlationIds": ["a", "b"] }),
        )
        .await
        .problem(400, "badParameter");
}

#[tokio::test]
async fn a_dry_run_names_all_up_to_its_bound_and_says_when_there_are_more() {
    let server = Server::with(HttpConfig {
        page_items_max: 1_000,
        ..HttpConfig::default()
    });
    let line = json!([{ "type": "Elsa.WriteLine", "id": "hello", "text": literal("String", &"x".into()) }]);
    server.publish(sequence("many", line)).await;
    let start = async |count: usize| {
        for _ in 0..count {
            let request = StartRequest::new(DefinitionHandle::published("many"));
            let runtime = server.app.runtime();
            runtime
                .instances()
                .start(&Tenant::default(), request)
                .await
                .unwrap();
        }
    };
    let dry = async || {
        let filter = json!({ "definitionIds": ["many"] });
        let found = server.post("/alterations/dry-run", &filter).await.ok(200);
        let ids: BTreeSet<String> =
            serde_json::from_value(found["workflowInstanceIds"].clone()).unwrap();
        (ids.len(), found["hasMore"].clone())
    };
    start(10_000).await;
    assert_eq!(dry().await, (10_000, json!(false)));
    start(1).await;
    assert_eq!(dry().await, (10_000, json!(true)));
}

#[tokio::test]
async fn the_last_line_about_an_activity_is_found() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let (id, _) = start(&server, "w").await;
    let path = |activity: &str| format!("/workflow-instances/{id}/journal/{activity}");
    let last = server.get(&path("hello")).await.ok(200);
    assert_eq!(
        (&last["activityId"], &last["eventName"]),
        (&"hello".into(), &"Completed".into())
    );
    // As in Elsa, that it waits is no line of its own here.
    assert_eq!(
        server.get(&path("go")).await.ok(200)["eventName"],
        "Started"
    );
    server
        .get(&path("none"))
        .await
        .problem(404, "noSuchActivityExecution");
    server
        .get("/workflow-instances/none/journal/go")
        .await
        .problem(404, "noSuchInstance");
}

#[tokio::test]
async fn whoever_may_set_variables_and_not_read_instances_sees_what_they_set() {
    let server = access::server();
    let all = access::key(&server, "default", &["*"]).await;
    let writer = access::key(&server, "default", &["write:workflow-instances"]).await;
    let mut model = counting("w");
    model["variables"][1] = json!({ "id": "s", "name": "Salary", "typeName": "Int32", "value": "90000", "storageDriverTypeName": model["variables"][0]["storageDriverTypeName"] });
    let save = json!({ "model": model, "publish": true });
    let definitions = "/workflow-definitions";
    ask(&server, Some(&all), "POST", definitions, &save)
        .await
        .ok(200);
    let start = json!({ "definitionId": "w", "id": "i" });
    ask(&server, Some(&all), "POST", "/workflow-starts", &start)
        .await
        .ok(201);
    let path = "/workflow-instances/i/variables";
    for (variables, expected) in [
        (json!([]), json!([])),
        (
            json!([{ "id": "n", "value": 41 }]),
            json!([{ "id": "n", "name": "N", "value": 41 }]),
        ),
    ] {
        let set = json!({ "variables": variables });
        let answer = ask(&server, Some(&writer), "POST", path, &set).await;
        assert_eq!(answer.ok(200)["items"], expected);
    }
    let read = ask(&server, Some(&all), "GET", path, &Value::Null).await;
    assert_eq!(read.ok(200)["count"], 2);
}
