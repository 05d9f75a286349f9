//! What every route works with: the runtime and the limits of the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dormouse_runtime::{Runtime, Tenant};

use crate::metrics::MetricsPage;

/// The limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct HttpConfig {
    /// The largest body of a request, in bytes.
    pub body_bytes_max: usize,
    /// The most items on a page of a list.
    pub page_items_max: usize,
    /// Whether it is for this machine only, without authentication: then it answers only to this machine's names,
    /// so that no web page can reach it through a name of its own.
    pub is_local: bool,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            // The largest definition, and room for what is wrapped around it.
            body_bytes_max: dormouse_engine::definition::DEFINITION_BYTES_MAX + (64 << 10),
            page_items_max: 1_000,
            is_local: false,
        }
    }
}

/// What every route works with. Cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
    metrics: Option<MetricsPage>,
}

struct Inner {
    runtime: Runtime,
    tenant: Tenant,
    config: HttpConfig,
    is_draining: AtomicBool,
}

impl App {
    /// The routes' view of a runtime.
    #[must_use]
    pub fn new(runtime: Runtime, config: HttpConfig) -> Self {
        Self {
            inner: Arc::new(Inner {
                runtime,
                tenant: Tenant::default(),
                config,
                is_draining: AtomicBool::new(false),
            }),
            metrics: None,
        }
    }

    /// The same with a page of the node's numbers under `/metrics`.
    #[must_use]
    pub fn with_metrics(mut self, page: MetricsPage) -> Self {
        self.metrics = Some(page);
        self
    }

    pub(crate) fn metrics(&self) -> Option<&MetricsPage> {
        self.metrics.as_ref()
    }

    /// The use cases.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.inner.runtime
    }

    /// Whose requests these are.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.inner.tenant
    }

    /// The limits.
    #[must_use]
    pub fn config(&self) -> HttpConfig {
        self.inner.config
    }

    /// From now on the server is not ready: it finishes what it has and takes nothing new.
    pub fn drain(&self) {
        self.inner.is_draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.inner.is_draining.load(Ordering::Relaxed)
    }
}
