//! Lists of instances: from the indexes, newest or oldest first, a page at a time with a bounded amount of work.

use crate::error::StoreError;
use crate::instance::Summary;
use crate::store::Store;
use crate::tenant::Tenant;

/// Which instances. Every field that is set must match; an empty list matches all.
#[derive(Debug, Clone, Default)]
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

impl Store {
    /// One page of the instances that match. From an index that may lag behind by seconds.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadCursor`], or what the table says.
    pub async fn list_instances(
        &self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        paging: &Paging,
    ) -> Result<InstancePage, StoreError> {
        let _ = (tenant, filter, paging);
        todo!()
    }

    /// How many instances match, looking at no more than `bound` of them.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn count_instances(
        &self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        bound: usize,
    ) -> Result<InstanceCount, StoreError> {
        let _ = (tenant, filter, bound);
        todo!()
    }
}
