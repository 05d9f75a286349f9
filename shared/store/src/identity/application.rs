//! Applications: programs with an API key. Listed with their tenant, found by the key's public id, which names the
//! tenant inside. The key itself is not kept, only its digest.

use serde::{Deserialize, Serialize};

use crate::identity::Identities;
use crate::identity::user::identity_partition;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, part};
use crate::item::readable::readable;
use crate::item::tenant::Tenant;
use crate::item::versioned::Versioned;
use crate::table::{Item, Key, Query};

const WHAT: &str = "application";

/// A program with an API key.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Application {
    /// The key's public id, which is the application's too.
    #[serde(rename = "i")]
    pub id: String,
    /// The tenant's name.
    #[serde(rename = "tn")]
    pub tenant: String,
    /// The name that people read.
    #[serde(rename = "n")]
    pub name: String,
    /// The digest of the key's secret.
    #[serde(rename = "d")]
    pub digest: String,
    /// The ids of its roles.
    #[serde(rename = "r")]
    pub roles: Vec<String>,
    /// What it may do besides; Elsa's names.
    #[serde(rename = "p")]
    pub permissions: Vec<String>,
    /// When it was created, in ms since 1970.
    #[serde(rename = "ct")]
    pub created_ms: i64,
    /// Until when its key counts, in ms since 1970.
    #[serde(rename = "e", skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<i64>,
}

fn key(id: &str) -> Result<Key, StoreError> {
    let id = part("a key's id", id)?;
    Ok(Key::new(format!("{SYSTEM}/KEY#{id}"), "HEAD"))
}

fn listed(tenant: &Tenant, id: &str) -> Result<Key, StoreError> {
    let id = part("a key's id", id)?;
    Ok(Key::new(identity_partition(tenant), format!("APP#{id}")))
}

impl Identities<'_> {
    /// The application of a key, by the key's public id. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn application(self, id: &str) -> Result<Option<Versioned<Application>>, StoreError> {
        self.get_versioned(WHAT, &key(id)?).await
    }

    /// Stores a new application. False: there is one of this id. One atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_application(
        self,
        tenant: &Tenant,
        application: &Application,
    ) -> Result<bool, StoreError> {
        let new = Versioned::new(application.clone());
        let writes = [
            new.put(WHAT, key(&application.id)?, None)?,
            new.put(WHAT, listed(tenant, &application.id)?, None)?,
        ];
        self.write_if(&writes).await
    }

    /// Deletes an application; its key counts no more. False: it is gone. One atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete_application(
        self,
        tenant: &Tenant,
        application: &Versioned<Application>,
    ) -> Result<bool, StoreError> {
        let id = &application.value.id;
        let writes = [
            application.delete(key(id)?),
            application.delete(listed(tenant, id)?),
        ];
        self.write_if(&writes).await
    }

    /// A tenant's applications by id, a thousand at most. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn applications(self, tenant: &Tenant) -> Result<Vec<Application>, StoreError> {
        let query = Query::prefix(identity_partition(tenant), "APP#");
        let page = self.table().query(&query).await?;
        let read = |item: &Item| Versioned::from_item(WHAT, item).map(|found| found.value);
        Ok(readable(page.items, read))
    }
}
