//! Reading definitions, and deleting one.

use std::collections::BTreeSet;

use crate::definition::Definitions;
use crate::definition::head::{
    DefinitionHead, DefinitionVersion, def_partition, head_key, list_partition, type_name_key,
    version_id_key, version_key,
};
use crate::definition::publish::{Saved, unnamed};
use crate::definition::route::{self, Route, routes_partition};
use crate::definition::rows::DefinitionChange;
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::last_part;
use crate::item::readable::readable;
use crate::item::tenant::Tenant;
use crate::table::{Index, Item, Query, TableError, Write};

/// How often a delete is tried while others edit.
const ATTEMPTS_MAX: u32 = 8;

impl Definitions<'_> {
    /// What is known of a definition, as of the last publish that returned. One read. `None`: there is none, or it
    /// was deleted.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn definition_head(
        self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Option<DefinitionHead>, StoreError> {
        match self.table().get(&head_key(tenant, definition_id)?).await? {
            Some(item) => DefinitionHead::from_item(&item),
            None => Ok(None),
        }
    }

    /// A version with its body, a hidden one too. One read. Cache it for ever if it was published or used.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn definition_version(
        self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
    ) -> Result<Option<DefinitionVersion>, StoreError> {
        let item = self
            .table()
            .get(&version_key(tenant, definition_id, version)?)
            .await?;
        item.as_ref().map(DefinitionVersion::from_item).transpose()
    }

    /// The definition and the number of the version that has an id. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn find_version(
        self,
        tenant: &Tenant,
        version_id: &str,
    ) -> Result<Option<(String, u32)>, StoreError> {
        let Some(item) = self
            .table()
            .get(&version_id_key(tenant, version_id)?)
            .await?
        else {
            return Ok(None);
        };
        let damaged = || StoreError::damaged("definition version id");
        let definition = body::text(&item.attributes, "d").ok_or_else(damaged)?;
        let version = body::number(&item.attributes, "n").and_then(|n| u32::try_from(n).ok());
        Ok(Some((definition.to_owned(), version.ok_or_else(damaged)?)))
    }

    /// The versions of a definition that are not hidden, oldest first. A query for each MiB of them.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_versions(
        self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Vec<DefinitionVersion>, StoreError> {
        let all = Query::prefix(def_partition(tenant, definition_id)?, "");
        let items = self
            .every(Query {
                until: String::new(),
                ..all
            })
            .await?;
        let head = items.iter().find(|item| item.key.sort == "HEAD");
        let Some(head) = head.filter(|item| item.attributes.contains_key("su")) else {
            return Ok(Vec::new());
        };
        // Below this number are versions of a definition that was deleted before this one came.
        let first = body::number(&head.attributes, "fi").unwrap_or(0);
        let versions = items.iter().filter(|item| item.key.sort.starts_with("V#"));
        let mut versions: Vec<_> = versions
            .map(DefinitionVersion::from_item)
            .collect::<Result<_, _>>()?;
        versions.retain(|version| !version.hidden && i64::from(version.info.version) >= first);
        Ok(versions)
    }

    /// The definitions of a tenant, by id; their revision and generation are 0 here. From an index that may lag
    /// behind by seconds.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_definitions(
        self,
        tenant: &Tenant,
    ) -> Result<Vec<DefinitionHead>, StoreError> {
        let all = Query::prefix(list_partition(tenant), "");
        let items = self
            .every(Query {
                index: Some(Index::One),
                until: String::new(),
                ..all
            })
            .await?;
        Ok(readable(items, DefinitionHead::from_item)
            .into_iter()
            .flatten()
            .collect())
    }

    /// The ids of all definitions of a tenant, those that were deleted included: their instances are still there.
    pub(crate) async fn definition_ids(
        self,
        tenant: &Tenant,
    ) -> Result<BTreeSet<String>, StoreError> {
        let all = Query::prefix(list_partition(tenant), "");
        let items = self
            .every(Query {
                index: Some(Index::One),
                until: String::new(),
                ..all
            })
            .await?;
        items
            .iter()
            .map(|item| last_part("definition", &item.key.partition))
            .collect()
    }

    /// The definitions whose latest version uses this one as an activity. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_consumers(
        self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Vec<String>, StoreError> {
        let items = self
            .every(Query::prefix(
                def_partition(tenant, definition_id)?,
                "USES#",
            ))
            .await?;
        items
            .iter()
            .map(|item| last_part("use of a definition", &item.key.sort))
            .collect()
    }

    /// The published definitions that are the activity of this type name; more than one where they share a name.
    /// One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn find_by_type_name(
        self,
        tenant: &Tenant,
        type_name: &str,
    ) -> Result<Vec<String>, StoreError> {
        let partition = type_name_key(tenant, type_name, "-")?.partition;
        let items = self.every(Query::prefix(partition, "D#")).await?;
        items
            .iter()
            .map(|item| last_part("activity type name", &item.key.sort))
            .collect()
    }

    /// The routes with parameters, each once, in order of their template. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_routes(self, tenant: &Tenant) -> Result<Vec<Route>, StoreError> {
        let all = Query::prefix(routes_partition(tenant), "");
        let items = self
            .every(Query {
                until: String::new(),
                ..all
            })
            .await?;
        let mut routes: Vec<_> = items
            .iter()
            .map(route::from_item)
            .collect::<Result<_, _>>()?;
        routes.sort();
        routes.dedup();
        Ok(routes)
    }

    /// Deletes a definition with its triggers and routes. Versions that an instance may name stay readable by
    /// their number, and their numbers are not given out again. False: there was none.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete(self, tenant: &Tenant, definition_id: &str) -> Result<bool, StoreError> {
        for _ in 0..ATTEMPTS_MAX {
            let versions = self.list_versions(tenant, definition_id).await?;
            let current = self.current(tenant, definition_id).await?;
            let Some(head) = current.head.clone() else {
                return Ok(false);
            };
            let mut change = DefinitionChange::of(current, head);
            change.retract();
            change.rows.uses.clear();
            change.deletes = true;
            if !matches!(
                self.change_definition(tenant, change).await?,
                Saved::Done(_)
            ) {
                continue;
            }
            for version in versions.iter().filter(|v| !v.was_published && !v.used) {
                let key = version_key(tenant, definition_id, version.info.version)?;
                // Refused: an instance was started with it meanwhile.
                self.table().write(&[Write::Delete(key, unnamed())]).await?;
            }
            return Ok(true);
        }
        Err(TableError::Busy.into())
    }

    /// Every item of a range, page after page.
    pub(crate) async fn every(self, mut query: Query) -> Result<Vec<Item>, StoreError> {
        let mut items = Vec::new();
        loop {
            let page = self.table().query(&query).await?;
            items.extend(page.items);
            query.cursor = page.cursor;
            if query.cursor.is_none() {
                return Ok(items);
            }
        }
    }
}
