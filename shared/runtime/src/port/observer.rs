//! Whoever watches: the console of a local run, a log, live updates of a designer.

use dormouse_engine::graph::Graph;
use dormouse_engine::instance::Instance;
use dormouse_engine::journal::Entry;
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
}

/// Watches. It is told after each commit and must return quickly; what it does changes nothing.
pub trait Observer: Send + Sync + 'static {
    /// A commit was done.
    fn happened(&self, happened: Happened<'_>);
}
