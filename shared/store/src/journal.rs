//! The journal: what has happened in an instance, line by line. Recent lines ride in the head; when they grow they
//! move to items of their own, named by the number after their last line, so that any line is one query away.

use bytes::Bytes;

use crate::body;
use crate::chunks::{self, Chunk};
use crate::error::StoreError;
use crate::instance::{Stored, wf_partition};
use crate::key_text::count;
use crate::packed;
use crate::store::Store;
use crate::table::{Attributes, Item, Key, Query, Value};
use crate::tenant::Tenant;

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

/// The key of an item of lines: the number after its last line, and the last commit that it has lines of.
fn key(tenant: &Tenant, instance: &str, end: u64, commit: u64) -> Result<Key, StoreError> {
    Ok(Key::new(
        wf_partition(tenant, instance)?,
        format!("J#{}#{}", count(end), count(commit)),
    ))
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

fn chunks_of(packed: &Bytes) -> Result<Vec<Chunk>, StoreError> {
    if packed.is_empty() {
        return Ok(Vec::new());
    }
    chunks::read(&packed::unpack("journal", packed, UNPACKED_MAX)?)
}

fn chunks_in(item: &Item) -> Result<Vec<Chunk>, StoreError> {
    chunks_of(body::bytes(&item.attributes, "jl").ok_or(StoreError::damaged("journal"))?)
}

impl Store {
    /// Adds a commit's lines to the recent ones: answers the recent ones as they are then, packed, and the items
    /// that take them where they have grown too large for the head.
    pub(crate) fn add_lines(
        &self,
        tenant: &Tenant,
        instance: &str,
        recent: &Bytes,
        added: Chunk,
    ) -> Result<(Bytes, Vec<Item>), StoreError> {
        let compress_from = self.config().compress_from;
        let mut frames = Vec::new();
        if !recent.is_empty() {
            frames.extend_from_slice(&packed::unpack("journal", recent, UNPACKED_MAX)?);
        }
        let old_len = frames.len();
        let pieces = added.pieces(ITEM_MAX);
        for piece in &pieces {
            frames.extend_from_slice(&piece.frame()?);
        }
        let packed = packed::pack(&frames, compress_from);
        if packed.len() <= self.config().journal_inline_max {
            return Ok((packed, Vec::new()));
        }
        let old = chunks::read(&Bytes::from(frames).slice(..old_len))?;
        let mut items = Vec::new();
        let mut group = Vec::new();
        let mut place = (0, 0);
        for chunk in old.iter().chain(&pieces) {
            let frame = chunk.frame()?;
            if !group.is_empty() && group.len() + frame.len() > ITEM_MAX {
                items.push(self.lines_item(tenant, instance, place, &group)?);
                group.clear();
            }
            group.extend_from_slice(&frame);
            place = (chunk.end(), chunk.commit);
        }
        items.push(self.lines_item(tenant, instance, place, &group)?);
        Ok((Bytes::new(), items))
    }

    fn lines_item(
        &self,
        tenant: &Tenant,
        instance: &str,
        (end, commit): (u64, u64),
        frames: &[u8],
    ) -> Result<Item, StoreError> {
        let packed = packed::pack(frames, self.config().compress_from.min(1_024));
        let attributes = Attributes::from([("jl".to_owned(), Value::B(packed))]);
        Ok(Item {
            key: key(tenant, instance, end, commit)?,
            attributes,
        })
    }

    /// Whether some of the journal's lines lie beside the head.
    pub(crate) fn has_lines_beside(&self, stored: &Stored) -> Result<bool, StoreError> {
        Ok(match chunks_of(&stored.recent)?.first() {
            Some(first) => first.first > 0,
            None => stored.head.journal_lines > 0,
        })
    }

    /// The fence under which a commit was made, by its chunk. `line` is where its lines would begin.
    pub(crate) async fn fence_of_commit(
        &self,
        tenant: &Tenant,
        stored: &Stored,
        commit: u64,
        line: u64,
    ) -> Result<Option<u64>, StoreError> {
        let fence_in = |chunks: Vec<Chunk>| {
            chunks
                .into_iter()
                .find(|chunk| chunk.commit == commit)
                .map(|chunk| chunk.fence)
        };
        if let Some(fence) = fence_in(chunks_of(&stored.recent)?) {
            return Ok(Some(fence));
        }
        let mut query = items_from(tenant, &stored.head.instance_id, line)?;
        loop {
            let page = self.table().query(&query).await?;
            for item in &page.items {
                if let Some(fence) = fence_in(chunks_in(item)?) {
                    return Ok(Some(fence));
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
        &self,
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
        let recent = chunks_of(&stored.recent)?;
        let recent_from = recent.first().map_or(total, |chunk| chunk.first);
        if from < recent_from {
            let mut query = items_from(tenant, instance_id, from + 1)?;
            while !wanted.is_full() {
                let page = self.table().query(&query).await?;
                for item in &page.items {
                    wanted.take(chunks_in(item)?)?;
                }
                query.cursor = page.cursor;
                if query.cursor.is_none() {
                    break;
                }
            }
        }
        wanted.take(recent)?;
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

    /// Takes the next lines out of chunks that may have some that were taken before.
    fn take(&mut self, chunks: Vec<Chunk>) -> Result<(), StoreError> {
        for chunk in chunks {
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
        }
        Ok(())
    }
}
