//! The journal: what has happened in an instance, line by line, commit by commit.
//!
//! Recent lines ride in the head. When they grow, those of earlier commits move to items of their own, named by the
//! number after their last line, so that any line is one query away. Only committed lines move, so every attempt moves
//! the same, and it may do so before its commit. The lines of a large commit lie in items of its attempt.

use bytes::Bytes;

use crate::instance::Instances;
use crate::instance::head::{Stored, wf_partition};
use crate::item::body;
use crate::item::chunks::{self, Chunk};
use crate::item::error::StoreError;
use crate::item::key_text::count;
use crate::item::packed;
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Item, Key, Query, Value};

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLine {
    /// Its number, from 0, without gaps.
    pub number: u64,
    /// The commit that wrote it.
    pub commit: u64,
    /// When that was, in ms since 1970.
    pub at_ms: i64,
    /// What it says; the runtime's own format.
    pub body: Bytes,
}

/// Some lines of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalPage {
    /// The lines, in order.
    pub lines: Vec<JournalLine>,
    /// How many lines the journal has.
    pub total: u64,
    /// The number of the line after these, where there are more.
    pub next: Option<u64>,
}

/// At most so many bytes of lines, unpacked, lie in one item.
const ITEM_MAX: usize = 200 * 1_024;

/// The most bytes that unpacked lines of an item may be.
const UNPACKED_MAX: usize = 64 * 1_024 * 1_024;

/// The key of an item of committed lines: the number after its last line, and the last commit that it has lines of.
fn key(tenant: &Tenant, instance: &str, end: u64, commit: u64) -> Result<Key, StoreError> {
    Ok(Key::new(
        wf_partition(tenant, instance)?,
        format!("J#{}#{}", count(end), count(commit)),
    ))
}

/// What the sort keys of the lines of one attempt at a commit begin with.
fn lines_of(commit: u64, attempt: u64) -> String {
    format!("L#{}#{attempt:x}#", count(commit))
}

/// The range of items that have lines from a number on.
fn items_from(tenant: &Tenant, instance: &str, line: u64) -> Result<Query, StoreError> {
    let all = Query::prefix(wf_partition(tenant, instance)?, "J#");
    Ok(Query {
        from: format!("J#{}", count(line)),
        limit: 100,
        ..all
    })
}

fn chunks_in(item: &Item) -> Result<Vec<Chunk>, StoreError> {
    let packed = body::bytes(&item.attributes, "jl").ok_or(StoreError::damaged("journal"))?;
    chunks::read(&packed::unpack("journal", packed, UNPACKED_MAX)?)
}

/// Where the lines of a commit go.
pub(crate) struct Lines {
    /// The recent chunks, as they are then in the head.
    pub(crate) recent: Bytes,
    /// Items of the attempt's own lines, to put before the commit.
    pub(crate) own: Vec<Item>,
    /// The item of earlier lines that move out of the head, to put before the commit. Every attempt at it puts the
    /// same.
    pub(crate) moved: Option<Item>,
}

