//! Roles: names for sets of permissions.

use serde::{Deserialize, Serialize};

use crate::identity::Identities;
use crate::identity::user::identity_partition;
use crate::item::error::StoreError;
use crate::item::key_text::part;
use crate::item::readable::readable;
use crate::item::tenant::Tenant;
use crate::item::versioned::Versioned;
use crate::table::{Item, Key, Query};

const WHAT: &str = "role";

/// A role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Role {
    /// The id that users name.
    #[serde(rename = "i")]
    pub id: String,
    /// The name that people read.
    #[serde(rename = "n")]
    pub name: String,
    /// What it permits; Elsa's names.
    #[serde(rename = "p")]
    pub permissions: Vec<String>,
}

fn key(tenant: &Tenant, id: &str) -> Result<Key, StoreError> {
    let id = part("a role's id", id)?;
    Ok(Key::new(identity_partition(tenant), format!("ROLE#{id}")))
}

impl Identities<'_> {
    /// A role. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn role(
        self,
        tenant: &Tenant,
        id: &str,
    ) -> Result<Option<Versioned<Role>>, StoreError> {
        self.get_versioned(WHAT, &key(tenant, id)?).await
    }

    /// Stores a role. False: somebody else was first. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_role(
        self,
        tenant: &Tenant,
        role: &Versioned<Role>,
    ) -> Result<bool, StoreError> {
        let put = role.put(WHAT, key(tenant, &role.value.id)?, None)?;
        self.write_if(&[put]).await
    }

    /// Deletes a role. False: it has changed since it was read. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete_role(
        self,
        tenant: &Tenant,
        role: &Versioned<Role>,
    ) -> Result<bool, StoreError> {
        let delete = role.delete(key(tenant, &role.value.id)?);
        self.write_if(&[delete]).await
    }

    /// A tenant's roles by id, a thousand at most. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn roles(self, tenant: &Tenant) -> Result<Vec<Role>, StoreError> {
        let query = Query::prefix(identity_partition(tenant), "ROLE#");
        let page = self.table().query(&query).await?;
        let read = |item: &Item| Versioned::from_item(WHAT, item).map(|found| found.value);
        Ok(readable(page.items, read))
    }
}
