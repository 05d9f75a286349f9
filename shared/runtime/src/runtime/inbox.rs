//! Stimuli for one instance, combined: while one caller works on an instance, others leave their requests with it, and
//! all that wait are applied in one burst and one commit.
//!
//! Of those who wait none is a background worker: the first caller works until its own requests are answered, and then
//! hands the work to the next. A caller that goes away hands it on, too. Each instance occupies one worker of a process
//! at most, however many stimuli come for it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_store::Tenant;
use futures_channel::oneshot::{Receiver, Sender, channel};

use crate::error::RuntimeError;
use crate::work::wake::{Advanced, WakeRequest};

/// Which instance.
type Key = (Tenant, String);

/// Answer to a request.
pub(crate) type Answered = Result<Advanced, RuntimeError>;

/// A request that waits for the worker of its instance.
pub(crate) struct Waiter {
    pub(crate) request: WakeRequest,
    answer: Sender<Reply>,
    /// How many requests of the same caller are not answered yet.
    left: Arc<AtomicUsize>,
}

impl Waiter {
    /// Answers the request. Whoever asked may have gone away.
    pub(crate) fn answer(self, answered: Answered) {
        self.left.fetch_sub(1, Ordering::AcqRel);
        let _is_gone = self.answer.send(Reply::Answered(answered));
    }
}

/// Message to a caller that waits.
pub(crate) enum Reply {
    Answered(Answered),
    /// It is its turn to work, and this was its request.
    Work(Box<WakeRequest>),
}

/// The inboxes of the instances that are being worked on.
#[derive(Default)]
pub(crate) struct Inboxes {
    open: Mutex<HashMap<Key, VecDeque<Waiter>>>,
}

/// The requests of one caller. Dropping them hands on a turn that the caller was given and did not begin.
pub(crate) struct Seats<'a> {
    inboxes: &'a Inboxes,
    key: Key,
    pub(crate) replies: Vec<Receiver<Reply>>,
    left: Arc<AtomicUsize>,
    /// Whether nobody works on the instance, so that this caller must.
    pub(crate) works: bool,
}

/// The turn of a caller to work on an instance. Dropping it hands the work on.
pub(crate) struct Turn<'a> {
    inboxes: &'a Inboxes,
    key: Key,
    left: Arc<AtomicUsize>,
}

impl Inboxes {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, VecDeque<Waiter>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves requests for an instance.
    pub(crate) fn put(&self, key: &Key, requests: Vec<WakeRequest>) -> Seats<'_> {
        let left = Arc::new(AtomicUsize::new(requests.len()));
        let mut open = self.lock();
        let works = !open.contains_key(key);
        let inbox = open.entry(key.clone()).or_default();
        let mut replies = Vec::with_capacity(requests.len());
        for request in requests {
            let (answer, reply) = channel();
            replies.push(reply);
            inbox.push_back(Waiter {
                request,
                answer,
                left: Arc::clone(&left),
            });
        }
        Seats {
            inboxes: self,
            key: key.clone(),
            replies,
            left,
            works,
        }
    }

    /// Puts a request back to where it was, for a caller whose turn it is.
    pub(crate) fn put_back(
        &self,
        key: &Key,
        request: WakeRequest,
        seats: &Seats<'_>,
    ) -> Receiver<Reply> {
        let (answer, reply) = channel();
        let waiter = Waiter {
            request,
            answer,
            left: Arc::clone(&seats.left),
        };
        self.lock()
            .entry(key.clone())
            .or_default()
            .push_front(waiter);
        reply
    }

    /// Takes a request back whose turn has not come. False: it is being worked on, or is answered.
    pub(crate) fn take_back(&self, key: &Key, reply: &Receiver<Reply>) -> bool {
        let mut open = self.lock();
        let Some(inbox) = open.get_mut(key) else {
            return false;
        };
        let place = inbox
            .iter()
            .position(|waiter| waiter.answer.is_connected_to(reply));
        let taken = place.and_then(|place| inbox.remove(place));
        if let Some(waiter) = &taken {
            waiter.left.fetch_sub(1, Ordering::AcqRel);
        }
        taken.is_some()
    }

    /// Gives the work to the first caller that is still there.
    fn hand_on(&self, key: &Key) {
        let mut open = self.lock();
        let Some(inbox) = open.get_mut(key) else {
            return;
        };
        while let Some(Waiter {
            request, answer, ..
        }) = inbox.pop_front()
        {
            if answer.send(Reply::Work(Box::new(request))).is_ok() {
                return;
            }
        }
        open.remove(key);
    }

    /// Begins the turn of a caller.
    pub(crate) fn turn(&self, key: &Key, seats: &Seats<'_>) -> Turn<'_> {
        Turn {
            inboxes: self,
            key: key.clone(),
            left: Arc::clone(&seats.left),
        }
    }
}

