//! What lies under an instance's id before its first commit: nothing, a placeholder that carries a fence, or the
//! tombstone of an earlier life. An instance that is brought back continues after it, so that no lease, commit or
//! message of the earlier life is taken for one of the new life.

use crate::instance::Commits;
use crate::instance::head::{self as instance, HeadItem, head_key};
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::number::number;
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Condition, Item, Value};

/// What lies under an id that is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ground {
    /// Nothing.
    #[default]
    Empty,
    /// A placeholder: first commits with a lower fence are refused.
    Placeholder,
    /// What a deleted instance left.
    Tombstone,
}

/// What a new instance continues after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Predecessor {
    /// What lies under the id.
    pub ground: Ground,
    /// Number of the last commit of the earlier life; 0: there was none.
    pub commit: u64,
    /// Fence that lies under the id.
    pub fence: u64,
}

/// Whether an id is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vacancy {
    /// It is, after this.
    Free(Predecessor),
    /// There is an instance.
    Taken,
    /// An instance is being deleted.
    Busy,
}

impl Predecessor {
    /// The condition that nothing has happened under the id since it was read.
    pub(crate) fn is_as_read(&self) -> Condition {
        let mark = match self.ground {
            Ground::Empty => return Condition::Absent,
            Ground::Placeholder => "pl",
            Ground::Tombstone => "de",
        };
        Condition::All(vec![
            Condition::Has(mark.into()),
            Condition::Equals("fe".into(), number(self.fence)),
        ])
    }

    /// The fence of the first commit.
    pub(crate) fn next_fence(&self) -> u64 {
        match self.ground {
            Ground::Empty | Ground::Placeholder => self.fence,
            Ground::Tombstone => self.fence + 1,
        }
    }

    /// The placeholder in an item, as the ground of a first commit.
    pub(crate) fn of_placeholder(fence: u64) -> Self {
        Self {
            ground: Ground::Placeholder,
            commit: 0,
            fence,
        }
    }
}

impl Commits<'_> {
    /// Whether an id is free. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn vacancy(self, tenant: &Tenant, instance_id: &str) -> Result<Vacancy, StoreError> {
        match self.table().get(&head_key(tenant, instance_id)?).await? {
            None => Ok(Vacancy::Free(Predecessor::default())),
            Some(item) => vacancy(&item),
        }
    }
}

fn vacancy(item: &Item) -> Result<Vacancy, StoreError> {
    let counter = |name| body::number(&item.attributes, name).map_or(0, i64::unsigned_abs);
    Ok(match instance::from_item(item)? {
        HeadItem::Instance(_) => Vacancy::Taken,
        HeadItem::Placeholder { fence } => Vacancy::Free(Predecessor::of_placeholder(fence)),
        // Only when all is cleaned up has it an end.
        HeadItem::Tombstone if !is_clean(&item.attributes) => Vacancy::Busy,
        HeadItem::Tombstone => Vacancy::Free(Predecessor {
            ground: Ground::Tombstone,
            commit: counter("cn"),
            fence: counter("fe"),
        }),
    })
}

fn is_clean(attributes: &Attributes) -> bool {
    let has_end = matches!(attributes.get("ttl"), Some(Value::N(_)));
    has_end
        && !["bh", "uq", "sb"]
            .iter()
            .any(|name| attributes.contains_key(*name))
}
