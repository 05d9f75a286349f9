//! Webhooks: addresses that take signed messages of others as events. Listed with their tenant, found by their id, which
//! is in the address. The secret is kept as it is: whoever checks a signature needs it.

use serde::{Deserialize, Serialize};

use crate::identity::Links;
use crate::identity::user::identity_partition;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, part};
use crate::item::readable::readable;
use crate::item::tenant::Tenant;
use crate::item::versioned::Versioned;
use crate::table::{Item, Key, Query};

const WHAT: &str = "webhook";

/// An address that takes signed messages.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Webhook {
    /// The id, which is in the address.
    #[serde(rename = "i")]
    pub id: String,
    /// The tenant's name.
    #[serde(rename = "tn")]
    pub tenant: String,
    /// The event that a message becomes.
    #[serde(rename = "e")]
    pub event: String,
    /// Where in a message the correlation id is: a JSON pointer (RFC 6901).
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
    /// What messages are signed with, as it was handed out.
    #[serde(rename = "k")]
    pub secret: String,
    /// When it was created, in ms since 1970.
    #[serde(rename = "ct")]
    pub created_ms: i64,
}

fn key(id: &str) -> Result<Key, StoreError> {
    let id = part("a webhook's id", id)?;
    Ok(Key::new(format!("{SYSTEM}/HOOK#{id}"), "HEAD"))
}

fn listed(tenant: &Tenant, id: &str) -> Result<Key, StoreError> {
    let id = part("a webhook's id", id)?;
    Ok(Key::new(identity_partition(tenant), format!("HOOK#{id}")))
}

impl Links<'_> {
    /// A webhook. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn webhook(self, id: &str) -> Result<Option<Versioned<Webhook>>, StoreError> {
        self.get_versioned(WHAT, &key(id)?).await
    }

    /// Stores a new webhook. False: there is one of this id. One atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_webhook(self, tenant: &Tenant, webhook: &Webhook) -> Result<bool, StoreError> {
        let new = Versioned::new(webhook.clone());
        let writes = [
            new.put(WHAT, key(&webhook.id)?, None)?,
            new.put(WHAT, listed(tenant, &webhook.id)?, None)?,
        ];
        self.write_if(&writes).await
    }

    /// Deletes a webhook. False: it is gone. One atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete_webhook(
        self,
        tenant: &Tenant,
        webhook: &Versioned<Webhook>,
    ) -> Result<bool, StoreError> {
        let id = &webhook.value.id;
        let writes = [
            webhook.delete(key(id)?),
            webhook.delete(listed(tenant, id)?),
        ];
        self.write_if(&writes).await
    }

    /// A tenant's webhooks by id, a thousand at most. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn webhooks(self, tenant: &Tenant) -> Result<Vec<Webhook>, StoreError> {
        let query = Query::prefix(identity_partition(tenant), "HOOK#");
        let page = self.table().query(&query).await?;
        let read = |item: &Item| Versioned::from_item(WHAT, item).map(|found| found.value);
        Ok(readable(page.items, read))
    }
}
