//! Finding instances by page number: any filter, any order, with the number of all matches. What an index answers by
//! itself is counted there; for the rest the summaries of all candidates are read, up to a bound.

use std::cmp::Ordering;

use crate::instance::Instances;
use crate::instance::list::{InstanceCount, InstanceFilter, ListedInstance, Paging};
use crate::instance::walk::Walk;
use crate::item::error::StoreError;
use crate::item::tenant::Tenant;

/// How many summaries are read at once.
const BATCH_MAX: usize = 500;

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By the time of creation, the order of the indexes.
    Created,
    /// By the time of the last change.
    Updated,
    /// By the time at which they ended. Those that have not ended come first.
    Finished,
    /// By name. Those without one come first.
    Name,
}

/// One page of what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The matches of the page.
    pub instances: Vec<ListedInstance>,
    /// The number of all matches.
    pub total: InstanceCount,
}

impl Instances<'_> {
    /// One page of the instances that match, and the number of all of them. From an index that may lag behind by seconds.
    ///
    /// It looks at `StoreConfig::find_work_max` instances at most: beyond that the total is not exact, and in other orders
    /// than that of creation the page is one of the newest so many.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn find(
        self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        order: Order,
        paging: &Paging,
    ) -> Result<Found, StoreError> {
        if self.is_listed(filter, order) {
            self.find_listed(tenant, filter, paging).await
        } else {
            self.find_among_all(tenant, filter, order, paging).await
        }
    }

    /// Whether an index answers it by itself.
    #[must_use]
    pub fn is_listed(self, filter: &InstanceFilter, order: Order) -> bool {
        order == Order::Created && !self.asks_summary(filter)
    }

    /// What an index answers by itself.
    async fn find_listed(
        self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        paging: &Paging,
    ) -> Result<Found, StoreError> {
        let most = self.config().find_work_max;
        let range = filter.range(paging)?;
        let queries = self.queries(tenant, filter, &range, 1_000).await?;
        let mut count = 0;
        for query in &queries {
            let most = (most as u64).saturating_sub(count) + 1;
            count += self.table().count(query, most).await?;
        }
        let total = InstanceCount {
            count: count.min(most as u64),
            exact: count <= most as u64,
        };
        let skip = paging.skip.min(most);
        let mut instances = Vec::new();
        if (skip as u64) < total.count {
            let page = skip.saturating_add(paging.limit).clamp(1, 1_000);
            let page = u32::try_from(page).unwrap_or(1_000);
            let queries = queries.into_iter().map(|query| crate::table::Query {
                limit: page,
                ..query
            });
            let mut walk = Walk::new(queries.collect(), paging.ascending);
            walk.skip(&self, skip).await?;
            while instances.len() < paging.limit {
                let missing = paging.limit - instances.len();
                let batch = walk.next(&self, missing.min(BATCH_MAX)).await?;
                if batch.is_empty() {
                    break;
                }
                let found = self.listed_instances(batch).await?;
                // An index may be behind the head.
                instances.extend(found.into_iter().filter(|found| filter.matches(found)));
            }
        }
        Ok(Found { instances, total })
    }

    /// Looks at each candidate.
    async fn find_among_all(
        self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        order: Order,
        paging: &Paging,
    ) -> Result<Found, StoreError> {
        let is_listed = order == Order::Created;
        let walked = Paging {
            ascending: is_listed && paging.ascending,
            ..paging.clone()
        };
        let range = filter.range(&walked)?;
        let queries = self.queries(tenant, filter, &range, 1_000).await?;
        let mut walk = Walk::new(queries, walked.ascending);
        let mut page = Kept {
            order,
            ascending: paging.ascending,
            skip: paging.skip,
            limit: paging.limit,
            seen: 0,
            found: Vec::new(),
        };
        let mut left = self.config().find_work_max;
        while left > 0 {
            let batch = walk.next(&self, left.min(BATCH_MAX)).await?;
            if batch.is_empty() {
                break;
            }
            left -= batch.len();
            let found = self.listed_instances(batch).await?;
            for one in found.into_iter().filter(|found| filter.matches(found)) {
                page.keep(one);
            }
        }
        let total = InstanceCount {
            count: page.seen,
            exact: !walk.has_more(&self).await?,
        };
        Ok(Found {
            instances: page.into_page(),
            total,
        })
    }
}

/// The matches that may be part of the page.
struct Kept {
    order: Order,
    ascending: bool,
    skip: usize,
    limit: usize,
    /// How many matches there were.
    seen: u64,
    found: Vec<ListedInstance>,
}

impl Kept {
    fn keep(&mut self, found: ListedInstance) {
        self.seen += 1;
        if self.order == Order::Created {
            let is_before = self.seen <= self.skip as u64;
            if !is_before && self.found.len() < self.limit {
                self.found.push(found);
            }
            return;
        }
        self.found.push(found);
        let most = self.skip.saturating_add(self.limit);
        if self.found.len() >= most.saturating_mul(2).max(BATCH_MAX) {
            self.sort();
            self.found.truncate(most);
        }
    }

    fn sort(&mut self) {
        let (order, ascending) = (self.order, self.ascending);
        self.found.sort_by(|a, b| {
            let sorted = order.compare(a, b);
            if ascending { sorted } else { sorted.reverse() }
        });
    }

    fn into_page(mut self) -> Vec<ListedInstance> {
        if self.order == Order::Created {
            return self.found;
        }
        self.sort();
        let page = self.found.into_iter().skip(self.skip).take(self.limit);
        page.collect()
    }
}

impl Order {
    /// Which of two comes first; the time of creation and the id decide where the order does not.
    fn compare(self, a: &ListedInstance, b: &ListedInstance) -> Ordering {
        let (x, y) = (&a.summary, &b.summary);
        let sorted = match self {
            Self::Created => Ordering::Equal,
            Self::Updated => x.updated_ms.cmp(&y.updated_ms),
            Self::Finished => x.finished_ms.cmp(&y.finished_ms),
            Self::Name => x.name.cmp(&y.name),
        };
        let created = || x.created_ms.cmp(&y.created_ms);
        let id = || a.instance_id.cmp(&b.instance_id);
        sorted.then_with(created).then_with(id)
    }
}
