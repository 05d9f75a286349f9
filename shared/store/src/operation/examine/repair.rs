//! What looks wrong after a scan, looked at once more, consistently; and mending it. A repair says in its condition
//! what it has seen, so one that is overtaken by the work that goes on changes nothing.

use super::facts::{Facts, Head};
use super::{Finding, Kind, Unfound, finding};
use crate::definition::head::{self as definition, DefinitionHead};
use crate::definition::trigger;
use crate::instance::head::{self as instance, HeadItem, Stored, head_key};
use crate::instance::stamp::Verdict;
use crate::instance::uniqueness;
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::number::number;
use crate::item::stamp::Stamp;
use crate::item::tenant::Tenant;
use crate::operation::Operations;
use crate::stimulus::bookmark::{self, BookmarkRow, FoundBy};
use crate::table::{Condition, Item, Key, Query, Write, Written};

impl Operations<'_> {
    async fn head_now(self, tenant: &Tenant, id: &str) -> Result<Option<HeadItem>, StoreError> {
        let item = self.table().get(&head_key(tenant, id)?).await?;
        item.as_ref().map(instance::from_item).transpose()
    }

    pub(super) async fn lost_bookmarks(
        self,
        facts: &Facts,
        settled_ms: i64,
    ) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        for (tenant, key, row) in &facts.bookmarks {
            let place = (tenant.clone(), row.instance_id.clone());
            if matches!(facts.heads.get(&place), Some(Head::Instance(stored)) if is_open(stored, row))
            {
                continue;
            }
            if facts.is_unreadable(&head_key(tenant, &row.instance_id)?) {
                continue;
            }
            // The row first: what is opened meanwhile has its row and its head in one write.
            if self.table().get(key).await?.is_none() {
                continue;
            }
            let is_lost = match self.head_now(tenant, &row.instance_id).await? {
                Some(HeadItem::Instance(stored)) => !is_open(&stored, row),
                Some(HeadItem::Placeholder { .. }) => false,
                Some(HeadItem::Tombstone) | None => row.stamp.at_ms < settled_ms,
            };
            if is_lost {
                let about = format!("{} of {}", row.bookmark_id, row.instance_id);
                let keys = vec![key.clone(), head_key(tenant, &row.instance_id)?];
                findings.push(finding(Kind::BookmarkWithoutInstance, tenant, about, keys));
            }
        }
        Ok(findings)
    }

    pub(super) async fn missing_rows(self, facts: &Facts) -> Result<Vec<Unfound>, StoreError> {
        let rows: std::collections::BTreeSet<&Key> =
            facts.bookmarks.iter().map(|(_, key, _)| key).collect();
        let mut unfound = Vec::new();
        for ((tenant, id), head) in &facts.heads {
            let Head::Instance(stored) = head else {
                continue;
            };
            for (bookmark, open) in &stored.head.bookmarks {
                let Some(place) = &open.place else {
                    continue;
                };
                let key = bookmark::key(tenant, place, id, bookmark, open.attempt)?;
                if rows.contains(&key) || facts.is_unreadable(&key) {
                    continue;
                }
                if self.table().get(&key).await?.is_some() {
                    continue;
                }
                // The row is read before the head: it is deleted in the write that closes the bookmark.
                let now = self.head_now(tenant, id).await?;
                if matches!(now, Some(HeadItem::Instance(now)) if now.head.bookmarks.contains_key(bookmark))
                {
                    unfound.push(Unfound {
                        tenant: tenant.clone(),
                        instance_id: id.clone(),
                        bookmark_id: bookmark.clone(),
                    });
                }
            }
        }
        Ok(unfound)
    }

    /// Puts the missing row of an open bookmark, whose content only its instance's state knows. False: the instance has moved
    /// on, or the row is there.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_missing_row(
        self,
        unfound: &Unfound,
        found_by: &FoundBy,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let (tenant, id) = (&unfound.tenant, &unfound.instance_id);
        let Some(HeadItem::Instance(stored)) = self.head_now(tenant, id).await? else {
            return Ok(false);
        };
        let head = &stored.head;
        let Some(open) = head.bookmarks.get(&unfound.bookmark_id) else {
            return Ok(false);
        };
        let Some(place) = &open.place else {
            return Ok(false);
        };
        let found_by = FoundBy {
            // The instance may have got another one since.
            correlation_id: place.correlation_id.clone(),
            ..found_by.clone()
        };
        if found_by.place() != *place {
            return Ok(false);
        }
        let stamp = Stamp {
            commit: head.commit,
            fence: head.fence,
            attempt: open.attempt,
            at_ms: now_ms,
        };
        let row = bookmark::item(tenant, id, (&unfound.bookmark_id, &found_by), &stamp)?;
        let unchanged = Condition::Equals("cn".into(), number(head.commit));
        let writes = [
            Write::Check(head_key(tenant, id)?, unchanged),
            Write::Put(row, Condition::Absent),
        ];
        Ok(self.table().write(&writes).await? == Written::Done)
    }

    pub(super) async fn lost_rows(self, facts: &Facts) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        for ((tenant, id), key) in &facts.beside {
            let place = (tenant.clone(), id.clone());
            if facts.heads.contains_key(&place) || facts.is_unreadable(&head_key(tenant, id)?) {
                continue;
            }
            if self.head_now(tenant, id).await?.is_some() {
                continue;
            }
            findings.push(finding(
                Kind::RowsWithoutInstance,
                tenant,
                id.clone(),
                vec![key.clone(), head_key(tenant, id)?],
            ));
        }
        Ok(findings)
    }

    pub(super) async fn old_triggers(self, facts: &Facts) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        for (tenant, key, row) in &facts.triggers {
            let place = (tenant.clone(), row.definition_id.clone());
            let is_old = |head: Option<&DefinitionHead>| {
                // One of a generation to come belongs to a publish that is under way.
                head.is_none_or(|head| !row.is_of(head) && row.generation <= head.generation)
            };
            if !is_old(facts.definitions.get(&place)) {
                continue;
            }
            if facts.is_unreadable(&definition::head_key(tenant, &row.definition_id)?) {
                continue;
            }
            let now = self
                .definitions()
                .definition_head(tenant, &row.definition_id)
                .await?;
            if is_old(now.as_ref()) && self.table().get(key).await?.is_some() {
                let about = format!(
                    "{} of {} generation {}",
                    row.trigger.activity_id, row.definition_id, row.generation
                );
                let keys = vec![
                    key.clone(),
                    definition::head_key(tenant, &row.definition_id)?,
                ];
                findings.push(finding(Kind::OldTrigger, tenant, about, keys));
            }
        }
        Ok(findings)
    }

    pub(super) async fn lost_claims(self, facts: &Facts) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        for (tenant, key, holder) in &facts.claims {
            let place = (tenant.clone(), holder.clone());
            let has = |stored: &Stored| stored.claims.contains(&key.partition);
            if matches!(facts.heads.get(&place), Some(Head::Instance(stored)) if has(stored)) {
                continue;
            }
            if facts.is_unreadable(&head_key(tenant, holder)?) {
                continue;
            }
            let Some(item) = self.table().get(key).await? else {
                continue;
            };
            let is_lost = match self.head_now(tenant, holder).await? {
                Some(HeadItem::Instance(stored)) => !has(&stored),
                // A claim is taken in the write that creates its holder.
                Some(HeadItem::Placeholder { .. } | HeadItem::Tombstone) | None => true,
            };
            if is_lost && uniqueness::holder(&item)? == *holder {
                let about = format!("{} held by {holder}", key.partition);
                let keys = vec![key.clone(), head_key(tenant, holder)?];
                findings.push(finding(Kind::ClaimWithoutHolder, tenant, about, keys));
            }
        }
        Ok(findings)
    }

    /// Mends what a finding tells of, where the table alone can tell how. False: it cannot, or it was overtaken.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn repair(self, finding: &Finding, now_ms: i64) -> Result<bool, StoreError> {
        let [key, owner] = finding.keys.as_slice() else {
            return Ok(false);
        };
        match finding.kind {
            Kind::BookmarkWithoutInstance => {
                let tenant = Tenant::new(&finding.tenant)?;
                self.delete_lost_bookmark(&tenant, (key, owner), now_ms)
                    .await
            }
            Kind::ClaimWithoutHolder | Kind::OldTrigger => {
                self.delete_if_as_seen(finding.kind, key, owner).await
            }
            Kind::AttributeRow => {
                let tenant = Tenant::new(&finding.tenant)?;
                self.mend_attribute(&tenant, key, owner).await
            }
            Kind::RowsWithoutInstance => self.delete_rows_beside(owner, now_ms).await,
            // Their content is the runtime's to know, or they are its to deliver.
            Kind::BookmarkWithoutRow
            | Kind::OldOutbox
            | Kind::Interrupted
            | Kind::TimerMissing
            | Kind::BlobWithoutOwner
            | Kind::Damaged => Ok(false),
        }
    }

    /// Deletes a bookmark's row. Where there is no instance, a creation that was frozen might still come: it is fenced
    /// first.
    async fn delete_lost_bookmark(
        self,
        tenant: &Tenant,
        (key, owner): (&Key, &Key),
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let Some(item) = self.table().get(key).await? else {
            return Ok(false);
        };
        let row = bookmark::from_item(&item)?;
        if !matches!(
            self.head_now(tenant, &row.instance_id).await?,
            Some(HeadItem::Instance(_))
        ) {
            let fenced = self
                .commits()
                .fence(tenant, &row.instance_id, &row.stamp, now_ms);
            if fenced.await? != Verdict::Lost {
                return Ok(false);
            }
            let delete = Write::Delete(key.clone(), same(&item));
            return Ok(self.table().write(&[delete]).await? == Written::Done);
        }
        self.delete_if_as_seen(Kind::BookmarkWithoutInstance, key, owner)
            .await
    }

    /// Deletes a row whose owner is still as it was when it was judged.
    async fn delete_if_as_seen(
        self,
        kind: Kind,
        key: &Key,
        owner: &Key,
    ) -> Result<bool, StoreError> {
        let Some(row) = self.table().get(key).await? else {
            return Ok(false);
        };
        let there = self.table().get(owner).await?;
        let Some((is_needed, unchanged)) = judge(kind, key, &row, there.as_ref())? else {
            return Ok(false);
        };
        if is_needed {
            return Ok(false);
        }
        let delete = Write::Delete(key.clone(), same(&row));
        let check = Write::Check(owner.clone(), unchanged);
        Ok(self.table().write(&[delete, check]).await? == Written::Done)
    }

    /// Deletes what lies beside a head that is not there. A creation that was frozen might still come, and need it: a
    /// placeholder refuses it first.
    async fn delete_rows_beside(self, head: &Key, now_ms: i64) -> Result<bool, StoreError> {
        if !self.commits().refuse_creation(head, now_ms).await? {
            return Ok(false);
        }
        loop {
            let all = Query {
                limit: 90,
                until: String::new(),
                ..Query::prefix(head.partition.clone(), "")
            };
            let page = self.table().query(&all).await?;
            let beside = page.items.into_iter().filter(|item| item.key != *head);
            let deletes: Vec<_> = beside
                .map(|item| Write::Delete(item.key, Condition::Always))
                .collect();
            if deletes.is_empty() {
                return Ok(true);
            }
            let is_placeholder = Condition::Has("pl".into());
            let check = std::iter::once(Write::Check(head.clone(), is_placeholder));
            let writes: Vec<_> = check.chain(deletes).collect();
            if self.table().write(&writes).await? != Written::Done {
                return Ok(false);
            }
        }
    }
}

