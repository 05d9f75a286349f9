//! Events of the bus: to workflows through the resume queue, and from them.

use anyhow::Result;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use serde_json::{Value, json};

use super::stage::{Stage, event, literal, sequence, write};

async fn put(stage: &Stage, source: &str, detail_type: &str, detail: &Value) -> Result<()> {
    let entry = PutEventsRequestEntry::builder()
        .event_bus_name(&stage.deployment.name)
        .source(source)
        .detail_type(detail_type)
        .detail(detail.to_string())
        .build();
    let put = stage.deployment.events.put_events().entries(entry);
    let answer = put.send().await?;
    assert_eq!(answer.failed_entry_count(), 0);
    Ok(())
}

#[tokio::test]
async fn an_event_of_the_bus_wakes_whoever_waits_for_its_name() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    stage.deployment.route_events().await?;
    stage.publish(&sequence("flow", &[event("OrderPaid"), write("bye")]));
    let id = stage.start("flow");
    let other = stage.start("flow");
    let detail = json!({ "workflowInstanceId": id, "payload": { "amount": 7 } });
    put(&stage, "shop", "OrderPaid", &detail).await?;
    stage.resume_until(&id, "Finished").await?;
    assert_eq!(stage.sub_status(&other), "Suspended");
    put(&stage, "shop", "OrderPaid", &json!({ "amount": 8 })).await?;
    stage.resume_until(&other, "Finished").await
}

#[tokio::test]
async fn an_event_counts_once_and_our_own_wake_nobody() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let mut again = event("Go");
    again["id"] = json!("again");
    stage.publish(&sequence("flow", &[event("Go"), again, write("bye")]));
    let id = stage.start("flow");
    let resume = stage.function("resume");
    let bus = |id: &str, source: &str| {
        json!({
            "version": "0", "id": id, "detail-type": "Go", "source": source,
            "account": "000000000000", "time": "2026-01-01T00:00:00Z", "region": "us-east-1",
            "resources": [], "detail": { "tenantId": "default" },
        })
    };
    assert_eq!(resume.invoke(&bus("e-0", "dormouse")).unwrap(), Value::Null);
    for _ in 0..2 {
        assert_eq!(resume.invoke(&bus("e-1", "shop")).unwrap(), Value::Null);
        assert_eq!(stage.sub_status(&id), "Suspended");
    }
    assert_eq!(resume.invoke(&bus("e-2", "shop")).unwrap(), Value::Null);
    assert_eq!(stage.sub_status(&id), "Finished");
    let mut wrong = bus("e-3", "shop");
    wrong["detail"]["tenantId"] = json!("no/such/tenant");
    assert_eq!(resume.invoke(&wrong).unwrap(), Value::Null);
    assert_eq!(stage.dead_letters().len(), 1);
    Ok(())
}

#[tokio::test]
async fn the_bus_hears_of_tasks_and_of_an_instances_life() -> Result<()> {
    let Some(stage) = Stage::set_with(&[("DORMOUSE_LIFECYCLE_EVENTS", "true")]).await? else {
        return Ok(());
    };
    let own = json!({ "source": ["dormouse"] });
    // The emulator has one queue more than is needed here.
    let heard = &stage.deployment.timer_url;
    stage.deployment.route("own", &own, heard).await?;
    let task =
        json!({ "type": "Elsa.RunTask", "id": "ask", "taskName": literal("String", "Approve") });
    stage.publish(&sequence("flow", &[task, write("bye")]));
    let id = stage.start("flow");
    let mut kinds = Vec::new();
    let mut task_id = None;
    while kinds.len() < 3 {
        let received = stage.deployment.receive(heard, 20).await?;
        assert!(!received.is_empty(), "only {kinds:?}");
        for message in received {
            let event: Value = serde_json::from_str(message.body().unwrap())?;
            assert_eq!(event["detail"]["workflowInstanceId"], json!(id));
            let kind = event["detail-type"].as_str().unwrap().to_owned();
            if kind == "TaskRequested" {
                task_id = event["detail"]["taskId"].as_str().map(str::to_owned);
            }
            kinds.push(kind);
        }
    }
    kinds.sort();
    assert_eq!(
        kinds,
        ["InstanceStarted", "InstanceSuspended", "TaskRequested"]
    );
    let path = format!("/elsa/api/tasks/{}/complete", task_id.unwrap());
    let done = stage.ask("POST", &path, Some(&json!({ "result": "yes" })));
    assert_eq!(done.status, 200, "{:#}", done.body);
    assert_eq!(stage.sub_status(&id), "Finished");
    Ok(())
}
