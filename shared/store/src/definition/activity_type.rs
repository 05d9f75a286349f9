//! Activity types that are data: one head for each, by which they are listed, and one item for each version. A version
//! is written once and stays, because definitions and instances name it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{count, last_part, part, partition};
use crate::item::readable::readable;
use crate::item::tenant::Tenant;
use crate::item::versioned::Versioned;
use crate::store::handle::handle;
use crate::table::{Condition, Item, Key, Query, Write};

const WHAT: &str = "activity type";

handle!(
    /// Activity types that are data.
    pub OwnTypes,
    own_types
);

/// What is known of a type.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TypeHead {
    /// Its name.
    #[serde(rename = "i")]
    pub name: String,
    /// Its latest version, from 1. The number of one that was deleted is not used again.
    #[serde(rename = "n")]
    pub version: u32,
    /// The latest version as JSON.
    #[serde(rename = "b")]
    pub body: Bytes,
    /// When it was published, in ms since 1970.
    #[serde(rename = "c")]
    pub published_ms: i64,
    /// Whether it was deleted: nothing new may use it, and its versions stay.
    #[serde(rename = "d")]
    pub is_deleted: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct VersionBody {
    #[serde(rename = "b")]
    body: Bytes,
}

fn heads(tenant: &Tenant) -> String {
    partition(tenant, "TYPES")
}

fn head_key(tenant: &Tenant, name: &str) -> Result<Key, StoreError> {
    let name = part(WHAT, name)?;
    Ok(Key::new(heads(tenant), format!("T#{name}")))
}

fn version_key(tenant: &Tenant, name: &str, version: u32) -> Result<Key, StoreError> {
    let name = part(WHAT, name)?;
    Ok(Key::new(
        partition(tenant, &format!("OWN#{name}")),
        format!("V#{}", count(version.into())),
    ))
}

impl OwnTypes<'_> {
    /// What is known of a type. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn head(
        self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<Versioned<TypeHead>>, StoreError> {
        self.get_versioned(WHAT, &head_key(tenant, name)?).await
    }

    /// A version as JSON. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn version(
        self,
        tenant: &Tenant,
        name: &str,
        version: u32,
    ) -> Result<Option<Bytes>, StoreError> {
        let key = version_key(tenant, name, version)?;
        let item = self.table().get(&key).await?;
        item.map(|item| body::of_item::<VersionBody>(WHAT, &item).map(|found| found.body))
            .transpose()
    }

    /// The newest versions as JSON, newest first, at most `limit`. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn newest(
        self,
        tenant: &Tenant,
        name: &str,
        limit: u32,
    ) -> Result<Vec<(u32, Bytes)>, StoreError> {
        let query = Query {
            descending: true,
            limit,
            ..Query::prefix(version_key(tenant, name, 0)?.partition, "V#")
        };
        let page = self.table().query(&query).await?;
        let read = |item: &Item| {
            let number = last_part(WHAT, &item.key.sort)?.parse();
            let number = number.map_err(|_| StoreError::damaged(WHAT))?;
            Ok((number, body::of_item::<VersionBody>(WHAT, item)?.body))
        };
        Ok(readable(page.items, read))
    }

    /// Stores a new latest version. False: somebody else was first. One atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn publish(
        self,
        tenant: &Tenant,
        head: &Versioned<TypeHead>,
    ) -> Result<bool, StoreError> {
        let key = version_key(tenant, &head.value.name, head.value.version)?;
        let body = VersionBody {
            body: head.value.body.clone(),
        };
        let attributes = body::attributes(WHAT, &body)?;
        let put = head.put(WHAT, head_key(tenant, &head.value.name)?, None)?;
        self.write_if(&[put, Write::Put(Item { key, attributes }, Condition::Absent)])
            .await
    }

    /// Stores that a type is deleted. False: it has changed since it was read. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_head(
        self,
        tenant: &Tenant,
        head: &Versioned<TypeHead>,
    ) -> Result<bool, StoreError> {
        let put = head.put(WHAT, head_key(tenant, &head.value.name)?, None)?;
        self.write_if(&[put]).await
    }

    /// A tenant's types by name, deleted ones too. A query for each mebibyte.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn all(self, tenant: &Tenant) -> Result<Vec<TypeHead>, StoreError> {
        let mut query = Query::prefix(heads(tenant), "T#");
        let read = |item: &Item| Versioned::from_item(WHAT, item).map(|found| found.value);
        let mut found = Vec::new();
        loop {
            let page = self.table().query(&query).await?;
            found.extend(readable(page.items, read));
            if page.cursor.is_none() {
                return Ok(found);
            }
            query.cursor = page.cursor;
        }
    }
}
