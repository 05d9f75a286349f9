//! The parts of AWS as the runtime's ports, in memory: they do what their counterparts would, and count it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::id::splitmix;
use dormouse_engine::instance::Bookmark;
use dormouse_engine::journal::Event;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::message::Task;
use dormouse_runtime::port::{
    Background, Bus, Clock, Happened, HttpCaller, Observer, PortError, Queue, Scheduler,
    TaskRequest, Work,
};
use dormouse_runtime::{Message, Timer, Wakes};
use dormouse_store::item::error::Cause;
use dormouse_store::table::blobs::Blobs;

use crate::charge::Units;
use crate::tally::{Phase, Tally};

/// Bytes of a message or an event that SQS and EventBridge bill as one: 64 KiB.
const CHUNK_BYTES: usize = 64 * 1_024;

/// The largest message that a queue carries itself. A larger one lies in the bucket.
const CARRIED_BYTES_MAX: usize = 252 * 1_024;

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

impl Coming {
    /// Whether it fires a recurring trigger.
    pub(crate) fn is_occurrence(&self) -> bool {
        match self {
            Self::Message(_) => false,
            Self::Timer(timer) | Self::Schedule(timer) => match timer.wakes {
                Wakes::Occurrence(_) => true,
                Wakes::Bookmark { .. } => false,
            },
        }
    }

    /// The name of the work that it brings.
    pub(crate) fn phase(&self) -> String {
        match self {
            Self::Message(message) => {
                let task = serde_json::to_value(&message.task).unwrap_or_default();
                let name = task.get("do").and_then(|name| name.as_str());
                format!("message {}", name.unwrap_or("?"))
            }
            Self::Timer(_) | Self::Schedule(_) if self.is_occurrence() => "occurrence".to_owned(),
            Self::Timer(_) | Self::Schedule(_) => "timer".to_owned(),
        }
    }

    /// Chunks of 64 KiB of its message. One that the bucket carries is one.
    pub(crate) fn chunks(&self) -> u64 {
        let bytes = match self {
            Self::Message(message) => message.encode(),
            Self::Timer(timer) | Self::Schedule(timer) => firing(timer).encode(),
        };
        // A message that cannot be written is not sent either.
        let bytes = bytes.map_or(0, |bytes| bytes.len());
        match bytes {
            0..=CARRIED_BYTES_MAX => chunks(bytes),
            _ => 1,
        }
    }

    /// Whether the bucket carries it.
    pub(crate) fn is_in_bucket(&self) -> bool {
        match self {
            Self::Message(message) => message.encode().is_ok_and(|b| b.len() > CARRIED_BYTES_MAX),
            Self::Timer(_) | Self::Schedule(_) => false,
        }
    }
}

/// The message that fires a timer.
fn firing(timer: &Timer) -> Message {
    let task = Task::Fire {
        timer: timer.clone(),
    };
    Message::new(format!("timer/{}", timer.id()), timer.tenant.clone(), task)
}

fn chunks(bytes: usize) -> u64 {
    bytes.div_ceil(CHUNK_BYTES).max(1) as u64
}

/// All that the parts remember.
#[derive(Default)]
pub(crate) struct State {
    phases: Vec<Phase>,
    /// Where in `phases` the work under way is entered.
    phase: usize,
    /// Bytes of the table and its indexes, as storage is billed.
    pub(crate) stored_bytes: usize,
    blobs: BTreeMap<String, Bytes>,
    /// The instance that began first since [`State::take_phases`].
    pub(crate) began: Option<String>,
    /// What went wrong in instances since then.
    pub(crate) incidents: BTreeMap<String, Vec<String>>,
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
    /// The tally of the work under way.
    pub(crate) fn tally(&mut self) -> &mut Tally {
        &mut self.open().tally
    }

    /// The items of the work under way.
    pub(crate) fn items(&mut self) -> &mut BTreeMap<(String, &'static str), Units> {
        &mut self.open().items
    }

