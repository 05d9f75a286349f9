//! When an ended instance goes. It costs nothing more where the head is all there is of it and may stay as long as a
//! tombstone would: then its time to live lies in the head itself, and the table deletes it. Else a row beside the
//! head leads the sweep to it, in index two by time, and the sweep leaves a tombstone.
//!
//! The head must stay, or its tombstone: it is what keeps a start that is delivered again from happening twice.

use bytes::Bytes;

use crate::instance::Instances;
use crate::instance::clean::Deleted;
use crate::instance::commit::Commit;
use crate::instance::head::{self as instance, HeadItem, Stored, head_key, wf_partition};
use crate::instance::plan::{Plan, Role};
use crate::instance::state::StatePlace;
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, part, plain, time};
use crate::item::shard;
use crate::item::tenant::Tenant;
use crate::stimulus::queued_stimulus::tenant_of;
use crate::table::{Attributes, Condition, Index, Item, Key, Query, Value, Write};

/// How long an instance is kept after the commit that ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Until then, in ms since 1970.
    pub until_ms: i64,
    /// Whether something must be done with it before it goes.
    pub is_archived: bool,
}

/// What a head says of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Expiry {
    /// It stays.
    #[default]
    Never,
    /// The table deletes it after this time, in seconds since 1970.
    Vanishes(i64),
    /// The sweep deletes it after this time, in ms since 1970. A row beside it says so too.
    Swept(i64),
}

/// An instance whose time has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiredInstance {
    /// Whose it is.
    pub tenant: Tenant,
    /// Its id.
    pub instance_id: String,
}

impl Expiry {
    /// The attribute that says it.
    pub(crate) fn attribute(self) -> Option<(&'static str, Value)> {
        match self {
            Self::Never => None,
            Self::Vanishes(at_s) => Some(("ttl", Value::N(at_s))),
            Self::Swept(at_ms) => Some(("ex", Value::N(at_ms))),
        }
    }

    pub(crate) fn from_attributes(attributes: &Attributes) -> Self {
        let swept = body::number(attributes, "ex").map(Self::Swept);
        let vanishes = || body::number(attributes, "ttl").map(Self::Vanishes);
        swept.or_else(vanishes).unwrap_or_default()
    }
}

/// The row's key. Its sort key comes after all others of the instance, so that cleaning ends with it.
fn row_key(tenant: &Tenant, instance: &str) -> Result<Key, StoreError> {
    Ok(Key::new(wf_partition(tenant, instance)?, "UNTIL"))
}

/// The partition of index two that lists instances by the time at which they go.
fn expiry_partition(shard: u16) -> String {
    format!("{SYSTEM}/ENDED#{shard:02}")
}

fn row(tenant: &Tenant, instance: &str, until_ms: i64, shards: u16) -> Result<Item, StoreError> {
    let shard = shard::of(instance, shards);
    let id = part("an instance id", instance)?;
    let sort = format!("{}#{tenant}#{id}", time(until_ms));
    Ok(Item {
        key: row_key(tenant, instance)?,
        attributes: Attributes::from([
            ("g2p".to_owned(), Value::S(expiry_partition(shard))),
            ("g2s".to_owned(), Value::S(sort)),
        ]),
    })
}

