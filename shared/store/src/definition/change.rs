//! Carrying a change of a definition out: in one atomic write, or in an order in which a crash between does no
//! harm.

use crate::definition::Definitions;
use crate::definition::head::{DefinitionHead, def_partition, head_key};
use crate::definition::publish::Saved;
use crate::definition::rows::{Current, DefinitionChange};
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::error::refused_without_reason;
use crate::item::tenant::Tenant;
use crate::table::{Change, Durability, Query, Updated, Write, Written};

impl Definitions<'_> {
    /// A definition as it is: head and owned rows in one query.
    pub(crate) async fn current(self, tenant: &Tenant, id: &str) -> Result<Current, StoreError> {
        let mut query = Query::prefix(def_partition(tenant, id)?, "HEAD");
        query.until = "ROWS\u{1}".to_owned();
        let page = self.table().query(&query).await?;
        let mut current = Current::default();
        for item in &page.items {
            let counter = |name| {
                body::number(&item.attributes, name)
                    .unwrap_or(0)
                    .unsigned_abs()
            };
            match item.key.sort.as_str() {
                "HEAD" => {
                    current.head = DefinitionHead::from_item(item)?;
                    current.is_there = item.attributes.contains_key("rv");
                    current.revision = counter("rv");
                    current.generation = counter("ge");
                    current.reserved = counter("gr");
                    current.greatest = u32::try_from(counter("la")).unwrap_or(u32::MAX);
                }
                "ROWS" => current.rows = body::of_item("definition's rows", item)?,
                _ => {}
            }
        }
        Ok(current)
    }

    /// Carries a change out.
    pub(crate) async fn change_definition(
        self,
        tenant: &Tenant,
        mut change: DefinitionChange,
    ) -> Result<Saved, StoreError> {
        let mut writes = change.writes(tenant)?;
        let all = writes
            .before
            .iter()
            .chain(&writes.with)
            .chain(&writes.after);
        let mut unsure = false;
        let mut after = Vec::new();
        if self.fits(0, all) {
            writes.with.append(&mut writes.before);
            writes.with.append(&mut writes.after);
        } else {
            if !change.triggers.is_empty() {
                let Some(generation) = self.reserve_generation(tenant, &change).await? else {
                    return self.lost(tenant, &change, unsure).await;
                };
                change.head.generation = generation;
                change.rows.generation = generation;
                writes = change.writes(tenant)?;
            }
            let key = head_key(tenant, &change.head.definition_id)?;
            for mut batch in self.batches(std::mem::take(&mut writes.before)) {
                batch.push(Write::Check(key.clone(), change.current.is_unchanged()));
                if self.write_again(&batch, &mut unsure).await? != Written::Done {
                    return self.lost(tenant, &change, unsure).await;
                }
            }
            after = self.batches(writes.after);
        }
        if let Written::Refused(items) = self.write_again(&writes.with, &mut unsure).await? {
            return match items.iter().position(Option::is_some) {
                Some(0) => self.lost(tenant, &change, unsure).await,
                Some(1) => Ok(Saved::VersionTaken {
                    next: change.next_version(),
                }),
                Some(_) => {
                    let problem = "another definition has it";
                    Err(StoreError::BadId {
                        what: "the definition version id",
                        problem,
                    })
                }
                None => Err(refused_without_reason()),
            };
        }
        self.finish_change(after).await;
        Ok(Saved::Done(change.head))
    }

    /// Takes a generation that no other publish will use, for triggers that are put before the head changes.
    /// `None`: somebody was quicker.
    async fn reserve_generation(
        self,
        tenant: &Tenant,
        change: &DefinitionChange,
    ) -> Result<Option<u64>, StoreError> {
        let key = head_key(tenant, &change.head.definition_id)?;
        let more = [Change::Add("gr".into(), 1)];
        let unchanged = change.current.is_unchanged();
        let updated = self
            .table()
            .update(&key, &more, &unchanged, Durability::Durable)
            .await?;
        let Updated::New(item) = updated else {
            return Ok(None);
        };
        let reserved = body::number(&item.attributes, "gr")
            .unwrap_or(0)
            .unsigned_abs();
        Ok(Some(reserved.max(change.current.generation + 1)))
    }

    /// What it means that the head is not as it was: somebody was quicker, or we were ourselves.
    async fn lost(
        self,
        tenant: &Tenant,
        change: &DefinitionChange,
        unsure: bool,
    ) -> Result<Saved, StoreError> {
        let item = self
            .table()
            .get(&head_key(tenant, &change.head.definition_id)?)
            .await?;
        let Some(item) = item else {
            return Ok(Saved::Conflict(None));
        };
        let there = DefinitionHead::from_item(&item)?;
        let digest = body::bytes(&item.attributes, "hd")
            .cloned()
            .unwrap_or_default();
        let same_body = digest == change.digest;
        if unsure && same_body && there.as_ref() == Some(&change.head) {
            return Ok(Saved::Done(change.head.clone()));
        }
        Ok(Saved::Conflict(there))
    }

    /// The deletes that did not fit. They are of triggers that are not in force any more and the like.
    async fn finish_change(self, after: Vec<Vec<Write>>) {
        for batch in after {
            if let Err(cause) = self.write_again(&batch, &mut false).await {
                tracing::warn!(cause = %cause, "rows of a definition's older version stay behind");
            }
        }
    }
}
