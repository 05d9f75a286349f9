//! Whoever watches: the console of a local run, a log, live updates of a designer.

use std::sync::Arc;

use dormouse_engine::graph::Graph;
use dormouse_engine::instance::Instance;
use dormouse_engine::journal::Entry;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;

/// What a commit has made true.
#[derive(Debug, Clone, Copy)]
pub struct Happened<'a> {
    /// Whose it is.
    pub tenant: &'a Tenant,
    /// The instance as it is now.
    pub instance: &'a Instance,
    /// The number of the commit.
    pub commit: u64,
    /// What its activities are.
    pub graph: &'a Graph,
    /// What `WriteLine` wrote since the commit before.
    pub lines: &'a [String],
    /// What happened since the commit before.
    pub journal: &'a [Entry],
    /// When the work began that was committed.
    pub since: Timestamp,
    /// When it was committed.
    pub at: Timestamp,
    /// The id of the message that led to it: `instance/commit/place` if it is an effect of another commit. `None`:
    /// somebody asked, or the time has come.
    pub cause: Option<&'a str>,
}

/// Watches. It is told after each commit and must return quickly; what it does changes nothing.
pub trait Observer: Send + Sync + 'static {
    /// A commit was done.
    fn happened(&self, happened: Happened<'_>);
}

/// Several who watch, told one after the other.
impl Observer for Vec<Arc<dyn Observer>> {
    fn happened(&self, happened: Happened<'_>) {
        for observer in self {
            observer.happened(happened);
        }
    }
}
