//! The parts of AWS as the runtime's ports, in memory: they do what their counterparts would, and count it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::id::splitmix;
use dormouse_engine::instance::Bookmark;
use dormouse_engine::journal::Event;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::port::{
    Background, Bus, Clock, Happened, HttpCaller, Observer, PortError, Queue, Scheduler,
    TaskRequest, Work,
};
use dormouse_runtime::{Message, Timer};

use crate::tally::Tally;

/// The longest delay of a message, in ms: "Amazon SQS message timers".
const DELAY_MS_MAX: i64 = 900_000;

/// A schedule fires this much ahead, in ms, because it may be a minute late; a delayed message does the rest.
const AHEAD_MS: i64 = 90_000;

/// 2026-01-01T00:00:00Z: when the clock begins.
const BEGIN_MS: i64 = 1_767_225_600_000;

/// Something that comes at a time.
#[derive(Debug, Clone)]
pub(crate) enum Coming {
    /// A message of the resume queue.
    Message(Box<Message>),
    /// A message of the timer queue.
    Timer(Box<Timer>),
    /// A schedule that puts its timer into the timer queue.
    Schedule(Box<Timer>),
}

/// All that the parts remember.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) tally: Tally,
    /// What comes, in the order of its time and of its sending.
    pub(crate) coming: BTreeMap<(i64, u64), Coming>,
    /// The open bookmarks of each instance.
    pub(crate) waits: BTreeMap<String, Vec<Bookmark>>,
    pub(crate) work: Vec<Work>,
    now_ms: i64,
    drawn: u64,
    sent: u64,
}

impl State {
    pub(crate) fn put(&mut self, at_ms: i64, coming: Coming) {
        self.sent += 1;
        self.coming.insert((at_ms, self.sent), coming);
    }

    pub(crate) fn now_ms(&self) -> i64 {
        BEGIN_MS + self.now_ms
    }

    /// Lets time pass until then, if that is ahead.
    pub(crate) fn pass_until(&mut self, at_ms: i64) {
        self.now_ms = self.now_ms.max(at_ms - BEGIN_MS);
    }
}

/// The parts. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Parts(Arc<Mutex<State>>);

impl Parts {
    /// A thread that died holding the lock has left whole entries only.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Clock for Parts {
    fn now(&self) -> Timestamp {
        Timestamp(self.lock().now_ms())
    }

    /// One thing happens at a time, so nobody else has anything to do meanwhile.
    async fn sleep(&self, ms: u64) {
        let mut state = self.lock();
        let until = state.now_ms() + i64::try_from(ms).unwrap_or(0);
        state.pass_until(until);
    }

    fn random(&self) -> u64 {
        let mut state = self.lock();
        state.drawn += 1;
        splitmix(state.drawn)
    }
}

impl Background for Parts {
    fn spawn(&self, work: Work) {
        self.lock().work.push(work);
    }
}

#[async_trait]
impl Queue for Parts {
    async fn send(&self, message: &Message, delay_ms: u64) -> Result<(), PortError> {
        let mut state = self.lock();
        state.tally.queue_sends += 1;
        let at = state.now_ms() + i64::try_from(delay_ms).unwrap_or(DELAY_MS_MAX);
        state.put(at, Coming::Message(Box::new(message.clone())));
        Ok(())
    }
}

#[async_trait]
impl Scheduler for Parts {
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError> {
        let mut state = self.lock();
        let (now, due, timer) = (state.now_ms(), timer.due.0, Box::new(timer.clone()));
        if due - now > DELAY_MS_MAX {
            state.tally.schedule_calls += 1;
            state.put(due - AHEAD_MS, Coming::Schedule(timer));
        } else {
            state.tally.queue_sends += 1;
            state.put(due.max(now), Coming::Timer(timer));
        }
        Ok(())
    }

    /// A message cannot be taken back: it comes, and finds that nothing waits for it.
    async fn forget(&self, timer: &Timer) -> Result<(), PortError> {
        let mut state = self.lock();
        let is_it = |coming: &Coming| matches!(coming, Coming::Schedule(t) if t.id() == timer.id());
        let before = state.coming.len();
        state.coming.retain(|_, coming| !is_it(coming));
        if state.coming.len() < before {
            state.tally.schedule_calls += 1;
        }
        Ok(())
    }
}

#[async_trait]
impl Bus for Parts {
    async fn request_task(&self, _request: &TaskRequest) -> Result<(), PortError> {
        self.lock().tally.bus_events += 1;
        Ok(())
    }
}

#[async_trait]
impl HttpCaller for Parts {
    /// Nobody is called: everybody answers 200 with an empty object.
    async fn call(&self, _request: &HttpRequest, _timeout_ms: u64) -> Answer {
        self.lock().tally.outgoing_requests += 1;
        Answer::Http {
            status: 200,
            headers: BTreeMap::from([("content-type".into(), vec!["application/json".into()])]),
            body: b"{}".to_vec(),
        }
    }
}

impl Observer for Parts {
    fn happened(&self, happened: Happened<'_>) {
        let mut state = self.lock();
        let is_work = |node: &dormouse_engine::graph::Node| {
            let activity = &node.activity;
            !(activity.is_container() || activity.is_workflow() || activity.is_composite())
        };
        for entry in happened.journal {
            let counts = matches!(entry.event, Event::Started | Event::Retrying);
            if counts && is_work(happened.graph.node(entry.node)) {
                state.tally.activities += 1;
            }
        }
        let instance = happened.instance;
        let id = instance.id.to_string();
        if instance.is_ended() {
            state.waits.remove(&id);
        } else {
            state.waits.insert(id, instance.bookmarks.clone());
        }
    }
}
