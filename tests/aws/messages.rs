//! Queues, schedules, the topic and the bus, each against the protocol of its service.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else it is, it is wrong"
)]

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use dormouse_aws::environment::Queues;
use dormouse_aws::eventbridge_bus::EventBridgeBus;
use dormouse_aws::eventbridge_scheduler::EventBridgeScheduler;
use dormouse_aws::sns_broadcast::SnsBroadcast;
use dormouse_aws::sqs_queue::SqsQueue;
use dormouse_embedded::SystemClock;
use dormouse_runtime::message::Task;
use dormouse_runtime::port::{
    Broadcast as _, Bus as _, Clock, DefinitionChanged, LifecycleEvent, LifecycleKind, PortError,
    Queue as _, Scheduler as _, TaskRequest,
};
use dormouse_runtime::{Message, Tenant, Timer, Wakes};
use dormouse_tests::deployment::{Deployment, arn};
use serde_json::{Value, json};

fn plain(error: PortError) -> anyhow::Error {
    anyhow!(error)
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

fn message(tenant: &str) -> Result<Message> {
    let task = Task::Cancel {
        instance: "x".into(),
    };
    Ok(Message::new("m/1", Tenant::new(tenant)?, task))
}

/// A timer that is due in so many ms.
fn timer(in_ms: i64) -> Timer {
    Timer {
        tenant: Tenant::default(),
        due: clock().now().plus_ms(in_ms),
        wakes: Wakes::Bookmark {
            instance: "i".into(),
            bookmark: "b".into(),
            stamp: None,
        },
    }
}

async fn scheduler(deployment: &Deployment) -> Result<EventBridgeScheduler> {
    let queues = Queues {
        resume_url: deployment.resume_url.clone(),
        timer_url: deployment.timer_url.clone(),
        timer_arn: arn(&deployment.sqs, &deployment.timer_url).await?,
        schedule_group: deployment.name.clone(),
        schedule_role_arn: "arn:aws:iam::000000000000:role/schedules".into(),
        schedule_dead_letter_arn: None,
    };
    Ok(EventBridgeScheduler::new(
        &deployment.config,
        clock(),
        queues,
    ))
}

/// The timer in a message of the timer queue.
fn fired(body: &str) -> Result<Timer> {
    match Message::decode(body.as_bytes())?.task {
        Task::Fire { timer } => Ok(timer),
        other => Err(anyhow!("not a timer: {other:?}")),
    }
}

#[tokio::test]
async fn a_message_arrives_as_it_was_sent_in_the_group_of_its_tenant() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let queue = SqsQueue::new(&deployment.config, clock(), &deployment.resume_url);
    let sent = message("acme")?;
    queue.send(&sent, 0).await.map_err(plain)?;
    let received = deployment.receive(&deployment.resume_url, 20).await?;
    let [received] = received.as_slice() else {
        panic!("one message: {received:?}");
    };
    let body = received.body().context("a body")?;
    assert_eq!(Message::decode(body.as_bytes())?, sent);
    let attributes = received.attributes().context("attributes")?;
    let group = aws_sdk_sqs::types::MessageSystemAttributeName::MessageGroupId;
    assert_eq!(attributes.get(&group).map(String::as_str), Some("acme"));
    assert_eq!(received.message_attributes(), None);
    Ok(())
}

#[tokio::test]
async fn a_delay_beyond_15_minutes_is_split() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let queue = SqsQueue::new(&deployment.config, clock(), &deployment.resume_url);
    // SQS refuses a delay of an hour. Whoever receives this after 15 minutes sends it on with the rest.
    queue
        .send(&message("default")?, 3_600_000)
        .await
        .map_err(plain)?;
    assert_eq!(waiting(&deployment, &deployment.resume_url).await?, (0, 1));
    Ok(())
}

/// How many messages of a queue are visible, and how many are delayed.
async fn waiting(deployment: &Deployment, url: &str) -> Result<(u32, u32)> {
    use aws_sdk_sqs::types::QueueAttributeName as Name;
    let asked = deployment
        .sqs
        .get_queue_attributes()
        .queue_url(url)
        .attribute_names(Name::All)
        .send()
        .await?;
    let number = |name: Name| -> Result<u32> {
        let all = asked.attributes().context("attributes")?;
        Ok(all.get(&name).context("a number")?.parse()?)
    };
    Ok((
        number(Name::ApproximateNumberOfMessages)?,
        number(Name::ApproximateNumberOfMessagesDelayed)?,
    ))
}

#[tokio::test]
async fn a_timer_that_is_due_soon_is_a_delayed_message() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let scheduler = scheduler(&deployment).await?;
    scheduler.schedule(&timer(899_000)).await.map_err(plain)?;
    assert_eq!(waiting(&deployment, &deployment.timer_url).await?, (0, 1));
    let past = timer(-5_000);
    scheduler.schedule(&past).await.map_err(plain)?;
    let received = deployment.receive(&deployment.timer_url, 20).await?;
    let [received] = received.as_slice() else {
        panic!("one message: {received:?}");
    };
    assert_eq!(fired(received.body().context("a body")?)?, past);
    assert_eq!(schedules(&deployment).await?, Vec::<String>::new());
    Ok(())
}

/// The names of the schedules of a deployment.
async fn schedules(deployment: &Deployment) -> Result<Vec<String>> {
    let listed = deployment
        .scheduler
        .list_schedules()
        .group_name(&deployment.name)
        .send()
        .await?;
    let names = listed.schedules().iter().filter_map(|s| s.name());
    Ok(names.map(str::to_owned).collect())
}

