//! The embedded table: a [`Table`] in one SQLite file, for one process at a time.
//!
//! One thread writes ([`writer`]), another one waits for the disk ([`log`]): as many writes as come together share
//! a commit and an fsync. Reads ([`reader`]) happen beside them, on the caller's own thread, from connections that
//! only read. What a body looks like is [`body`]'s business, what a row looks like [`row`]'s, and where the files
//! lie [`folder`]'s.

mod body;
mod failure;
mod folder;
mod job;
mod log;
mod operation;
mod place;
mod reader;
mod refusing;
mod row;
mod schema;
mod select;
mod snapshot;
mod told;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use dormouse_store::table::limits::{
    TRANSACTION_BYTES_MAX, WRITES_MAX, check_changes, check_writes,
};
use dormouse_store::table::scan::{Scan, Scanned};
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Write,
    Written,
};

use failure::Failure;
use folder::Folder;
use log::{Log, Partition};
use reader::Readers;
use refusing::{Known, Refusing};
use writer::Writer;

pub use snapshot::Snapshot;

/// How a table is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// The most bytes its file may grow to; beyond it writes fail as on a full disk. `None`: as the disk allows.
    pub size_bytes_max: Option<u64>,
}

/// A [`Table`] in a data folder of its own.
///
/// An acknowledged write survives kill -9 and power loss. An [`Ordered`](Durability::Ordered) update survives
/// kill -9, and a power loss takes it only together with everything written after it. Dropping the table writes
/// everything to its main file and gives the folder free.
#[derive(Debug)]
pub struct EmbeddedTable {
    // In the order they must go: readers before the writer, for the last one to leave tidies up.
    readers: Arc<Readers>,
    writer: Writer,
    log: Arc<Log>,
    refusing: Arc<Refusing>,
    _folder: Folder,
}

impl EmbeddedTable {
    /// Opens the table of the folder, and creates both where they are missing.
    ///
    /// # Errors
    ///
    /// [`TableError::InUse`] if another process has the folder, else [`TableError::Unusable`] with a sentence that says what to do: the folder
    /// cannot be written, or holds a file that is damaged, of a newer format or no table at all.
    pub fn open(folder: &Path) -> Result<Self, TableError> {
        Self::open_with(folder, Options::default())
    }

    /// Like [`EmbeddedTable::open`], with options.
    ///
    /// # Errors
    ///
    /// As for [`EmbeddedTable::open`].
    pub fn open_with(folder: &Path, options: Options) -> Result<Self, TableError> {
        let folder = Folder::lock(folder)?;
        let connection = schema::open_to_write(&folder, options)?;
        let readers = Arc::new(Readers::new(folder.file()));
        let (log, log_thread) = Log::start(&folder.file())?;
        let refusing = Arc::new(Refusing::default());
        let side = (Arc::clone(&log), Arc::clone(&refusing));
        let writer = Writer::start(connection, folder.file(), side, log_thread)?;
        Ok(Self {
            readers,
            writer,
            log,
            refusing,
            _folder: folder,
        })
    }

    fn partitions(&self, writes: &[Write]) -> Vec<Partition> {
        writes
            .iter()
            .map(|write| self.log.partition(&write.key().partition))
            .collect()
    }

    /// Deletes items past their time to live, a few at a time so that writes go on in between, and says how many
    /// they were. `now_s` is in epoch seconds.
    ///
    /// # Errors
    ///
    /// As for a write. Items deleted before the error stay deleted.
    pub async fn sweep_expired(&self, now_s: i64) -> Result<u64, TableError> {
        let mut swept = 0;
        loop {
            let some = self
                .writer
                .ask(Durability::Ordered, Vec::new(), move |rows| {
                    operation::sweep(rows, now_s)
                })
                .await?;
            if some == 0 {
                return Ok(swept);
            }
            swept += some;
        }
    }
}

