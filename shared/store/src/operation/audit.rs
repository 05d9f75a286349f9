//! The audit log: who did what, when, and with what success. Records are only ever added, a partition a month.

use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{partition, plain, time};
use crate::item::readable::readable;
use crate::item::tenant::Tenant;
use crate::operation::Operations;
use crate::table::{Condition, Item, Key, Query, Write};

const WHAT: &str = "audit record";

/// What somebody did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditRecord {
    /// Its id, in the order of time.
    #[serde(skip)]
    pub id: String,
    /// When, in ms since 1970.
    #[serde(rename = "t")]
    pub at_ms: i64,
    /// Who: a user's name, an application's, a token's subject; `link` for a resume link.
    #[serde(rename = "w")]
    pub who: String,
    /// By what they are known: `user`, `application` for an API key, `external` for an account of an outside issuer, `link`,
    /// `anonymous`. Names of one kind are told apart by it from the same names of another one. Empty in old records.
    #[serde(rename = "k", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// What, in Elsa's words: `publish`, `cancel` and so on.
    #[serde(rename = "a")]
    pub action: String,
    /// What it was about: the path, without anything secret.
    #[serde(rename = "s")]
    pub subject: String,
    /// The answer's HTTP status.
    #[serde(rename = "st")]
    pub status: u16,
    /// From where, if that is known.
    #[serde(rename = "f", skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// One page of records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditPage {
    /// The records, newest first.
    pub records: Vec<AuditRecord>,
    /// Where the next page begins.
    pub cursor: Option<String>,
}

fn audit_partition(tenant: &Tenant, month: &str) -> String {
    partition(tenant, &format!("AUDIT#{month}"))
}

impl Operations<'_> {
    /// Adds a record to a month, such as `2026-11`. `chance` tells it from others of the same moment. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn add_audit_record(
        self,
        tenant: &Tenant,
        month: &str,
        record: &AuditRecord,
        chance: u64,
    ) -> Result<(), StoreError> {
        let sort = format!("{}-{chance:016x}", time(record.at_ms));
        let key = Key::new(audit_partition(tenant, month), sort);
        let attributes = body::attributes(WHAT, record)?;
        let put = Write::Put(Item { key, attributes }, Condition::Absent);
        self.write_if(&[put]).await.map(|_| ())
    }

    /// A page of a month's records, newest first. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn audit_records(
        self,
        tenant: &Tenant,
        month: &str,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<AuditPage, StoreError> {
        let query = Query {
            index: None,
            partition: audit_partition(tenant, month),
            from: String::new(),
            until: String::new(),
            descending: true,
            limit,
            cursor,
            leaves_out_damaged: true,
        };
        let page = self.table().query(&query).await?;
        Ok(AuditPage {
            records: readable(page.items, read),
            cursor: page.cursor,
        })
    }
}

fn read(item: &Item) -> Result<AuditRecord, StoreError> {
    let mut record: AuditRecord = body::of_item(WHAT, item)?;
    record.id = plain(&item.key.sort).ok_or(StoreError::damaged(WHAT))?;
    Ok(record)
}
