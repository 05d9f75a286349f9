//! Activation strategies, decided atomically.

use dormouse_runtime::{AlterOutcome, DefinitionHandle, StartOutcome, StartRequest};
use serde_json::json;

use crate::flow::{event, literal, with_options, write};
use crate::world::{World, bookmark};

fn request(correlation: Option<&str>) -> StartRequest {
    StartRequest {
        correlation_id: correlation.map(str::to_owned),
        ..StartRequest::new(DefinitionHandle::published("flow"))
    }
}

async fn world_with(strategy: &str) -> World {
    let world = World::new();
    let options = json!({ "activationStrategyType": format!("Elsa.Workflows.Activation.{strategy}, Elsa.Workflows.Core") });
    let flow = with_options("flow", &[event("go"), write("end")], options);
    world.node().publish(flow).await;
    world
}

#[tokio::test(start_paused = true)]
async fn of_racing_starts_of_a_singleton_one_runs() {
    let world = world_with("SingletonStrategy").await;
    let nodes = [world.node(), world.node(), world.node()];
    let mut racing = Vec::new();
    for n in 0..50 {
        let (runtime, tenant) = (nodes[n % 3].runtime.clone(), world.tenant.clone());
        racing.push(tokio::spawn(async move {
            runtime.instances().start(&tenant, request(None)).await
        }));
    }
    let mut started = Vec::new();
    for one in racing {
        match one.await.unwrap().unwrap() {
            StartOutcome::Started(report) => started.push(report),
            StartOutcome::NotAllowed { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(started.len(), 1);
    let id = started[0].instance.id.as_str();
    nodes[0].wake(id, &bookmark(&started[0])).await;
    let next = nodes[1].begin(request(None)).await;
    assert!(matches!(next, StartOutcome::Started(_)), "{next:?}");
}

#[tokio::test(start_paused = true)]
async fn a_correlation_runs_once_and_others_beside_it() {
    let world = world_with("CorrelatedSingletonStrategy").await;
    let node = world.node();
    let start = |correlation| node.begin(request(Some(correlation)));
    assert!(matches!(start("a").await, StartOutcome::Started(_)));
    let StartOutcome::NotAllowed { holder } = start("a").await else {
        panic!("started twice");
    };
    assert_eq!(node.sub_status(&holder).await, "Suspended");
    assert!(matches!(start("b").await, StartOutcome::Started(_)));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_or_deleted_singleton_makes_room() {
    let world = world_with("SingletonStrategy").await;
    let node = world.node();
    let first = node.started("flow").await.instance.id.to_string();
    node.instances()
        .cancel(&world.tenant, &first)
        .await
        .unwrap();
    let second = node.started("flow").await.instance.id.to_string();
    node.instances()
        .delete(&world.tenant, &second)
        .await
        .unwrap();
    crate::world::settle().await;
    node.started("flow").await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_singleton_that_is_tried_again_takes_its_place_back_if_it_is_free() {
    let world = World::new();
    let node = world.node();
    let options = json!({ "activationStrategyType": "Elsa.Workflows.Activation.SingletonStrategy, Elsa.Workflows.Core" });
    // It fails as long as there is no such workflow.
    let fails = json!({
        "type": "Elsa.DispatchWorkflow", "id": "dispatch",
        "workflowDefinitionId": literal("String", "child"),
    });
    let flow = with_options("flow", &[event("go"), fails, event("again")], options);
    node.publish(flow).await;
    let first = node.started("flow").await;
    let failed = first.instance.id.to_string();
    node.wake(&failed, &bookmark(&first)).await;
    assert_eq!(node.sub_status(&failed).await, "Faulted");
    // It gave its place back, and another one has it now.
    let second = node.started("flow").await;
    let retry = || node.instances().retry(&world.tenant, &failed, Vec::new());
    let refused = retry().await.unwrap();
    let AlterOutcome::NotAllowed { holder } = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(holder, second.instance.id.as_str());
    assert_eq!(
        node.sub_status(&failed).await,
        "Faulted",
        "nothing happened"
    );
    node.instances()
        .cancel(&world.tenant, second.instance.id.as_str())
        .await
        .unwrap();
    // Its place is free: it fails once more and gives it back, and when it goes on it keeps it.
    assert!(retry().await.unwrap().is_altered());
    assert_eq!(node.sub_status(&failed).await, "Faulted");
    let child = with_options("child", &[write("child")], json!({}));
    node.publish(child).await;
    assert!(retry().await.unwrap().is_altered());
    assert_eq!(node.sub_status(&failed).await, "Suspended");
    let StartOutcome::NotAllowed { holder } = node.begin(request(None)).await else {
        panic!("two of them run");
    };
    assert_eq!(holder, failed);
    node.instances()
        .cancel(&world.tenant, &failed)
        .await
        .unwrap();
    node.started("flow").await;
}
