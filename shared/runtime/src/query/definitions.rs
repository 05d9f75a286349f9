//! Reading definitions.

use dormouse_store::Tenant;

use crate::definition_handle::{DefinitionHandle, VersionOptions};
use crate::definition_view::{DefinitionSummary, DefinitionView};
use crate::error::RuntimeError;
use crate::runtime::Runtime;

impl Runtime {
    /// A version of a definition.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn definition(
        &self,
        tenant: &Tenant,
        handle: &DefinitionHandle,
    ) -> Result<Option<DefinitionView>, RuntimeError> {
        let _ = (tenant, handle);
        todo!()
    }

    /// The definitions of a tenant, by id. [`VersionOptions::AllVersions`] shows the latest and the published ones
    /// here. From an index that may lag behind by seconds.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn definitions(
        &self,
        tenant: &Tenant,
        version: VersionOptions,
    ) -> Result<Vec<DefinitionSummary>, RuntimeError> {
        let _ = (tenant, version);
        todo!()
    }

    /// The versions of a definition, newest first. Empty: there is none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn definition_versions(
        &self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Vec<DefinitionView>, RuntimeError> {
        let _ = (tenant, definition_id);
        todo!()
    }

    /// The definitions that use this one as an activity, directly or through others. `None`: there is no such
    /// definition.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn consumers(
        &self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Option<Vec<String>>, RuntimeError> {
        let _ = (tenant, definition_id);
        todo!()
    }
}
