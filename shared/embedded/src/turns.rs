//! Queued work in fair turns: tenants first, then the definitions of a tenant. Who runs it, and where, is not decided here.
//!
//! Turns alone would let many definitions with endless scripts hold up another one by the time of all of theirs, so whoever has taken
//! much time lately comes after those that have not, and leaves them a thread.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_runtime::port::{Saturated, Share, Work};

/// Time after which half of what a share has taken is forgotten.
const HALF_LIFE: Duration = Duration::from_secs(10);

/// Shares that have taken less time differ in nothing.
const UNIT: Duration = Duration::from_millis(200);

/// Work that takes less time is not counted, which bounds the number of shares that are.
const COUNTED: Duration = Duration::from_millis(10);

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
    usage: Usage,
    /// Whether the next work is the first in turn, whatever was taken.
    is_by_turn: bool,
    is_stopped: bool,
}

/// Time that shares and tenants have taken lately: it halves every [`HALF_LIFE`].
#[derive(Default)]
struct Usage {
    shares: HashMap<Share, Duration>,
    tenants: HashMap<Arc<str>, Duration>,
    halved: Option<Instant>,
}

impl Usage {
    fn charge(&mut self, share: &Share, taken: Duration, now: Instant) {
        let mut halved = *self.halved.get_or_insert(now);
        while now.saturating_duration_since(halved) >= HALF_LIFE {
            halved = match self.shares.is_empty() && self.tenants.is_empty() {
                true => now,
                false => halved + HALF_LIFE,
            };
            halve(&mut self.shares);
            halve(&mut self.tenants);
        }
        self.halved = Some(halved);
        if taken >= COUNTED {
            *self.shares.entry(share.clone()).or_default() += taken;
            *self.tenants.entry(Arc::clone(&share.tenant)).or_default() += taken;
        }
    }

    /// In [`UNIT`]s, so that usual work stays in turns.
    fn of(&self, share: &Share) -> u128 {
        units(self.shares.get(share))
    }

    fn of_tenant(&self, tenant: &Arc<str>) -> u128 {
        units(self.tenants.get(tenant))
    }
}

fn units(taken: Option<&Duration>) -> u128 {
    taken.map_or(0, |taken| taken.as_millis() / UNIT.as_millis())
}

