//! An account on AWS in memory: the runtime over a table that is metered, and the functions that its parts invoke.

use std::sync::Arc;

use dormouse_engine::instance::{Bookmark, Wait};
use dormouse_expressions::Expressions;
use dormouse_runtime::port::Ports;
use dormouse_runtime::{Delivered, Runtime, RuntimeConfig, RuntimeError, Tenant, TimerOutcome};
use dormouse_store::config::StoreConfig;
use dormouse_store::{MemoryTable, MeteredTable, Store};

use crate::parts::{Coming, Parts};
use crate::tally::Tally;

/// How long a function may run, in ms.
const INVOCATION_MS: i64 = 30_000;

/// How much later a message comes again that could not be handled, in ms.
const AGAIN_MS: i64 = 1_000;

/// An account in memory. One thing happens in it at a time.
pub struct Account {
    runtime: Runtime,
    metered: Arc<MeteredTable>,
    parts: Parts,
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
        let metered = Arc::new(MeteredTable::new(Arc::new(MemoryTable::new())));
        let store = Store::new(Arc::clone(&metered) as _, StoreConfig::dynamo());
        let parts = Parts::default();
        let shared = Arc::new(parts.clone());
        let ports = Ports {
            clock: shared.clone(),
            background: shared.clone(),
            scheduler: shared.clone(),
            http_caller: shared.clone(),
            queue: Some(shared.clone()),
            bus: Some(shared.clone()),
            broadcast: None,
            observer: Some(shared),
            metrics: None,
        };
        let config = RuntimeConfig::function("cost", INVOCATION_MS);
        let runtime = Runtime::new(store, ports, Arc::new(Expressions::default()), config);
        Self {
            runtime,
            metered,
            parts,
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
        {
            let tally = &mut self.parts.lock().tally;
            tally.api_requests += 1;
            tally.invocations += 1;
        }
        let done = work.await;
        self.finish_work().await;
        done
    }

    /// What was asked of the parts since the last time.
    pub fn take_tally(&self) -> Tally {
        let tally = std::mem::take(&mut self.parts.lock().tally);
        Tally {
            table: self.metered.reset(),
            ..tally
        }
    }

    /// What was asked of the parts since then.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let tally = self.parts.lock().tally;
        Tally {
            table: self.metered.usage(),
            ..tally
        }
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
        while self.come(false).await? {}
        Ok(())
    }

    /// Lets time pass until something happens, and lets it happen. False: nothing is on its way.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn pass_time(&self) -> Result<bool, RuntimeError> {
        self.come(true).await
    }

    /// Takes what comes next, if it has come by now or time may pass.
    async fn come(&self, time_passes: bool) -> Result<bool, RuntimeError> {
        let coming = {
            let mut state = self.parts.lock();
            let Some((&(at_ms, _), _)) = state.coming.first_key_value() else {
                return Ok(false);
            };
            if at_ms > state.now_ms() && !time_passes {
                return Ok(false);
            }
            state.pass_until(at_ms);
            let Some((_, coming)) = state.coming.pop_first() else {
                return Ok(false);
            };
            if let Coming::Schedule(timer) = coming {
                // The timer lies in its queue at once.
                state.tally.schedule_invocations += 1;
                state.put(at_ms, Coming::Timer(timer));
                return Ok(true);
            }
            state.tally.queue_receipts += 1;
            state.tally.invocations += 1;
            coming
        };
        let is_early = match &coming {
            Coming::Message(message) => match self.runtime.deliver(message).await? {
                Delivered::Done => false,
                Delivered::Later | Delivered::Paused => true,
                Delivered::Never(reason) => {
                    self.runtime.give_up(message, reason).await?;
                    false
                }
            },
            Coming::Timer(timer) | Coming::Schedule(timer) => {
                let outcome = self.runtime.fire_timer(timer).await?;
                matches!(outcome, TimerOutcome::Later)
            }
        };
        if is_early {
            let mut state = self.parts.lock();
            let at_ms = state.now_ms() + AGAIN_MS;
            state.put(at_ms, coming);
        }
        self.finish_work().await;
        Ok(true)
    }

    /// Lambda freezes a function once it has answered, so work that nobody waits for belongs to the invocation.
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
