//! Which connections are held: so many in all, and so many from one address. One that comes when all are taken takes the place of
//! the oldest one that waits for a request; if all are at work, it is served as an extra one.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::AbortHandle;

use super::limits::ConnectionLimits;

/// Extra connections: they serve liveness probes, and tell other clients to try later.
const EXTRA_MAX: usize = 64;

/// Number of requests of a connection in progress.
#[derive(Debug, Clone, Default)]
pub(super) struct Phase(Arc<AtomicUsize>);

impl Phase {
    /// A request is being worked on until the guard is dropped.
    pub(super) fn work(&self) -> Working {
        let others = self.0.fetch_add(1, Ordering::Relaxed);
        Working {
            phase: self.clone(),
            is_first: others == 0,
        }
    }

    pub(super) fn is_working(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// See [`Phase::work`].
pub(super) struct Working {
    phase: Phase,
    /// When it began, no other request of the connection was being worked on.
    pub(super) is_first: bool,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.phase.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The connections that are held.
#[derive(Clone)]
pub(super) struct Admission {
    limits: ConnectionLimits,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    next: u64,
    /// By number, so that the oldest comes first.
    seats: BTreeMap<u64, Seat>,
    of_address: HashMap<IpAddr, usize>,
    extra: usize,
}

struct Seat {
    address: IpAddr,
    phase: Phase,
    /// `None` until its task has begun.
    task: Option<AbortHandle>,
}

/// A place for a connection; given back when it is dropped.
pub(super) struct Place {
    /// `None`: an extra one.
    number: Option<u64>,
    pub(super) phase: Phase,
    admission: Admission,
}

impl Admission {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            held: Arc::default(),
        }
    }

    /// A place for a connection from an address. `None`: there is none, not even an extra one.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Place> {
        let address = address.to_canonical();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.of_address.get(&address).copied().unwrap_or_default();
        let has_room = match (
            own < self.limits.of_address,
            held.seats.len() < self.limits.all,
        ) {
            (true, true) => true,
            (false, _) => held.evict(Some(address)),
            (true, false) => held.evict(None),
        };
        let phase = Phase::default();
        let number = if has_room {
            held.next += 1;
            let number = held.next;
            *held.of_address.entry(address).or_default() += 1;
            let seat = Seat {
                address,
                phase: phase.clone(),
                task: None,
            };
            held.seats.insert(number, seat);
            Some(number)
        } else if held.extra < EXTRA_MAX {
            held.extra += 1;
            None
        } else {
            return None;
        };
        Some(Place {
            number,
            phase,
            admission: self.clone(),
        })
    }

    /// Says which task serves a place: it is ended if its place is needed.
    pub(super) fn begun(&self, number: Option<u64>, task: AbortHandle) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seat) = number.and_then(|number| held.seats.get_mut(&number)) {
            seat.task = Some(task);
        }
    }
}

impl Held {
    /// Closes the oldest connection that waits for a request, of an address or of all. False: all are at work.
    fn evict(&mut self, address: Option<IpAddr>) -> bool {
        let mut waiting = self.seats.iter().filter(|(_, seat)| {
            let is_meant = address.is_none_or(|address| address == seat.address);
            is_meant && !seat.phase.is_working() && seat.task.is_some()
        });
        let Some(number) = waiting.next().map(|(number, _)| *number) else {
            return false;
        };
        if let Some(task) = self.leave(number) {
            task.abort();
        }
        true
    }

    fn leave(&mut self, number: u64) -> Option<AbortHandle> {
        let seat = self.seats.remove(&number)?;
        if let Some(own) = self.of_address.get_mut(&seat.address) {
            *own -= 1;
            if *own == 0 {
                self.of_address.remove(&seat.address);
            }
        }
        seat.task
    }
}

impl Place {
    /// Its number. `None`: it is an extra one.
    pub(super) fn number(&self) -> Option<u64> {
        self.number
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let held = &self.admission.held;
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        match self.number {
            Some(number) => drop(held.leave(number)),
            None => held.extra -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn admission(all: usize, of_address: usize) -> Admission {
        Admission::new(ConnectionLimits { all, of_address })
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// A place whose task only waits.
    fn taken(admission: &Admission, from: &str) -> (Place, tokio::task::JoinHandle<()>) {
        let place = admission.admit(address(from)).unwrap();
        let task = tokio::spawn(std::future::pending());
        admission.begun(place.number(), task.abort_handle());
        (place, task)
    }

    #[tokio::test]
    async fn the_oldest_that_waits_makes_room_and_those_at_work_stay() {
        let admission = admission(3, 3);
        let (first, first_task) = taken(&admission, "192.0.2.1");
        let (_second, second_task) = taken(&admission, "192.0.2.2");
        let (_third, third_task) = taken(&admission, "192.0.2.3");
        let work = first.phase.work();
        let (fourth, _) = taken(&admission, "192.0.2.4");
        assert!(fourth.number().is_some());
        assert!(second_task.await.unwrap_err().is_cancelled());
        assert!(!first_task.is_finished() && !third_task.is_finished());
        drop(work);
        let (_fifth, _) = taken(&admission, "192.0.2.5");
        assert!(first_task.await.unwrap_err().is_cancelled());
    }

    #[tokio::test]
    async fn one_address_takes_no_place_of_others() {
        let admission = admission(10, 2);
        let (_other, other_task) = taken(&admission, "192.0.2.9");
        let (_first, first_task) = taken(&admission, "192.0.2.1");
        let (_second, _) = taken(&admission, "192.0.2.1");
        let (_third, _) = taken(&admission, "::ffff:192.0.2.1");
        assert!(first_task.await.unwrap_err().is_cancelled());
        assert!(!other_task.is_finished());
    }

    #[tokio::test]
    async fn when_all_are_at_work_there_are_extra_places_and_they_come_back() {
        let admission = admission(1, 1);
        let (first, _) = taken(&admission, "192.0.2.1");
        let work = first.phase.work();
        let extra: Vec<Place> =
            std::iter::from_fn(|| admission.admit(address("192.0.2.2"))).collect();
        assert_eq!(extra.len(), EXTRA_MAX);
        assert!(extra.iter().all(|place| place.number().is_none()));
        drop((extra, work, first));
        let place = admission.admit(address("192.0.2.2")).unwrap();
        assert!(place.number().is_some());
    }
}