impl Turn<'_> {
    /// The next requests, at most `limit`; one that must be alone is alone. None once the caller's own are answered.
    pub(crate) fn next(&self, limit: usize) -> Vec<Waiter> {
        let mut batch: Vec<Waiter> = Vec::new();
        if self.left.load(Ordering::Acquire) == 0 {
            return batch;
        }
        let mut open = self.inboxes.lock();
        let Some(inbox) = open.get_mut(&self.key) else {
            return batch;
        };
        while batch.len() < limit
            && let Some(first) = inbox.front()
        {
            let is_alone = first.request.is_alone();
            if is_alone && !batch.is_empty() {
                break;
            }
            batch.extend(inbox.pop_front());
            if is_alone {
                break;
            }
        }
        batch
    }

    /// Puts requests back that had no turn.
    pub(crate) fn put_back(&self, rest: Vec<Waiter>) {
        let mut open = self.inboxes.lock();
        let inbox = open.entry(self.key.clone()).or_default();
        for waiter in rest.into_iter().rev() {
            inbox.push_front(waiter);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.inboxes.hand_on(&self.key);
    }
}

impl Drop for Seats<'_> {
    fn drop(&mut self) {
        let mut is_our_turn = false;
        for reply in &mut self.replies {
            // Afterwards nothing can be sent to it any more, so a turn is found here or passes this caller over.
            reply.close();
            is_our_turn |= matches!(reply.try_recv(), Ok(Some(Reply::Work(_))));
        }
        if is_our_turn {
            self.inboxes.hand_on(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_engine::step::Stimulus;

    use super::*;

    fn key() -> Key {
        (Tenant::default(), "i".to_owned())
    }

    fn request() -> WakeRequest {
        WakeRequest::new("i", Stimulus::Cancel)
    }

    #[test]
    fn the_second_caller_waits_and_gets_the_work_when_the_first_is_done() {
        let inboxes = Inboxes::default();
        let first = inboxes.put(&key(), vec![request()]);
        let mut second = inboxes.put(&key(), vec![request()]);
        assert!(first.works && !second.works);
        let turn = inboxes.turn(&key(), &first);
        for waiter in turn.next(1) {
            waiter.answer(Ok(Advanced::StimulusTaken));
        }
        assert!(turn.next(1).is_empty(), "its own requests are answered");
        drop(turn);
        let reply = second.replies[0].try_recv().unwrap();
        assert!(matches!(reply, Some(Reply::Work(_))));
    }

    #[test]
    fn a_caller_that_went_away_is_passed_over() {
        let inboxes = Inboxes::default();
        let first = inboxes.put(&key(), vec![request()]);
        drop(inboxes.put(&key(), vec![request()]));
        let turn = inboxes.turn(&key(), &first);
        turn.next(1)
            .into_iter()
            .for_each(|w| w.answer(Ok(Advanced::StimulusTaken)));
        drop(turn);
        assert!(inboxes.lock().is_empty());
    }

    #[test]
    fn a_caller_that_goes_away_after_it_got_the_work_hands_it_on() {
        let inboxes = Inboxes::default();
        let first = inboxes.put(&key(), vec![request(), request()]);
        let second = inboxes.put(&key(), vec![request()]);
        let mut third = inboxes.put(&key(), vec![request()]);
        // The first has two requests and is cut off in the middle of the one: its turn comes again for the other.
        let turn = inboxes.turn(&key(), &first);
        drop(turn.next(1));
        drop(turn);
        drop(first);
        drop(second);
        let reply = third.replies[0].try_recv().unwrap();
        let Some(Reply::Work(request)) = reply else {
            panic!("not its turn");
        };
        third.replies[0] = inboxes.put_back(&key(), *request, &third);
        drop(inboxes.turn(&key(), &third));
        drop(third);
        assert!(inboxes.lock().is_empty(), "the next one begins anew");
    }

    #[test]
    fn a_request_is_taken_back_only_before_its_turn() {
        let inboxes = Inboxes::default();
        let first = inboxes.put(&key(), vec![request()]);
        let second = inboxes.put(&key(), vec![request()]);
        let turn = inboxes.turn(&key(), &first);
        let batch = turn.next(1);
        assert!(!inboxes.take_back(&key(), &first.replies[0]));
        assert!(inboxes.take_back(&key(), &second.replies[0]));
        assert!(!inboxes.take_back(&key(), &second.replies[0]));
        drop((batch, turn));
        assert!(inboxes.lock().is_empty());
    }

    #[test]
    fn a_turn_that_is_dropped_in_the_middle_hands_the_work_on() {
        let inboxes = Inboxes::default();
        let first = inboxes.put(&key(), vec![request()]);
        let mut second = inboxes.put(&key(), vec![request()]);
        drop((inboxes.turn(&key(), &first), first));
        let reply = second.replies[0].try_recv().unwrap();
        assert!(matches!(reply, Some(Reply::Work(_))));
    }
}
