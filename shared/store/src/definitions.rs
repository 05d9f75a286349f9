//! Reading definitions.

use crate::definition::{DefinitionHead, DefinitionVersion, VersionInfo};
use crate::error::StoreError;
use crate::route::Route;
use crate::store::Store;
use crate::tenant::Tenant;

impl Store {
    /// What is known of a definition, as of the last publish that returned. One read. `None`: there is none, or it
    /// was deleted.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn definition_head(
        &self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Option<DefinitionHead>, StoreError> {
        let _ = (tenant, definition_id);
        todo!()
    }

    /// A version with its body, a hidden one too. One read. Cache it for ever if it was published or used.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn definition_version(
        &self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
    ) -> Result<Option<DefinitionVersion>, StoreError> {
        let _ = (tenant, definition_id, version);
        todo!()
    }

    /// The definition and the number of the version that has an id. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn find_version(
        &self,
        tenant: &Tenant,
        version_id: &str,
    ) -> Result<Option<(String, u32)>, StoreError> {
        let _ = (tenant, version_id);
        todo!()
    }

    /// The versions of a definition that are not hidden, oldest first. A query for each MiB of them.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_versions(
        &self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Vec<DefinitionVersion>, StoreError> {
        let _ = (tenant, definition_id, VersionInfo::default());
        todo!()
    }

    /// The definitions of a tenant, by id; their revision and generation are 0 here. From an index that may lag
    /// behind by seconds.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_definitions(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<DefinitionHead>, StoreError> {
        let _ = tenant;
        todo!()
    }

    /// The definitions whose latest version uses this one as an activity. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_consumers(
        &self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Vec<String>, StoreError> {
        let _ = (tenant, definition_id);
        todo!()
    }

    /// The published definitions that are the activity of this type name; more than one where they share a name.
    /// One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn find_by_type_name(
        &self,
        tenant: &Tenant,
        type_name: &str,
    ) -> Result<Vec<String>, StoreError> {
        let _ = (tenant, type_name);
        todo!()
    }

    /// The routes with parameters, each once, in order of their template. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_routes(&self, tenant: &Tenant) -> Result<Vec<Route>, StoreError> {
        let _ = tenant;
        todo!()
    }
}
