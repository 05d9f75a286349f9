//! Stimuli: what waits for one, and those that wait.

use crate::addressees::{Addressees, Earlier};
use crate::bookmark::{self, BookmarkRow};
use crate::error::StoreError;
use crate::queued_stimulus::{self, QueuedStimulus, expiry_partition};
use crate::readable::readable;
use crate::store::Store;
use crate::table::{Condition, Index, Query, Write, Written};
use crate::tenant::Tenant;
use crate::trigger::{self, TriggerRow, stimulus_partition};

/// What lies under a stimulus hash.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stimuli {
    /// Definitions that it starts; see [`TriggerRow::is_of`].
    pub triggers: Vec<TriggerRow>,
    /// Instances that wait for it.
    pub bookmarks: Vec<BookmarkRow>,
    /// Stimuli that wait for a bookmark.
    pub queued: Vec<QueuedStimulus>,
    /// Where the next page begins.
    pub cursor: Option<String>,
}

impl Store {
    /// What waits for a stimulus: bookmarks first, then queued stimuli, then triggers; at most 1,000 a page. One
    /// query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn stimuli(
        &self,
        tenant: &Tenant,
        hash: &str,
        cursor: Option<String>,
    ) -> Result<Stimuli, StoreError> {
        self.stimuli_of(tenant, hash, "", cursor).await
    }

    /// The queued stimuli of a hash. What a commit that opened a bookmark must ask after it. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn queued_stimuli(
        &self,
        tenant: &Tenant,
        hash: &str,
        cursor: Option<String>,
    ) -> Result<Stimuli, StoreError> {
        self.stimuli_of(tenant, hash, "Q#", cursor).await
    }

    /// The bookmarks of one instance that wait for a stimulus. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn bookmarks_of(
        &self,
        tenant: &Tenant,
        hash: &str,
        instance_id: &str,
    ) -> Result<Vec<BookmarkRow>, StoreError> {
        let prefix = format!(
            "B#{}#",
            crate::key_text::part("an instance id", instance_id)?
        );
        let mut bookmarks = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.stimuli_of(tenant, hash, &prefix, cursor).await?;
            bookmarks.extend(page.bookmarks);
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(bookmarks);
            }
        }
    }

    async fn stimuli_of(
        &self,
        tenant: &Tenant,
        hash: &str,
        prefix: &str,
        cursor: Option<String>,
    ) -> Result<Stimuli, StoreError> {
        let mut query = Query::prefix(stimulus_partition(tenant, hash)?, prefix);
        query.cursor = cursor;
        let page = self.table().query(&query).await?;
        let mut stimuli = Stimuli {
            cursor: page.cursor,
            ..Stimuli::default()
        };
        for item in &page.items {
            match item.key.sort.as_bytes().first() {
                Some(b'T') => stimuli.triggers.push(trigger::from_item(item)?),
                Some(b'B') => stimuli.bookmarks.push(bookmark::from_item(item)?),
                Some(b'Q') => stimuli.queued.push(queued_stimulus::from_item(item)?),
                // A kind of a newer build: whoever wrote it looks after it.
                _ => {}
            }
        }
        Ok(stimuli)
    }

    /// Deletes the row of a bookmark that turned out to be closed: what an interrupted commit of many writes left.
    /// One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn forget_bookmark(
        &self,
        tenant: &Tenant,
        row: &BookmarkRow,
    ) -> Result<(), StoreError> {
        let key = bookmark::key(
            tenant,
            &row.found_by.hash,
            &row.instance_id,
            &row.bookmark_id,
        )?;
        self.write_plain(&[Write::Delete(key, Condition::Always)])
            .await
    }

    /// Queues a stimulus that nothing waited for. Ask for bookmarks again after it: one may have been opened in
    /// between. [`Earlier::None`]: it is queued now. [`Earlier::AddressedTo`]: an earlier delivery found receivers; if
    /// none of them has seen it, queue it `despite` them. One atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn queue_stimulus(
        &self,
        tenant: &Tenant,
        queued: &QueuedStimulus,
        despite: Option<&Addressees>,
    ) -> Result<Earlier, StoreError> {
        let item = queued_stimulus::item(tenant, queued, self.config().outbox_shards)?;
        // In one write: between a look and this, another delivery may have queued it, or found receivers.
        let said = queued_stimulus::remember_queued(tenant, queued)?;
        let is_free = despite.map_or(Ok(Condition::Absent), Addressees::still_noted)?;
        let writes = [
            Write::Put(item, Condition::Absent),
            Write::Put(said, is_free),
        ];
        let Written::Refused(mut refused) = self.table().write(&writes).await? else {
            return Ok(Earlier::None);
        };
        match refused.pop().flatten().flatten() {
            Some(item) => Addressees::earlier(&item),
            // Queued by a build that did not say so.
            None => Ok(Earlier::Queued),
        }
    }

    /// Takes a queued stimulus away without a commit, such as when it started an instance. False: it is not there
    /// any more. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn take_queued(
        &self,
        tenant: &Tenant,
        (hash, id): (&str, &str),
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let delete = Write::Delete(queued_stimulus::key(tenant, hash, id)?, Condition::Exists);
        let taken = queued_stimulus::remember_taken(tenant, hash, id, now_ms)?;
        let writes = [delete, Write::Put(taken, Condition::Always)];
        Ok(self.table().write(&writes).await? == Written::Done)
    }

    /// One queued stimulus. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn queued_stimulus(
        &self,
        tenant: &Tenant,
        hash: &str,
        id: &str,
    ) -> Result<Option<QueuedStimulus>, StoreError> {
        let item = self
            .table()
            .get(&queued_stimulus::key(tenant, hash, id)?)
            .await?;
        item.as_ref().map(queued_stimulus::from_item).transpose()
    }

    /// Queued stimuli with their tenants, the soonest to expire first, at most `limit` of each shard of the outbox.
    /// From an index that may lag behind by seconds. A query for each shard, and a read for each stimulus.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_queued(
        &self,
        limit: u32,
    ) -> Result<Vec<(Tenant, QueuedStimulus)>, StoreError> {
        let mut found = Vec::new();
        for shard in 0..self.config().outbox_shards {
            let query = Query {
                index: Some(Index::Two),
                limit: limit.clamp(1, 1_000),
                until: String::new(),
                ..Query::prefix(expiry_partition(shard), "")
            };
            let mut items = Vec::new();
            for listed in self.table().query(&query).await?.items {
                items.extend(self.table().get(&listed.key).await?);
            }
            found.extend(readable(items, |item| {
                let tenant = queued_stimulus::tenant_of("queued stimulus", &item.key.partition)?;
                Ok((tenant, queued_stimulus::from_item(item)?))
            }));
        }
        Ok(found)
    }
}
