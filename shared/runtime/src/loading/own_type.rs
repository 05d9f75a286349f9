//! Finding activity types that are data.

use std::sync::Arc;

use dormouse_engine::activity_type::{self, ActivityType};
use dormouse_engine::graph::Reference;
use dormouse_store::Tenant;
use serde_json::Value;

use crate::error::RuntimeError;
use crate::loading::Graphs;

impl Graphs<'_> {
    /// The version of a type that an activity names, or the latest one where it names none.
    pub(super) async fn resolve_type(
        self,
        tenant: &Tenant,
        reference: &Reference,
    ) -> Result<Option<Arc<ActivityType>>, RuntimeError> {
        let name = reference.type_name.as_str();
        if !activity_type::is_type_name(name) {
            return Ok(None);
        }
        let Some(head) = self.store().own_types().head(tenant, name).await? else {
            return Ok(None);
        };
        if head.value.is_deleted {
            return Ok(None);
        }
        let version = reference.version.unwrap_or(head.value.version);
        self.type_version(tenant, name, version).await
    }

    /// A version of a type that must be there, because an instance or a publication names it.
    pub(super) async fn needed_type(
        self,
        tenant: &Tenant,
        name: &str,
        version: u32,
    ) -> Result<Arc<ActivityType>, RuntimeError> {
        let found = self.type_version(tenant, name, version).await?;
        found.ok_or_else(|| RuntimeError::VersionMissing {
            definition_id: name.to_owned(),
            version,
        })
    }

    /// A version of a type, deleted or not.
    pub(crate) async fn type_version(
        self,
        tenant: &Tenant,
        name: &str,
        version: u32,
    ) -> Result<Option<Arc<ActivityType>>, RuntimeError> {
        let body = self
            .store()
            .own_types()
            .version(tenant, name, version)
            .await?;
        body.map(|body| read_type(&body, version).map(Arc::new))
            .transpose()
    }
}

/// Reads a stored version.
pub(crate) fn read_type(body: &[u8], version: u32) -> Result<ActivityType, RuntimeError> {
    let json: Value =
        serde_json::from_slice(body).map_err(RuntimeError::format("activity type"))?;
    activity_type::read(&json, version).map_err(|flaws| {
        let told = flaws.into_iter().map(|flaw| flaw.message);
        let told: Vec<String> = told.collect();
        RuntimeError::StoredType {
            version,
            problem: told.join("; "),
        }
    })
}
