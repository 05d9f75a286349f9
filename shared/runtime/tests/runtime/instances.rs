//! Starting, waiting, resuming, cancelling, retrying and deleting.

use dormouse_engine::instance::SubStatus;
use dormouse_runtime::{
    DefinitionHandle, DeleteOutcome, DispatchOutcome, ResumeOutcome, ResumeRequest, RuntimeError,
    StartOutcome, StartRequest,
};
use serde_json::{Map, json};

use crate::flow::{delay, event, sequence, task, write};
use crate::world::{World, bookmark, settle, wait_ms};

#[tokio::test(start_paused = true)]
async fn an_instance_starts_waits_resumes_and_finishes() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[write("one"), event("go"), write("two")]))
        .await;
    let started = node.started("flow").await;
    assert_eq!(started.lines, ["one"]);
    assert_eq!(started.instance.sub_status, SubStatus::Suspended);
    let id = started.instance.id.as_str();

    let ResumeOutcome::Resumed(resumed) = node.wake(id, &bookmark(&started)).await else {
        panic!("not resumed");
    };
    assert_eq!(resumed.lines, ["two"]);
    assert_eq!(node.sub_status(id).await, "Finished");
    settle().await;
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
    assert_eq!(world.rows("STIM"), Vec::<String>::new());

    let journal = node
        .query()
        .journal(&world.tenant, id, 0, 1_000)
        .await
        .unwrap();
    let journal = journal.unwrap();
    let sequences: Vec<_> = journal.lines.iter().map(|line| line.sequence).collect();
    assert_eq!(sequences, (0..journal.total).collect::<Vec<_>>());
    let executions = node
        .query()
        .activity_executions(&world.tenant, id)
        .await
        .unwrap();
    let executions = executions.unwrap();
    let types: Vec<_> = executions
        .iter()
        .map(|e| (e.activity_type.as_str(), e.status.as_str()))
        .collect();
    assert!(types.contains(&("Elsa.Event", "Completed")), "{types:?}");
    let first = executions.iter().find(|e| e.activity_id == "one");
    assert_eq!(first.unwrap().activity_state["Text"], "one");
    let lines = executions.iter();
    assert_eq!(
        lines
            .filter(|e| e.activity_type == "Elsa.WriteLine")
            .count(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_resume_changes_nothing_and_says_so() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("a"), event("b"), write("end")]))
        .await;
    let started = node.started("flow").await;
    let (id, first) = (started.instance.id.to_string(), bookmark(&started));
    let ResumeOutcome::Resumed(resumed) = node.wake(&id, &first).await else {
        panic!("not resumed");
    };
    let again = node.wake(&id, &first).await;
    assert!(matches!(again, ResumeOutcome::BookmarkGone(_)), "{again:?}");
    node.wake(&id, &bookmark(&resumed)).await;
    let late = node.wake(&id, &first).await;
    assert!(matches!(late, ResumeOutcome::Ended(_)), "{late:?}");
    let unknown = node.wake("nobody", &first).await;
    assert!(matches!(unknown, ResumeOutcome::NotFound));
}

