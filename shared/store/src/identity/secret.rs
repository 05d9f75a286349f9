//! Secrets of a tenant: what they are called, and their values sealed or by reference. Nothing here opens a value.

use std::ops::Deref;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::identity::Identities;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, part, plain};
use crate::item::readable::readable;
use crate::item::tenant::Tenant;
use crate::item::versioned::Versioned;
use crate::table::{Item, Key, Query};

const WHAT: &str = "secret";

/// Where a value is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SecretPlace {
    /// Here, sealed.
    #[serde(rename = "s")]
    Sealed(Bytes),
    /// Elsewhere, under this name.
    #[serde(rename = "r")]
    Reference(String),
}

impl Default for SecretPlace {
    fn default() -> Self {
        Self::Sealed(Bytes::new())
    }
}

/// A secret as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredSecret {
    /// Its name, in lower case.
    #[serde(rename = "n")]
    pub name: String,
    /// An id that no other secret has or had.
    #[serde(rename = "i")]
    pub id: String,
    /// The name that people read.
    #[serde(rename = "d")]
    pub display_name: String,
    /// What it is for.
    #[serde(rename = "t")]
    pub description: Option<String>,
    /// What it belongs to, for lists.
    #[serde(rename = "s")]
    pub scope: Option<String>,
    /// Words to find it by.
    #[serde(rename = "g")]
    pub tags: Vec<String>,
    /// Whether it was revoked.
    #[serde(rename = "x")]
    pub is_revoked: bool,
    /// How often it was given a value.
    #[serde(rename = "v")]
    pub version: u32,
    /// Its value.
    #[serde(rename = "p")]
    pub place: SecretPlace,
    /// When it was made, in ms since 1970.
    #[serde(rename = "c")]
    pub created_ms: i64,
    /// When it was changed, in ms since 1970.
    #[serde(rename = "u")]
    pub updated_ms: Option<i64>,
    /// When its value ends to count, in ms since 1970.
    #[serde(rename = "e")]
    pub expires_ms: Option<i64>,
}

/// A page of secrets by tenant and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretNames {
    /// Of all tenants, in order.
    pub names: Vec<(Tenant, String)>,
    /// Where the next page begins. `None`: there is none.
    pub cursor: Option<String>,
}

/// All tenants have one partition, so that all secrets are found when a key is changed. A process reads it now and then.
fn partition() -> String {
    format!("{SYSTEM}/SECRETS")
}

fn prefix(tenant: &Tenant) -> Result<String, StoreError> {
    Ok(format!("{}#", part("a tenant", tenant.as_str())?))
}

fn key(tenant: &Tenant, name: &str) -> Result<Key, StoreError> {
    let name = part("a secret's name", name)?;
    Ok(Key::new(partition(), format!("{}{name}", prefix(tenant)?)))
}

/// Secrets that workflows name.
#[derive(Clone, Copy)]
pub struct Secrets<'a>(Identities<'a>);

impl<'a> Deref for Secrets<'a> {
    type Target = Identities<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a> Identities<'a> {
    /// Secrets that workflows name.
    #[must_use]
    pub fn secrets(self) -> Secrets<'a> {
        Secrets(self)
    }
}

impl Secrets<'_> {
    /// A secret. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn get(
        self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<Versioned<StoredSecret>>, StoreError> {
        self.get_versioned(WHAT, &key(tenant, name)?).await
    }

    /// Stores a secret. False: somebody else was first. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put(
        self,
        tenant: &Tenant,
        secret: &Versioned<StoredSecret>,
    ) -> Result<bool, StoreError> {
        let put = secret.put(WHAT, key(tenant, &secret.value.name)?, None)?;
        self.write_if(&[put]).await
    }

    /// Deletes a secret with its value. False: it has changed since it was read. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete(
        self,
        tenant: &Tenant,
        secret: &Versioned<StoredSecret>,
    ) -> Result<bool, StoreError> {
        let delete = secret.delete(key(tenant, &secret.value.name)?);
        self.write_if(&[delete]).await
    }

    /// A tenant's secrets by name; one that cannot be read is left out. One query for each page.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn all(self, tenant: &Tenant) -> Result<Vec<Versioned<StoredSecret>>, StoreError> {
        let mut query = Query::prefix(partition(), &prefix(tenant)?);
        let mut all = Vec::new();
        loop {
            let page = self.table().query(&query).await?;
            let read = |item: &Item| Versioned::from_item(WHAT, item);
            all.extend(readable(page.items, read));
            query.cursor = page.cursor;
            if query.cursor.is_none() {
                return Ok(all);
            }
        }
    }

    /// The names of the secrets of all tenants, a page at a time. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn names(self, cursor: Option<String>) -> Result<SecretNames, StoreError> {
        let mut query = Query::prefix(partition(), "");
        query.cursor = cursor;
        let page = self.table().query(&query).await?;
        let name = |item: &Item| {
            let (tenant, name) = item.key.sort.split_once('#')?;
            Some((Tenant::new(&plain(tenant)?).ok()?, plain(name)?))
        };
        Ok(SecretNames {
            names: page.items.iter().filter_map(name).collect(),
            cursor: page.cursor,
        })
    }
}
