//! Spans of this process, sent to a collector every few seconds and once more at the end.

use std::sync::Arc;
use std::time::Duration;

use dormouse_egress::{Egress, EgressConfig, Reach};
use dormouse_runtime::port::Observer;
use dormouse_telemetry::{Collector, Spans};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Interval between two sends.
const EVERY: Duration = Duration::from_secs(5);

/// Begins to send spans to a collector. Returns the observer that records them, combined with the present one.
///
/// The operator has named the collector, so it may be on this machine.
pub(super) fn begin(
    collector: Collector,
    observer: Option<Arc<dyn Observer>>,
    tasks: &mut JoinSet<()>,
    stop: &watch::Receiver<bool>,
) -> Arc<dyn Observer> {
    let caller = Egress::new(EgressConfig::new(Reach::Anywhere));
    let spans = Arc::new(Spans::new(collector, Arc::new(caller)));
    tasks.spawn(run(Arc::clone(&spans), stop.clone()));
    let all = observer.into_iter().chain([spans as Arc<dyn Observer>]);
    Arc::new(all.collect::<Vec<_>>())
}

/// Sends them until `stop` turns true.
async fn run(spans: Arc<Spans>, mut stop: watch::Receiver<bool>) {
    let mut is_over = false;
    while !is_over {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            // A missing sender of the stop signal is a reason to stop, too.
            changed = stop.changed() => is_over = changed.is_err() || *stop.borrow(),
        }
        spans.send().await;
    }
}
