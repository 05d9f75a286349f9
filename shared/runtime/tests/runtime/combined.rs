//! Requests for one instance that come together: one burst and one commit, and nobody waits for one that went away.

use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_runtime::port::{HttpCaller, Ports};
use dormouse_runtime::{
    EventRequest, ResumeOutcome, ResumeRequest, Runtime, RuntimeConfig, TimerOutcome,
};
use futures_util::future::join_all;
use serde_json::{Map, json};

use crate::crashes::written;
use crate::flow::{call, delay, event, literal, parallel, sequence, steps, write};
use crate::world::{Node, World, bookmark, settle, wait_ms};

/// The number of the last commit of an instance.
async fn commits(node: &Node, world: &World, id: &str) -> u64 {
    let head = node.query().instance_head(&world.tenant, id).await.unwrap();
    head.unwrap().commit
}

fn named(name: &str, instance: Option<&str>) -> EventRequest {
    EventRequest {
        name: name.into(),
        instance_id: instance.map(str::to_owned),
        waits: true,
        ..EventRequest::default()
    }
}

#[tokio::test(start_paused = true)]
async fn two_branches_that_wait_for_the_same_event_go_on_by_one_event_in_one_commit() {
    for to_one in [false, true] {
        let world = World::new();
        let node = world.node();
        let branch = |id: &str| steps(id, &[event("go"), write(&format!("after-{id}"))]);
        node.publish(sequence("flow", &[parallel(&[branch("a"), branch("b")])]))
            .await;
        let id = node.started("flow").await.instance.id.to_string();
        let before = commits(&node, &world, &id).await;
        let event = named("go", to_one.then_some(id.as_str()));
        node.stimuli()
            .publish_event(&world.tenant, event)
            .await
            .unwrap();
        settle().await;
        assert_eq!(node.sub_status(&id).await, "Finished");
        assert_eq!(written(&node, &world, &id).await, ["after-a", "after-b"]);
        assert_eq!(commits(&node, &world, &id).await, before + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_calls_somebody_does_not_keep_the_event_from_the_next_one() {
    let world = World::new();
    let node = world.node();
    let calls = steps("a", &[event("go"), call(), write("called")]);
    let other = steps("b", &[event("go"), write("heard")]);
    node.publish(sequence("flow", &[parallel(&[calls, other])]))
        .await;
    let id = node.started("flow").await.instance.id.to_string();
    node.stimuli()
        .publish_event(&world.tenant, named("go", None))
        .await
        .unwrap();
    settle().await;
    wait_ms(1_000).await;
    assert_eq!(node.sub_status(&id).await, "Finished");
    assert_eq!(written(&node, &world, &id).await, ["heard", "called"]);
    assert_eq!(world.web.requests.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn hundreds_of_timers_of_one_instance_that_are_due_together_take_a_few_commits() {
    let world = World::new();
    let node = world.node();
    let branches: Vec<_> = (0..600)
        .map(|n| {
            steps(
                &format!("s{n}"),
                &[delay("00:00:10"), write(&format!("w{n}"))],
            )
        })
        .collect();
    node.publish(sequence("flow", &[parallel(&branches)])).await;
    let id = node.started("flow").await.instance.id.to_string();
    let before = commits(&node, &world, &id).await;
    wait_ms(10_000).await;
    let page = node
        .store()
        .timers()
        .timers_due(0, world.now(), 1_000, None)
        .await;
    let rows = page.unwrap().timers;
    assert_eq!(rows.len(), 600);
    let timers: Vec<_> = rows
        .iter()
        .map(|row| serde_json::from_slice(&row.body).unwrap())
        .collect();
    for outcome in node.timers().fire_all(&timers).await {
        assert!(matches!(outcome.unwrap(), TimerOutcome::Fired(_)));
    }
    settle().await;
    let spent = commits(&node, &world, &id).await - before;
    assert!((1..=3).contains(&spent), "{spent} commits");
    assert_eq!(node.sub_status(&id).await, "Finished");
    let mut ran = written(&node, &world, &id).await;
    assert_eq!(ran.len(), 600);
    ran.sort();
    ran.dedup();
    assert_eq!(ran.len(), 600, "each once");
    assert_eq!(world.rows("TIMER"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn resumes_that_come_together_are_combined() {
    let world = World::new();
    let node = world.node();
    let branches: Vec<_> = (0..50)
        .map(|n| {
            steps(
                &format!("s{n}"),
                &[event(&format!("e{n}")), write(&format!("w{n}"))],
            )
        })
        .collect();
    node.publish(sequence("flow", &[parallel(&branches)])).await;
    let started = node.started("flow").await;
    let id = started.instance.id.as_str();
    let before = commits(&node, &world, id).await;
    let bookmarks = started.instance.bookmarks.iter();
    let outcomes = join_all(bookmarks.map(|b| node.wake(id, b.id.as_str()))).await;
    for outcome in outcomes {
        assert!(matches!(outcome, ResumeOutcome::Resumed(_)), "{outcome:?}");
    }
    let spent = commits(&node, &world, id).await - before;
    assert!(spent <= 3, "{spent} commits for 50 resumes");
    assert_eq!(written(&node, &world, id).await.len(), 50);
    assert_eq!(node.sub_status(id).await, "Finished");
}

#[tokio::test(start_paused = true)]
async fn the_ends_of_many_children_are_told_to_their_parent_in_few_commits() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("child", &[event("go")])).await;
    let bulk = json!({
        "type": "Elsa.BulkDispatchWorkflows", "id": "bulk", "waitForCompletion": literal("Boolean", true),
        "workflowDefinitionId": literal("String", "child"),
        "items": literal("Object", json!((0..60).collect::<Vec<_>>())),
    });
    node.publish(sequence("flow", &[bulk, write("end")])).await;
    let id = node.started("flow").await.instance.id.to_string();
    settle().await;
    wait_ms(1_000).await;
    let before = commits(&node, &world, &id).await;
    let sent = node
        .stimuli()
        .publish_event(&world.tenant, named("go", None))
        .await;
    assert_eq!(sent.unwrap().delivered.unwrap().reached, 60);
    wait_ms(1_000).await;
    assert_eq!(node.sub_status(&id).await, "Finished");
    let spent = commits(&node, &world, &id).await - before;
    assert!(spent < 40, "{spent} commits for 60 ends");
}

/// A caller whose answer never comes.
struct Never;

#[async_trait::async_trait]
impl HttpCaller for Never {
    async fn call(&self, _: &HttpRequest, _: u64) -> Answer {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_in_the_middle_leaves_nothing_stuck() {
    // Dropped at each of its calls to the table, and before any.
    for at in 0..4 {
        let world = World::split();
        let node = world.node();
        let branches = [
            steps("a", &[event("a"), write("wa")]),
            steps("b", &[event("b"), write("wb")]),
            steps("c", &[event("c"), write("wc")]),
        ];
        node.publish(sequence("flow", &[parallel(&branches)])).await;
        let started = node.started("flow").await;
        let id = started.instance.id.to_string();
        let [a, b, c] = started.instance.bookmarks.as_slice() else {
            panic!("not three bookmarks");
        };
        let resume = |bookmark: &str| {
            let request = ResumeRequest::bookmark(&id, bookmark, Map::new());
            let (runtime, tenant) = (node.runtime.clone(), world.tenant.clone());
            tokio::spawn(async move { runtime.instances().resume(&tenant, request).await })
        };
        let first = resume(a.id.as_str());
        let waiting = resume(b.id.as_str());
        // The next in turn goes away at the same moment.
        for _ in 0..at {
            tokio::task::yield_now().await;
        }
        first.abort();
        let began = world.now();
        // Whether the request of the second was taken up by the first or not, nobody waits for it in vain.
        let _told = waiting.await.unwrap();
        let later = node.wake(&id, c.id.as_str()).await;
        assert!(
            matches!(later, ResumeOutcome::Resumed(_)),
            "{at}: {later:?}"
        );
        node.wake(&id, a.id.as_str()).await;
        node.wake(&id, b.id.as_str()).await;
        assert!(world.now() - began < 1_000, "{at}: it waited for nobody");
        assert_eq!(node.sub_status(&id).await, "Finished");
        assert_eq!(written(&node, &world, &id).await.len(), 3, "each once");
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_behind_a_caller_that_goes_away_is_taken_over() {
    let world = World::new();
    let frozen = world.freezing_node();
    let node = world.node();
    let branches = [
        steps("a", &[event("a"), write("wa")]),
        steps("b", &[event("b"), write("wb")]),
        steps("c", &[event("c"), write("wc")]),
    ];
    node.publish(sequence("flow", &[parallel(&branches)])).await;
    let started = node.started("flow").await;
    let id = started.instance.id.to_string();
    let resume = |bookmark: usize| {
        let bookmark = started.instance.bookmarks[bookmark].id.to_string();
        let request = ResumeRequest::bookmark(&id, bookmark, Map::new());
        let (runtime, tenant) = (frozen.runtime.clone(), world.tenant.clone());
        tokio::spawn(async move { runtime.instances().resume(&tenant, request).await })
    };
    let first = resume(0);
    settle().await;
    wait_ms(20).await;
    assert!(frozen.table.is_frozen());
    // They come while the first one is at its commit, so they wait for it.
    let (second, third) = (resume(1), resume(2));
    settle().await;
    first.abort();
    // The one whose turn comes goes away before it takes it.
    second.abort();
    frozen.table.thaw();
    let third = third.await.unwrap().unwrap();
    assert!(matches!(third, ResumeOutcome::Resumed(_)), "{third:?}");
    let next = resume(0).await.unwrap().unwrap();
    assert!(matches!(next, ResumeOutcome::Resumed(_)), "{next:?}");
}

#[tokio::test(start_paused = true)]
async fn who_waits_in_the_same_process_waits_a_bounded_time_too() {
    let world = World::new();
    let node = world.node();
    let ports = Ports {
        http_caller: std::sync::Arc::new(Never),
        ..node.ports().clone()
    };
    let config = RuntimeConfig::server("calls");
    let expressions = std::sync::Arc::default();
    let runtime = Runtime::new(node.store().clone(), ports, expressions, config);
    let branches = [steps("a", &[event("a"), call()]), steps("b", &[event("b")])];
    node.publish(sequence("flow", &[parallel(&branches)])).await;
    let started = node.started("flow").await;
    let id = started.instance.id.to_string();
    let [a, b] = [0, 1].map(|n| {
        let bookmark = started.instance.bookmarks[n].id.to_string();
        ResumeRequest::bookmark(&id, bookmark, Map::new())
    });
    let (calling, tenant) = (runtime.clone(), world.tenant.clone());
    let hanging =
        tokio::spawn(async move { calling.instances().resume(&tenant, a).await.map(|_| ()) });
    settle().await;
    let began = world.now();
    let refused = runtime.instances().resume(&world.tenant, b).await;
    assert!(refused.unwrap_err().is_busy());
    let waited = world.now() - began;
    assert!((10_000..11_000).contains(&waited), "{waited}");
    hanging.abort();
}

#[tokio::test(start_paused = true)]
async fn a_function_that_meets_a_queued_event_at_its_end_does_not_wait_for_itself() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("a"), event("b"), write("end")]))
        .await;
    let started = node.started("flow").await;
    let id = started.instance.id.to_string();
    let queued = node
        .stimuli()
        .publish_event(&world.tenant, named("b", None))
        .await;
    assert!(queued.unwrap().delivered.unwrap().queued);
    let function = Runtime::new(
        node.store().clone(),
        node.ports().clone(),
        std::sync::Arc::default(),
        RuntimeConfig::function("function", 30_000),
    );
    let began = world.now();
    let request = ResumeRequest::bookmark(&id, bookmark(&started), Map::new());
    function
        .instances()
        .resume(&world.tenant, request)
        .await
        .unwrap();
    assert!(world.now() - began < 1_000);
    assert_eq!(node.sub_status(&id).await, "Finished");
}