impl Instances<'_> {
    /// Plans when the instance goes. To be called when the rest of the head is planned.
    pub(crate) fn plan_expiry(
        self,
        tenant: &Tenant,
        plan: &mut Plan,
        old: &Stored,
        commit: &Commit,
    ) -> Result<(), StoreError> {
        let config = self.config();
        let id = plan.next.head.instance_id.clone();
        plan.next.expiry = Expiry::Never;
        let kept = commit.kept.filter(|_| commit.summary.ended);
        if let Some(kept) = kept {
            let stays_ms = kept.until_ms.saturating_sub(commit.now_ms);
            let vanishes = !kept.is_archived
                && stays_ms >= config.tombstone_s.saturating_mul(1_000)
                && matches!(plan.next.place, StatePlace::Inline(_))
                && commit.summary.attributes.is_empty()
                && !self.has_lines_beside(&plan.next)?;
            if vanishes {
                plan.next.expiry = Expiry::Vanishes(kept.until_ms / 1_000 + 1);
                return Ok(());
            }
            plan.next.expiry = Expiry::Swept(kept.until_ms);
            let row = row(tenant, &id, kept.until_ms, config.outbox_shards)?;
            plan.with
                .push((Role::Plain, Write::Put(row, Condition::Always)));
        } else if matches!(old.expiry, Expiry::Swept(_)) {
            // It goes on, by a retry.
            let key = row_key(tenant, &id)?;
            plan.after.push(Write::Delete(key, Condition::Always));
        }
        Ok(())
    }

    /// Instances whose time came at `now_ms` or before, at most `limit` of a shard. Shards are those of the outbox.
    /// One query of an index.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_expired(
        self,
        shard: u16,
        now_ms: i64,
        limit: u32,
    ) -> Result<Vec<ExpiredInstance>, StoreError> {
        let query = Query {
            index: Some(Index::Two),
            partition: expiry_partition(shard),
            from: String::new(),
            until: time(now_ms.saturating_add(1)),
            descending: false,
            limit: limit.clamp(1, 1_000),
            cursor: None,
            leaves_out_damaged: false,
        };
        let page = self.table().query(&query).await?;
        let listed = page.items.iter().map(|item| {
            let what = "expiry row";
            let sort = item.key.partition.rsplit_once("/WF#");
            let id = sort.and_then(|(_, id)| plain(id));
            Ok(ExpiredInstance {
                tenant: tenant_of(what, &item.key.partition)?,
                instance_id: id.ok_or(StoreError::damaged(what))?,
            })
        });
        listed.collect()
    }

    /// Deletes an instance whose time has come, with all that it left; a tombstone stays. One that has no time, or
    /// another one, stays as it is ([`Deleted::NotFound`]). Doing it again is fine, also after a crash in between:
    /// the row that leads here goes last.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn expire(
        self,
        expired: &ExpiredInstance,
        now_ms: i64,
    ) -> Result<Deleted, StoreError> {
        let (tenant, id) = (&expired.tenant, expired.instance_id.as_str());
        let head = self.table().get(&head_key(tenant, id)?).await?;
        let deleted = match head.as_ref().map(instance::from_item).transpose()? {
            Some(HeadItem::Tombstone) => Deleted::Already,
            Some(HeadItem::Placeholder { .. }) => return Ok(Deleted::NotFound),
            None => {
                self.drop_row(tenant, id).await?;
                return Ok(Deleted::NotFound);
            }
            Some(HeadItem::Instance(stored)) => {
                let is_due = matches!(stored.expiry, Expiry::Swept(at_ms) if at_ms <= now_ms);
                if !is_due || !stored.head.summary.ended {
                    // A reopened one has dropped its row in the same commit, so the index lags behind.
                    return Ok(Deleted::NotFound);
                }
                if !self.bury(tenant, &stored, now_ms).await? {
                    // Somebody opens it again.
                    return Ok(Deleted::NotFound);
                }
                Deleted::Done(Vec::new())
            }
        };
        while !self.clean_deleted(tenant, id, now_ms).await? {}
        Ok(deleted)
    }

    /// Writes what is to be left of an instance that goes, as `archive/<tenant>/<day>/<instance>.json` among the
    /// blobs. The same again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoBlobs`] where there are none, else [`StoreError::Blobs`].
    pub async fn archive(
        self,
        tenant: &Tenant,
        day: &str,
        instance: &str,
        body: Bytes,
    ) -> Result<(), StoreError> {
        let blobs = self.blobs();
        let blobs = blobs.ok_or(StoreError::NoBlobs { size: body.len() })?;
        let instance = part("an instance id", instance)?;
        let name = format!("archive/{tenant}/{day}/{instance}.json");
        blobs.put(&name, body).await.map_err(StoreError::Blobs)
    }

    async fn drop_row(self, tenant: &Tenant, id: &str) -> Result<(), StoreError> {
        let key = row_key(tenant, id)?;
        self.write_plain(&[Write::Delete(key, Condition::Always)])
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_lies_last_beside_its_head_and_is_found_by_time() {
        let tenant = Tenant::new("acme").unwrap();
        let item = row(&tenant, "i#1", 77, 1).unwrap();
        assert_eq!(item.key, Key::new("acme/WF#i%231", "UNTIL"));
        assert_eq!(body::text(&item.attributes, "g2p"), Some("~/ENDED#00"));
        assert_eq!(
            body::text(&item.attributes, "g2s"),
            Some("0000000000077#acme#i%231")
        );
        for other in ["HEAD", "J#000000000001#000000000001", "SEEN#x", "STATE#1"] {
            assert!(other < item.key.sort.as_str());
        }
    }

    #[test]
    fn an_expiry_comes_back() {
        for expiry in [Expiry::Never, Expiry::Vanishes(5), Expiry::Swept(5_000)] {
            let attributes = expiry.attribute().into_iter();
            let attributes = attributes
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            assert_eq!(Expiry::from_attributes(&attributes), expiry);
        }
    }
}
