//! Alteration plans, and instances that go over to another version of their definition.

use std::collections::BTreeSet;

use dormouse_engine::journal::Event;
use dormouse_engine::step::Change;
use dormouse_runtime::query::{InstanceFilter, JobStatus, PlanStatus};
use dormouse_runtime::{AlterOutcome, PlanDetail, PlanRequest, RuntimeError, Selection, Submitted};
use serde_json::{Value, json};

use crate::crashes::{at_every_call, written};
use crate::flow::{event, sequence, write};
use crate::world::{Node, World, bookmark, settle, wait_ms};

fn id_of(mut activity: Value, id: &str) -> Value {
    activity["id"] = id.into();
    activity
}

/// Writes `a`, and waits.
fn flow(name: &str) -> dormouse_engine::definition::Definition {
    sequence(name, &[write("a"), id_of(event("go"), "go")])
}

/// Lets it write `a` once more, and wait again.
fn once_more() -> Vec<Change> {
    vec![
        Change::CancelActivity {
            activity_id: "go".into(),
        },
        Change::RunActivity {
            activity_id: "a".into(),
        },
    ]
}

fn of(definition: &str) -> Selection {
    Selection::Matching(InstanceFilter {
        definition_ids: vec![definition.into()],
        ..InstanceFilter::default()
    })
}

fn request(selection: Selection) -> PlanRequest {
    PlanRequest {
        changes: once_more(),
        selection,
        asked: json!({ "by": "ada" }),
    }
}

async fn plan(node: &Node, world: &World, id: &str) -> PlanDetail {
    let found = node
        .operations()
        .plan(&world.tenant, id, None, 10_000)
        .await;
    found.unwrap().unwrap()
}

