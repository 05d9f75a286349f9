//! Forgetting what has changed.

use dormouse_store::Tenant;

use crate::loading::Graphs;
use crate::port::{DefinitionChanged, Metric};

impl Graphs<'_> {
    /// Forgets what this node remembers of a definition that has changed. A start checks the version anyway.
    pub fn invalidate(self, changed: &DefinitionChanged) {
        tracing::info!(
            tenant = changed.tenant,
            definition = changed.definition_id,
            "cache invalidation received"
        );
        self.record(Metric::CacheInvalidations, 1);
        if let Ok(tenant) = Tenant::new(&changed.tenant) {
            self.cache().forget(&tenant, &changed.definition_id);
        }
    }
}
