//! An account on AWS in memory: the runtime over a table that is metered, and the functions that its parts invoke.

use std::sync::Arc;

use dormouse_engine::instance::{Bookmark, Wait};
use dormouse_expressions::Expressions;
use dormouse_runtime::port::Ports;
use dormouse_runtime::{
    Delivered, Runtime, RuntimeConfig, RuntimeError, Tenant, TimerOutcome, Wakes,
};
use dormouse_store::item::config::StoreConfig;
use dormouse_store::table::Table;
use dormouse_store::{MemoryTable, Store};
use dormouse_telemetry::{CloudWatchLines, LogFormat, log_to};
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;
use tracing::level_filters::LevelFilter;

use crate::ledger::Ledger;
use crate::parts::{Coming, Parts};
use crate::tally::{Phase, Tally};

/// How long a function may run, in ms.
const INVOCATION_MS: i64 = 30_000;

/// How much later a message comes again that could not be handled, in ms.
const AGAIN_MS: i64 = 1_000;

/// Bytes that the HTTP API bills as one request.
const REQUEST_BYTES: usize = 512 * 1_024;

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// What has come by now.
    Now,
    /// What comes first, however late.
    Ever,
    /// The next occurrence of a recurring trigger.
    Occurrence,
}

/// An account in memory. One thing happens in it at a time.
pub struct Account {
    runtime: Runtime,
    parts: Parts,
    log: Dispatch,
    metrics: Arc<CloudWatchLines>,
    tenant: Tenant,
}

/// A bookmark that is open.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenWait {
    /// The instance that waits.
    pub instance_id: String,
    /// Where it waits.
    pub bookmark: Bookmark,
}

impl Default for Account {
    fn default() -> Self {
        Self::new()
    }
}

impl Account {
    /// An empty account.
    #[must_use]
    pub fn new() -> Self {
        let memory = Arc::new(MemoryTable::new());
        Self::over(Arc::clone(&memory) as _, memory)
    }

    /// An empty account whose items lie in `table`. `stored` shows the same items to the account itself, which reads
    /// each before it is written.
    #[must_use]
    pub fn over(table: Arc<dyn Table>, stored: Arc<dyn Table>) -> Self {
        let parts = Parts::default();
        let ledger = Ledger::new(table, stored, parts.clone());
        let store = Store::new(Arc::new(ledger), StoreConfig::dynamo());
        let store = store.with_blobs(Arc::new(parts.clone()));
        let log = parts.clone();
        let log = log_to(move || log.clone(), LevelFilter::INFO, LogFormat::Json);
        let metrics = Arc::new(CloudWatchLines::new("Dormouse", "resume"));
        let shared = Arc::new(parts.clone());
        let ports = Ports {
            clock: shared.clone(),
            background: shared.clone(),
            scheduler: shared.clone(),
            http_caller: shared.clone(),
            queue: Some(shared.clone()),
            bus: Some(shared.clone()),
            broadcast: None,
            compute: None,
            observer: Some(shared),
            commands: None,
            functions: None,
            vault: None,
            metrics: Some(Arc::clone(&metrics) as _),
        };
        let config = RuntimeConfig::function("cost", INVOCATION_MS);
        let runtime = Runtime::new(store, ports, Arc::new(Expressions::default()), config);
        Self {
            runtime,
            parts,
            log: Dispatch::new(log),
            metrics,
            tenant: Tenant::default(),
        }
    }

    /// The use cases. What is asked of them here without [`Account::api`] is no invocation.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Whose it is.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Does something as a request to the HTTP API would.
    pub async fn api<T>(&self, work: impl Future<Output = T>) -> T {
        self.request("request", 0, work).await
    }

    /// The same, for a request with a name and a body of so many bytes.
    pub async fn request<T>(
        &self,
        phase: &str,
        body_bytes: usize,
        work: impl Future<Output = T>,
    ) -> T {
        {
            let mut state = self.parts.lock();
            state.begin_phase(phase);
            state.tally().api_requests += body_bytes.div_ceil(REQUEST_BYTES).max(1) as u64;
        }
        self.invoke(work).await
    }

    /// Does something as a function would. Lambda freezes it once it has answered, so work that nobody waits for belongs
    /// to the invocation, and so do the lines that it logs.
    async fn invoke<T>(&self, work: impl Future<Output = T>) -> T {
        self.parts.lock().tally().invocations += 1;
        let done = work.with_subscriber(self.log.clone()).await;
        self.finish_work().with_subscriber(self.log.clone()).await;
        let mut state = self.parts.lock();
        let now_ms = state.now_ms();
        for line in self.metrics.flush(now_ms) {
            state.tally().log_bytes += line.len() as u64 + 1;
        }
        done
    }

    /// What was asked of the parts since the last time.
    pub fn take_tally(&self) -> Tally {
        Tally::sum(&self.take_phases())
    }

    /// The same, phase by phase and item by item.
    pub fn take_phases(&self) -> Vec<Phase> {
        self.parts.lock().take_phases()
    }