async fn submit(node: &Node, world: &World, id: &str, request: &PlanRequest) -> Submitted {
    let id = Some(id.to_owned());
    node.operations()
        .submit_plan(&world.tenant, id, request)
        .await
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_plan_changes_all_that_its_filter_takes_and_nothing_else() {
    let world = World::new();
    let node = world.node();
    node.publish(flow("flow")).await;
    node.publish(flow("other")).await;
    let mut ids = Vec::new();
    for _ in 0..200 {
        ids.push(node.started("flow").await.instance.id.to_string());
    }
    let other = node.started("other").await.instance.id.to_string();
    let ended = ids.pop().unwrap();
    node.instances()
        .cancel(&world.tenant, &ended)
        .await
        .unwrap();

    let accepted = submit(&node, &world, "p", &request(of("flow"))).await;
    assert_eq!(accepted, Submitted::Accepted("p".into()));
    // The same again is the same.
    let again = submit(&node, &world, "p", &request(of("flow"))).await;
    assert_eq!(again, Submitted::Accepted("p".into()));
    let differs = submit(&node, &world, "p", &request(of("other"))).await;
    assert_eq!(differs, Submitted::Differs);
    wait_ms(1_000).await;

    let done = plan(&node, &world, "p").await;
    assert_eq!(
        (done.plan.status, done.plan.jobs),
        (PlanStatus::Failed, 200)
    );
    assert_eq!(done.request, request(of("flow")));
    let failed: Vec<_> = done
        .jobs
        .iter()
        .filter(|job| job.status == JobStatus::Failed)
        .map(|job| (job.instance_id.as_str(), job.told.as_deref()))
        .collect();
    assert_eq!(
        failed,
        [(ended.as_str(), Some("nothing was changed: it has ended"))]
    );
    assert_eq!(done.jobs.len(), 200);
    for id in &ids {
        assert_eq!(written(&node, &world, id).await, ["a", "a"]);
    }
    assert_eq!(written(&node, &world, &other).await, ["a"]);
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
    // A page at a time.
    let first = node
        .operations()
        .plan(&world.tenant, "p", None, 150)
        .await
        .unwrap()
        .unwrap();
    let last = first.jobs.last().map(|job| job.instance_id.clone());
    let rest = node
        .operations()
        .plan(&world.tenant, "p", last.as_deref(), 150)
        .await;
    let rest = rest.unwrap().unwrap();
    let both: Vec<_> = first.jobs.into_iter().chain(rest.jobs).collect();
    assert_eq!(both, done.jobs);
    assert!(
        node.operations()
            .plan(&world.tenant, "none", None, 1)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_carried_out_once_wherever_it_is_cut_off() {
    at_every_call(
        async |world: &World| {
            let node = world.node();
            node.publish(flow("flow")).await;
            for _ in 0..2 {
                node.started("flow").await;
            }
            String::new()
        },
        |node, _| async move {
            let tenant = dormouse_runtime::Tenant::default();
            let request = request(of("flow"));
            let submitted = node
                .operations()
                .submit_plan(&tenant, Some("p".into()), &request);
            submitted.await.unwrap();
        },
        |world, node, _| async move {
            // Whoever has no answer asks again.
            submit(&node, &world, "p", &request(of("flow"))).await;
            wait_ms(1_000).await;
            let done = plan(&node, &world, "p").await;
            assert_eq!(done.plan.status, PlanStatus::Completed);
            assert_eq!(done.jobs.len(), 2);
            for job in &done.jobs {
                assert_eq!(job.status, JobStatus::Completed, "{job:?}");
                let written = written(&node, &world, &job.instance_id).await;
                assert_eq!(written, ["a", "a"]);
            }
            assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_is_being_worked_on_has_its_turn_later() {
    for (held_ms, status, lines) in [
        (20_000, PlanStatus::Completed, &["a", "a"][..]),
        (3_600_000, PlanStatus::Failed, &["a"][..]),
    ] {
        let world = World::new();
        let node = world.node();
        node.publish(flow("flow")).await;
        let held = node.started("flow").await.instance.id.to_string();
        let free = node.started("flow").await.instance.id.to_string();
        node.hold(&held, held_ms).await;
        submit(&node, &world, "p", &request(of("flow"))).await;
        wait_ms(15_000).await;
        // It waits for nobody.
        assert_eq!(written(&node, &world, &free).await, ["a", "a"]);
        assert_eq!(
            plan(&node, &world, "p").await.plan.status,
            PlanStatus::Running
        );
        for _ in 0..12 {
            node.sweep_later().await;
        }
        wait_ms(15_000).await;
        let done = plan(&node, &world, "p").await;
        assert_eq!(done.plan.status, status);
        let job = done
            .jobs
            .iter()
            .find(|job| job.instance_id == held)
            .unwrap();
        if status == PlanStatus::Failed {
            let told = job.told.as_deref().unwrap();
            assert!(told.contains("in progress"), "{told}");
        }
        assert_eq!(written(&node, &world, &held).await, lines);
        assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
        assert_eq!(world.rows("DEAD"), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_waits_for_the_end_of_a_pause() {
    let world = World::new();
    let node = world.node();
    node.publish(flow("flow")).await;
    let id = node.started("flow").await.instance.id.to_string();
    node.pauses().begin("ada", None).await.unwrap().unwrap();
    let refused = node
        .operations()
        .submit_plan(&world.tenant, None, &request(of("flow")))
        .await;
    assert!(matches!(refused, Err(RuntimeError::Paused { .. })));
    node.pauses().end().await.unwrap();
    // Accepted by a node that dies before it does anything about it.
    let dying = world.dying_node(2, true);
    let tenant = world.tenant.clone();
    tokio::spawn(async move {
        let request = request(of("flow"));
        let submitted = dying
            .operations()
            .submit_plan(&tenant, Some("p".into()), &request);
        submitted.await.unwrap();
    });
    settle().await;
    node.pauses().begin("ada", None).await.unwrap().unwrap();
    node.sweep_later().await;
    assert_eq!(written(&node, &world, &id).await, ["a"]);
    node.pauses().end().await.unwrap();
    node.sweep_later().await;
    assert_eq!(written(&node, &world, &id).await, ["a", "a"]);
    assert_eq!(
        plan(&node, &world, "p").await.plan.status,
        PlanStatus::Completed
    );
}

#[tokio::test(start_paused = true)]
async fn of_the_instances_that_are_named_those_have_jobs_that_are_there_and_match() {
    let world = World::new();
    let node = world.node();
    node.publish(flow("flow")).await;
    node.publish(flow("other")).await;
    let id = node.started("flow").await.instance.id.to_string();
    let other = node.started("other").await.instance.id.to_string();
    let Selection::Matching(filter) = of("flow") else {
        panic!()
    };
    let ids = BTreeSet::from([id.clone(), other, "none".to_owned()]);
    let named = Selection::Named { ids, filter };
    submit(&node, &world, "named", &request(named)).await;
    submit(&node, &world, "nobody", &request(Selection::Nothing)).await;
    wait_ms(1_000).await;
    let done = plan(&node, &world, "named").await;
    let jobs: Vec<_> = done.jobs.iter().map(|job| &job.instance_id).collect();
    assert_eq!(jobs, [&id]);
    assert_eq!(done.plan.status, PlanStatus::Completed);
    let done = plan(&node, &world, "nobody").await;
    assert_eq!(
        (done.plan.status, done.plan.jobs),
        (PlanStatus::Completed, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn an_instance_goes_over_to_another_version_and_on_from_there() {
    let world = World::new();
    let node = world.node();
    let go = || id_of(event("go"), "go");
    node.publish(sequence("flow", &[write("a"), go(), write("old")]))
        .await;
    let report = node.started("flow").await;
    let (id, at) = (report.instance.id.to_string(), bookmark(&report));
    node.publish(sequence(
        "flow",
        &[write("a"), write("b"), go(), write("new")],
    ))
    .await;
    let migrate = |version| vec![Change::Migrate { version }];

    let missing = node
        .instances()
        .alter(&world.tenant, &id, migrate(7))
        .await
        .unwrap();
    assert!(missing.told().contains("no version 7"), "{missing:?}");
    node.publish(sequence("flow", &[write("gone")])).await;
    let no_place = node
        .instances()
        .alter(&world.tenant, &id, migrate(3))
        .await
        .unwrap();
    assert!(no_place.told().contains("`go`"), "{no_place:?}");
    let head = node
        .query()
        .instance_head(&world.tenant, &id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(head.summary.definition_version, 1);

    let altered = node
        .instances()
        .alter(&world.tenant, &id, migrate(2))
        .await
        .unwrap();
    assert!(matches!(altered, AlterOutcome::Altered(_)), "{altered:?}");
    // A node that knows nothing of it goes on where it is.
    let node = world.node();
    let head = node
        .query()
        .instance_head(&world.tenant, &id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(head.summary.definition_version, 2);
    node.wake(&id, &at).await;
    assert_eq!(node.sub_status(&id).await, "Finished");
    assert_eq!(written(&node, &world, &id).await, ["a", "new"]);
    let journal = node
        .query()
        .journal(&world.tenant, &id, 0, 100)
        .await
        .unwrap()
        .unwrap();
    let altered = journal
        .lines
        .iter()
        .find(|line| line.event == Event::Altered);
    assert_eq!(altered.unwrap().data, json!({ "version": 2 }));
}

#[tokio::test(start_paused = true)]
async fn a_plan_brings_all_instances_of_a_version_to_the_next() {
    let world = World::new();
    let node = world.node();
    let go = || id_of(event("go"), "go");
    node.publish(sequence("flow", &[go(), write("old")])).await;
    for _ in 0..5 {
        node.started("flow").await;
    }
    node.publish(sequence("flow", &[go(), write("new")])).await;
    let plan_request = PlanRequest {
        changes: vec![Change::Migrate { version: 2 }],
        selection: Selection::Matching(InstanceFilter {
            definition_ids: vec!["flow".into()],
            version: Some(1),
            ..InstanceFilter::default()
        }),
        asked: Value::Null,
    };
    submit(&node, &world, "p", &plan_request).await;
    wait_ms(1_000).await;
    let done = plan(&node, &world, "p").await;
    assert_eq!(
        (done.plan.status, done.jobs.len()),
        (PlanStatus::Completed, 5)
    );
    let event = dormouse_runtime::EventRequest {
        name: "go".into(),
        waits: true,
        ..dormouse_runtime::EventRequest::default()
    };
    node.stimuli()
        .publish_event(&world.tenant, event)
        .await
        .unwrap();
    settle().await;
    for job in &done.jobs {
        assert_eq!(written(&node, &world, &job.instance_id).await, ["new"]);
    }
}
