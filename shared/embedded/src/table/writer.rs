//! The one thread that writes. It takes all requests that wait, carries them out one after another in one
//! transaction, commits, and answers them all: one fsync for as many as came together.
//!
//! `Ordered` updates go first, in a commit of their own without an fsync, and are answered before the others
//! wait for the disk. What that is worth after a power cut is told in [`super::schema`].

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use dormouse_store::table::{Durability, TableError};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::failure::{Failure, leaves_commit_open};
use super::job::{Job, Request};
use super::operation::{Done, OperationError};

/// Requests in one transaction at most; the rest waits for the next.
const GROUP_MAX: usize = 256;

/// Changed rows after which the log is moved into the main file, about 20 MiB of log. More would make the next
/// start after a crash slow, for it reads the whole log.
const LOG_ROWS_MAX: usize = 3_000;

/// Without requests for so long, the log is moved at leisure.
const LEISURE: Duration = Duration::from_secs(2);

type Waiting = (Durability, Box<dyn Job>);

/// The thread that writes, seen from outside. Dropping it ends the thread, once all requests are answered.
#[derive(Debug)]
pub(super) struct Writer {
    /// There until the drop.
    requests: Option<Sender<Waiting>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread over the connection to this file.
    pub(super) fn start(connection: Connection, file: PathBuf) -> Result<Self, TableError> {
        let (requests, waiting) = mpsc::channel();
        let mut work = Work {
            connection,
            file,
            waiting,
            synchronous: Durability::Durable,
            log_rows: 0,
            broken: None,
        };
        let thread = std::thread::Builder::new()
            .name("table-writer".to_owned())
            .spawn(move || work.run())
            .map_err(|error| {
                let sentence = "the system starts no more threads: end some programs".to_owned();
                TableError::Unusable(sentence, Some(Box::new(error)))
            })?;
        Ok(Self {
            requests: Some(requests),
            thread: Some(thread),
        })
    }

    /// Has the operation carried out, and waits until what it answers is as durable as asked.
    pub(super) async fn ask<T, F>(
        &self,
        durability: Durability,
        operation: F,
    ) -> Result<T, TableError>
    where
        T: Send + 'static,
        F: Fn(&Connection) -> Result<Done<T>, OperationError> + Send + 'static,
    {
        let (waiting, answer) = oneshot::channel();
        let request = Box::new(Request {
            operation,
            result: None,
            waiting,
        });
        let sent = self
            .requests
            .as_ref()
            .map(|requests| requests.send((durability, request)));
        let answer = match sent {
            Some(Ok(())) => answer.await,
            Some(Err(_)) | None => return Err(gone()),
        };
        answer.unwrap_or_else(|_| Err(gone()))
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
    waiting: Receiver<Waiting>,
    /// What the next commit is set to.
    synchronous: Durability,
    /// Rows changed since the log was last moved.
    log_rows: usize,
    /// Why nothing can be written any more.
    broken: Option<Failure>,
}

impl Work {
    fn run(&mut self) {
        while let Some(first) = self.next() {
            let rest = self.waiting.try_iter().take(GROUP_MAX - 1);
            let (ordered, durable): (Vec<_>, Vec<_>) = std::iter::once(first)
                .chain(rest)
                .partition(|(durability, _)| *durability == Durability::Ordered);
            self.commit(Durability::Ordered, ordered);
            self.commit(Durability::Durable, durable);
            if self.log_rows > LOG_ROWS_MAX {
                self.move_log("PASSIVE");
            }
        }
        self.move_log("TRUNCATE");
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

    /// Carries the requests out, makes them as durable as they need to be, and answers.
    fn commit(&mut self, durability: Durability, requests: Vec<Waiting>) {
        if requests.is_empty() {
            return;
        }
        let mut jobs: Vec<_> = requests.into_iter().map(|(_, job)| job).collect();
        match self.transact(durability, &mut jobs) {
            Ok(()) => jobs.into_iter().for_each(Job::answer),
            Err(not_done) => jobs
                .into_iter()
                .for_each(|job| job.refuse(not_done.error())),
        }
    }

    fn transact(
        &mut self,
        durability: Durability,
        jobs: &mut [Box<dyn Job>],
    ) -> Result<(), NotDone> {
        if let Some(failure) = &self.broken {
            return Err(NotDone::Refused(failure.clone()));
        }
        let changed = self.change(durability, jobs);
        let committed = changed.map_err(|error| (error, false)).and_then(|rows| {
            self.log_rows += rows;
            self.execute("COMMIT").map_err(|error| (error, true))
        });
        let Err((error, in_commit)) = committed else {
            return Ok(());
        };
        let failure = Failure::of(&error, &self.file);
        tracing::error!(%error, in_commit, "the table could not commit");
        if in_commit && leaves_commit_open(&error) {
            // After a failed fsync nobody knows what the disk holds, not even of earlier `Ordered` updates.
            // Only a start afresh, which reads what is there, can tell.
            self.broken = Some(failure.clone());
        }
        if !self.connection.is_autocommit() && self.execute("ROLLBACK").is_err() {
            self.broken = Some(failure.clone());
        }
        Err(if in_commit && self.broken.is_some() {
            NotDone::Unknown(failure)
        } else {
            NotDone::Refused(failure)
        })
    }

    /// Begins a transaction and carries the requests out in it.
    fn change(
        &mut self,
        durability: Durability,
        jobs: &mut [Box<dyn Job>],
    ) -> rusqlite::Result<usize> {
        if self.synchronous != durability {
            // SQLite takes this in between two transactions only, and when the statement is prepared.
            self.connection.execute_batch(match durability {
                Durability::Durable => "PRAGMA synchronous = FULL",
                Durability::Ordered => "PRAGMA synchronous = NORMAL",
            })?;
            self.synchronous = durability;
        }
        self.execute("BEGIN IMMEDIATE")?;
        let mut rows = 0;
        for job in jobs {
            rows += job.carry_out(&self.connection)?;
        }
        Ok(rows)
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
                    Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
                });
        match moved {
            Ok((pages, moved)) => {
                tracing::debug!(rows = self.log_rows, pages, moved, "moved the log")
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
    fn error(&self) -> TableError {
        match self {
            Self::Refused(failure) => failure.error(),
            Self::Unknown(failure) => TableError::Unknown(Box::new(failure.error())),
        }
    }
}