impl EmbeddedTable {
    async fn accepts_writes_at(&self, now: Instant) -> Result<(), TableError> {
        if let Some(failure) = self.log.broken() {
            return Err(failure.error());
        }
        match self.refusing.known(now) {
            Known::Accepted => Ok(()),
            Known::Refused(failure) => Err(failure.error()),
            Known::Due => {
                let ask = |attempt| self.writer.ask(Durability::Ordered, Vec::new(), attempt);
                ask(refusing::store as fn(&_) -> _).await?;
                ask(refusing::delete).await?;
                self.refusing.accept();
                Ok(())
            }
        }
    }
}

/// After a page of so many items other tasks have their turn: whoever reads many of them would keep the thread for long.
const LONG_PAGE: usize = 500;

#[async_trait]
impl Scan for EmbeddedTable {
    async fn scan(&self, cursor: Option<String>) -> Result<Page, TableError> {
        let Scanned {
            items,
            damaged,
            cursor,
        } = self.scan_readable(cursor).await?;
        match damaged.first() {
            Some(key) => Err(Failure::damaged_item(key).error()),
            None => Ok(Page { items, cursor }),
        }
    }

    async fn scan_readable(&self, cursor: Option<String>) -> Result<Scanned, TableError> {
        let page = self.readers.scan(cursor.as_deref())?;
        self.log.settled(None).await?;
        Ok(page)
    }
}

#[async_trait]
impl Table for EmbeddedTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        key.check()?;
        let found = self.readers.get(key)?;
        self.log
            .settled(Some(self.log.partition(&key.partition)))
            .await?;
        Ok(found)
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        let page = self.readers.query(query)?;
        if page.items.len() >= LONG_PAGE {
            tokio::task::yield_now().await;
        }
        // An index gathers from many partitions.
        let read = query
            .index
            .is_none()
            .then(|| self.log.partition(&query.partition));
        self.log.settled(read).await?;
        Ok(page)
    }

    /// On a thread of its own: a million entries take a tenth of a second.
    async fn count(&self, query: &Query, most: u64) -> Result<u64, TableError> {
        let (readers, query) = (Arc::clone(&self.readers), query.clone());
        let counting = tokio::task::spawn_blocking(move || readers.count(&query, most));
        let count = counting
            .await
            .map_err(|failed| TableError::Unknown(Box::new(failed)))??;
        self.log.settled(None).await?;
        Ok(count)
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        check_changes(key, changes)?;
        let partitions = vec![self.log.partition(&key.partition)];
        let (key, changes, condition) = (key.clone(), changes.to_vec(), condition.clone());
        let update = move |rows: &_| operation::update(rows, &key, &changes, &condition);
        self.writer.ask(durability, partitions, update).await
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        check_writes(writes)?;
        let partitions = self.partitions(writes);
        let writes = writes.to_vec();
        let write = move |rows: &_| operation::write(rows, &writes);
        self.writer
            .ask(Durability::Durable, partitions, write)
            .await
    }

    /// As many together as an atomic write takes: they share a commit and an fsync.
    async fn write_each(&self, writes: &[Write]) -> Result<(), TableError> {
        let mut rest = writes;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fitting = rest.iter().take(WRITES_MAX).take_while(|write| {
                bytes += match write {
                    Write::Put(item, _) => item.size_bytes(),
                    Write::Update(..) | Write::Delete(..) | Write::Check(..) => 0,
                };
                bytes <= TRANSACTION_BYTES_MAX
            });
            let (now, later) = rest.split_at(fitting.count().max(1));
            if let Written::Refused(_) = self.write(now).await? {
                return Err(TableError::Invalid("a plain write has a condition".into()));
            }
            rest = later;
        }
        Ok(())
    }
    /// Writes nothing unless a write was refused, and then once a second at most.
    async fn accepts_writes(&self) -> Result<(), TableError> {
        self.accepts_writes_at(Instant::now()).await
    }
}
