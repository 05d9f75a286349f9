//! Spans of this process, sent to a collector every few seconds and once more at the end.

use std::sync::Arc;
use std::time::Duration;

use dormouse_egress::{Egress, EgressConfig, Reach};
use dormouse_telemetry::{Collector, Spans};
use tokio::sync::watch;

/// How often they are sent.
const EVERY: Duration = Duration::from_secs(5);

/// Spans for a collector. Whoever starts the server has named it, so it may be on this machine.
pub(super) fn spans(collector: Collector) -> Arc<Spans> {
    let caller = Egress::new(EgressConfig::new(Reach::Anywhere));
    Arc::new(Spans::new(collector, Arc::new(caller)))
}

/// Sends them until `stop` turns true.
pub(super) async fn run(spans: Arc<Spans>, mut stop: watch::Receiver<bool>) {
    let mut is_over = false;
    while !is_over {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            // Nobody who could stop it is a reason to stop too.
            changed = stop.changed() => is_over = changed.is_err() || *stop.borrow(),
        }
        spans.send().await;
    }
}