    /// What was asked of the parts since then.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::sum(self.parts.lock().phases())
    }

    /// Bytes that the items take in the table and its indexes, as storage is billed.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.parts.lock().stored_bytes
    }

    /// The instance that began first since the last [`Account::take_phases`].
    #[must_use]
    pub fn began(&self) -> Option<String> {
        self.parts.lock().began.clone()
    }

    /// What went wrong in instances since then: the activity and a sentence.
    #[must_use]
    pub fn incidents(&self) -> Vec<String> {
        let state = self.parts.lock();
        state.incidents.values().flatten().cloned().collect()
    }

    /// Whether a recurring trigger of the definition will fire.
    #[must_use]
    pub fn recurs(&self, definition_id: &str) -> bool {
        let state = self.parts.lock();
        state.coming.values().any(|coming| match coming {
            Coming::Message(_) => false,
            Coming::Timer(timer) | Coming::Schedule(timer) => {
                matches!(&timer.wakes, Wakes::Occurrence(o) if o.definition_id == definition_id)
            }
        })
    }

    /// What instances wait for now, timers and calls included.
    #[must_use]
    pub fn open_waits(&self) -> Vec<OpenWait> {
        let state = self.parts.lock();
        let each = state.waits.iter().flat_map(|(instance_id, bookmarks)| {
            bookmarks.iter().map(|bookmark| OpenWait {
                instance_id: instance_id.clone(),
                bookmark: bookmark.clone(),
            })
        });
        each.collect()
    }

    /// Handles messages until none is left that can be handled now.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn settle(&self) -> Result<(), RuntimeError> {
        while self.come(Next::Now).await? {}
        Ok(())
    }

    /// Lets time pass until something happens, and lets it happen. False: nothing is on its way, recurring triggers
    /// left out.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn pass_time(&self) -> Result<bool, RuntimeError> {
        self.come(Next::Ever).await
    }

    /// Lets time pass until a recurring trigger fires next, or until its schedule does that leads to it. False: there is
    /// none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn pass_time_to_occurrence(&self) -> Result<bool, RuntimeError> {
        self.come(Next::Occurrence).await
    }

    async fn come(&self, next: Next) -> Result<bool, RuntimeError> {
        let Some(coming) = self.take_next(next) else {
            return Ok(false);
        };
        if let Coming::Schedule(timer) = coming {
            // The timer lies in its queue at once.
            let mut state = self.parts.lock();
            let at_ms = state.now_ms();
            state.tally().schedule_invocations += 1;
            state.put(at_ms, Coming::Timer(timer));
            return Ok(true);
        }
        {
            let mut state = self.parts.lock();
            let (chunks, is_in_bucket) = (coming.chunks(), coming.is_in_bucket());
            let tally = state.tally();
            tally.queue_receipts += 1;
            tally.queue_further_chunks += chunks - 1;
            tally.bucket_gets += u64::from(is_in_bucket);
        }
        if self.invoke(Box::pin(self.handle(&coming))).await? {
            let mut state = self.parts.lock();
            let at_ms = state.now_ms() + AGAIN_MS;
            state.put(at_ms, coming);
        }
        Ok(true)
    }

    /// Handles a message or a timer. True: it was early, and comes again.
    async fn handle(&self, coming: &Coming) -> Result<bool, RuntimeError> {
        match coming {
            Coming::Message(message) => match self.runtime.delivery().deliver(message).await? {
                Delivered::Done => Ok(false),
                Delivered::Later | Delivered::Missing | Delivered::Paused => Ok(true),
                Delivered::Never(reason) => {
                    self.parts.lock().dead(&message.id, reason);
                    self.runtime.dead_letters().give_up(message, reason).await?;
                    Ok(false)
                }
            },
            Coming::Timer(timer) | Coming::Schedule(timer) => {
                let outcome = self.runtime.timers().fire(timer).await?;
                Ok(matches!(outcome, TimerOutcome::Later))
            }
        }
    }

    /// Takes what comes next out of what is on its way, and lets time pass until then.
    fn take_next(&self, next: Next) -> Option<Coming> {
        let mut state = self.parts.lock();
        let now_ms = state.now_ms();
        let is_occurrence = next == Next::Occurrence;
        let mut each = state.coming.iter();
        let (&place, _) = each.find(|(_, coming)| coming.is_occurrence() == is_occurrence)?;
        if place.0 > now_ms && next == Next::Now {
            return None;
        }
        state.pass_until(place.0);
        let coming = state.coming.remove(&place)?;
        state.begin_phase(&coming.phase());
        Some(coming)
    }

    async fn finish_work(&self) {
        loop {
            let work = std::mem::take(&mut self.parts.lock().work);
            if work.is_empty() {
                return;
            }
            for work in work {
                work.await;
            }
        }
    }
}

impl OpenWait {
    /// Whether something that is on its way ends the wait: a time, an answer.
    #[must_use]
    pub fn ends_by_itself(&self) -> bool {
        match self.bookmark.wait {
            Wait::Timer { .. } | Wait::Call(_) => true,
            Wait::Stimulus { .. } | Wait::Direct => false,
        }
    }
}