#[tokio::test(start_paused = true)]
async fn of_racing_resumes_exactly_one_carries_on() {
    let world = World::new();
    let nodes = [world.node(), world.node(), world.node()];
    nodes[0]
        .publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let started = nodes[0].started("flow").await;
    let (id, bookmark) = (started.instance.id.to_string(), bookmark(&started));
    let mut racing = Vec::new();
    for n in 0..50 {
        let (runtime, tenant) = (nodes[n % 3].runtime.clone(), world.tenant.clone());
        let request = ResumeRequest::bookmark(&id, &bookmark, Map::new());
        racing.push(tokio::spawn(async move {
            runtime.instances().resume(&tenant, request).await
        }));
    }
    let mut resumed = 0;
    for one in racing {
        match one.await.unwrap().unwrap() {
            ResumeOutcome::Resumed(report) => {
                resumed += 1;
                assert_eq!(report.lines, ["end"]);
            }
            ResumeOutcome::BookmarkGone(_) | ResumeOutcome::Ended(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(resumed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_start_repeated_under_one_key_finds_the_first() {
    let world = World::new();
    let (one, other) = (world.node(), world.node());
    one.publish(sequence("flow", &[write("once"), event("go")]))
        .await;
    let request = || StartRequest {
        idempotency_key: Some("order-17".into()),
        ..StartRequest::new(DefinitionHandle::published("flow"))
    };
    let (a, b) = tokio::join!(one.begin(request()), other.begin(request()));
    let count = |outcome: &StartOutcome| usize::from(matches!(outcome, StartOutcome::Started(_)));
    assert_eq!(count(&a) + count(&b), 1, "{a:?} {b:?}");
    let StartOutcome::AlreadyStarted(head) = one.begin(request()).await else {
        panic!("started again");
    };
    assert_eq!(head.summary.sub_status, "Suspended");
}

#[tokio::test(start_paused = true)]
async fn a_dispatch_starts_by_itself() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[write("hello")])).await;
    let request = || StartRequest::new(DefinitionHandle::published("flow"));
    let dispatched = node
        .instances()
        .dispatch(&world.tenant, request())
        .await
        .unwrap();
    let DispatchOutcome::Accepted { instance_id } = dispatched else {
        panic!("not accepted");
    };
    settle().await;
    assert_eq!(node.sub_status(&instance_id).await, "Finished");
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
    let nothing = StartRequest::new(DefinitionHandle::published("nothing"));
    let refused = node
        .instances()
        .dispatch(&world.tenant, nothing)
        .await
        .unwrap();
    assert_eq!(refused, DispatchOutcome::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_instance_stays_cancelled() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[delay("01:00:00"), write("late")]))
        .await;
    let started = node.started("flow").await;
    let id = started.instance.id.to_string();
    assert_eq!(world.rows("TIMER").len(), 1);
    let cancelled = node.instances().cancel(&world.tenant, &id).await.unwrap();
    assert!(matches!(cancelled, ResumeOutcome::Resumed(_)));
    assert_eq!(node.sub_status(&id).await, "Cancelled");
    assert_eq!(world.rows("TIMER"), Vec::<String>::new());
    let again = node.instances().cancel(&world.tenant, &id).await.unwrap();
    assert!(matches!(again, ResumeOutcome::Ended(_)));
    wait_ms(3_700_000).await;
    assert_eq!(node.fire_due().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_instance_does_not_come_back() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let started = node.started("flow").await;
    let id = started.instance.id.to_string();
    let delete = || node.instances().delete(&world.tenant, &id);
    assert_eq!(delete().await.unwrap(), DeleteOutcome::Deleted);
    settle().await;
    assert_eq!(delete().await.unwrap(), DeleteOutcome::Already);
    let late = node.wake(&id, &bookmark(&started)).await;
    assert!(matches!(late, ResumeOutcome::Deleted));
    let request = StartRequest {
        instance_id: Some(id.clone()),
        ..StartRequest::new(DefinitionHandle::published("flow"))
    };
    assert!(matches!(
        node.begin(request).await,
        StartOutcome::Deleted { .. }
    ));
    assert_eq!(world.rows("WF#"), ["HEAD"]);
    assert_eq!(world.rows("STIM"), Vec::<String>::new());
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
    let nobody = node
        .instances()
        .delete(&world.tenant, "nobody")
        .await
        .unwrap();
    assert_eq!(nobody, DeleteOutcome::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_task_is_asked_for_and_completed_once() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[task("Review"), write("done")]))
        .await;
    let started = node.started("flow").await;
    settle().await;
    let asked = world.tasks.requests.lock().unwrap().clone();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].task_name, "Review");
    let id = asked[0].task_id.clone();
    let complete = || {
        node.instances()
            .complete_task(&world.tenant, &id, json!("fine"))
    };
    let ResumeOutcome::Resumed(report) = complete().await.unwrap() else {
        panic!("not resumed");
    };
    assert_eq!(report.lines, ["done"]);
    assert!(matches!(complete().await.unwrap(), ResumeOutcome::Ended(_)));
    let unknown = node
        .instances()
        .complete_task(&world.tenant, "x", json!(1))
        .await;
    assert!(matches!(unknown.unwrap(), ResumeOutcome::NotFound));
    assert_eq!(
        node.sub_status(started.instance.id.as_str()).await,
        "Finished"
    );
}

#[tokio::test(start_paused = true)]
async fn who_works_for_long_makes_others_wait_and_then_tell() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let started = node.started("flow").await;
    let (id, bookmark) = (started.instance.id.to_string(), bookmark(&started));
    // Somebody takes the lease and dies.
    node.hold(&id, 30_000).await;
    let request = ResumeRequest::bookmark(&id, &bookmark, Map::new());
    let before = world.now();
    let busy = node
        .instances()
        .resume(&world.tenant, request.clone())
        .await;
    assert!(
        matches!(&busy, Err(RuntimeError::InProgress { instance_id, .. }) if *instance_id == id),
        "{busy:?}"
    );
    let waited = world.now() - before;
    assert!((10_000..11_000).contains(&waited), "{waited}");
    wait_ms(30_000).await;
    let resumed = node
        .instances()
        .resume(&world.tenant, request)
        .await
        .unwrap();
    assert!(matches!(resumed, ResumeOutcome::Resumed(_)));
}
