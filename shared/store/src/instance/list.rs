//! Lists of instances: from the indexes, newest or oldest first, a page at a time with a bounded amount of work.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;

use crate::instance::Instances;
use crate::instance::filter::Range;
pub use crate::instance::filter::{InstanceFilter, ListedInstance, Paging};
use crate::instance::head::Summary;
use crate::instance::partitions::{
    attribute_partition, correlation_partition, definition_partition, status_partition,
};
use crate::instance::walk::{Listed, Walk};
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::tenant::Tenant;
use crate::table::{Index, Query};

/// At most so many heads are read at once.
const BATCH_MAX: usize = 50;

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InstancePage {
    /// The matches.
    pub instances: Vec<ListedInstance>,
    /// Where the next page begins; `None` at the end. A page may be short and still have a next one, where much
    /// had to be looked at for it.
    pub cursor: Option<String>,
    /// How many of the matches to skip are still to be skipped, where the work was used up before.
    pub skip_left: usize,
}

/// A number of instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceCount {
    /// How many were found.
    pub count: u64,
    /// Whether that is all; else there may be more.
    pub exact: bool,
}

impl Instances<'_> {
    /// One page of the instances that match. From an index that may lag behind by seconds.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadCursor`], or what the table says.
    pub async fn list(
        self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        paging: &Paging,
    ) -> Result<InstancePage, StoreError> {
        let limit = paging.limit.clamp(1, 1_000);
        let range = filter.range(paging)?;
        let asks_summary = self.asks_summary(filter);
        let page_limit = if asks_summary {
            500
        } else {
            limit + paging.skip.min(500)
        };
        let queries = self.queries(tenant, filter, &range, page_limit).await?;
        let mut walk = Walk::new(queries, range.ascending);
        let mut page = InstancePage {
            skip_left: paging.skip,
            ..InstancePage::default()
        };
        let mut work = 0;
        let mut last = None;
        while work < self.config().list_work_max && page.instances.len() < limit {
            let missing = limit - page.instances.len() + page.skip_left;
            // Where most may not match, a few more at once cost less than one after the other.
            let wanted = if asks_summary {
                BATCH_MAX
            } else {
                missing.min(BATCH_MAX)
            };
            let batch = walk.next(&self, wanted).await?;
            if batch.is_empty() {
                return Ok(page);
            }
            work += batch.len();
            let summaries = self.summaries(&batch).await?;
            for (listed, summary) in batch.into_iter().zip(summaries) {
                if page.instances.len() == limit {
                    page.cursor = last.as_deref().map(|sort| range.cursor(sort));
                    return Ok(page);
                }
                last = Some(listed.sort);
                let found = summary.map(|summary| ListedInstance {
                    instance_id: listed.instance_id,
                    summary,
                });
                let Some(found) = found.filter(|found| filter.matches(found)) else {
                    continue;
                };
                if page.skip_left > 0 {
                    page.skip_left -= 1;
                } else {
                    page.instances.push(found);
                }
            }
        }
        if walk.has_more(&self).await? {
            page.cursor = last.map(|sort| range.cursor(&sort));
        }
        Ok(page)
    }

    /// The places to look for what a filter asks, as queries for pages of `limit`. A list of several definitions or
    /// statuses merges the lists of each.
    pub(crate) async fn queries(
        self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        range: &Range,
        limit: usize,
    ) -> Result<Vec<Query>, StoreError> {
        let (index, partitions) = if let Some(correlation) = &filter.correlation_id {
            (
                Index::Three,
                vec![correlation_partition(tenant, correlation)?],
            )
        } else {
            let ids: BTreeSet<String> = if filter.definition_ids.is_empty() {
                self.definitions().definition_ids(tenant).await?
            } else {
                filter.definition_ids.iter().cloned().collect()
            };
            let shards = 0..self.config().list_shards;
            let places = ids
                .iter()
                .flat_map(|id| shards.clone().map(move |shard| (id, shard)));
            if let Some((name, value)) = filter.attributes.first_key_value() {
                let partitions =
                    places.map(|(id, shard)| attribute_partition(tenant, id, (name, value), shard));
                (Index::Three, partitions.collect::<Result<_, _>>()?)
            } else if self.lists_statuses_of(filter) {
                let statuses: BTreeSet<&String> = filter.sub_statuses.iter().collect();
                let partitions = places.flat_map(|(id, shard)| {
                    let statuses = statuses.iter();
                    statuses.map(move |status| status_partition(tenant, id, status, shard))
                });
                (Index::Two, partitions.collect::<Result<_, _>>()?)
            } else {
                let partitions = places.map(|(id, shard)| definition_partition(tenant, id, shard));
                (Index::One, partitions.collect::<Result<_, _>>()?)
            }
        };
        let limit = u32::try_from(limit.clamp(1, 1_000)).unwrap_or(1_000);
        let query = |partition| Query {
            index: Some(index),
            partition,
            from: range.from.clone(),
            until: range.until.clone(),
            descending: !range.ascending,
            limit,
            cursor: None,
            leaves_out_damaged: false,
        };
        Ok(partitions.into_iter().map(query).collect())
    }

    /// Whether the filter names sub-statuses, and there is a list of each.
    fn lists_statuses_of(self, filter: &InstanceFilter) -> bool {
        let config = self.config();
        filter.correlation_id.is_none()
            && filter.attributes.is_empty()
            && !filter.sub_statuses.is_empty()
            && filter
                .sub_statuses
                .iter()
                .all(|status| config.lists_status(status))
    }

    /// Whether a filter asks for more than an index answers by itself.
    pub(crate) fn asks_summary(self, filter: &InstanceFilter) -> bool {
        filter.asks_summary()
            || (!filter.sub_statuses.is_empty() && !self.lists_statuses_of(filter))
    }

    /// What was listed, with its summary. What is gone or cannot be read is left out.
    pub(crate) async fn listed_instances(
        self,
        batch: Vec<Listed>,
    ) -> Result<Vec<ListedInstance>, StoreError> {
        let summaries = self.summaries(&batch).await?;
        let found = batch.into_iter().zip(summaries);
        let found = found.filter_map(|(listed, summary)| {
            Some(ListedInstance {
                instance_id: listed.instance_id,
                summary: summary?,
            })
        });
        Ok(found.collect())
    }

    /// The summaries of what was listed: from the index where it has them, else from the heads, all at once.
    async fn summaries(self, batch: &[Listed]) -> Result<Vec<Option<Summary>>, StoreError> {
        // One head that cannot be read does not keep the others from being listed.
        let decode = |listed: &Listed, summary: &[u8]| {
            let instance = &listed.instance_id;
            body::decode("instance", summary)
                .inspect_err(|cause| {
                    tracing::error!(instance, cause = %cause, "an instance that cannot be read is passed over");
                })
                .ok()
        };
        let summaries = batch.iter().map(async |listed| {
            if let Some(summary) = &listed.summary {
                return Ok(decode(listed, summary));
            }
            let item = match self.table().get(&listed.key).await {
                // The table has logged it.
                Err(error) if error.is_damaged_item() => None,
                item => item?,
            };
            let summary = item
                .as_ref()
                .and_then(|i| body::bytes(&i.attributes, Index::SUMMARY));
            Ok(summary.and_then(|summary| decode(listed, summary)))
        });
        try_join_all(summaries).await
    }
}
