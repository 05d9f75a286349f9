//! Lists of instances: from the indexes, newest or oldest first, a page at a time with a bounded amount of work.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::instance::Instances;
use crate::instance::head::Summary;
use crate::instance::partitions::{correlation_partition, definition_partition, status_partition};
use crate::instance::walk::{Listed, Walk};
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::time;
use crate::item::tenant::Tenant;
use crate::table::{Index, Query};

/// At most so many heads are read at once.
const BATCH_MAX: usize = 50;

/// Which instances. Every field that is set must match; an empty list matches all. Stored with alteration plans, so
/// its names are stable for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InstanceFilter {
    /// Of one of these definitions.
    pub definition_ids: Vec<String>,
    /// Of this version.
    pub version: Option<u32>,
    /// With this correlation id.
    pub correlation_id: Option<String>,
    /// With one of these statuses.
    pub statuses: Vec<String>,
    /// With one of these sub-statuses.
    pub sub_statuses: Vec<String>,
    /// With exactly this name.
    pub name: Option<String>,
    /// With this text in id, definition id, name or correlation id, whatever the case.
    pub search: Option<String>,
    /// With this instance as the one that started it.
    pub parent_id: Option<String>,
    /// With (true) or without (false) incidents.
    pub has_incidents: Option<bool>,
    /// Of the system (true) or not (false).
    pub is_system: Option<bool>,
    /// Created at or after this time, in ms since 1970.
    pub created_from_ms: Option<i64>,
    /// Created before this time, in ms since 1970.
    pub created_until_ms: Option<i64>,
    /// Changed last at or after this time, in ms since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_from_ms: Option<i64>,
    /// Changed last before this time, in ms since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_until_ms: Option<i64>,
    /// Ended at or after this time, in ms since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_from_ms: Option<i64>,
    /// Ended before this time, in ms since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_until_ms: Option<i64>,
}

/// Which part of a list.
#[derive(Debug, Clone)]
pub struct Paging {
    /// Oldest first; else newest first. By the time of creation.
    pub ascending: bool,
    /// Skip so many matches.
    pub skip: usize,
    /// At most so many matches, 1 to 1,000.
    pub limit: usize,
    /// Where an earlier page ended. It stays right while instances come and go.
    pub cursor: Option<String>,
}

/// One instance of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedInstance {
    /// Its id.
    pub instance_id: String,
    /// What is known of it.
    pub summary: Summary,
}

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
            if self.lists_statuses_of(filter) {
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
        };
        Ok(partitions.into_iter().map(query).collect())
    }

    /// Whether the filter names sub-statuses, and there is a list of each.
    fn lists_statuses_of(self, filter: &InstanceFilter) -> bool {
        let config = self.config();
        filter.correlation_id.is_none()
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
            let item = self.table().get(&listed.key).await?;
            let summary = item
                .as_ref()
                .and_then(|i| body::bytes(&i.attributes, Index::SUMMARY));
            Ok(summary.and_then(|summary| decode(listed, summary)))
        });
        try_join_all(summaries).await
    }
}

/// A range of creation times, as sort keys of the indexes.
pub(crate) struct Range {
    ascending: bool,
    from: String,
    until: String,
}

impl Range {
    /// Where to go on after an item.
    fn cursor(&self, sort: &str) -> String {
        format!("{}{sort}", if self.ascending { '+' } else { '-' })
    }
}

impl InstanceFilter {
    pub(crate) fn range(&self, paging: &Paging) -> Result<Range, StoreError> {
        let mut from = self.created_from_ms.map(time).unwrap_or_default();
        let mut until = self.created_until_ms.map(time).unwrap_or_default();
        let ascending = paging.ascending;
        if let Some(cursor) = &paging.cursor {
            let sort = cursor.strip_prefix(if ascending { '+' } else { '-' });
            let is_sort = |sort: &&str| {
                sort.split_once('#')
                    .is_some_and(|(time, _)| time.len() >= 13)
            };
            let sort = sort.filter(is_sort).ok_or(StoreError::BadCursor)?;
            if ascending {
                // The least text after it.
                from = from.max(format!("{sort}\u{1}"));
            } else if until.is_empty() || sort < until.as_str() {
                sort.clone_into(&mut until);
            }
        }
        Ok(Range {
            ascending,
            from,
            until,
        })
    }

    /// Whether it asks for what only a summary tells, sub-statuses aside.
    fn asks_summary(&self) -> bool {
        self.version.is_some()
            || !self.statuses.is_empty()
            || self.name.is_some()
            || self.search.is_some()
            || self.parent_id.is_some()
            || self.has_incidents.is_some()
            || self.is_system.is_some()
            || self.updated_from_ms.is_some()
            || self.updated_until_ms.is_some()
            || self.finished_from_ms.is_some()
            || self.finished_until_ms.is_some()
            || (self.correlation_id.is_some() && !self.definition_ids.is_empty())
    }

    /// Whether an instance is one of those meant.
    #[must_use]
    pub fn matches(&self, listed: &ListedInstance) -> bool {
        let ListedInstance {
            instance_id,
            summary: s,
        } = listed;
        let one_of = |list: &[String], text: &String| list.is_empty() || list.contains(text);
        let same =
            |wanted: &Option<String>, text: &Option<String>| wanted.is_none() || wanted == text;
        let texts = [
            Some(instance_id),
            Some(&s.definition_id),
            s.name.as_ref(),
            s.correlation_id.as_ref(),
        ];
        let has = |part: &String| {
            let part = part.to_lowercase();
            texts
                .into_iter()
                .flatten()
                .any(|text| text.to_lowercase().contains(&part))
        };
        one_of(&self.definition_ids, &s.definition_id)
            && one_of(&self.statuses, &s.status)
            && one_of(&self.sub_statuses, &s.sub_status)
            && same(&self.correlation_id, &s.correlation_id)
            && same(&self.name, &s.name)
            && same(&self.parent_id, &s.parent_id)
            && self
                .version
                .is_none_or(|version| version == s.definition_version)
            && self
                .has_incidents
                .is_none_or(|has| has == (s.incident_count > 0))
            && self
                .is_system
                .is_none_or(|is_system| is_system == s.is_system)
            && is_within(
                Some(s.created_ms),
                self.created_from_ms,
                self.created_until_ms,
            )
            && is_within(
                Some(s.updated_ms),
                self.updated_from_ms,
                self.updated_until_ms,
            )
            && is_within(s.finished_ms, self.finished_from_ms, self.finished_until_ms)
            && self.search.as_ref().is_none_or(has)
    }
}

/// Whether a time is at or after `from` and before `until`. What has not happened is within no bounds.
fn is_within(at: Option<i64>, from: Option<i64>, until: Option<i64>) -> bool {
    from.is_none_or(|from| at.is_some_and(|at| at >= from))
        && until.is_none_or(|until| at.is_some_and(|at| at < until))
}
