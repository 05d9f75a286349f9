//! Workers that ask for tasks.

use std::pin::pin;

use dormouse_engine::activity::own::{Word, open_task};
use dormouse_engine::activity::run_task::parse_task_id;
use dormouse_engine::id::hex;
use dormouse_store::Tenant;
use dormouse_store::stimulus::task::TaskRow;
use futures_util::future::select;
use serde_json::Value;

use super::perform::{Said, not_sent};
use super::{TASKS_MAX, Tasks, WAIT_MS_MAX};
use crate::beside::beside;
use crate::error::RuntimeError;
use crate::runtime::secret_filling::Filled;
use crate::runtime::task_lines::{Found, Held, LineKey};
use crate::work::resume::{ResumeOutcome, ResumeRequest};

/// How many rows of a queue and type are looked at in one go.
const LOOKED_AT: u32 = 200;
/// So many such pages are read where all of those before are in other hands.
const PAGES_MAX: usize = 16;
/// How many tasks are taken at once.
const BESIDE: usize = 16;
/// No more tasks are taken once those of an answer have so many bytes.
const BYTES_MAX: usize = 4_194_304;

/// What a worker asks for.
#[derive(Debug, Clone, Default)]
pub struct PollRequest {
    /// The queue.
    pub queue: String,
    /// The activity types that it can do.
    pub types: Vec<String>,
    /// At most so many tasks.
    pub max: usize,
    /// How long to wait for the first one, in ms.
    pub wait_ms: u64,
    /// Who asks.
    pub worker: String,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Polled {
    /// These tasks are the worker's now.
    Tasks(Vec<Value>),
    /// Too many wait already.
    TooMany {
        /// The limit.
        limit: usize,
    },
}

impl Tasks<'_> {
    /// Takes tasks for a worker, and waits for the first one where there is none. A process that does not live on waits
    /// for nobody.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn poll(
        self,
        tenant: &Tenant,
        request: &PollRequest,
    ) -> Result<Polled, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        let first = self.take(tenant, request, Look::Now).await?;
        let most = self.config().polls_max;
        let wait_ms = request.wait_ms.min(WAIT_MS_MAX);
        if !first.is_empty() || wait_ms == 0 || most == 0 {
            return Ok(Polled::Tasks(first));
        }
        let Some(_place) = self.polls().take(tenant, most) else {
            return Ok(Polled::TooMany { limit: most });
        };
        let until = self.now().plus_ms(i64::try_from(wait_ms).unwrap_or(0));
        let keys = keys(tenant, request);
        loop {
            let left = u64::try_from(until.0 - self.now().0).unwrap_or(0);
            if left == 0 || self.pauses().is_paused() {
                return Ok(Polled::Tasks(Vec::new()));
            }
            let pause_ms = self.config().poll_pause_ms;
            let mut waiting = self.task_lines().wait(&keys);
            // What came since the last look rings no bell; what comes from now on does.
            let taken = self.take(tenant, request, Look::AtTimes).await?;
            if !taken.is_empty() {
                return Ok(Polled::Tasks(taken));
            }
            let pause = pin!(self.ports().clock.sleep(pause_ms.min(left)));
            let _what_was_first = select(&mut waiting.rung, pause).await;
        }
    }

    /// Whether requests for tasks wait here at all.
    #[must_use]
    pub fn waits(self) -> bool {
        self.config().polls_max > 0
    }

    /// Takes what there is.
    async fn take(
        self,
        tenant: &Tenant,
        request: &PollRequest,
        look: Look,
    ) -> Result<Vec<Value>, RuntimeError> {
        let most = request.max.clamp(1, TASKS_MAX);
        let mut tasks = Vec::new();
        let mut bytes = 0;
        let mut keys = keys(tenant, request);
        // Each type has its turn to be first.
        let turn = self.ports().clock.random() % keys.len().max(1) as u64;
        keys.rotate_left(usize::try_from(turn).unwrap_or(0));
        for key in &keys {
            // Given back at the end, so that nothing is tried twice.
            let mut tried = Vec::new();
            while tasks.len() < most && bytes < BYTES_MAX {
                let room = (most - tasks.len()).min(BESIDE);
                let some = self.hand_out(key, room, look).await?;
                if some.is_empty() {
                    break;
                }
                let done = beside(some, BESIDE, |held| {
                    Box::pin(self.take_or_leave(tenant, held, &request.worker))
                })
                .await;
                for (task, held) in done {
                    tried.push(held);
                    if let Some(task) = task {
                        bytes += task.to_string().len();
                        tasks.push(task);
                    }
                }
                if !tasks.is_empty() && !self.task_lines().has_more(key) {
                    break;
                }
            }
        }
        Ok(tasks)
    }

    /// Tasks to try, which nobody else of this process tries meanwhile. Reads the table where none is known.
    async fn hand_out<'a>(
        self,
        key: &'a LineKey,
        room: usize,
        look: Look,
    ) -> Result<Vec<Held<'a>>, RuntimeError>
    where
        Self: 'a,
    {
        let lines = self.0.task_lines();
        let now = self.now().0;
        let (reader, reads) = match lines.find(key, room, now) {
            Found::Tasks(held) => return Ok(held),
            Found::Read(reader, reads) => (reader, reads),
        };
        let pause_ms = i64::try_from(self.config().poll_pause_ms).unwrap_or(i64::MAX);
        if look == Look::AtTimes && !lines.has_more(key) && lines.is_fresh(key, now, pause_ms) {
            return Ok(Vec::new());
        }
        let _turn = reader.lock().await;
        if let Some(held) = lines.begin_read(key, room, reads, now) {
            return Ok(held);
        }
        let mut cursor = None;
        let mut last = None;
        for _ in 0..PAGES_MAX {
            let page = self.store().task_rows();
            let name = (key.queue.as_str(), key.activity_type.as_str());
            let page = page.waiting(&key.tenant, name, LOOKED_AT, cursor).await?;
            let has_new = lines.note_page(key, &page.rows, self.ports().clock.random());
            last = page.rows.last().filter(|_| page.cursor.is_some()).cloned();
            cursor = page.cursor;
            if has_new || cursor.is_none() {
                break;
            }
        }
        Ok(lines.end_read(key, room, last.as_ref()))
    }

    /// Takes one task; one that cannot be taken keeps nobody from the others.
    async fn take_or_leave<'a>(
        self,
        tenant: &Tenant,
        mut held: Held<'a>,
        worker: &str,
    ) -> (Option<Value>, Held<'a>) {
        match self.take_one(tenant, &held.row(), worker).await {
            Ok(Taken::Ours(task)) => {
                held.taken();
                return (Some(task), held);
            }
            Ok(Taken::Failed) => held.taken(),
            Ok(Taken::Gone) => held.gone(self.now().0),
            Ok(Taken::NotNow) => {}
            Err(cause) => {
                tracing::warn!(task = held.task_id(), cause = %cause, "a task could not be taken");
            }
        }
        (None, held)
    }

    /// Takes one task, together with its row.
    async fn take_one(
        self,
        tenant: &Tenant,
        row: &TaskRow,
        worker: &str,
    ) -> Result<Taken, RuntimeError> {
        let rows = self.store().task_rows();
        let Some((instance_id, bookmark)) = parse_task_id(&row.task_id) else {
            rows.delete(tenant, row).await?;
            return Ok(Taken::Gone);
        };
        let lease = hex(self.ports().clock.random());
        let word = Word::Taken {
            lease: lease.clone(),
            worker: worker.to_owned(),
        };
        let request =
            ResumeRequest::bookmark(instance_id.as_str(), bookmark.as_str(), word.input());
        // From that commit on the instance offers it again, in a row of another name, should nothing be heard of it.
        let closes = rows.closing(tenant, row)?;
        let resumed = self.instances().resume_closing(tenant, request, closes);
        match resumed.await {
            Ok(ResumeOutcome::Resumed(report)) => {
                let open = open_task(&report.graph, &report.instance, &bookmark)
                    .filter(|open| open.lease.as_ref() == Some(&lease));
                let Some(open) = open else {
                    return Ok(Taken::Gone);
                };
                match self.filled_task(tenant, &report.instance, &open).await? {
                    Filled::Done(body, _) => Ok(Taken::Ours(body)),
                    Filled::Refused(why) => {
                        if let Said::Answer(answer) = not_sent(&why) {
                            let word = Word::Answered { answer };
                            self.tell(tenant, &row.task_id, &word).await?;
                        }
                        Ok(Taken::Failed)
                    }
                }
            }
            Ok(
                ResumeOutcome::BookmarkGone(_)
                | ResumeOutcome::Seen(_)
                | ResumeOutcome::Ended(_)
                | ResumeOutcome::Deleted
                | ResumeOutcome::NotFound,
            ) => {
                if let Err(cause) = rows.delete(tenant, row).await {
                    tracing::debug!(cause = %cause, "the row of a task that is gone stays until somebody finds it");
                }
                Ok(Taken::Gone)
            }
            // Whoever asks next finds it there.
            Ok(ResumeOutcome::NotYet) => Ok(Taken::NotNow),
            Err(error) if error.is_contended() => Ok(Taken::NotNow),
            Err(error) => Err(error),
        }
    }
}

/// When a request that finds nothing known reads the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Always, together with others who look at the same time.
    Now,
    /// As often as one that waits looks again, together with all who wait.
    AtTimes,
}

/// What became of a task that was tried.
enum Taken {
    /// It is the worker's.
    Ours(Value),
    /// It waits no more: its attempt failed before it could be handed out.
    Failed,
    /// It waits no more.
    Gone,
    /// It may wait still.
    NotNow,
}

fn keys(tenant: &Tenant, request: &PollRequest) -> Vec<LineKey> {
    let key = |activity_type: &String| LineKey {
        tenant: tenant.clone(),
        queue: request.queue.clone(),
        activity_type: activity_type.clone(),
    };
    request.types.iter().map(key).collect()
}
