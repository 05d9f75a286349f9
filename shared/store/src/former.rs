//! What was under an instance's id before, so that one that is brought back goes on after it: no lease, commit or
//! message of the life before is ever taken for one of the new life.

use crate::body;
use crate::error::StoreError;
use crate::instance::{self, HeadItem, head_key};
use crate::store::Store;
use crate::table::{Condition, Value};
use crate::tenant::Tenant;

/// What a life before has used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Former {
    /// The number of its last commit.
    pub commit: u64,
    /// The fence that its tombstone has, if it was deleted here.
    pub tombstone: Option<u64>,
}

/// What is under an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// Nothing, or what a deleted instance left.
    Free(Former),
    /// An instance.
    Taken,
    /// One that is being created or deleted.
    Busy,
}

impl Former {
    /// Whether the head's place is free for it.
    pub(crate) fn is_free(&self) -> Condition {
        match self.tombstone {
            None => Condition::Absent,
            Some(fence) => Condition::All(vec![
                Condition::Has("de".into()),
                Condition::Equals("fe".into(), instance::number(fence)),
            ]),
        }
    }

    /// The first fence of the new life.
    pub(crate) fn fence(&self) -> u64 {
        self.tombstone.unwrap_or(0) + 1
    }
}

impl Store {
    /// What is under an id. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn ground(&self, tenant: &Tenant, instance_id: &str) -> Result<Ground, StoreError> {
        let Some(item) = self.table().get(&head_key(tenant, instance_id)?).await? else {
            return Ok(Ground::Free(Former::default()));
        };
        let counter = |name| body::number(&item.attributes, name).map_or(0, i64::unsigned_abs);
        Ok(match instance::from_item(&item)? {
            HeadItem::Instance(_) => Ground::Taken,
            HeadItem::Placeholder { .. } => Ground::Busy,
            // Only when all is cleaned up has it an end.
            HeadItem::Tombstone if !is_clean(&item.attributes) => Ground::Busy,
            HeadItem::Tombstone => Ground::Free(Former {
                commit: counter("cn"),
                tombstone: Some(counter("fe")),
            }),
        })
    }
}

fn is_clean(attributes: &crate::table::Attributes) -> bool {
    let has_end = matches!(attributes.get("ttl"), Some(Value::N(_)));
    has_end
        && !["bh", "uq", "sb"]
            .iter()
            .any(|name| attributes.contains_key(*name))
}
