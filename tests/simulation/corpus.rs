//! Elsa's own workflows: those that come to an end by themselves. What is expected of them in a storm is what they
//! do in a calm.

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_engine::definition::Definition;
use dormouse_engine::instance::SubStatus;
use dormouse_engine::journal::Event;
use dormouse_expressions::Expressions;
use dormouse_runtime::{DefinitionHandle, PublishOutcome, Runtime, StartRequest};
use dormouse_tests::corpus;
use serde_json::Value;

use super::cluster::{Cluster, Shared, lock, tenant};
use super::inspector::{Found, Inspector, Left};
use super::model::begins;
use super::plan::{Plan, Size};
use super::recipe::{Ending, Expect, Recipe};
use super::workshop::until_done;
use super::world::World;

/// What starts itself never comes to rest.
const RECURRING: [&str; 3] = ["Elsa.Timer\"", "Elsa.Cron\"", "Elsa.StartAt\""];

/// The workflows, or none where the corpus is not there.
pub(crate) fn recipes() -> Vec<Recipe> {
    let mut definitions = BTreeMap::new();
    for file in corpus::files().unwrap_or_default() {
        let text = String::from_utf8_lossy(&file.bytes);
        if RECURRING.iter().any(|kind| text.contains(kind)) {
            continue;
        }
        let Ok(definition) = Definition::from_json(&file.bytes) else {
            continue;
        };
        if let (Some(id), Ok(json)) = (
            definition.definition_id,
            serde_json::from_slice(&file.bytes),
        ) {
            definitions.insert(id, json);
        }
    }
    let (one, other) = (observe(1, &definitions), observe(2, &definitions));
    let same = one.into_iter().filter(|(id, expect)| {
        let other = other.get(id);
        other.is_some_and(|other| format!("{other:?}") == format!("{expect:?}"))
    });
    same.filter_map(|(id, expect)| {
        let json: Value = definitions.get(&id)?.clone();
        Some(Recipe { id, json, expect })
    })
    .collect()
}

/// What each workflow does while nothing goes wrong, if it ends.
fn observe(seed: u64, definitions: &BTreeMap<String, Value>) -> BTreeMap<String, Expect> {
    let calm = Plan::calm(seed, Size::Corpus);
    let world = World::new(seed, 1, false);
    let expressions = Arc::new(Expressions::default());
    let cluster = Cluster::new(world.clone(), Shared::default(), &calm, expressions.clone());
    until_done(&world, start_all(cluster.runtime(0), definitions.clone()));
    let end = world.now_ms() + 24 * 3_600_000;
    world.run(|| cluster.is_at_rest() || world.now_ms() > end);
    let left = Inspector::new(&cluster, expressions).read(&cluster);
    let keys: Vec<String> = lock(&cluster.shared.requests).keys().cloned().collect();
    cluster.end();
    let mut observed = BTreeMap::new();
    for found in left.instances.iter().filter(|found| found.parent.is_none()) {
        let Some(mut expect) = expected(found, &left) else {
            continue;
        };
        let from = format!("{}/", found.id);
        let calls = keys.iter().filter(|key| key.starts_with(&from)).count();
        expect.calls = u32::try_from(calls).unwrap_or(u32::MAX);
        observed.insert(found.definition.clone(), expect);
    }
    observed
}

async fn start_all(runtime: Runtime, definitions: BTreeMap<String, Value>) {
    let mut published = Vec::new();
    for (id, json) in definitions {
        let Ok(definition) = Definition::from_value(json) else {
            continue;
        };
        let saved = runtime.definitions().save(&tenant(), definition).await;
        if saved.is_ok()
            && let Ok(PublishOutcome::Published(_)) =
                runtime.definitions().publish(&tenant(), &id).await
        {
            published.push(id);
        }
    }
    for id in published {
        let request = StartRequest::new(DefinitionHandle::published(&id));
        let started = runtime.instances().start(&tenant(), request).await;
        assert!(started.is_ok(), "`{id}` does not start: {started:?}");
    }
}

/// What an instance has done. `None`: it waits for something, or was cancelled.
fn expected(found: &Found, left: &Left) -> Option<Expect> {
    let ending = match found.sub_status {
        SubStatus::Finished => Ending::Finished,
        SubStatus::Faulted => Ending::Faulted,
        _ => return None,
    };
    let mut expect = Expect {
        ending,
        ..Expect::default()
    };
    for line in &found.lines {
        if line.event == Event::Completed {
            *expect.runs.entry(line.activity_id.clone()).or_default() += 1;
        }
    }
    let began = |id: &String| {
        let lines = found.lines.iter();
        let began = lines.filter(|line| line.activity_id == *id && begins(line));
        began.count()
    };
    // What begins and does not end, as a break out of a loop does, is left to the other tiers.
    expect.runs.retain(|id, times| began(id) == *times as usize);
    for child in &left.instances {
        if child.parent.as_ref() == Some(&found.id) {
            *expect.children.entry(child.definition.clone()).or_default() += 1;
        }
    }
    Some(expect)
}
