//! The fsync of SQLite's write-ahead log, on a thread of its own: while the disk works, the writer commits the
//! next group.
//!
//! A commit is visible before it is durable, so this also knows which partitions are ahead of the disk. Nothing
//! that depends on one of them is told to anybody before the fsync that covers it: not the answer of the write
//! itself, not a refusal because of it, and no read of it.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use dormouse_store::table::TableError;
use tokio::sync::oneshot;

use super::failure::Failure;
use super::job::Job;

/// The number of a commit that must become durable, counted from 1.
pub(super) type CommitNo = u64;

/// A partition by its hash. Two that share one wait for each other without need, and no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Partition(u64);

/// The log's side of the table, shared by the writer, the readers and the thread that syncs.
#[derive(Debug)]
pub(super) struct Log {
    hasher: RandomState,
    state: Mutex<State>,
    work: Condvar,
    /// Why nothing may be read any more.
    gone: OnceLock<Failure>,
}

#[derive(Default)]
struct State {
    /// The last commit that was handed over to be made durable.
    committed: CommitNo,
    /// The last commit that is durable.
    synced: CommitNo,
    /// Partitions ahead of the disk, and the last commit that changed them.
    ahead: HashMap<Partition, CommitNo>,
    /// To be answered after the next fsync.
    jobs: Vec<Box<dyn Job>>,
    /// Readers, and the commit that each waits for.
    readers: Vec<(CommitNo, oneshot::Sender<()>)>,
    /// An fsync failed: nobody knows what the disk holds until the table is opened anew.
    broken: Option<Failure>,
    closing: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            committed, synced, ..
        } = self;
        f.debug_struct("State")
            .field("committed", committed)
            .field("synced", synced)
            .finish()
    }
}

impl Log {
    /// Starts the thread that syncs the log of the table in this file. SQLite must have the log open, and must
    /// keep it open until the thread has ended.
    pub(super) fn start(file: &Path) -> Result<(Arc<Self>, JoinHandle<()>), TableError> {
        let mut path = file.as_os_str().to_owned();
        path.push("-wal");
        let unusable = |error: io::Error| {
            Failure::Disk(format!("{}: {error}", Path::new(&path).display())).error()
        };
        // Another handle than SQLite's own: an fsync is about the file, whoever wrote to it. Some systems
        // want the right to write for it.
        let wal = File::options().write(true).open(&path).map_err(unusable)?;
        let log = Arc::new(Self {
            hasher: RandomState::new(),
            state: Mutex::default(),
            work: Condvar::new(),
            gone: OnceLock::new(),
        });
        let shared = Arc::clone(&log);
        let thread = std::thread::Builder::new()
            .name("table-log".to_owned())
            .spawn(move || shared.run(&wal))
            .map_err(unusable)?;
        Ok((log, thread))
    }

    /// The partition by its hash.
    pub(super) fn partition(&self, partition: &str) -> Partition {
        Partition(self.hasher.hash_one(partition))
    }

    /// Announces a commit that changes the partitions, before it becomes visible.
    pub(super) fn announce(&self, partitions: impl IntoIterator<Item = Partition>) {
        let mut state = self.state();
        let next = state.committed + 1;
        state
            .ahead
            .extend(partitions.into_iter().map(|partition| (partition, next)));
    }

    /// Has the jobs answered after the next fsync, and counts what was announced as committed.
    pub(super) fn hand_over(&self, has_announced: bool, jobs: Vec<Box<dyn Job>>) {
        if !has_announced && jobs.is_empty() {
            return;
        }
        let mut state = self.state();
        state.committed += CommitNo::from(has_announced);
        state.jobs.extend(jobs);
        self.work.notify_one();
    }

    /// Whether any of the partitions is ahead of the disk.
    pub(super) fn is_ahead(&self, partitions: &[Partition]) -> bool {
        let state = self.state();
        partitions
            .iter()
            .any(|partition| state.ahead.contains_key(partition))
    }

    /// Why nothing can be written any more.
    pub(super) fn broken(&self) -> Option<Failure> {
        self.state().broken.clone()
    }

    /// Has every read fail from now on: the file is not where the next start looks for it.
    pub(super) fn close_for_reads(&self, failure: Failure) {
        self.gone.get_or_init(|| failure);
    }

    /// Waits until what was just read of the partition (`None`: of any) is durable.
    pub(super) async fn settled(&self, partition: Option<Partition>) -> Result<(), TableError> {
        if let Some(failure) = self.gone.get() {
            return Err(failure.error());
        }
        let waiting = {
            let mut state = self.state();
            let ahead = match partition {
                Some(partition) => state.ahead.get(&partition).copied(),
                None => state.ahead.values().max().copied(),
            };
            let Some(commit) = ahead else { return Ok(()) };
            if let Some(failure) = &state.broken {
                return Err(failure.error());
            }
            let (sender, waiting) = oneshot::channel();
            state.readers.push((commit, sender));
            waiting
        };
        // The sender is dropped when an fsync fails.
        waiting.await.map_err(|_| {
            let broken = self.broken();
            broken.map_or_else(
                || TableError::Unknown("the table is closed".into()),
                |b| b.error(),
            )
        })
    }

    /// Ends the thread once everything is durable and answered.
    pub(super) fn close(&self) {
        self.state().closing = true;
        self.work.notify_one();
    }

