//! The function `timer`: timers that come early, in time, twice and late, and the sweep.

use anyhow::Result;
use dormouse_runtime::message::Task;
use dormouse_runtime::{Message, Tenant};
use serde_json::{Value, json};

use super::stage::{Stage, delay, event, sequence, write};

/// Hands timers on until an instance has ended.
async fn until_finished(stage: &Stage, id: &str) -> Result<()> {
    let (url, timer) = (&stage.deployment.timer_url, stage.function("timer"));
    for _ in 0..30 {
        if stage.sub_status(id) == "Finished" {
            return Ok(());
        }
        stage.deployment.hand_on(url, 5, &timer).await?;
    }
    anyhow::bail!("{id} is {}; {}", stage.sub_status(id), timer.log())
}

#[tokio::test]
async fn a_delay_of_seconds_ends_by_message() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    stage.publish(&sequence("flow", &[delay("00:00:02"), write("bye")]));
    let id = stage.start("flow");
    assert_eq!(stage.sub_status(&id), "Suspended");
    until_finished(&stage, &id).await
}

#[tokio::test]
async fn a_delay_of_hours_is_a_schedule_whose_message_may_come_early_and_twice() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    stage.publish(&sequence("flow", &[delay("01:00:00"), write("bye")]));
    let id = stage.start("flow");
    let schedules = &stage.deployment.scheduler;
    let group = &stage.deployment.name;
    let listed = schedules.list_schedules().group_name(group).send().await?;
    let name = listed.schedules()[0].name().unwrap().to_owned();
    let schedule = schedules
        .get_schedule()
        .group_name(group)
        .name(&name)
        .send()
        .await?;
    let input = schedule.target().unwrap().input().unwrap().to_owned();
    let timer = stage.function("timer");
    // An hour early: it is scheduled already. As a message and as an event of its own.
    for event in [
        json!({ "Records": [{ "messageId": "m", "body": input }] }),
        serde_json::from_str(&input)?,
    ] {
        timer.invoke(&event).unwrap();
        assert_eq!(stage.sub_status(&id), "Suspended");
    }
    let listed = schedules.list_schedules().group_name(group).send().await?;
    assert_eq!(listed.schedules().len(), 1);
    // A few seconds early: it comes back in time.
    let mut soon = Message::decode(input.as_bytes())?;
    if let Task::Fire { timer } = &mut soon.task {
        let now = std::time::UNIX_EPOCH.elapsed()?.as_millis();
        timer.due = dormouse_engine::time::Timestamp(i64::try_from(now)? + 4_000);
    }
    let soon = String::from_utf8(soon.encode()?.to_vec())?;
    let twice = json!({ "Records": [
        { "messageId": "a", "body": soon }, { "messageId": "b", "body": soon },
    ] });
    assert_eq!(
        timer.invoke(&twice).unwrap(),
        json!({ "batchItemFailures": [] })
    );
    assert_eq!(stage.sub_status(&id), "Suspended");
    until_finished(&stage, &id).await?;
    // And once more, late.
    assert_eq!(
        timer.invoke(&twice).unwrap(),
        json!({ "batchItemFailures": [] })
    );
    assert_eq!(stage.dead_letters().len(), 0);
    Ok(())
}

#[tokio::test]
async fn a_recurring_trigger_sets_its_next_occurrence() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let cron = json!({
        "type": "Elsa.Cron", "id": "cron", "customProperties": { "canStartWorkflow": true },
        "cronExpression": super::stage::literal("String", "*/2 * * * * *"),
    });
    stage.publish(&sequence("flow", &[cron, write("tick")]));
    let (url, timer) = (&stage.deployment.timer_url, stage.function("timer"));
    for _ in 0..30 {
        stage.deployment.hand_on(url, 5, &timer).await?;
        let list = stage.ask("GET", "/elsa/api/workflow-instances", None);
        if list.body["items"].as_array().unwrap().len() >= 3 {
            return Ok(());
        }
    }
    anyhow::bail!("it does not fire three times: {}", timer.log())
}

#[tokio::test]
async fn the_sweep_delivers_what_a_crash_left() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    stage.publish(&sequence("flow", &[event("Go"), write("bye")]));
    let id = stage.start("flow");
    // An effect whose process died after the commit: only the outbox knows of it.
    let table = dormouse_aws::dynamo_table::DynamoTable::new(
        &stage.deployment.config,
        &stage.deployment.name,
    );
    let store = dormouse_store::Store::new(
        std::sync::Arc::new(table),
        dormouse_store::item::config::StoreConfig::dynamo(),
    );
    let tenant = Tenant::default();
    let cancel = Task::Cancel {
        instance: id.as_str().into(),
    };
    let effect = Message::new("m", tenant.clone(), cancel).effect()?;
    store.outbox().put(&tenant, "m", 1_000, &[effect]).await?;
    let timer = stage.function("timer");
    for tick in [
        json!({ "source": "dormouse.sweep" }),
        json!({
            "version": "0", "id": "x", "detail-type": "Scheduled Event", "source": "aws.events",
            "account": "000000000000", "time": "2026-01-01T00:00:00Z", "resources": [], "detail": {},
        }),
    ] {
        let report = timer.invoke(&tick).unwrap();
        assert!(report["left"].is_number(), "{report}");
    }
    stage.resume_until(&id, "Cancelled").await?;
    let again: Value = timer
        .invoke(&json!({ "source": "dormouse.sweep" }))
        .unwrap();
    assert_eq!(again["delivered"], 0);
    Ok(())
}
