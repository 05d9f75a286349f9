//! Deleting a definition, or one of its versions.

use dormouse_store::Tenant;
use dormouse_store::definition::publish::Saved;

use crate::definitions::Definitions;
use crate::definitions::draft::ATTEMPTS_MAX;
use crate::error::RuntimeError;

impl Definitions<'_> {
    /// Deletes a definition; a published one is retracted first. Its instances go on. False: there was none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete(self, tenant: &Tenant, definition_id: &str) -> Result<bool, RuntimeError> {
        let deleted = self
            .store()
            .definitions()
            .delete(tenant, definition_id)
            .await?;
        if deleted {
            self.changed(tenant, definition_id).await;
        }
        Ok(deleted)
    }

    /// Deletes a version; the published one is retracted first. False: there was none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete_version(
        self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
    ) -> Result<bool, RuntimeError> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(head) = self
                .store()
                .definitions()
                .definition_head(tenant, definition_id)
                .await?
            else {
                return Ok(false);
            };
            let deleted = self
                .store()
                .definitions()
                .delete_version(tenant, definition_id, version, head.revision)
                .await?;
            match deleted {
                None => return Ok(false),
                Some(Saved::Done(_)) => {
                    self.changed(tenant, definition_id).await;
                    return Ok(true);
                }
                Some(Saved::Conflict(_) | Saved::VersionTaken { .. }) => {}
            }
        }
        Err(RuntimeError::DefinitionContended {
            definition_id: definition_id.to_owned(),
        })
    }
}
