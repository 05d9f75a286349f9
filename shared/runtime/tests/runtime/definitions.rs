//! Saving, importing, publishing, retracting and deleting definitions, and workflows as activities.

use dormouse_engine::definition::Definition;
use dormouse_runtime::{
    DefinitionHandle, PublishOutcome, ResumeOutcome, RetractOutcome, SaveOutcome, StartOutcome,
    StartRequest, VersionOptions,
};
use serde_json::{Value, json};

use crate::flow::{event, sequence, with_options, write};
use crate::world::{Node, World, bookmark};

/// Version, is latest, is published, newest first.
async fn versions(node: &Node, world: &World, id: &str) -> Vec<(u32, bool, bool)> {
    let versions = node
        .query()
        .definition_versions(&world.tenant, id)
        .await
        .unwrap();
    let facts = versions.iter();
    facts
        .map(|v| (v.version, v.is_latest, v.is_published))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn drafts_and_publishes_number_versions_as_elsa_does() {
    let world = World::new();
    let node = world.node();
    node.save(sequence("flow", &[write("a")])).await;
    node.save(sequence("flow", &[write("b")])).await;
    assert_eq!(versions(&node, &world, "flow").await, [(1, true, false)]);
    node.publish(sequence("flow", &[write("c")])).await;
    assert_eq!(versions(&node, &world, "flow").await, [(1, true, true)]);
    let SaveOutcome::Saved { definition, is_new } =
        node.save(sequence("flow", &[write("d")])).await
    else {
        panic!("read-only");
    };
    assert!(!is_new);
    assert_eq!((definition.version, definition.is_latest), (2, true));
    assert_eq!(definition.definition.raw()["version"], 2);
    assert_eq!(definition.definition.raw()["isPublished"], false);
    assert_eq!(
        versions(&node, &world, "flow").await,
        [(2, true, false), (1, false, true)]
    );
    assert_eq!(node.started("flow").await.lines, ["c"]);

    let publish = || node.definitions().publish(&world.tenant, "flow");
    let PublishOutcome::Published(publication) = publish().await.unwrap() else {
        panic!("not published");
    };
    assert!(!publication.was_published);
    let PublishOutcome::Published(publication) = publish().await.unwrap() else {
        panic!("not published");
    };
    assert!(publication.was_published);
    assert_eq!(
        versions(&node, &world, "flow").await,
        [(2, true, true), (1, false, false)]
    );
    node.definitions()
        .revert(&world.tenant, "flow", 1)
        .await
        .unwrap()
        .unwrap();
    let draft = DefinitionHandle::Definition {
        id: "flow".into(),
        version: VersionOptions::Draft,
    };
    let StartOutcome::Started(report) = node.begin(StartRequest::new(draft)).await else {
        panic!("not started");
    };
    assert_eq!(
        (report.instance.version, report.lines),
        (3, vec!["c".to_owned()])
    );
}

#[tokio::test(start_paused = true)]
async fn an_import_keeps_unknown_ids_and_never_publishes() {
    let world = World::new();
    let node = world.node();
    let file = json!({
        "id": "v-77", "definitionId": "imported", "name": "Imported", "version": 9,
        "isPublished": true, "isLatest": true, "root": { "type": "Elsa.Sequence", "activities": [] },
    });
    let import = |json: &Value| {
        let definition = Definition::from_value(json.clone()).unwrap();
        node.definitions().import(&world.tenant, definition)
    };
    let SaveOutcome::Saved { definition, is_new } = import(&file).await.unwrap() else {
        panic!("read-only");
    };
    assert!(is_new);
    assert_eq!(
        (definition.version_id.as_str(), definition.version),
        ("v-77", 1)
    );
    assert!(!definition.is_published);
    // Another definition with the same version id gets one of its own.
    let mut other = file.clone();
    other["definitionId"] = json!("other");
    let SaveOutcome::Saved { definition, .. } = import(&other).await.unwrap() else {
        panic!("read-only");
    };
    assert_ne!(definition.version_id, "v-77");
    let by_id = node
        .query()
        .definition(&world.tenant, &DefinitionHandle::version("v-77"))
        .await
        .unwrap();
    assert_eq!(by_id.unwrap().definition_id, "imported");
}

#[tokio::test(start_paused = true)]
async fn after_a_publish_returns_no_node_starts_the_version_before() {
    let world = World::new();
    let (one, other) = (world.node(), world.node());
    one.publish(sequence("flow", &[write("old")])).await;
    assert_eq!(other.started("flow").await.lines, ["old"]);
    // There is no broadcast in this world.
    one.publish(sequence("flow", &[write("new")])).await;
    assert_eq!(other.started("flow").await.lines, ["new"]);
    let RetractOutcome::Retracted(_) = one
        .definitions()
        .retract(&world.tenant, "flow")
        .await
        .unwrap()
    else {
        panic!("not retracted");
    };
    let request = StartRequest::new(DefinitionHandle::published("flow"));
    assert!(matches!(other.begin(request).await, StartOutcome::NotFound));
    // A retracted version can be published again.
    let again = one
        .definitions()
        .publish(&world.tenant, "flow")
        .await
        .unwrap();
    assert!(matches!(again, PublishOutcome::Published(_)));
    assert_eq!(other.started("flow").await.lines, ["new"]);
}

#[tokio::test(start_paused = true)]
async fn an_instance_keeps_its_version() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("old")]))
        .await;
    let started = node.started("flow").await;
    node.publish(sequence("flow", &[event("go"), write("new")]))
        .await;
    node.definitions()
        .delete(&world.tenant, "flow")
        .await
        .unwrap();
    let other = world.node();
    let resumed = other
        .wake(started.instance.id.as_str(), &bookmark(&started))
        .await;
    let ResumeOutcome::Resumed(report) = resumed else {
        panic!("{resumed:?}");
    };
    assert_eq!(report.lines, ["old"]);
}

