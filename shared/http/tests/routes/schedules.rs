//! Schedules, timers and open tasks over the API.

use serde_json::{Value, json};

use crate::server::{Server, literal, sequence};

fn cron(id: &str) -> Value {
    json!({ "id": id, "type": "Elsa.Cron", "cronExpression": literal("String", &json!("0 0 3 1 * *")),
        "customProperties": { "canStartWorkflow": true, "overlapPolicy": "skip" } })
}

#[tokio::test]
async fn a_schedule_is_listed_and_its_next_occurrence_is_skipped_once() {
    let server = Server::new();
    server
        .publish(sequence("report", json!([cron("monthly")])))
        .await;
    let listed = server.get("/schedules").await.ok(200);
    let [schedule] = listed["items"].as_array().unwrap().as_slice() else {
        panic!("{listed:#}")
    };
    let next = schedule["nextOccurrences"].as_array().unwrap();
    assert_eq!(next.len(), 5);
    let mut shown = schedule.clone();
    shown["nextOccurrences"] = Value::Null;
    let expected = json!({
        "definitionId": "report", "activityId": "monthly", "kind": "cron", "expression": "0 0 3 1 * *",
        "zone": "UTC", "overlapPolicy": "skip", "nextOccurrences": null,
    });
    assert_eq!(shown, expected);
    let request =
        json!({ "definitionId": "report", "activityId": "monthly", "occurrence": next[0] });
    let skipped = server.post("/schedules/skip", &request).await.ok(200);
    assert_eq!(skipped, json!({ "skipped": next[0], "next": next[1] }));
    let listed = server.get("/schedules").await.ok(200);
    assert_eq!(listed["items"][0]["nextOccurrences"][0], next[1]);
    server
        .post("/schedules/skip", &request)
        .await
        .problem(409, "notTheNextOccurrence");
    for (member, value, status, code) in [
        ("activityId", "other", 404, "noSuchSchedule"),
        ("definitionId", "other", 404, "noSuchSchedule"),
        ("occurrence", "soon", 400, "badParameter"),
    ] {
        let mut wrong = request.clone();
        wrong[member] = json!(value);
        server
            .post("/schedules/skip", &wrong)
            .await
            .problem(status, code);
    }
    server
        .get("/schedules?cursor=other")
        .await
        .problem(400, "badCursor");
}

#[tokio::test]
async fn timers_and_tasks_of_instances_are_listed() {
    let server = Server::new();
    let waits = json!([{ "id": "f", "type": "Elsa.Parallel", "activities": [
        { "id": "later", "type": "Elsa.Delay", "timeSpan": literal("TimeSpan", &json!("1.00:00:00")) },
        { "id": "ask", "name": "Ask", "type": "Elsa.RunTask", "taskName": literal("String", &json!("Review")) },
    ] }]);
    server.publish(sequence("w", waits)).await;
    for correlation in ["one", "two", "three"] {
        let body = json!({ "definitionId": "w", "correlationId": correlation });
        server.post("/workflow-starts", &body).await.ok(201);
    }
    for (path, name) in [
        ("/schedules/timers?", ""),
        ("/tasks?task=Review&", "Review"),
    ] {
        let mut found = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = server
                .get(&format!("{path}pageSize=2{cursor}"))
                .await
                .ok(200);
            found.extend(page["items"].as_array().unwrap().clone());
            match page["cursor"].as_str() {
                Some(next) => {
                    cursor = format!("&cursor={}", next.replace('#', "%23").replace('+', "%2B"))
                }
                None => break,
            }
        }
        let mut correlations: Vec<_> = found
            .iter()
            .map(|one| one["correlationId"].as_str().unwrap())
            .collect();
        // All three may have begun in one millisecond.
        correlations.sort_unstable();
        assert_eq!(correlations, ["one", "three", "two"]);
        let is_named = |one: &Value| {
            name.is_empty() || (one["taskName"] == name && one["activityName"] == "Ask")
        };
        assert!(found.iter().all(is_named));
    }
    let none = server.get("/tasks?task=Nothing").await.ok(200);
    assert_eq!(none, json!({ "items": [], "cursor": null }));
    server
        .get("/tasks?cursor=x")
        .await
        .problem(400, "badCursor");
}
