//! Workers that ask for tasks.

use dormouse_engine::activity::own::{Word, open_task};
use dormouse_engine::activity::run_task::parse_task_id;
use dormouse_engine::id::hex;
use dormouse_store::Tenant;
use dormouse_store::stimulus::task::TaskRow;
use serde_json::Value;

use super::{TASKS_MAX, Tasks, WAIT_MS_MAX};
use crate::beside::beside;
use crate::error::RuntimeError;
use crate::work::resume::ResumeOutcome;

/// How many rows of a queue and type are looked at in one go.
const LOOKED_AT: u32 = 200;
/// How many tasks are taken at once.
const BESIDE: usize = 8;
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
        let first = self.take(tenant, request).await?;
        let most = self.config().polls_max;
        let wait_ms = request.wait_ms.min(WAIT_MS_MAX);
        if !first.is_empty() || wait_ms == 0 || most == 0 {
            return Ok(Polled::Tasks(first));
        }
        let Some(_place) = self.polls().take(tenant, most) else {
            return Ok(Polled::TooMany { limit: most });
        };
        let until = self.now().plus_ms(i64::try_from(wait_ms).unwrap_or(0));
        loop {
            let left = u64::try_from(until.0 - self.now().0).unwrap_or(0);
            if left == 0 || self.pauses().is_paused() {
                return Ok(Polled::Tasks(Vec::new()));
            }
            let pause_ms = self.config().poll_pause_ms.min(left);
            self.ports().clock.sleep(pause_ms).await;
            let taken = self.take(tenant, request).await?;
            if !taken.is_empty() {
                return Ok(Polled::Tasks(taken));
            }
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
    ) -> Result<Vec<Value>, RuntimeError> {
        let most = request.max.clamp(1, TASKS_MAX);
        let mut tasks = Vec::new();
        let mut bytes = 0;
        let mut types: Vec<&String> = request.types.iter().collect();
        let random = self.ports().clock.random();
        // Each type has its turn to be first.
        let shift = usize::try_from(random % types.len().max(1) as u64).unwrap_or(0);
        types.rotate_left(shift);
        for activity_type in types {
            if tasks.len() >= most || bytes >= BYTES_MAX {
                break;
            }
            let rows = self.store().task_rows();
            let mut waiting = rows
                .waiting(tenant, &request.queue, activity_type, LOOKED_AT)
                .await?;
            // The oldest first; but workers who ask at once do not all begin at the same one.
            let spread = (most * BESIDE).min(waiting.len());
            if let Some(front) = waiting.get_mut(..spread).filter(|front| !front.is_empty()) {
                let at = usize::try_from((random >> 16) % front.len() as u64).unwrap_or(0);
                front.rotate_left(at);
            }
            let mut waiting = waiting.into_iter();
            while tasks.len() < most && bytes < BYTES_MAX {
                let room = (most - tasks.len()).min(BESIDE);
                let some: Vec<TaskRow> = waiting.by_ref().take(room).collect();
                if some.is_empty() {
                    break;
                }
                let taken = beside(some, BESIDE, |row| {
                    Box::pin(async move { self.take_or_leave(tenant, &row, &request.worker).await })
                })
                .await;
                for task in taken.into_iter().flatten() {
                    bytes += task.to_string().len();
                    tasks.push(task);
                }
            }
        }
        Ok(tasks)
    }

    /// The same; one that cannot be taken keeps nobody from the others.
    async fn take_or_leave(self, tenant: &Tenant, row: &TaskRow, worker: &str) -> Option<Value> {
        match self.take_one(tenant, row, worker).await {
            Ok(task) => task,
            Err(cause) => {
                tracing::warn!(task = row.task_id, cause = %cause, "a task could not be taken");
                None
            }
        }
    }

    /// Takes one task. `None`: it is gone, or somebody else has it.
    async fn take_one(
        self,
        tenant: &Tenant,
        row: &TaskRow,
        worker: &str,
    ) -> Result<Option<Value>, RuntimeError> {
        let Some((_, bookmark)) = parse_task_id(&row.task_id) else {
            self.store().task_rows().delete(tenant, row).await?;
            return Ok(None);
        };
        let lease = hex(self.ports().clock.random());
        let word = Word::Taken {
            lease: lease.clone(),
            worker: worker.to_owned(),
        };
        let told = self.tell(tenant, &row.task_id, &word).await;
        let task = match told {
            Ok(ResumeOutcome::Resumed(report)) => {
                open_task(&report.graph, &report.instance, &bookmark)
                    .filter(|open| open.lease.as_ref() == Some(&lease))
                    .map(|open| open.body(&report.instance, tenant.as_str()))
            }
            Ok(
                ResumeOutcome::BookmarkGone(_)
                | ResumeOutcome::Seen(_)
                | ResumeOutcome::Ended(_)
                | ResumeOutcome::Deleted
                | ResumeOutcome::NotFound,
            ) => None,
            // Whoever asks next finds it there.
            Ok(ResumeOutcome::NotYet) => return Ok(None),
            Err(error) if error.is_contended() => return Ok(None),
            Err(error) => return Err(error),
        };
        // From here on the instance offers it again, in a row of another name, should nothing be heard of it.
        if let Err(cause) = self.store().task_rows().delete(tenant, row).await {
            tracing::debug!(cause = %cause, "the row of a task that was taken stays until somebody finds it");
        }
        Ok(task)
    }
}