impl Instances<'_> {
    /// Adds a commit's lines to the recent ones.
    pub(crate) fn add_lines(
        self,
        tenant: &Tenant,
        instance: &str,
        recent: &Bytes,
        added: Chunk,
    ) -> Result<Lines, StoreError> {
        let inline_max = self.config().journal_inline_max;
        let mut own = Vec::new();
        let new = if added.bytes() > inline_max {
            let stub = added.stub();
            let prefix = lines_of(added.commit, added.attempt);
            for (n, piece) in added.pieces(ITEM_MAX).iter().enumerate() {
                let place = Key::new(wf_partition(tenant, instance)?, format!("{prefix}{n:04}"));
                own.push(self.lines_item(place, &piece.frame()?));
            }
            stub.frame()?
        } else {
            added.frame()?
        };
        if recent.is_empty() || recent.len() + new.len() <= inline_max {
            let mut all = recent.to_vec();
            all.extend_from_slice(&new);
            return Ok(Lines {
                recent: all.into(),
                own,
                moved: None,
            });
        }
        let last = chunks::read(recent)?.pop();
        let last = last.ok_or(StoreError::damaged("journal"))?;
        let place = key(tenant, instance, last.end(), last.commit)?;
        Ok(Lines {
            recent: new,
            own,
            moved: Some(self.lines_item(place, recent)),
        })
    }

    fn lines_item(self, key: Key, frames: &[u8]) -> Item {
        let packed = packed::pack(frames, self.config().compress_from.min(1_024));
        let attributes = Attributes::from([("jl".to_owned(), Value::B(packed))]);
        Item { key, attributes }
    }

    /// The recent chunks in a head.
    pub(crate) fn recent_chunks(self, stored: &Stored) -> Result<Vec<Chunk>, StoreError> {
        chunks::read(&stored.recent)
    }

    /// Whether some of the journal's lines lie beside the head.
    pub(crate) fn has_lines_beside(self, stored: &Stored) -> Result<bool, StoreError> {
        let recent = self.recent_chunks(stored)?;
        Ok(recent.iter().any(|chunk| chunk.beside > 0)
            || recent.first().is_some_and(|first| first.first > 0))
    }

    /// The attempt that made a commit, as the journal beside the head tells. Newest items first, as far back as the
    /// commit lies.
    pub(crate) async fn attempt_of_commit(
        self,
        tenant: &Tenant,
        stored: &Stored,
        commit: u64,
    ) -> Result<Option<u64>, StoreError> {
        let mut query = items_from(tenant, &stored.head.instance_id, 0)?;
        query.descending = true;
        query.limit = 10;
        loop {
            let page = self.table().query(&query).await?;
            for item in &page.items {
                let chunks = chunks_in(item)?;
                if let Some(made) = chunks.iter().find(|chunk| chunk.commit == commit) {
                    return Ok(Some(made.attempt));
                }
                if chunks.first().is_some_and(|first| first.commit < commit) {
                    return Ok(None);
                }
            }
            query.cursor = page.cursor;
            if query.cursor.is_none() {
                return Ok(None);
            }
        }
    }

    /// The lines of an instance's journal from a number on, at most `limit`; `None`: there is no such instance.
    /// One read where the head has them, else a query more for each MiB.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn journal(
        self,
        tenant: &Tenant,
        instance_id: &str,
        from: u64,
        limit: usize,
    ) -> Result<Option<JournalPage>, StoreError> {
        // The head first: what it does not have any more has moved to the items before it was read.
        let Some(stored) = self.stored(tenant, instance_id).await? else {
            return Ok(None);
        };
        let total = stored.head.journal_lines;
        let mut wanted = Wanted {
            next: from,
            end: total,
            limit,
            lines: Vec::new(),
        };
        let recent = self.recent_chunks(&stored)?;
        let recent_from = recent.first().map_or(total, |chunk| chunk.first);
        if from < recent_from {
            let mut query = items_from(tenant, instance_id, from + 1)?;
            while !wanted.is_full() {
                let page = self.table().query(&query).await?;
                for item in &page.items {
                    let chunks = chunks_in(item)?;
                    self.take_lines(tenant, instance_id, &mut wanted, chunks)
                        .await?;
                }
                query.cursor = page.cursor;
                if query.cursor.is_none() {
                    break;
                }
            }
        }
        self.take_lines(tenant, instance_id, &mut wanted, recent)
            .await?;
        if !wanted.is_full() {
            // Its last lines are nowhere. Whoever went on from here would go on for ever.
            return Err(StoreError::damaged("journal"));
        }
        let next = (wanted.next < total).then_some(wanted.next);
        Ok(Some(JournalPage {
            lines: wanted.lines,
            total,
            next,
        }))
    }

    /// Takes the next lines out of chunks, those that lie beside them included.
    async fn take_lines(
        self,
        tenant: &Tenant,
        instance_id: &str,
        wanted: &mut Wanted,
        chunks: Vec<Chunk>,
    ) -> Result<(), StoreError> {
        for chunk in chunks {
            if wanted.is_full() {
                return Ok(());
            }
            if chunk.beside == 0 || chunk.end() <= wanted.next {
                wanted.take(chunk)?;
                continue;
            }
            let prefix = lines_of(chunk.commit, chunk.attempt);
            let mut query = Query::prefix(wf_partition(tenant, instance_id)?, &prefix);
            loop {
                let page = self.table().query(&query).await?;
                for item in &page.items {
                    for piece in chunks_in(item)? {
                        wanted.take(piece)?;
                    }
                }
                query.cursor = page.cursor;
                if query.cursor.is_none() || wanted.is_full() {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// The lines that are read so far.
struct Wanted {
    next: u64,
    end: u64,
    limit: usize,
    lines: Vec<JournalLine>,
}

impl Wanted {
    fn is_full(&self) -> bool {
        self.next >= self.end || self.lines.len() >= self.limit
    }

    /// Takes the next lines out of a chunk, some of which may have been taken before.
    fn take(&mut self, chunk: Chunk) -> Result<(), StoreError> {
        let Chunk {
            commit,
            at_ms,
            first,
            lines,
            ..
        } = chunk;
        for (number, body) in (first..).zip(lines) {
            if self.is_full() {
                return Ok(());
            }
            if number > self.next {
                return Err(StoreError::damaged("journal"));
            }
            if number == self.next {
                self.lines.push(JournalLine {
                    number,
                    commit,
                    at_ms,
                    body,
                });
                self.next += 1;
            }
        }
        Ok(())
    }
}
