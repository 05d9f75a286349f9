//! What every route works with: the runtime, the limits of the server, and who is asking.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dormouse_runtime::identity::{Authentication, Identity, Principal};
use dormouse_runtime::port::Compute;
use dormouse_runtime::{Runtime, Tenant};

use crate::known_clients::KnownClients;
use crate::memory::Memory;
use crate::metrics::MetricsPage;
use crate::rate_limit::RateLimit;
use crate::refusal::Refusal;

/// How many resume links that lead nowhere a client may try at once, and how soon one more.
const LINKS: (u32, Duration) = (30, Duration::from_secs(2));

/// How many wrong passwords a client may try at once, and how soon one more.
const PASSWORDS: (u32, Duration) = (10, Duration::from_secs(6));

/// The limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct HttpConfig {
    /// The largest body of a request, in bytes.
    pub body_bytes_max: usize,
    /// Memory for the bodies of all requests and what they are parsed to, in bytes. Beyond it requests are shed.
    pub memory_bytes_max: usize,
    /// Memory for what the JSON of one request is parsed to, in bytes, about.
    pub parsed_bytes_max: usize,
    /// The most items on a page of a list.
    pub page_items_max: usize,
    /// Whether it is for this machine only: then it answers only to this machine's names, so that no web page can
    /// reach it through a name of its own.
    pub is_local: bool,
    /// How many proxies stand before it that add to `X-Forwarded-For`: clients are told apart by what the first of them
    /// saw. 0: by their connections.
    pub proxies: usize,
    /// Whether requests must have come to the first proxy by HTTPS, or
    /// to this process, see [`crate::Encrypted`]; `/health` apart.
    pub requires_https: bool,
    /// Whether Elsa's `/bookmarks/resume?t=` resumes, on GET too. Mail scanners follow links, so it is off.
    pub has_elsa_links: bool,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            // The largest definition, and room for what is wrapped around it.
            body_bytes_max: dormouse_engine::definition::DEFINITION_BYTES_MAX + (64 << 10),
            memory_bytes_max: 72 << 20,
            parsed_bytes_max: 48 << 20,
            page_items_max: 1_000,
            is_local: false,
            proxies: 0,
            requires_https: false,
            has_elsa_links: false,
        }
    }
}

/// What every route works with. Cheap to clone.
#[derive(Clone)]
pub struct App {
    runtime: Runtime,
    inner: Arc<Inner>,
    metrics: Option<MetricsPage>,
    identity: Arc<Identity>,
    public_url: Option<Arc<str>>,
    compute: Option<Arc<dyn Compute>>,
    /// Who is asking; nobody, outside a request.
    principal: Arc<Principal>,
}

struct Inner {
    config: HttpConfig,
    is_draining: AtomicBool,
    memory: Arc<Memory>,
    links_limit: RateLimit,
    webhooks_limit: RateLimit,
    passwords_limit: RateLimit,
    known_clients: KnownClients,
}

impl App {
    /// The routes' view of a runtime. It lets nobody in until it is told whom, by [`Self::with_authentication`].
    #[must_use]
    pub fn new(runtime: Runtime, config: HttpConfig) -> Self {
        let identity = Identity::new(runtime.clone(), Authentication::closed());
        let limit = |(failures_max, refill)| RateLimit::new(failures_max, refill);
        Self {
            runtime,
            inner: Arc::new(Inner {
                config,
                is_draining: AtomicBool::new(false),
                memory: Arc::new(Memory::new(config.memory_bytes_max)),
                links_limit: limit(LINKS),
                webhooks_limit: limit(LINKS),
                passwords_limit: limit(PASSWORDS),
                known_clients: KnownClients::default(),
            }),
            metrics: None,
            identity: Arc::new(identity),
            public_url: None,
            compute: None,
            principal: Arc::new(Principal::anonymous()),
        }
    }

    /// The same with a page of the node's numbers under `/metrics`.
    #[must_use]
    pub fn with_metrics(mut self, page: MetricsPage) -> Self {
        self.metrics = Some(page);
        self
    }

    /// The same with threads for what occupies a processor: `requests` for those that parse, check and pack, `passwords` for
    /// passwords. Without them all work is done where requests are served, which is right for a function with one request.
    /// To be called after [`Self::with_authentication`].
    #[must_use]
    pub fn with_compute(mut self, requests: Arc<dyn Compute>, passwords: Arc<dyn Compute>) -> Self {
        self.compute = Some(requests);
        self.identity = Arc::new(self.identity.with_compute(passwords));
        self
    }

    pub(crate) fn compute(&self) -> Option<&Arc<dyn Compute>> {
        self.compute.as_ref()
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.inner.memory
    }

    pub(crate) fn metrics(&self) -> Option<&MetricsPage> {
        self.metrics.as_ref()
    }

    /// The same, letting in whom the setting names.
    #[must_use]
    pub fn with_authentication(mut self, authentication: Authentication) -> Self {
        self.identity = Arc::new(Identity::new(self.runtime.clone(), authentication));
        self
    }

    /// The same over another runtime of the same table: for a function, which has one for each event. What is
    /// remembered of keys and users, and who is held up for guessing, stays.
    #[must_use]
    pub fn with_runtime(mut self, runtime: Runtime) -> Self {
        self.identity = Arc::new(self.identity.with_runtime(runtime.clone()));
        self.runtime = runtime;
        self
    }

    /// The same, known to people under this address: what resume links begin with. Without it they begin as the
    /// request did that asked for the link.
    #[must_use]
    pub fn with_public_url(mut self, url: &str) -> Self {
        self.public_url = Some(url.trim_end_matches('/').into());
        self
    }

    /// The same, for a request of somebody.
    pub(crate) fn of(mut self, principal: Principal) -> Self {
        self.principal = Arc::new(principal);
        self
    }

    /// The use cases.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Whose request this is.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.principal.tenant
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

    /// Who is asking.
    pub(crate) fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Who may ask.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Refuses whoever has none of the permissions.
    pub(crate) fn require(&self, any_of: &'static [&'static str]) -> Result<(), Refusal> {
        if self.principal.permissions.allow(any_of) {
            Ok(())
        } else if self.principal.is_known() {
            Err(Refusal::Forbidden { any_of })
        } else {
            Err(Refusal::Unauthenticated)
        }
    }

    pub(crate) fn public_url(&self) -> Option<&str> {
        self.public_url.as_deref()
    }

    pub(crate) fn links_limit(&self) -> &RateLimit {
        &self.inner.links_limit
    }

    pub(crate) fn known_clients(&self) -> &KnownClients {
        &self.inner.known_clients
    }

    pub(crate) fn webhooks_limit(&self) -> &RateLimit {
        &self.inner.webhooks_limit
    }

    pub(crate) fn passwords_limit(&self) -> &RateLimit {
        &self.inner.passwords_limit
    }
}