    fn run(&self, wal: &File) {
        let mut state = self.state();
        loop {
            if state.jobs.is_empty() && state.committed == state.synced {
                if state.closing {
                    return;
                }
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let jobs = std::mem::take(&mut state.jobs);
            let until = state.committed;
            drop(state);
            // Once an fsync has failed, the success of a later one means nothing.
            let synced = self.broken().map_or_else(|| sync(wal), Err);
            match synced {
                Ok(()) => {
                    self.state().settle(until);
                    jobs.into_iter().for_each(Job::answer);
                }
                Err(failure) => {
                    self.state().give_up(until, failure.clone());
                    jobs.into_iter()
                        .for_each(|job| job.refuse(failure.unknown()));
                }
            }
            state = self.state();
        }
    }

    /// A panic while the lock was held is one of this file, which does nothing in it that could.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sync(wal: &File) -> Result<(), Failure> {
    wal.sync_data().map_err(|error| {
        tracing::error!(%error, "the disk did not take the log");
        Failure::Disk(error.to_string())
    })
}

impl State {
    /// All commits up to this one are durable.
    fn settle(&mut self, until: CommitNo) {
        self.synced = until;
        self.ahead.retain(|_, commit| *commit > until);
        let served = self.readers.extract_if(.., |(commit, _)| *commit <= until);
        for (_, reader) in served {
            // Whoever has stopped waiting does not want to know.
            let _ = reader.send(());
        }
    }

    /// An fsync failed. What was ahead of the disk stays ahead for ever.
    fn give_up(&mut self, until: CommitNo, failure: Failure) {
        self.synced = until;
        self.broken = Some(failure);
        self.readers.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rusqlite::Connection;

    use super::*;

    type Answer = Result<(), TableError>;

    /// Tells what it was answered.
    struct Told(mpsc::Sender<Answer>);

    impl Job for Told {
        fn carry_out(&mut self, _connection: &Connection) -> rusqlite::Result<usize> {
            Ok(1)
        }

        fn answer(self: Box<Self>) {
            self.0.send(Ok(())).unwrap();
        }

        fn refuse(self: Box<Self>, error: TableError) {
            self.0.send(Err(error)).unwrap();
        }
    }

    fn told() -> (Vec<Box<dyn Job>>, mpsc::Receiver<Answer>) {
        let (sender, answer) = mpsc::channel();
        (vec![Box::new(Told(sender))], answer)
    }

    /// A log over a file that the system syncs, or one that it refuses to.
    fn log(can_sync: bool) -> (tempfile::TempDir, Arc<Log>, JoinHandle<()>) {
        let folder = tempfile::tempdir().unwrap();
        let wal = folder.path().join("file-wal");
        if can_sync {
            File::create(wal).unwrap();
        } else {
            #[cfg(unix)]
            std::os::unix::fs::symlink("/dev/null", wal).unwrap();
        }
        let (log, thread) = Log::start(&folder.path().join("file")).unwrap();
        (folder, log, thread)
    }

    fn close(log: &Log, thread: JoinHandle<()>) {
        log.close();
        thread.join().unwrap();
    }

    #[tokio::test]
    async fn a_read_waits_for_the_fsync_of_what_it_saw() {
        let (_folder, log, thread) = log(true);
        let [ahead, other] = ["ahead", "other"].map(|name| log.partition(name));
        log.announce([ahead]);
        assert!(log.is_ahead(&[other, ahead]) && !log.is_ahead(&[other]));
        // Others do not wait.
        log.settled(Some(other)).await.unwrap();
        let waiting = tokio::spawn({
            let log = Arc::clone(&log);
            async move { log.settled(Some(ahead)).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "nothing was synced yet");
        let (jobs, answer) = told();
        log.hand_over(true, jobs);
        waiting.await.unwrap().unwrap();
        answer.recv().unwrap().unwrap();
        assert!(!log.is_ahead(&[ahead]));
        log.settled(None).await.unwrap();
        close(&log, thread);
    }

    #[tokio::test]
    async fn closing_answers_all_that_was_handed_over() {
        let (_folder, log, thread) = log(true);
        let (jobs, answer) = told();
        log.announce([log.partition("p")]);
        log.hand_over(true, jobs);
        close(&log, thread);
        answer.recv().unwrap().unwrap();
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_failed_fsync_acknowledges_nothing_and_ends_all_writing() {
        let (_folder, log, thread) = log(false);
        let ahead = log.partition("ahead");
        log.announce([ahead]);
        let waiting = tokio::spawn({
            let log = Arc::clone(&log);
            async move { log.settled(Some(ahead)).await }
        });
        tokio::task::yield_now().await;
        let (jobs, answer) = told();
        log.hand_over(true, jobs);
        let error = answer.recv().unwrap().unwrap_err();
        assert!(matches!(error, TableError::Unknown(_)), "{error:?}");
        let error = waiting.await.unwrap().unwrap_err();
        assert!(matches!(error, TableError::Unusable(..)), "{error:?}");
        assert!(log.broken().is_some());
        // Later on, too: of what the disk did not take nobody is told.
        assert!(log.settled(Some(ahead)).await.is_err());
        let (jobs, answer) = told();
        log.hand_over(false, jobs);
        assert!(answer.recv().unwrap().is_err());
        close(&log, thread);
    }
}
