//! Stimuli: what waits for one, and those that wait.

use crate::definition::trigger::{self, TriggerRow, stimulus_partition};
use crate::item::error::StoreError;
use crate::item::readable::readable;
use crate::item::tenant::Tenant;
use crate::stimulus::Stimuli;
use crate::stimulus::bookmark::{self, BookmarkRow};
use crate::stimulus::queued_stimulus::{
    self, QueuePlace, QueuedStimulus, expiry_partition, queue_partition, queue_prefix,
};
use crate::stimulus::recipients::{Earlier, Recipients};
use crate::table::{Condition, Index, Item, Page, Query, Write, Written};

/// One page of what waits for a stimulus.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waiting {
    /// Bookmarks, in order of correlation id and instance.
    pub bookmarks: Vec<BookmarkRow>,
    /// Where the next page begins.
    pub cursor: Option<String>,
}

/// A bookmark that looks for a queued stimulus.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    /// Hash of the stimulus that it waits for.
    pub hash: &'a str,
    /// The instance.
    pub instance_id: &'a str,
    /// The bookmark.
    pub bookmark_id: &'a str,
    /// Correlation id of the instance.
    pub correlation_id: Option<&'a str>,
    /// Execution of the activity that waits.
    pub activity_instance_id: Option<&'a str>,
}

impl Opening<'_> {
    /// Whether a queued stimulus is for this bookmark.
    #[must_use]
    pub fn takes(&self, queued: &QueuedStimulus) -> bool {
        let fits = |wanted: &Option<String>, found: Option<&str>| {
            wanted.is_none() || wanted.as_deref() == found
        };
        fits(&queued.instance_id, Some(self.instance_id))
            && fits(&queued.bookmark_id, Some(self.bookmark_id))
            && fits(&queued.correlation_id, self.correlation_id)
            && fits(&queued.activity_instance_id, self.activity_instance_id)
    }

    /// The parts of the queue where stimuli for it lie.
    fn prefixes(&self) -> Result<Vec<String>, StoreError> {
        let correlation = self.correlation_id.filter(|id| !id.is_empty());
        let mut prefixes = vec![
            queue_prefix(None, None)?,
            queue_prefix(None, Some(self.instance_id))?,
        ];
        if correlation.is_some() {
            prefixes.push(queue_prefix(correlation, None)?);
            prefixes.push(queue_prefix(correlation, Some(self.instance_id))?);
        }
        Ok(prefixes)
    }
}

