//! Deleting an instance: a tombstone first, which refuses every later write, then what lies about.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::instance::Instances;
use crate::instance::head::{self as instance, HeadItem, Stored, head_key, wf_partition};
use crate::instance::stamp;
use crate::instance::state::StatePlace;
use crate::instance::uniqueness;
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::error::refused_without_reason;
use crate::item::number::number;
use crate::item::tenant::Tenant;
use crate::outbox::row::{self as outbox, Effect, OutboxKey};
use crate::stimulus::bookmark;
use crate::stimulus::bookmark::RowPlace;
use crate::table::{
    Attributes, Change, Condition, Item, Key, Query, TableError, Value, Write, Written,
};

/// Where the rows of bookmarks lie, by the bookmark's id, and the attempts that opened them.
type Rows = BTreeMap<String, (RowPlace, u64)>;

/// How often a delete is tried while others commit.
const ATTEMPTS_MAX: u32 = 8;

/// What became of a delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deleted {
    /// It is deleted. The rows of the outbox that were written with it.
    Done(Vec<OutboxKey>),
    /// It was deleted before.
    Already,
    /// There was none.
    NotFound,
}

impl Instances<'_> {
    /// Deletes an instance, whoever works on it: nobody's fence is good any more. `effects` should have one that
    /// calls [`Self::clean_deleted`] until it is done. One read and one atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete(
        self,
        tenant: &Tenant,
        instance_id: &str,
        now_ms: i64,
        effects: &[Effect],
    ) -> Result<Deleted, StoreError> {
        let key = head_key(tenant, instance_id)?;
        for _ in 0..ATTEMPTS_MAX {
            let Some(item) = self.table().get(&key).await? else {
                return Ok(Deleted::NotFound);
            };
            let stored = match instance::from_item(&item)? {
                HeadItem::Tombstone => return Ok(Deleted::Already),
                HeadItem::Placeholder { .. } => return Ok(Deleted::NotFound),
                HeadItem::Instance(stored) => stored,
            };
            let attributes = self.tombstone(&stored, now_ms)?;
            let mut writes = vec![Write::Put(
                Item {
                    key: key.clone(),
                    attributes,
                },
                stored.is_as_read(),
            )];
            let source = self.outbox().accepted(tenant, instance_id, now_ms);
            let rows = outbox::rows(&source, effects, None)?;
            let keys = rows.iter().map(|row| OutboxKey(row.key.clone())).collect();
            writes.extend(
                rows.into_iter()
                    .map(|row| Write::Put(row, Condition::Always)),
            );
            match self.table().write(&writes).await {
                Ok(Written::Done) => return Ok(Deleted::Done(keys)),
                // Somebody was quicker, or it happened already.
                Ok(Written::Refused(_)) | Err(TableError::Unknown(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(TableError::Busy.into())
    }

    /// Puts the tombstone of an instance whose time has come, if it is still as it was read.
    pub(crate) async fn bury(
        self,
        tenant: &Tenant,
        stored: &Stored,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let mut attributes = self.tombstone(stored, now_ms)?;
        // Already here: after a crash behind the last batch nothing leads to the tombstone any more.
        let ttl = now_ms / 1_000 + self.config().tombstone_s;
        attributes.insert("ttl".into(), Value::N(ttl));
        let tombstone = Item {
            key: head_key(tenant, &stored.head.instance_id)?,
            attributes,
        };
        let put = Write::Put(tombstone, stored.is_as_read());
        Ok(self.table().write(&[put]).await? == Written::Done)
    }

    /// Deletes one batch of what a deleted instance left: bookmarks, claims, states, journal. True: that was all.
    /// Doing it again is fine.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn clean_deleted(
        self,
        tenant: &Tenant,
        instance_id: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let key = head_key(tenant, instance_id)?;
        let Some(item) = self.table().get(&key).await? else {
            return Ok(true);
        };
        if instance::from_item(&item)? != HeadItem::Tombstone {
            return Ok(true);
        }
        if let Some(found_by) = body::bytes(&item.attributes, "bh") {
            self.clean_bookmarks(tenant, instance_id, key, found_by)
                .await?;
            return Ok(false);
        }
        if let Some(Value::Ss(claims)) = item.attributes.get("uq") {
            self.clean_claims(instance_id, claims).await?;
        }
        if let Some(name) = body::text(&item.attributes, "sb") {
            self.drop_blob(Some(&StatePlace::Blob(name.to_owned())))
                .await;
        }
        if self.clean_partition(tenant, instance_id).await? {
            return Ok(false);
        }
        let ttl = Value::N(now_ms / 1_000 + self.config().tombstone_s);
        let changes = vec![
            Change::Remove("uq".into()),
            Change::Remove("sb".into()),
            Change::Set("ttl".into(), ttl),
        ];
        let last = Write::Update(key, changes, Condition::Has("de".into()));
        self.table().write(&[last]).await?;
        Ok(true)
    }

    async fn clean_bookmarks(
        self,
        tenant: &Tenant,
        instance_id: &str,
        key: Key,
        found_by: &Bytes,
    ) -> Result<(), StoreError> {
        let mut left: Rows = body::decode("instance", found_by)?;
        let mut writes = Vec::new();
        while writes.len() + 1 < self.config().writes_max
            && let Some((id, (place, attempt))) = left.pop_first()
        {
            let row = bookmark::key(tenant, &place, instance_id, &id, attempt)?;
            writes.push(Write::Delete(row, Condition::Always));
        }
        let change = if left.is_empty() {
            Change::Remove("bh".into())
        } else {
            Change::Set("bh".into(), Value::B(body::encode("instance", &left)?))
        };
        writes.push(Write::Update(
            key,
            vec![change],
            Condition::Has("de".into()),
        ));
        self.table().write(&writes).await?;
        Ok(())
    }

    async fn clean_claims(
        self,
        instance: &str,
        claims: &BTreeSet<String>,
    ) -> Result<(), StoreError> {
        for partition in claims {
            let back = uniqueness::give_back(Key::new(partition, "HEAD"), instance);
            // Refused: another instance has the claim by now.
            self.table().write(&[back]).await?;
        }
        Ok(())
    }

    /// Deletes a batch of the items beside the head. False: there were none.
    async fn clean_partition(self, tenant: &Tenant, instance: &str) -> Result<bool, StoreError> {
        let limit = u32::try_from(self.config().writes_max).unwrap_or(100);
        let all = Query::prefix(wf_partition(tenant, instance)?, "");
        let page = self
            .table()
            .query(&Query {
                limit,
                until: String::new(),
                ..all
            })
            .await?;
        let beside = page
            .items
            .into_iter()
            .map(|item| item.key)
            .filter(|key| key.sort != "HEAD");
        let writes: Vec<_> = beside
            .map(|key| Write::Delete(key, Condition::Always))
            .collect();
        if writes.is_empty() {
            return Ok(page.cursor.is_some());
        }
        match self.table().write(&writes).await? {
            Written::Done => Ok(true),
            Written::Refused(_) => Err(refused_without_reason()),
        }
    }
}

impl Instances<'_> {
    /// What stays of a head: that it was deleted, who made its last commits, and what is still to be cleaned.
    fn tombstone(self, stored: &Stored, now_ms: i64) -> Result<Attributes, StoreError> {
        let mut attributes = Attributes::from([
            ("de".to_owned(), Value::N(now_ms)),
            ("fe".to_owned(), number(stored.head.fence + 1)),
            ("cn".to_owned(), number(stored.head.commit)),
        ]);
        let (name, value) = stamp::attempts_attribute(&self.recent_chunks(stored)?)?;
        attributes.insert(name, value);
        let rows: Rows = stored
            .head
            .bookmarks
            .iter()
            .filter_map(|(id, open)| Some((id.clone(), (open.place.clone()?, open.attempt))))
            .collect();
        if !rows.is_empty() {
            attributes.insert("bh".to_owned(), Value::B(body::encode("instance", &rows)?));
        }
        if !stored.claims.is_empty() {
            attributes.insert("uq".to_owned(), Value::Ss(stored.claims.clone()));
        }
        if let StatePlace::Blob(name) = &stored.place {
            attributes.insert("sb".to_owned(), Value::S(name.clone()));
        }
        Ok(attributes)
    }
}
