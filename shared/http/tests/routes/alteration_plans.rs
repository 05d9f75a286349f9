//! Alteration plans, and other versions of a definition.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::alterations::{counting, start};
use crate::server::Server;

/// The plan with its jobs, when it is over.
async fn carried_out(server: &Server, id: &str) -> Value {
    for _ in 0..500 {
        let plan = server.get(&format!("/alterations/{id}")).await.ok(200);
        let status = plan["plan"]["status"].as_str().unwrap();
        if matches!(status, "Completed" | "Failed") {
            return plan;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the plan is never over");
}

#[tokio::test]
async fn a_plan_is_submitted_carried_out_and_shown() {
    let server = Server::new();
    server.publish(counting("w")).await;
    server.publish(counting("x")).await;
    let (first, _) = start(&server, "w").await;
    let (second, _) = start(&server, "w").await;
    let (other, _) = start(&server, "x").await;
    let alterations = json!([{ "type": "ModifyVariable", "variableId": "n", "value": 9 }]);
    let filter = json!({ "definitionIds": ["w"] });
    let plan = json!({ "id": "p", "alterations": alterations, "filter": filter });
    let submitted = server.post("/alterations/submit", &plan).await.ok(200);
    assert_eq!(submitted, json!({ "planId": "p" }));
    assert_eq!(
        server.post("/alterations/submit", &plan).await.ok(200),
        submitted
    );
    let done = carried_out(&server, "p").await;
    assert_eq!(done["plan"]["alterations"], alterations);
    let whole =
        json!({ "definitionIds": ["w"], "emptyFilterSelectsAll": false, "isSystem": false });
    assert_eq!(done["plan"]["workflowInstanceFilter"], whole);
    assert_eq!(
        (&done["plan"]["status"], &done["plan"]["jobCount"]),
        (&json!("Completed"), &json!(2))
    );
    for time in ["createdAt", "startedAt", "completedAt"] {
        assert!(done["plan"][time].is_string() && done["jobs"][0][time].is_string());
    }
    let ids: BTreeSet<_> = done["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["workflowInstanceId"].as_str().unwrap())
        .collect();
    assert_eq!(ids, BTreeSet::from([first.as_str(), second.as_str()]));
    assert_eq!(
        done["jobs"][0]["log"][0]["message"],
        "ModifyVariable succeeded"
    );
    let value = async |id: &str| {
        let variables = server
            .get(&format!("/workflow-instances/{id}/variables"))
            .await;
        variables.ok(200)["items"][0]["value"].clone()
    };
    assert_eq!(
        (value(&first).await, value(&other).await),
        (json!(9), json!(1))
    );
}

#[tokio::test]
async fn a_plan_is_one_under_its_id_and_tells_what_could_not_be_changed() {
    let server = Server::new();
    server.publish(counting("w")).await;
    let (first, bookmark) = start(&server, "w").await;
    let (second, _) = start(&server, "w").await;
    let alterations = json!([{ "type": "ModifyVariable", "variableId": "n", "value": 9 }]);
    let filter = json!({ "definitionIds": ["w"] });
    let plan = json!({ "id": "p", "alterations": alterations, "filter": filter });
    server.post("/alterations/submit", &plan).await.ok(200);
    let done = carried_out(&server, "p").await;
    let other_plan = json!({ "id": "p", "alterations": [{ "type": "Cancel" }], "filter": filter });
    server
        .post("/alterations/submit", &other_plan)
        .await
        .problem(409, "planDiffers");
    // No filter takes nobody, as in Elsa.
    let nobody = json!({ "alterations": [{ "type": "Cancel" }], "filter": null });
    let nobody = server.post("/alterations/submit", &nobody).await.ok(200);
    let nobody = carried_out(&server, nobody["planId"].as_str().unwrap()).await;
    assert_eq!(
        (&nobody["plan"]["status"], &nobody["jobs"]),
        (&json!("Completed"), &json!([]))
    );
    // Jobs come a page at a time.
    let page = server.get("/alterations/p?pageSize=1").await.ok(200);
    let cursor = page["cursor"].as_str().unwrap();
    let next = server
        .get(&format!("/alterations/p?pageSize=1&cursor={cursor}"))
        .await
        .ok(200);
    assert_eq!(
        [&page["jobs"][0], &next["jobs"][0]],
        [&done["jobs"][0], &done["jobs"][1]]
    );

    // What has ended is told, and the plan has failed by it.
    let resume = json!({ "bookmarkId": bookmark });
    server
        .post(&format!("/workflow-instances/{first}/resume"), &resume)
        .await
        .ok(200);
    let again = json!({ "id": "q", "alterations": alterations, "filter": { "workflowInstanceIds": [first, second] } });
    server.post("/alterations/submit", &again).await.ok(200);
    let done = carried_out(&server, "q").await;
    assert_eq!(done["plan"]["status"], "Failed");
    let failed = done["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|job| job["workflowInstanceId"] == first)
        .unwrap();
    assert_eq!(
        (&failed["status"], &failed["log"][0]["logLevel"]),
        (&json!("Failed"), &json!("Error"))
    );
}

#[tokio::test]
async fn instances_of_a_version_go_over_to_the_next_and_an_activity_runs_again() {
    let server = Server::new();
    let old = server.publish(counting("w")).await;
    let (id, bookmark) = start(&server, "w").await;
    let mut next = counting("w");
    let told = next["root"]["activities"].as_array_mut().unwrap();
    told.last_mut().unwrap()["text"]["expression"]["value"] = "`now ${getN()}`".into();
    server.publish(next).await;
    let run =
        |alterations: Value| json!({ "alterations": alterations, "workflowInstanceIds": [id] });
    let none = server
        .post(
            "/alterations/run",
            &run(json!([{ "type": "Migrate", "targetVersion": 9 }])),
        )
        .await
        .ok(200);
    let told = none["results"][0]["log"]["logEntries"][0]["message"]
        .as_str()
        .unwrap();
    assert!(told.contains("no version 9"), "{told}");
    let version_id = old["workflowDefinition"]["id"].as_str().unwrap();
    let migrate = json!({ "alterations": [{ "type": "Migrate", "targetVersion": 2 }], "filter": { "definitionVersionIds": [version_id] } });
    let plan = server.post("/alterations/submit", &migrate).await.ok(200);
    let plan = carried_out(&server, plan["planId"].as_str().unwrap()).await;
    assert_eq!(
        (&plan["plan"]["status"], &plan["plan"]["jobCount"]),
        (&json!("Completed"), &json!(1))
    );
    let instance = server
        .get(&format!("/workflow-instances/{id}"))
        .await
        .ok(200);
    assert_eq!(instance["version"], 2);
    // What waits begins anew, so the bookmark before is gone.
    let again = run(json!([{ "type": "ScheduleActivity", "activityId": "go" }]));
    let again = server.post("/alterations/run", &again).await.ok(200);
    assert_eq!(again["results"][0]["isSuccessful"], true);
    let path = format!("/workflow-instances/{id}/resume");
    server
        .post(&path, &json!({ "bookmarkId": bookmark }))
        .await
        .problem(409, "bookmarkGone");
    let instance = server
        .get(&format!("/workflow-instances/{id}"))
        .await
        .ok(200);
    let bookmark = &instance["workflowState"]["bookmarks"][0]["id"];
    let resumed = server
        .post(&path, &json!({ "bookmarkId": bookmark }))
        .await
        .ok(200);
    assert_eq!(resumed["lines"], json!(["now 1"]));
}
