//! Operators: one pauses everything for a while, and one retries what has failed.

use dormouse_engine::instance::SubStatus;
use serde_json::json;

use super::cluster::{lock, tenant};
use super::gatherings::start_of;
use super::people::People;
use super::special::{BROKEN, BROKEN_ALONE};
use super::world::Owner;

/// For how long a broken workflow fails, ms.
const BROKEN_MS: u64 = 20_000;

impl People {
    /// Pauses the system and ends the pause.
    pub(crate) async fn pause(&self, for_ms: u64) {
        let world = &self.cluster.world;
        self.cluster
            .insist(
                "pause",
                |runtime| async move { runtime.pauses().begin("operator", None).await },
                |paused| paused.ok().flatten(),
            )
            .await;
        let began = world.now_ms();
        world.sleep(for_ms).await;
        let ended = world.now_ms();
        let is_last = {
            let mut ledger = lock(&self.ledger);
            ledger.pauses.push((began, ended));
            ledger.pauses.len() == self.cluster.plan.pauses()
        };
        self.cluster
            .insist(
                "end pause",
                |runtime| async move { runtime.pauses().end().await },
                Result::ok,
            )
            .await;
        if is_last {
            world.spawn(Owner::Outside, self.cluster.clone().end_late_pauses());
        }
    }

    /// Starts a workflow that fails for a while, and retries it until it ends well.
    pub(crate) async fn mend(&self, key: &str) {
        let instance = self.start_broken(key, BROKEN).await;
        let world = &self.cluster.world;
        world.sleep(BROKEN_MS + world.below(BROKEN_MS)).await;
        self.retry(&instance).await;
    }

    /// The same, twice, with a workflow of which one may run: one retry waits for the other one's end.
    pub(crate) async fn mend_alone(&self, key: &str) {
        let world = &self.cluster.world;
        let mut instances = Vec::new();
        for part in ["a", "b"] {
            let key = format!("{key}{part}");
            instances.push(self.start_broken(&key, BROKEN_ALONE).await);
        }
        world.sleep(BROKEN_MS).await;
        for instance in instances {
            let people = self.clone();
            self.send(async move { people.retry(&instance).await });
        }
    }

    async fn start_broken(&self, key: &str, definition: &str) -> String {
        let world = &self.cluster.world;
        let until = world.now_ms() + i64::try_from(BROKEN_MS).unwrap_or(0);
        let mut request = start_of(definition);
        request.input.insert("Until".into(), json!(until));
        self.start_under(key, request).await
    }

    async fn retry(&self, instance: &str) {
        self.cluster
            .insist(
                "retry",
                |runtime| {
                    let id = instance.to_owned();
                    async move {
                        // What the retry could not do yet the next one does.
                        drop(runtime.instances().retry(&tenant(), &id, Vec::new()).await);
                        let detail = runtime.query().instance(&tenant(), &id).await.ok()??;
                        Some(detail.instance.sub_status)
                    }
                },
                |status| (status == Some(SubStatus::Finished)).then_some(()),
            )
            .await;
    }
}
