//! Requests for tasks that wait in this process: so many in all, and half of them of one tenant.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dormouse_store::Tenant;

/// Those who wait in a process, by tenant.
#[derive(Debug, Default)]
pub(crate) struct Polls(Mutex<BTreeMap<Tenant, usize>>);

/// One of those who wait, for as long as it is there.
pub(crate) struct Place<'a> {
    polls: &'a Polls,
    tenant: &'a Tenant,
}

impl Polls {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<Tenant, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place. `None`: as many wait as may, or as may of one tenant, which is half of them.
    pub(crate) fn take<'a>(&'a self, tenant: &'a Tenant, most: usize) -> Option<Place<'a>> {
        let mut waiting = self.waiting();
        let all: usize = waiting.values().sum();
        let own = waiting.get(tenant).copied().unwrap_or(0);
        if all >= most || own >= most.div_ceil(2) {
            return None;
        }
        waiting.insert(tenant.clone(), own + 1);
        drop(waiting);
        Some(Place {
            polls: self,
            tenant,
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut waiting = self.polls.waiting();
        let own = waiting.get(self.tenant).copied().unwrap_or(0);
        match own {
            0 | 1 => waiting.remove(self.tenant),
            more => waiting.insert(self.tenant.clone(), more - 1),
        };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_tenant_has_half_of_the_places_and_gives_them_back() {
        let polls = Polls::default();
        let (one, two) = (Tenant::new("one").unwrap(), Tenant::new("two").unwrap());
        let first = polls.take(&one, 4).unwrap();
        let _second = polls.take(&one, 4).unwrap();
        assert!(polls.take(&one, 4).is_none());
        let _third = polls.take(&two, 4).unwrap();
        let fourth = polls.take(&two, 4).unwrap();
        assert!(polls.take(&Tenant::new("three").unwrap(), 4).is_none());
        drop((first, fourth));
        assert!(polls.take(&one, 4).is_some());
        assert_eq!(polls.waiting().values().sum::<usize>(), 2);
    }
}