/// The condition that an item is as it was read.
fn same(item: &Item) -> Condition {
    let attributes = item.attributes.iter();
    let same = attributes.map(|(name, value)| Condition::Equals(name.clone(), value.clone()));
    Condition::All(same.collect())
}

/// Whether the row is needed by its owner as that stands now, and what says that it still stands so. `None`: that
/// cannot be told while somebody is about to create it.
fn judge(
    kind: Kind,
    key: &Key,
    row: &Item,
    owner: Option<&Item>,
) -> Result<Option<(bool, Condition)>, StoreError> {
    let Some(owner) = owner else {
        return Ok(Some((false, Condition::Absent)));
    };
    if kind == Kind::OldTrigger {
        let row = trigger::from_item(row)?;
        let generation = body::number(&owner.attributes, "ge").unwrap_or(0);
        let is_coming = row.generation > generation.unsigned_abs();
        let head = DefinitionHead::from_item(owner)?;
        let is_needed = is_coming || head.is_some_and(|head| row.is_of(&head));
        let unchanged = match owner.attributes.get("rv") {
            Some(revision) => Condition::Equals("rv".into(), revision.clone()),
            None => Condition::Lacks("rv".into()),
        };
        return Ok(Some((is_needed, unchanged)));
    }
    Ok(match instance::from_item(owner)? {
        HeadItem::Tombstone => Some((false, Condition::Has("de".into()))),
        HeadItem::Placeholder { .. } if kind == Kind::ClaimWithoutHolder => {
            Some((false, Condition::Has("pl".into())))
        }
        HeadItem::Placeholder { .. } => None,
        HeadItem::Instance(stored) => {
            let is_needed = if kind == Kind::ClaimWithoutHolder {
                stored.claims.contains(&key.partition)
            } else {
                is_open(&stored, &bookmark::from_item(row)?)
            };
            let commit = number(stored.head.commit);
            Some((is_needed, Condition::Equals("cn".into(), commit)))
        }
    })
}

/// Whether a bookmark's row leads to an open bookmark, or to one that a commit under way opens.
fn is_open(stored: &Stored, row: &BookmarkRow) -> bool {
    let open = stored.head.bookmarks.get(&row.bookmark_id);
    let is_it = open.is_some_and(|open| open.attempt == row.stamp.attempt);
    let may_come = row.stamp.commit > stored.head.commit && row.stamp.fence >= stored.head.fence;
    is_it || may_come
}
