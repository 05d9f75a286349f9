//! Sweeping again and again: what a crash left is delivered, what has expired goes.

use std::sync::Arc;
use std::time::Duration;

use dormouse_runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::table::EmbeddedTable;

/// How often what a crash left is looked for, in ms. It costs a read of an empty partition.
const SWEEP_MS: u64 = 2_000;

/// Every how many sweeps the items past their time to live go.
const EXPIRED_EVERY: u32 = 30;

/// How often it is looked for in a table that others have too, in ms: a random time around this, so that processes
/// do not look together. In DynamoDB a look that finds nothing costs three queries for each of 16 shards: 32 read units.
const SHARED_SWEEP_MS: u64 = 20_000;

/// The most sweeps at once: one whose deliveries wait long does not keep what is left meanwhile waiting.
const SWEEPS_MAX: usize = 4;

/// Sweeps that are under way.
#[derive(Default)]
struct Sweeps(JoinSet<()>);

impl Sweeps {
    fn begin(&mut self, runtime: &Runtime) {
        while self.0.try_join_next().is_some() {}
        if self.0.len() < SWEEPS_MAX {
            let runtime = runtime.clone();
            self.0.spawn(async move { once(&runtime).await });
        }
    }

    async fn end(mut self) {
        while self.0.join_next().await.is_some() {}
    }
}

/// Sweeps until `stop` turns true, for all nodes of the process. The first sweep is at once.
pub async fn sweep(runtime: Runtime, table: Arc<EmbeddedTable>, stop: watch::Receiver<bool>) {
    let (mut round, mut sweeps) = (0_u32, Sweeps::default());
    loop {
        sweeps.begin(&runtime);
        if round.is_multiple_of(EXPIRED_EVERY) {
            let now_s = runtime.ports().clock.now().0 / 1_000;
            if let Err(error) = table.sweep_expired(now_s).await {
                tracing::warn!(%error, "expired items could not be removed; the next sweep tries again");
            }
        }
        round = round.wrapping_add(1);
        if is_over(SWEEP_MS, stop.clone()).await {
            return sweeps.end().await;
        }
    }
}

/// Looks every `every_ms` whether there is a pause, until `stop` turns true.
pub async fn watch_pause(nodes: Vec<Runtime>, every_ms: u64, stop: watch::Receiver<bool>) {
    loop {
        for node in &nodes {
            if let Err(error) = node.pauses().look().await {
                tracing::warn!(%error, "it could not be seen whether there is a pause; trying again");
            }
        }
        if is_over(every_ms, stop.clone()).await {
            return;
        }
    }
}

/// Sweeps a table that other processes sweep too, until `stop` turns true. Two sweeps at once deliver the same under
/// the same ids, so they are waste and no harm. What has expired is the table's own affair.
pub async fn sweep_shared(runtime: Runtime, stop: watch::Receiver<bool>) {
    let mut sweeps = Sweeps::default();
    loop {
        sweeps.begin(&runtime);
        let around = SHARED_SWEEP_MS / 2 + runtime.ports().clock.random() % SHARED_SWEEP_MS;
        if is_over(around, stop.clone()).await {
            return sweeps.end().await;
        }
    }
}

async fn once(runtime: &Runtime) {
    match runtime.operations().sweep().await {
        Ok(report) if report != dormouse_runtime::SweepReport::default() => {
            tracing::info!(?report, "swept");
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "a sweep failed; the next one tries again"),
    }
}

/// Waits so long. True: it is to stop.
async fn is_over(ms: u64, mut stop: watch::Receiver<bool>) -> bool {
    tokio::select! {
        () = tokio::time::sleep(Duration::from_millis(ms)) => false,
        _ = stop.wait_for(|stop| *stop) => true,
    }
}