impl Stimuli<'_> {
    /// The triggers of a stimulus; see [`TriggerRow::is_of`]. A query for each MiB of them.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn triggers(
        self,
        tenant: &Tenant,
        hash: &str,
    ) -> Result<Vec<TriggerRow>, StoreError> {
        let mut query = Query::prefix(stimulus_partition(tenant, hash)?, "T#");
        let mut triggers = Vec::new();
        loop {
            let page = self.table().query(&query).await?;
            triggers.extend(readable(page.items, trigger::from_item));
            query.cursor = page.cursor;
            if query.cursor.is_none() {
                return Ok(triggers);
            }
        }
    }

    /// Bookmarks that wait for a stimulus, at most `limit` (1 to 1,000) a page: all, or those of instances with a
    /// correlation id. A row that cannot be read is passed over. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn waiting(
        self,
        tenant: &Tenant,
        (hash, correlation_id): (&str, Option<&str>),
        limit: u32,
        cursor: Option<String>,
    ) -> Result<Waiting, StoreError> {
        let prefix = bookmark::prefix(correlation_id)?;
        let query = Query {
            limit: limit.clamp(1, 1_000),
            cursor,
            ..Query::prefix(stimulus_partition(tenant, hash)?, &prefix)
        };
        let Page { items, cursor } = self.table().query(&query).await?;
        Ok(Waiting {
            bookmarks: readable(items, |item: &Item| bookmark::from_item(item)),
            cursor,
        })
    }

    /// The oldest queued stimulus that fits a bookmark, and is none of `besides`. What a commit that opened the
    /// bookmark must ask after it. One query where nothing is queued under the hash; else up to five.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn first_queued(
        self,
        tenant: &Tenant,
        opening: &Opening<'_>,
        besides: &[String],
        now_ms: i64,
    ) -> Result<Option<QueuedStimulus>, StoreError> {
        let all = Query {
            limit: 1,
            until: String::new(),
            ..Query::prefix(queue_partition(tenant, opening.hash)?, "")
        };
        let first = self.table().query(&all).await?;
        if first.items.is_empty() && first.cursor.is_none() {
            return Ok(None);
        }
        let mut found: Option<QueuedStimulus> = None;
        for prefix in opening.prefixes()? {
            let mut query = Query {
                limit: 10,
                ..Query::prefix(all.partition.clone(), &prefix)
            };
            loop {
                let page = self.table().query(&query).await?;
                let fitting = readable(page.items, queued_stimulus::from_item)
                    .into_iter()
                    .find(|queued| {
                        opening.takes(queued)
                            && queued.expires_ms > now_ms
                            && !besides.contains(&queued.id)
                    });
                query.cursor = page.cursor;
                if let Some(fitting) = fitting {
                    let is_older = |known: &QueuedStimulus| fitting.created_ms < known.created_ms;
                    if found.as_ref().is_none_or(is_older) {
                        found = Some(fitting);
                    }
                    break;
                }
                if query.cursor.is_none() {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// The queued stimuli of a hash, in order of correlation id, instance and time; at most `limit` (1 to 1,000) a
    /// page. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn queued_stimuli(
        self,
        tenant: &Tenant,
        hash: &str,
        limit: u32,
    ) -> Result<Vec<QueuedStimulus>, StoreError> {
        let all = Query {
            limit: limit.clamp(1, 1_000),
            until: String::new(),
            ..Query::prefix(queue_partition(tenant, hash)?, "")
        };
        let page = self.table().query(&all).await?;
        Ok(readable(page.items, queued_stimulus::from_item))
    }

    /// Deletes the row of a bookmark that turned out to be closed. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn forget_bookmark(
        self,
        tenant: &Tenant,
        row: &BookmarkRow,
    ) -> Result<(), StoreError> {
        let key = bookmark::key(
            tenant,
            &row.found_by.place(),
            &row.instance_id,
            &row.bookmark_id,
            row.stamp.attempt,
        )?;
        self.write_plain(&[Write::Delete(key, Condition::Always)])
            .await
    }

    /// Queues a stimulus that nothing waited for. Ask for bookmarks again after it: one may have been opened in
    /// between. [`Earlier::None`]: it is queued now. [`Earlier::SentTo`]: an earlier delivery found recipients; if
    /// none of them has seen it, queue it `despite` them. One atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn queue_stimulus(
        self,
        tenant: &Tenant,
        queued: &QueuedStimulus,
        despite: Option<&Recipients>,
    ) -> Result<Earlier, StoreError> {
        let item = queued_stimulus::item(tenant, queued, self.config().outbox_shards)?;
        // In one write: between a look and this, another delivery may have queued it, or found recipients.
        let said = queued_stimulus::remember_queued(tenant, queued)?;
        let is_free = despite.map_or(Ok(Condition::Absent), Recipients::still_noted)?;
        let writes = [
            Write::Put(item, Condition::Absent),
            Write::Put(said, is_free),
        ];
        let Written::Refused(mut refused) = self.table().write(&writes).await? else {
            return Ok(Earlier::None);
        };
        match refused.pop().flatten().flatten() {
            Some(item) => Recipients::earlier(&item),
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
        self,
        tenant: &Tenant,
        place: &QueuePlace,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let delete = Write::Delete(queued_stimulus::key(tenant, place)?, Condition::Exists);
        let taken = queued_stimulus::remember_taken(tenant, &place.hash, &place.id, now_ms)?;
        let writes = [delete, Write::Put(taken, Condition::Always)];
        Ok(self.table().write(&writes).await? == Written::Done)
    }

    /// A page of the queued stimuli of one shard of the outbox with their tenants, the soonest to expire first, and where
    /// the next page begins. From an index that may lag behind by seconds. One query, and a read for each stimulus.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_queued(
        self,
        shard: u16,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<(Vec<(Tenant, QueuedStimulus)>, Option<String>), StoreError> {
        let query = Query {
            index: Some(Index::Two),
            limit: limit.clamp(1, 1_000),
            until: String::new(),
            cursor,
            ..Query::prefix(expiry_partition(shard), "")
        };
        let page = self.table().query(&query).await?;
        let mut items = Vec::new();
        for listed in page.items {
            match self.table().get(&listed.key).await {
                // It stays where it is; the table has logged it.
                Err(error) if error.is_damaged_item() => {}
                item => items.extend(item?),
            }
        }
        let found = readable(items, |item| {
            let tenant = queued_stimulus::tenant_of("queued stimulus", &item.key.partition)?;
            Ok((tenant, queued_stimulus::from_item(item)?))
        });
        Ok((found, page.cursor))
    }
}
