//! What a node remembers: definitions as they were read, compiled graphs, and which version of each definition is
//! published. The first two never change; the third is checked by every start.

use std::sync::Arc;

use dormouse_engine::definition::Definition;
use dormouse_engine::graph::Graph;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::definition::head::DefinitionHead;
use quick_cache::Weighter;
use quick_cache::sync::Cache as QuickCache;

use crate::graph::bindings::Bindings;
use crate::graph::version_extra::VersionExtra;

/// How many published versions are remembered, whatever their size.
const PUBLISHED_MAX: usize = 10_000;

/// A graph by what it was compiled of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct GraphKey {
    pub(crate) tenant: Tenant,
    pub(crate) definition_id: String,
    pub(crate) version: u32,
    pub(crate) bindings: Bindings,
}

/// A version that can be run: its graph and what its instances are pinned to.
#[derive(Debug, Clone)]
pub(crate) struct Runnable {
    pub(crate) definition: Arc<Definition>,
    pub(crate) graph: Arc<Graph>,
    pub(crate) bindings: Bindings,
    /// Whether its steps may run scripts.
    pub(crate) runs_scripts: bool,
}

/// What was published when this node looked last.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) head: DefinitionHead,
    pub(crate) extra: VersionExtra,
    pub(crate) runnable: Runnable,
    /// Until when it counts although it uses workflows that were not found. `None`: it uses none.
    pub(crate) incomplete_until: Option<Timestamp>,
}

#[derive(Debug, Clone)]
struct Nodes;

impl Weighter<GraphKey, Runnable> for Nodes {
    fn weight(&self, _key: &GraphKey, runnable: &Runnable) -> u64 {
        runnable.graph.nodes.len() as u64 + 10
    }
}

/// What a node remembers.
pub(crate) struct Cache {
    published: QuickCache<(Tenant, String), Arc<Published>>,
    graphs: QuickCache<GraphKey, Runnable, Nodes>,
}

impl Cache {
    pub(crate) fn new(nodes_max: u64) -> Self {
        let graphs = usize::try_from(nodes_max / 20).unwrap_or(usize::MAX);
        Self {
            published: QuickCache::new(PUBLISHED_MAX),
            graphs: QuickCache::with_weighter(graphs.max(16), nodes_max, Nodes),
        }
    }

    pub(crate) fn published(&self, tenant: &Tenant, definition_id: &str) -> Option<Arc<Published>> {
        // A pair of borrowed parts does not look up an owned pair, and a tenant is a counted reference.
        self.published
            .get(&(tenant.clone(), definition_id.to_owned()))
    }

    pub(crate) fn put_published(&self, tenant: &Tenant, published: Arc<Published>) {
        let id = published.head.definition_id.clone();
        self.published.insert((tenant.clone(), id), published);
    }

    pub(crate) fn graph(&self, key: &GraphKey) -> Option<Runnable> {
        self.graphs.get(key)
    }

    pub(crate) fn put_graph(&self, key: GraphKey, runnable: Runnable) {
        self.graphs.insert(key, runnable);
    }

    /// Forgets what is published of a definition, and of every one that missed a workflow: it may be this one.
    pub(crate) fn forget(&self, tenant: &Tenant, definition_id: &str) {
        self.published
            .remove(&(tenant.clone(), definition_id.to_owned()));
        self.published
            .retain(|_, published| published.incomplete_until.is_none());
    }
}
