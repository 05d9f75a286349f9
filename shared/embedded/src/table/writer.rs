//! The one thread that writes. It takes all requests that wait, carries them out one after another in one
//! transaction, and commits. Then it answers those that need no fsync, leaves the others to the [`Log`], and
//! takes the next group while the disk works.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use dormouse_store::table::{Durability, TableError};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::failure::{Failure, leaves_commit_open};
use super::job::{Job, Request};
use super::log::{Log, Partition};
use super::operation::{Done, OperationError};
use super::place::Place;
use super::refusing::Refusing;

/// Requests in one transaction at most; the rest waits for the next.
const GROUP_MAX: usize = 256;

/// Pages of the log after which it is moved into the main file: 16 MiB. Everybody waits for the move, some 20 ms;
/// less often it would take longer, and so would the next start after a crash, which reads the whole log.
const LOG_PAGES_MAX: usize = 4_096;

/// Pages that a changed row takes in the log, until the first move has told: SQLite does not say before.
const PAGES_PER_ROW: usize = 3;

/// Without requests for so long, the log is moved at leisure.
const LEISURE: Duration = Duration::from_secs(2);

/// A request with what it is about.
struct Waiting {
    durability: Durability,
    partitions: Vec<Partition>,
    job: Box<dyn Job>,
    /// How many rows it has changed.
    rows: usize,
}

impl Waiting {
    /// Whether its change must be durable before its answer is given.
    fn is_durable(&self) -> bool {
        self.durability == Durability::Durable && self.rows > 0
    }

    /// Whether its answer has to wait for an fsync: because of its own change, or because it has found
    /// something that may have been changed by one who waits.
    fn has_to_wait(&self, log: &Log) -> bool {
        self.is_durable() || (self.rows == 0 && log.is_ahead(&self.partitions))
    }
}

/// The thread that writes, seen from outside. Dropping it ends the thread, once all requests are answered.
#[derive(Debug)]
pub(super) struct Writer {
    /// There until the drop.
    requests: Option<Sender<Waiting>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread over the connection to this file.
    pub(super) fn start(
        connection: Connection,
        file: PathBuf,
        (log, refusing): (Arc<Log>, Arc<Refusing>),
        log_thread: JoinHandle<()>,
    ) -> Result<Self, TableError> {
        let (requests, waiting) = mpsc::channel();
        let place = Place::of(&file);
        let mut work = Work {
            connection,
            file,
            place,
            waiting,
            log,
            refusing,
            log_rows: 0,
            log_rows_max: LOG_PAGES_MAX / PAGES_PER_ROW,
            broken: None,
        };
        let run = move || {
            work.run();
            // The log is open as long as the connection is, and the thread needs it to the last.
            work.log.close();
            if log_thread.join().is_err() {
                tracing::error!("the table's log ended by a panic");
            }
            work.move_log("TRUNCATE");
        };
        let thread = std::thread::Builder::new()
            .name("table-writer".to_owned())
            .spawn(run);
        let thread = thread.map_err(|error| {
            let sentence = "the system starts no more threads: end some programs".to_owned();
            TableError::Unusable(sentence, Some(Box::new(error)))
        })?;
        Ok(Self {
            requests: Some(requests),
            thread: Some(thread),
        })
    }

    /// Has the operation on these partitions carried out, and waits until what it answers is as durable as
    /// asked.
    pub(super) async fn ask<T, F>(
        &self,
        durability: Durability,
        partitions: Vec<Partition>,
        operation: F,
    ) -> Result<T, TableError>
    where
        T: Send + 'static,
        F: Fn(&Connection) -> Result<Done<T>, OperationError> + Send + 'static,
    {
        let (waiting, answer) = oneshot::channel();
        let job = Box::new(Request {
            operation,
            result: None,
            waiting,
        });
        let request = Waiting {
            durability,
            partitions,
            job,
            rows: 0,
        };
        match self
            .requests
            .as_ref()
            .map(|requests| requests.send(request))
        {
            Some(Ok(())) => answer.await.unwrap_or_else(|_| Err(gone())),
            Some(Err(_)) | None => Err(gone()),
        }
    }
}

/// The writer has ended before its time, which only a bug can make it do.
fn gone() -> TableError {
    TableError::Unknown("the table's writer has ended: restart Dormouse".into())
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the table's writer ended by a panic");
        }
    }
}

/// The thread's own side.
struct Work {
    connection: Connection,
    file: PathBuf,
    /// Where the file was when it was opened.
    place: Place,
    waiting: Receiver<Waiting>,
    log: Arc<Log>,
    refusing: Arc<Refusing>,
    /// Rows changed since the log was last moved.
    log_rows: usize,
    /// Changed rows after which it is moved: as many as should take [`LOG_PAGES_MAX`].
    log_rows_max: usize,
    /// Why nothing can be written any more.
    broken: Option<Failure>,
}