    fn open(&mut self) -> &mut Phase {
        self.phase = self.phase.min(self.phases.len());
        if self.phase == self.phases.len() {
            self.phases.push(Phase {
                name: "other".to_owned(),
                ..Phase::default()
            });
        }
        #[allow(
            clippy::indexing_slicing,
            reason = "it has just been made sure to be there"
        )]
        &mut self.phases[self.phase]
    }

    /// What is asked of the parts from now on is for this.
    pub(crate) fn begin_phase(&mut self, name: &str) {
        let known = self.phases.iter().position(|phase| phase.name == name);
        self.phase = known.unwrap_or_else(|| {
            self.phases.push(Phase {
                name: name.to_owned(),
                ..Phase::default()
            });
            self.phases.len() - 1
        });
    }

    pub(crate) fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// What was asked of the parts until now, phase by phase. The next account begins.
    pub(crate) fn take_phases(&mut self) -> Vec<Phase> {
        self.began = None;
        self.incidents.clear();
        self.phase = 0;
        std::mem::take(&mut self.phases)
    }

    /// Notes a message that can never be handled.
    pub(crate) fn dead(&mut self, id: &str, reason: &str) {
        let told = self.incidents.entry(id.to_owned()).or_default();
        told.push(format!("a message became a dead letter: {reason}"));
    }

    fn send(&mut self, at_ms: i64, coming: Coming) {
        let (chunks, is_in_bucket) = (coming.chunks(), coming.is_in_bucket());
        let tally = self.tally();
        tally.queue_sends += 1;
        tally.queue_further_chunks += chunks - 1;
        tally.bucket_puts += u64::from(is_in_bucket);
        self.put(at_ms, coming);
    }

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
        let at = state.now_ms() + i64::try_from(delay_ms).unwrap_or(DELAY_MS_MAX);
        state.send(at, Coming::Message(Box::new(message.clone())));
        Ok(())
    }
}

#[async_trait]
impl Scheduler for Parts {
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError> {
        let mut state = self.lock();
        let (now, due, timer) = (state.now_ms(), timer.due.0, Box::new(timer.clone()));
        if due - now > DELAY_MS_MAX {
            state.tally().schedule_calls += 1;
            state.put(due - AHEAD_MS, Coming::Schedule(timer));
        } else {
            state.send(due.max(now), Coming::Timer(timer));
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
            state.tally().schedule_calls += 1;
        }
        Ok(())
    }
}

#[async_trait]
impl Bus for Parts {
    async fn request_task(&self, request: &TaskRequest) -> Result<(), PortError> {
        let bytes = serde_json::to_vec(request).map_or(0, |text| text.len());
        self.lock().tally().bus_events += chunks(bytes);
        Ok(())
    }
}

#[async_trait]
impl HttpCaller for Parts {
    /// Nobody is called: everybody answers 200 with an empty object.
    async fn call(&self, _request: &HttpRequest, _timeout_ms: u64) -> Answer {
        self.lock().tally().outgoing_requests += 1;
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
                state.tally().activities += 1;
            }
        }
        let instance = happened.instance;
        let id = instance.id.to_string();
        state.began.get_or_insert_with(|| id.clone());
        if !instance.incidents.is_empty() {
            let told = instance.incidents.iter();
            let told =
                told.map(|incident| format!("{}: {}", incident.activity_id, incident.message));
            let told = told.collect();
            state.incidents.insert(id.clone(), told);
        }
        if instance.is_ended() {
            state.waits.remove(&id);
        } else {
            state.waits.insert(id, instance.bookmarks.clone());
        }
    }
}

/// The bucket.
#[async_trait]
impl Blobs for Parts {
    async fn put(&self, name: &str, value: Bytes) -> Result<(), Cause> {
        let mut state = self.lock();
        state.tally().bucket_puts += 1;
        state.blobs.insert(name.to_owned(), value);
        Ok(())
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, Cause> {
        let mut state = self.lock();
        state.tally().bucket_gets += 1;
        Ok(state.blobs.get(name).cloned())
    }

    async fn delete(&self, name: &str) -> Result<(), Cause> {
        // S3 does not bill deletes.
        self.lock().blobs.remove(name);
        Ok(())
    }
}

/// The log of the functions: it is counted, and read by nobody.
impl std::io::Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.lock().tally().log_bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
