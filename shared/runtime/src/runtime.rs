//! The `Runtime`: the store, the ports, and the use cases on them. Each use case is in the file of its name.

use std::sync::Arc;

use dormouse_expressions::Expressions;
use dormouse_store::Store;

use crate::config::RuntimeConfig;
use crate::port::Ports;

/// Everything the use cases need. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    ports: Ports,
    expressions: Arc<Expressions>,
    config: RuntimeConfig,
}

impl Runtime {
    /// A runtime over a store and ports.
    #[must_use]
    pub fn new(
        store: Store,
        ports: Ports,
        expressions: Arc<Expressions>,
        config: RuntimeConfig,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                store,
                ports,
                expressions,
                config,
            }),
        }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// The ports.
    #[must_use]
    pub fn ports(&self) -> &Ports {
        &self.inner.ports
    }

    /// How it behaves.
    #[must_use]
    pub fn config(&self) -> &RuntimeConfig {
        &self.inner.config
    }

    /// What runs scripts.
    #[must_use]
    pub fn expressions(&self) -> &Expressions {
        &self.inner.expressions
    }
}