impl Work {
    fn run(&mut self) {
        while let Some(first) = self.next() {
            let rest = self.waiting.try_iter().take(GROUP_MAX - 1);
            let mut group: Vec<_> = std::iter::once(first).chain(rest).collect();
            match self.commit(&mut group) {
                Ok(()) => self.answer(group),
                Err(not_done) => {
                    self.refusing.refuse(not_done.failure());
                    group
                        .into_iter()
                        .for_each(|request| request.job.refuse(not_done.error()));
                }
            }
            if self.log_rows > self.log_rows_max {
                self.move_log("PASSIVE");
            }
        }
    }

    /// The next request; `None` when there will be none.
    fn next(&mut self) -> Option<Waiting> {
        if self.log_rows > 0 {
            match self.waiting.recv_timeout(LEISURE) {
                Ok(request) => return Some(request),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.move_log("PASSIVE"),
            }
        }
        self.waiting.recv().ok()
    }

    /// Answers what may be told at once, and leaves the rest to the log.
    fn answer(&self, group: Vec<Waiting>) {
        let (later, now): (Vec<_>, Vec<_>) = group
            .into_iter()
            .partition(|request| request.has_to_wait(&self.log));
        let has_announced = later.iter().any(Waiting::is_durable);
        self.log.hand_over(
            has_announced,
            later.into_iter().map(|request| request.job).collect(),
        );
        now.into_iter().for_each(|request| request.job.answer());
    }

    /// Carries the requests out in one transaction.
    fn commit(&mut self, group: &mut [Waiting]) -> Result<(), NotDone> {
        if self.broken.is_none() {
            self.broken = self.log.broken();
        }
        if self.broken.is_none() && self.place.is_left(&self.file) {
            let failure = Failure::Gone(self.file.display().to_string());
            tracing::error!(file = %self.file.display(), "the table's file is not in the data folder any more");
            self.log.close_for_reads(failure.clone());
            self.broken = Some(failure);
        }
        if let Some(failure) = &self.broken {
            return Err(NotDone::Refused(failure.clone()));
        }
        self.carry_out(group)
            .map_err(|error| self.roll_back(&error, false))?;
        // Before the commit: a reader that sees it must find that it is ahead of the disk.
        let has_announced = group.iter().any(Waiting::is_durable);
        let durable = group.iter().filter(|request| request.is_durable());
        self.log
            .announce(durable.flat_map(|request| request.partitions.iter().copied()));
        self.execute("COMMIT").map_err(|error| {
            self.log.hand_over(has_announced, Vec::new());
            self.roll_back(&error, true)
        })
    }

    fn carry_out(&mut self, group: &mut [Waiting]) -> rusqlite::Result<()> {
        self.execute("BEGIN IMMEDIATE")?;
        for request in group {
            request.rows = request.job.carry_out(&self.connection)?;
            self.log_rows += request.rows;
        }
        Ok(())
    }

    fn roll_back(&mut self, error: &rusqlite::Error, in_commit: bool) -> NotDone {
        tracing::error!(%error, in_commit, "the table could not commit");
        let failure = Failure::of(error, &self.file);
        let is_open = in_commit && leaves_commit_open(error);
        let is_stuck = !self.connection.is_autocommit() && self.execute("ROLLBACK").is_err();
        if is_open || is_stuck {
            // Nobody knows what the file holds now. Only a start afresh, which reads it, can tell.
            self.broken = Some(failure.clone());
        }
        if is_open {
            NotDone::Unknown(failure)
        } else {
            NotDone::Refused(failure)
        }
    }

    fn execute(&self, statement: &str) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(statement)?
            .execute([])
            .map(drop)
    }

    /// Moves the log into the main file. Whatever keeps that from happening, the log still holds everything,
    /// and the next time may do better.
    fn move_log(&mut self, how: &str) {
        let moved =
            self.connection
                .query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| {
                    Ok((row.get::<_, usize>(1)?, row.get::<_, usize>(2)?))
                });
        match moved {
            Ok((pages, moved)) => {
                tracing::debug!(rows = self.log_rows, pages, moved, "moved the log");
                // A short log tells little: what is common to all of its groups weighs too much in it.
                if pages > LOG_PAGES_MAX / 4 {
                    self.log_rows_max = LOG_PAGES_MAX * self.log_rows.max(1) / pages;
                }
            }
            Err(error) => tracing::warn!(%error, "could not move the log into the main file"),
        }
        self.log_rows = 0;
    }
}

/// Why a group of requests is not done.
enum NotDone {
    /// Nothing of it happened.
    Refused(Failure),
    /// It happened or not.
    Unknown(Failure),
}

impl NotDone {
    fn failure(&self) -> &Failure {
        match self {
            Self::Refused(failure) | Self::Unknown(failure) => failure,
        }
    }

    fn error(&self) -> TableError {
        match self {
            Self::Refused(failure) => failure.error(),
            Self::Unknown(failure) => failure.unknown(),
        }
    }
}