#[tokio::test]
async fn a_timer_that_is_due_later_is_one_schedule_however_often_it_is_set() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let scheduler = scheduler(&deployment).await?;
    let far = timer(3_600_000);
    for _ in 0..3 {
        scheduler.schedule(&far).await.map_err(plain)?;
    }
    let names = schedules(&deployment).await?;
    let [name] = names.as_slice() else {
        panic!("one schedule: {names:?}");
    };
    let schedule = deployment
        .scheduler
        .get_schedule()
        .group_name(&deployment.name)
        .name(name)
        .send()
        .await?;
    // 90 seconds ahead, to the second.
    let ahead = far
        .due
        .plus_ms(-90_000 - far.due.0.rem_euclid(1_000))
        .to_string();
    let expression = format!("at({})", ahead.trim_end_matches('Z'));
    assert_eq!(schedule.schedule_expression(), Some(expression.as_str()));
    assert_eq!(
        schedule
            .action_after_completion()
            .map(|action| action.as_str()),
        Some("DELETE")
    );
    let target = schedule.target().context("a target")?;
    assert!(target.arn().ends_with("-timer"), "{}", target.arn());
    assert_eq!(fired(target.input().context("an input")?)?, far);

    // Another due time is another timer.
    scheduler.schedule(&timer(7_200_000)).await.map_err(plain)?;
    assert_eq!(schedules(&deployment).await?.len(), 2);
    scheduler.forget(&far).await.map_err(plain)?;
    scheduler.forget(&far).await.map_err(plain)?;
    assert_eq!(schedules(&deployment).await?.len(), 1);
    // One that has been sent already is not looked for.
    scheduler.forget(&timer(60_000)).await.map_err(plain)?;
    Ok(())
}

#[tokio::test]
async fn a_change_reaches_whoever_subscribes() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let broadcast = SnsBroadcast::new(&deployment.config, &deployment.topic_arn);
    let changed = DefinitionChanged {
        tenant: "acme".into(),
        definition_id: "order".into(),
    };
    broadcast.publish(&changed).await.map_err(plain)?;
    let received = deployment.receive(&deployment.changes_url, 20).await?;
    let body = received.first().and_then(|m| m.body()).context("a body")?;
    let envelope: Value = serde_json::from_str(body)?;
    let inner = envelope["Message"].as_str().context("a message")?;
    assert_eq!(serde_json::from_str::<DefinitionChanged>(inner)?, changed);
    Ok(())
}

#[tokio::test]
async fn tasks_and_lifecycle_events_reach_the_bus() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let pattern = json!({ "source": ["dormouse"] });
    deployment
        .route("own", &pattern, &deployment.changes_url)
        .await?;
    let bus = EventBridgeBus::new(&deployment.config, &deployment.name, true);
    assert!(bus.hears_lifecycle());
    let request = TaskRequest {
        id: "i/1/0".into(),
        tenant_id: "default".into(),
        workflow_instance_id: "i".into(),
        workflow_definition_id: "d".into(),
        workflow_name: None,
        correlation_id: None,
        task_id: "t".into(),
        task_name: "Approve".into(),
        task_payload: json!({ "n": 1 }),
    };
    bus.request_task(&request).await.map_err(plain)?;
    let event = LifecycleEvent {
        id: "i/2/0".into(),
        kind: LifecycleKind::InstanceFinished,
        at: clock().now(),
        tenant_id: "default".into(),
        workflow_instance_id: "i".into(),
        workflow_definition_id: "d".into(),
        workflow_definition_version: 1,
        name: None,
        correlation_id: None,
        incident_count: 0,
    };
    bus.tell(&event).await.map_err(plain)?;
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let received = deployment.receive(&deployment.changes_url, 20).await?;
        assert!(!received.is_empty(), "only {seen:?}");
        for message in received {
            let body: Value = serde_json::from_str(message.body().context("a body")?)?;
            seen.push((body["detail-type"].clone(), body["detail"].clone()));
        }
    }
    seen.sort_by_key(|(kind, _)| kind.to_string());
    assert_eq!(
        seen[0],
        (json!("InstanceFinished"), serde_json::to_value(&event)?)
    );
    assert_eq!(
        seen[1],
        (json!("TaskRequested"), serde_json::to_value(&request)?)
    );
    Ok(())
}

#[tokio::test]
async fn what_is_missing_is_named() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let nowhere = format!("{}-nowhere", deployment.resume_url);
    let queue = SqsQueue::new(&deployment.config, clock(), &nowhere);
    let said = queue.send(&message("default")?, 0).await.err();
    let said = said.context("there is no such queue")?.to_string();
    assert!(said.contains(&nowhere), "{said}");
    let queues = Queues {
        resume_url: nowhere.clone(),
        timer_url: nowhere.clone(),
        timer_arn: "arn:aws:sqs:us-east-1:000000000000:nowhere".into(),
        schedule_group: "no-such-group".into(),
        schedule_role_arn: "arn:aws:iam::000000000000:role/schedules".into(),
        schedule_dead_letter_arn: None,
    };
    let scheduler = EventBridgeScheduler::new(&deployment.config, clock(), queues);
    let said = scheduler.schedule(&timer(3_600_000)).await.err();
    let said = said.context("there is no such group")?.to_string();
    assert!(said.contains("no-such-group"), "{said}");
    Ok(())
}
