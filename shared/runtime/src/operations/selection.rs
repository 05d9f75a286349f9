//! Which instances an operator means, a page at a time.

use std::collections::BTreeSet;

use dormouse_store::Tenant;
use dormouse_store::instance::list::{InstanceFilter, ListedInstance, Paging};
use serde::{Deserialize, Serialize};

use crate::error::RuntimeError;
use crate::operations::Operations;

/// Which instances an operator means. Stored with alteration plans, so its names are stable for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Selection {
    /// None.
    #[default]
    Nothing,
    /// Those of these that are there and match.
    Named {
        /// Their ids.
        ids: BTreeSet<String>,
        /// What they must match.
        filter: InstanceFilter,
    },
    /// All that match.
    Matching(InstanceFilter),
}

/// Some of the instances that are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selected {
    /// Their ids.
    pub ids: Vec<String>,
    /// Where the next ones begin. `None`: these are the last.
    pub cursor: Option<String>,
}

impl Operations<'_> {
    /// At most so many of the instances that are meant, from where an earlier answer ended. There may be fewer and still
    /// be more. Those that match come newest first, from an index that may lag behind by seconds.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn select(
        self,
        tenant: &Tenant,
        selection: &Selection,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<Selected, RuntimeError> {
        match selection {
            Selection::Nothing => Ok(Selected::default()),
            Selection::Named { ids, filter } => {
                let begin = cursor.as_deref();
                let mut rest = ids
                    .iter()
                    .filter(|id| begin.is_none_or(|b| id.as_str() > b));
                let page: Vec<&String> = rest.by_ref().take(limit).collect();
                let last = page.last().map(|id| (*id).clone());
                let cursor = rest.next().and(last);
                let mut found = Vec::new();
                for id in page {
                    found.extend(self.named(tenant, id, filter).await?);
                }
                Ok(Selected { ids: found, cursor })
            }
            Selection::Matching(filter) => {
                let paging = Paging {
                    ascending: false,
                    skip: 0,
                    limit: limit.clamp(1, 1_000),
                    cursor,
                };
                let page = self.query().instances(tenant, filter, &paging).await?;
                Ok(Selected {
                    ids: page.instances.into_iter().map(|i| i.instance_id).collect(),
                    cursor: page.cursor,
                })
            }
        }
    }

    /// The id of an instance, if it is there and matches.
    async fn named(
        self,
        tenant: &Tenant,
        instance_id: &str,
        filter: &InstanceFilter,
    ) -> Result<Option<String>, RuntimeError> {
        let head = self.query().instance_head(tenant, instance_id).await?;
        let listed = head.map(|head| ListedInstance {
            instance_id: instance_id.to_owned(),
            summary: head.summary,
        });
        let found = listed.filter(|listed| filter.matches(listed));
        Ok(found.map(|listed| listed.instance_id))
    }
}
