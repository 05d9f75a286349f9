//! Sweeping again and again: what a crash left is delivered, what has expired goes.

use std::sync::Arc;
use std::time::Duration;

use dormouse_runtime::Runtime;
use tokio::sync::watch;

use crate::table::EmbeddedTable;

/// How often what a crash left is looked for, in ms. It costs a read of an empty partition.
const SWEEP_MS: u64 = 2_000;

/// Every how many sweeps the items past their time to live go.
const EXPIRED_EVERY: u32 = 30;

/// Sweeps until `stop` turns true, for all nodes of the process. The first sweep is at once.
pub async fn sweep(runtime: Runtime, table: Arc<EmbeddedTable>, mut stop: watch::Receiver<bool>) {
    let mut round = 0_u32;
    loop {
        match runtime.sweep().await {
            Ok(report) if report != dormouse_runtime::SweepReport::default() => {
                tracing::info!(?report, "swept");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "a sweep failed; the next one tries again"),
        }
        if round.is_multiple_of(EXPIRED_EVERY) {
            let now_s = runtime.ports().clock.now().0 / 1_000;
            if let Err(error) = table.sweep_expired(now_s).await {
                tracing::warn!(%error, "expired items could not be removed; the next sweep tries again");
            }
        }
        round = round.wrapping_add(1);
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(SWEEP_MS)) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}
