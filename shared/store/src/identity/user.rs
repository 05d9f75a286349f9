//! Local users: who may sign in with a password, and the roles they have.

use serde::{Deserialize, Serialize};

use crate::identity::Identities;
use crate::item::error::StoreError;
use crate::item::key_text::{part, partition};
use crate::item::readable::readable;
use crate::item::tenant::Tenant;
use crate::item::versioned::Versioned;
use crate::table::{Item, Key, Query};

const WHAT: &str = "user";

/// A local user.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct User {
    /// The name, which is the id too, in lower case.
    #[serde(rename = "n")]
    pub name: String,
    /// What is kept of the password; see `dormouse-identity`.
    #[serde(rename = "p")]
    pub password: String,
    /// The ids of the roles.
    #[serde(rename = "r")]
    pub roles: Vec<String>,
    /// When it was created, in ms since 1970.
    #[serde(rename = "ct")]
    pub created_ms: i64,
    /// Changes with the password, and with a user of the same name who comes later: tokens name it.
    #[serde(rename = "s")]
    pub stamp: String,
}

/// The partition of a tenant's users, roles and applications.
pub(crate) fn identity_partition(tenant: &Tenant) -> String {
    partition(tenant, "IDENTITY")
}

fn key(tenant: &Tenant, name: &str) -> Result<Key, StoreError> {
    let name = part("a user's name", name)?;
    Ok(Key::new(identity_partition(tenant), format!("USER#{name}")))
}

impl Identities<'_> {
    /// A user. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn user(
        self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<Versioned<User>>, StoreError> {
        self.get_versioned(WHAT, &key(tenant, name)?).await
    }

    /// Stores a user. False: somebody else was first. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_user(
        self,
        tenant: &Tenant,
        user: &Versioned<User>,
    ) -> Result<bool, StoreError> {
        let put = user.put(WHAT, key(tenant, &user.value.name)?, None)?;
        self.write_if(&[put]).await
    }

    /// Deletes a user. False: it has changed since it was read. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete_user(
        self,
        tenant: &Tenant,
        user: &Versioned<User>,
    ) -> Result<bool, StoreError> {
        let delete = user.delete(key(tenant, &user.value.name)?);
        self.write_if(&[delete]).await
    }

    /// A tenant's users by name, a thousand at most. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn users(self, tenant: &Tenant) -> Result<Vec<User>, StoreError> {
        let query = Query::prefix(identity_partition(tenant), "USER#");
        let page = self.table().query(&query).await?;
        let read = |item: &Item| Versioned::from_item(WHAT, item).map(|found| found.value);
        Ok(readable(page.items, read))
    }
}
