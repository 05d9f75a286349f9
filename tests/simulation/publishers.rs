//! People who publish: a definition that changes while it is used, and definitions that start themselves.

use dormouse_engine::definition::Definition;
use dormouse_runtime::{PublishOutcome, RetractOutcome, Runtime, SaveOutcome};
use dormouse_tests::primitives::{delay, line, sequence};
use dormouse_tests::{activity, workflow};
use serde_json::Value;

use super::cluster::{lock, tenant};
use super::ledger::{Change, Recurring};
use super::people::People;
use super::plan::Overlap;
use super::special::{VERSIONED, version};

/// Saves a definition; answers whether it was acknowledged.
async fn save(runtime: Runtime, json: Value) -> Option<()> {
    let definition = Definition::from_value(json).expect("the run's own definition");
    let saved = runtime
        .definitions()
        .save(&tenant(), definition)
        .await
        .ok()?;
    matches!(saved, SaveOutcome::Saved { .. }).then_some(())
}

/// Publishes a definition; answers the version in force.
async fn publish(runtime: Runtime, id: String) -> Option<u32> {
    match runtime.definitions().publish(&tenant(), &id).await.ok()? {
        PublishOutcome::Published(published) => Some(published.definition.version),
        other => panic!("`{id}` is not published: {other:?}"),
    }
}

async fn retract(runtime: Runtime, id: String) -> Option<()> {
    match runtime.definitions().retract(&tenant(), &id).await.ok()? {
        RetractOutcome::Retracted(_) | RetractOutcome::NotPublished => Some(()),
        RetractOutcome::NotFound => panic!("`{id}` is gone"),
    }
}

impl People {
    async fn save_and_publish(&self, id: &str, json: &Value) -> u32 {
        self.cluster
            .insist("save", |runtime| save(runtime, json.clone()), |saved| saved)
            .await;
        self.publish(id).await
    }

    async fn publish(&self, id: &str) -> u32 {
        self.cluster
            .insist("publish", |runtime| publish(runtime, id.to_owned()), |p| p)
            .await
    }

    async fn retract(&self, id: &str) {
        self.cluster
            .insist("retract", |runtime| retract(runtime, id.to_owned()), |r| r)
            .await;
    }

    /// Publishes new versions of the definition that changes, and retracts it now and then. One person at a time.
    pub(crate) async fn change(&self, times: u32) {
        let world = &self.cluster.world;
        {
            let mut is_changing = lock(&self.is_changing);
            if std::mem::replace(&mut *is_changing, true) {
                return;
            }
        }
        for time in 0..times {
            world.sleep(world.below(2_000)).await;
            if world.chance(300) {
                let began = world.tick();
                self.retract(VERSIONED).await;
                let ended = world.tick();
                self.changed(began, ended, 0);
                world.sleep(world.below(1_000)).await;
            }
            let began = world.tick();
            let recipe = version(time + 2);
            let number = self.save_and_publish(VERSIONED, &recipe.json).await;
            let ended = world.tick();
            self.changed(began, ended, number);
        }
    }

    fn changed(&self, began: u64, ended: u64, version: u32) {
        lock(&self.ledger).changes.push(Change {
            began,
            ended,
            version,
        });
    }

    /// Publishes a definition that starts itself, and retracts it after a while.
    pub(crate) async fn recur(&self, key: &str, interval_s: u64, is_cron: bool, overlap: Overlap) {
        let world = &self.cluster.world;
        let id = format!("recur-{key}");
        if overlap != Overlap::Allow {
            lock(&self.cluster.shared.watch).singles.insert(id.clone());
        }
        let began = world.now_ms();
        let json = recurring(&id, interval_s, is_cron, overlap);
        self.save_and_publish(&id, &json).await;
        let published = (began, world.now_ms());
        // Hours are long enough for a few occurrences only.
        let times = if interval_s > 60 { 3 } else { 6 };
        world.sleep(world.below(interval_s * 1_000 * times)).await;
        let began = world.now_ms();
        self.retract(&id).await;
        lock(&self.ledger).recurring.push(Recurring {
            definition: id,
            interval_ms: i64::try_from(interval_s * 1_000).unwrap_or(i64::MAX),
            overlap,
            is_cron,
            published,
            retracted: (began, world.now_ms()),
        });
    }
}

fn recurring(id: &str, interval_s: u64, is_cron: bool, overlap: Overlap) -> Value {
    let trigger = if is_cron {
        activity("Elsa.Cron").input(
            "cronExpression",
            format!("*/{interval_s} * * * * *").as_str(),
        )
    } else {
        let (minutes, seconds) = (interval_s / 60, interval_s % 60);
        let interval = format!("00:{minutes:02}:{seconds:02}");
        activity("Elsa.Timer").input("interval", interval.as_str())
    };
    let policy = match overlap {
        Overlap::Allow => "allow",
        Overlap::Skip => "skip",
        Overlap::BufferOne => "bufferOne",
        Overlap::CancelPrevious => "cancelPrevious",
    };
    let trigger = trigger.id("tick").trigger().custom("overlapPolicy", policy);
    let root = sequence([trigger, delay("00:00:03").id("sleep"), line("done")]);
    workflow(id, root)
        .kept_input("StartAt", "Object")
        .json()
        .clone()
}
