//! What a burst has done, for whoever asked for it.

use std::sync::Arc;

use dormouse_engine::call::HttpResponse;
use dormouse_engine::graph::Graph;
use dormouse_engine::instance::Instance;

/// What a burst has done. It is committed.
#[derive(Debug, Clone)]
pub struct BurstReport {
    /// The instance as it is now: status, outputs, incidents, open bookmarks.
    pub instance: Instance,
    /// What it runs.
    pub graph: Arc<Graph>,
    /// The number of the last commit.
    pub commit: u64,
    /// What `WriteLine` wrote, in order.
    pub lines: Vec<String>,
    /// What the workflow answers to the HTTP request that waits for it, if it does.
    pub response: Option<HttpResponse>,
    /// Whether it made way with more to do: it goes on by itself.
    pub goes_on: bool,
}
