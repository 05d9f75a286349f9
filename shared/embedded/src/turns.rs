//! Queued work in fair turns: tenants first, then the definitions of a tenant. Who runs it, and where, is not decided here.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use dormouse_runtime::port::{Saturated, Share, Work};

/// Bounds of a pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// Threads.
    pub threads: usize,
    /// Work that may be queued.
    pub queued_max: usize,
    /// Work of one tenant that may be queued, so that the queue has room for others.
    pub queued_of_tenant_max: usize,
    /// Work of one share that may be queued.
    pub queued_of_share_max: usize,
}

impl PoolLimits {
    /// Bounds for this machine: twice as many threads as processors, so that one definition can use all processors and others
    /// still find a thread.
    #[must_use]
    pub fn of_machine() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            threads: 2 * processors.clamp(2, 32),
            queued_max: 4_096,
            queued_of_tenant_max: 3_072,
            queued_of_share_max: 1_024,
        }
    }
}

/// Work in fair turns: tenants first, then the definitions of a tenant.
#[derive(Default)]
pub(crate) struct Queues {
    /// Tenants with queued work, the next one in front.
    tenants: VecDeque<(Arc<str>, Tenant)>,
    running: HashMap<Share, usize>,
    queued: usize,
    is_stopped: bool,
}

/// The queued work of a tenant: its definitions, the next one in front.
#[derive(Default)]
pub(crate) struct Tenant(VecDeque<(Arc<str>, VecDeque<Work>)>);

impl Queues {
    /// Queues work, or tells that there is no room for it.
    pub(crate) fn push(
        &mut self,
        share: Share,
        work: Work,
        limits: &PoolLimits,
    ) -> Result<(), Saturated> {
        if self.is_stopped || self.queued >= limits.queued_max {
            return Err(Saturated);
        }
        let Share { tenant, definition } = share;
        let at = self.tenants.iter().position(|(name, _)| *name == tenant);
        let at = at.unwrap_or_else(|| {
            self.tenants.push_back((tenant, Tenant::default()));
            self.tenants.len() - 1
        });
        let Some((_, Tenant(definitions))) = self.tenants.get_mut(at) else {
            return Err(Saturated);
        };
        let own: usize = definitions.iter().map(|(_, queue)| queue.len()).sum();
        if own >= limits.queued_of_tenant_max {
            return Err(Saturated);
        }
        match definitions.iter_mut().find(|(name, _)| *name == definition) {
            Some((_, queue)) if queue.len() >= limits.queued_of_share_max => return Err(Saturated),
            Some((_, queue)) => queue.push_back(work),
            None => definitions.push_back((definition, VecDeque::from([work]))),
        }
        self.queued += 1;
        Ok(())
    }

    /// The first work in turn whose share does not have its most threads. Its tenant and its definition go to the end.
    pub(crate) fn pop(&mut self, running_max: usize) -> Option<(Share, Work)> {
        for at in 0..self.tenants.len() {
            let (tenant, Tenant(definitions)) = self.tenants.get_mut(at)?;
            let free = definitions.iter().position(|(definition, _)| {
                let share = Share {
                    tenant: Arc::clone(tenant),
                    definition: Arc::clone(definition),
                };
                self.running.get(&share).is_none_or(|n| *n < running_max)
            });
            let Some((definition, mut queue)) = free.and_then(|free| definitions.remove(free))
            else {
                continue;
            };
            let work = queue.pop_front()?;
            if !queue.is_empty() {
                definitions.push_back((Arc::clone(&definition), queue));
            }
            let (tenant, rest) = self.tenants.remove(at)?;
            let share = Share {
                tenant: Arc::clone(&tenant),
                definition,
            };
            if !rest.0.is_empty() {
                self.tenants.push_back((tenant, rest));
            }
            self.queued -= 1;
            *self.running.entry(share.clone()).or_default() += 1;
            return Some((share, work));
        }
        None
    }

    /// Some of the running work of a share has ended.
    pub(crate) fn ended(&mut self, share: &Share) {
        if let Some(running) = self.running.get_mut(share) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(share);
            }
        }
    }

    /// Work of a share runs that was not queued.
    pub(crate) fn resumed(&mut self, share: &Share) {
        *self.running.entry(share.clone()).or_default() += 1;
    }

    /// How much work runs.
    pub(crate) fn running(&self) -> usize {
        self.running.values().sum()
    }

    /// Takes no more work, and answers what was queued: it is to be dropped where nobody waits for the lock.
    pub(crate) fn stop(&mut self) -> VecDeque<(Arc<str>, Tenant)> {
        self.is_stopped = true;
        self.queued = 0;
        std::mem::take(&mut self.tenants)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped
    }
}
