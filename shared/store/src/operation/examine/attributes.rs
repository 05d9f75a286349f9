//! Rows of search attributes against their heads: both are written together, so a difference is damage.

use std::collections::BTreeSet;

use super::facts::{Facts, Head, id_of};
use super::{Finding, Kind, finding};
use crate::instance::attribute;
use crate::instance::head::{self as instance, HeadItem, Stored, head_key};
use crate::item::error::StoreError;
use crate::item::key_text::{last_part, plain};
use crate::item::number::number;
use crate::item::tenant::Tenant;
use crate::operation::Operations;
use crate::table::{Condition, Index, Item, Key, Write, Written};

impl Operations<'_> {
    /// Rows that differ from what their heads say, and rows that are missing.
    pub(super) async fn wrong_attributes(self, facts: &Facts) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        for (tenant, key) in self.suspects(facts)? {
            if facts.is_unreadable(&key) {
                continue;
            }
            let Some((stored, _)) = self.differing(&tenant, &key).await? else {
                continue;
            };
            let name = last_part("search attribute", &key.sort)?;
            let id = &stored.head.instance_id;
            let about = format!("{name} of {id}");
            let keys = vec![key, head_key(&tenant, id)?];
            findings.push(finding(Kind::AttributeRow, &tenant, about, keys));
        }
        Ok(findings)
    }

    /// The keys of rows that do not look right in a scan.
    fn suspects(self, facts: &Facts) -> Result<BTreeSet<(Tenant, Key)>, StoreError> {
        let mut suspects = BTreeSet::new();
        let mut right: BTreeSet<Key> = BTreeSet::new();
        for ((tenant, id), head) in &facts.heads {
            let Head::Instance(stored) = head else {
                continue;
            };
            for name in stored.head.summary.attributes.keys() {
                let key = attribute::key(tenant, id, name)?;
                let wanted = self.wanted(tenant, stored, name)?;
                if is_same(facts.attributes.get(&key), wanted.as_ref()) {
                    right.insert(key);
                } else {
                    suspects.insert((tenant.clone(), key));
                }
            }
        }
        for (key, row) in &facts.attributes {
            let owner = (tenant_of(key)?, id_of(row)?);
            // Without a head it is one of the rows without an instance.
            let is_instance = matches!(facts.heads.get(&owner), Some(Head::Instance(_)));
            if is_instance && !right.contains(key) {
                suspects.insert((owner.0, key.clone()));
            }
        }
        Ok(suspects)
    }

    /// The row that an attribute of an instance should have.
    fn wanted(
        self,
        tenant: &Tenant,
        stored: &Stored,
        name: &str,
    ) -> Result<Option<Item>, StoreError> {
        let head = &stored.head;
        let Some(value) = head.summary.attributes.get(name) else {
            return Ok(None);
        };
        let id = &head.instance_id;
        attribute::row(tenant, self.config(), id, &head.summary, (name, value)).map(Some)
    }

    /// The instance whose row differs now, and the row as it should be. `None`: it is right, or its instance is changing.
    async fn differing(
        self,
        tenant: &Tenant,
        key: &Key,
    ) -> Result<Option<(Box<Stored>, Option<Item>)>, StoreError> {
        let id = key.partition.split_once("/WF#");
        let id = id.and_then(|(_, id)| plain(id));
        let head = head_key(tenant, &id.ok_or(StoreError::damaged("instance"))?)?;
        let Some(before) = self.table().get(&head).await? else {
            return Ok(None);
        };
        let row = self.table().get(key).await?;
        if self.table().get(&head).await?.as_ref() != Some(&before) {
            return Ok(None);
        }
        let HeadItem::Instance(stored) = instance::from_item(&before)? else {
            return Ok(None);
        };
        let name = last_part("search attribute", &key.sort)?;
        let wanted = self.wanted(tenant, &stored, &name)?;
        let is_right = is_same(row.as_ref(), wanted.as_ref());
        Ok((!is_right).then_some((stored, wanted)))
    }

    /// Makes a row what its head says, if the head is still as it was when it was judged.
    pub(super) async fn mend_attribute(
        self,
        tenant: &Tenant,
        key: &Key,
        owner: &Key,
    ) -> Result<bool, StoreError> {
        let Some((stored, wanted)) = self.differing(tenant, key).await? else {
            return Ok(false);
        };
        let write = match wanted {
            Some(row) => Write::Put(row, Condition::Always),
            None => Write::Delete(key.clone(), Condition::Always),
        };
        let commit = Condition::Equals("cn".into(), number(stored.head.commit));
        let check = Write::Check(owner.clone(), commit);
        Ok(self.table().write(&[write, check]).await? == Written::Done)
    }
}

fn tenant_of(key: &Key) -> Result<Tenant, StoreError> {
    let tenant = key.partition.split_once('/').map(|(tenant, _)| tenant);
    let tenant = tenant.ok_or(StoreError::damaged("key"))?;
    Tenant::new(tenant).map_err(|_| StoreError::damaged("tenant"))
}

/// Whether a row lists what it should. Its shard may be that of another number of shards.
fn is_same(row: Option<&Item>, wanted: Option<&Item>) -> bool {
    let place = |item: &Item| {
        let [partition, sort] = item.index_key(Index::Three)?;
        let (partition, _shard) = partition.rsplit_once('#')?;
        Some((partition.to_owned(), sort.to_owned()))
    };
    match (row, wanted) {
        (None, None) => true,
        (Some(row), Some(wanted)) => place(row).is_some_and(|at| Some(at) == place(wanted)),
        (Some(_), None) | (None, Some(_)) => false,
    }
}