fn child(text: &str, auto_update: bool) -> Definition {
    with_options(
        "The Child",
        &[event("go"), write(text)],
        json!({ "usableAsActivity": true, "autoUpdateConsumingWorkflows": auto_update }),
    )
}

#[tokio::test(start_paused = true)]
async fn a_workflow_used_as_an_activity_is_pinned_with_the_instance() {
    let world = World::new();
    let node = world.node();
    node.publish(child("v1", false)).await;
    node.publish(sequence("parent", &[json!({ "type": "TheChild" })]))
        .await;
    let started = node.started("parent").await;
    node.publish(child("v2", false)).await;
    // On a node that has nothing in its cache, after the child was published again.
    let other = world.node();
    let ResumeOutcome::Resumed(report) = other
        .wake(started.instance.id.as_str(), &bookmark(&started))
        .await
    else {
        panic!("not resumed");
    };
    assert_eq!(report.lines, ["v1"]);
    // The parent was published with the first version and stays with it.
    let next = other.started("parent").await;
    let ResumeOutcome::Resumed(report) = other
        .wake(next.instance.id.as_str(), &bookmark(&next))
        .await
    else {
        panic!("not resumed");
    };
    assert_eq!(report.lines, ["v1"]);
    let consumers = node
        .query()
        .consumers(&world.tenant, "The Child")
        .await
        .unwrap();
    assert_eq!(consumers, Some(vec!["parent".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn publishing_a_child_moves_its_consumers_where_it_says_so() {
    let world = World::new();
    let node = world.node();
    node.publish(child("v1", true)).await;
    let uses = |version_id: &str| json!({ "type": "TheChild", "version": 1, "workflowDefinitionId": "The Child", "workflowDefinitionVersionId": version_id });
    let first = node
        .query()
        .definition(&world.tenant, &DefinitionHandle::published("The Child"))
        .await
        .unwrap()
        .unwrap();
    node.publish(sequence("published", &[uses(&first.version_id)]))
        .await;
    node.save(sequence("draft", &[uses(&first.version_id)]))
        .await;
    node.publish(sequence("by-name", &[json!({ "type": "TheChild" })]))
        .await;
    node.save(child("v2", true)).await;
    let outcome = node
        .definitions()
        .publish(&world.tenant, "The Child")
        .await
        .unwrap();
    let PublishOutcome::Published(publication) = outcome else {
        panic!("{outcome:?}");
    };
    let mut updated = publication.consumers_updated.clone();
    updated.sort();
    assert_eq!(updated, ["by-name", "draft", "published"]);
    assert_eq!(
        versions(&node, &world, "published").await,
        [(2, true, true), (1, false, false)]
    );
    assert_eq!(versions(&node, &world, "draft").await, [(1, true, false)]);
    for consumer in ["published", "by-name"] {
        let started = world.node().started(consumer).await;
        let ResumeOutcome::Resumed(report) = node
            .wake(started.instance.id.as_str(), &bookmark(&started))
            .await
        else {
            panic!("not resumed");
        };
        assert_eq!(report.lines, ["v2"], "{consumer}");
    }
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_child_that_comes_later_is_found_by_the_starts_after_it() {
    let world = World::new();
    let node = world.node_with(|config| config.fail_on_validation_errors = false);
    node.publish(sequence("parent", &[json!({ "type": "TheChild" })]))
        .await;
    let failed = node.started("parent").await;
    assert_eq!(failed.instance.sub_status.as_str(), "Faulted");
    node.publish(child("here", false)).await;
    let started = node.started("parent").await;
    assert_eq!(started.instance.sub_status.as_str(), "Suspended");
}

#[tokio::test(start_paused = true)]
async fn a_definition_with_errors_is_not_published_unless_that_is_allowed() {
    let world = World::new();
    let (strict, lenient) = (
        world.node(),
        world.node_with(|config| config.fail_on_validation_errors = false),
    );
    let duplicate = json!({ "type": "Elsa.WriteLine", "id": "same" });
    strict
        .save(sequence("flow", &[duplicate.clone(), duplicate]))
        .await;
    let refused = strict
        .definitions()
        .publish(&world.tenant, "flow")
        .await
        .unwrap();
    let PublishOutcome::Invalid(problems) = refused else {
        panic!("{refused:?}");
    };
    assert!(problems.iter().any(|p| p.code == "duplicateId"));
    let allowed = lenient
        .definitions()
        .publish(&world.tenant, "flow")
        .await
        .unwrap();
    let PublishOutcome::Published(publication) = allowed else {
        panic!("{allowed:?}");
    };
    assert!(!publication.problems.is_empty());
}