fn halve<K>(taken: &mut HashMap<K, Duration>) {
    taken.retain(|_, taken| {
        *taken /= 2;
        *taken >= COUNTED
    });
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

    /// The next work: of the tenant, and then of its definition, that has taken least of the threads lately; of those that have
    /// taken as much, the first in turn. Every other time it is the first in turn in any case, so that a flood of short work holds up
    /// no share for ever. Its tenant and its definition go to the end. A share has half of the threads at most, and all those that
    /// have taken much leave one thread to the others.
    pub(crate) fn pop(&mut self, threads: usize) -> Option<(Share, Work)> {
        let running_max = (threads / 2).max(1);
        let leaves_one = self.heavy_running() < threads.saturating_sub(1).max(1);
        let mut best: Option<(u128, usize, usize)> = None;
        for (at, (tenant, Tenant(definitions))) in self.tenants.iter().enumerate() {
            let rank = |taken| if self.is_by_turn { 0 } else { taken };
            let least = rank(self.usage.of_tenant(tenant));
            if best.is_some_and(|(before, ..)| before <= least) {
                continue;
            }
            let ready = definitions.iter().enumerate();
            let ready = ready.filter_map(|(place, (definition, _))| {
                let share = Share {
                    tenant: Arc::clone(tenant),
                    definition: Arc::clone(definition),
                };
                let taken = self.usage.of(&share);
                let is_free = self.running.get(&share).is_none_or(|n| *n < running_max);
                (is_free && (taken == 0 || leaves_one)).then_some((rank(taken), place))
            });
            if let Some((_, place)) = ready.min() {
                best = Some((least, at, place));
            }
        }
        let (_, at, place) = best?;
        let (tenant, Tenant(mut definitions)) = self.tenants.remove(at)?;
        let (definition, mut queue) = definitions.remove(place)?;
        let work = queue.pop_front()?;
        if !queue.is_empty() {
            definitions.push_back((Arc::clone(&definition), queue));
        }
        let share = Share {
            tenant: Arc::clone(&tenant),
            definition,
        };
        if !definitions.is_empty() {
            self.tenants.push_back((tenant, Tenant(definitions)));
        }
        self.queued -= 1;
        self.is_by_turn = !self.is_by_turn;
        *self.running.entry(share.clone()).or_default() += 1;
        Some((share, work))
    }

    /// Running work of shares that have taken much.
    fn heavy_running(&self) -> usize {
        let running = self.running.iter();
        let heavy = running.filter(|(share, _)| self.usage.of(share) > 0);
        heavy.map(|(_, count)| count).sum()
    }

    /// Charges a share for the time that its work has occupied a thread.
    pub(crate) fn charge(&mut self, share: &Share, taken: Duration, now: Instant) {
        self.usage.charge(share, taken, now);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    const LIMITS: PoolLimits = PoolLimits {
        threads: 4,
        queued_max: 1_000,
        queued_of_tenant_max: 1_000,
        queued_of_share_max: 1_000,
    };

    fn queue(queues: &mut Queues, tenant: &str, definition: &str) {
        let share = Share::new(tenant, definition);
        assert!(queues.push(share, Box::pin(async {}), &LIMITS).is_ok());
    }

    fn next(queues: &mut Queues) -> Option<String> {
        let (share, _) = queues.pop(LIMITS.threads)?;
        Some(format!("{}/{}", share.tenant, share.definition))
    }

    #[test]
    fn many_that_take_long_leave_a_thread_and_come_after_those_that_do_not() {
        let (mut queues, begin) = (Queues::default(), Instant::now());
        for n in 0..20 {
            let hostile = format!("hostile-{n}");
            queues.charge(&Share::new("t", &hostile), Duration::from_secs(2), begin);
            queue(&mut queues, "t", &hostile);
        }
        let busy: Vec<_> = std::iter::from_fn(|| next(&mut queues)).collect();
        assert_eq!(busy.len(), LIMITS.threads - 1);
        queue(&mut queues, "t", "usual");
        assert_eq!(next(&mut queues).as_deref(), Some("t/usual"));
        assert_eq!(next(&mut queues), None);
        queues.ended(&Share::new("t", "hostile-0"));
        queue(&mut queues, "other", "usual");
        assert_eq!(next(&mut queues).as_deref(), Some("other/usual"));
        assert_eq!(next(&mut queues).as_deref(), Some("t/hostile-3"));
    }

    #[test]
    fn a_flood_of_short_work_starves_no_share() {
        let (mut queues, begin) = (Queues::default(), Instant::now());
        for tenant in ["t", "other"] {
            let share = Share::new(tenant, "long");
            queues.charge(&share, Duration::from_secs(2), begin);
            queue(&mut queues, tenant, "long");
        }
        for n in 0..20 {
            queue(&mut queues, "t", &format!("short-{n}"));
            queue(&mut queues, "flood", &format!("short-{n}"));
        }
        let order: Vec<_> = (0..12).filter_map(|_| next(&mut queues)).collect();
        let long = order.iter().filter(|name| name.ends_with("/long"));
        assert_eq!(long.count(), 2, "{order:?}");
    }

    #[test]
    fn what_was_taken_long_ago_is_forgotten() {
        let (mut queues, begin) = (Queues::default(), Instant::now());
        let share = Share::new("t", "was-hostile");
        queues.charge(&share, Duration::from_secs(2), begin);
        assert_eq!(queues.usage.of(&share), 10);
        queues.charge(&share, Duration::ZERO, begin + HALF_LIFE);
        assert_eq!(queues.usage.of(&share), 5);
        queues.charge(&share, Duration::ZERO, begin + HALF_LIFE * 1_000);
        assert_eq!(queues.usage.of(&share), 0);
        assert!(queues.usage.shares.is_empty() && queues.usage.tenants.is_empty());
    }
}
