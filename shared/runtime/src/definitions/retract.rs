//! Retracting a definition: nothing starts it any more. Its instances go on.

use dormouse_store::Tenant;
use dormouse_store::definition::publish::Saved;

use crate::definitions::Definitions;
use crate::definitions::draft::{ATTEMPTS_MAX, view_stored};
use crate::definitions::view::DefinitionView;
use crate::error::RuntimeError;

/// What became of a retract.
#[derive(Debug)]
pub enum RetractOutcome {
    /// It is retracted; this is the latest version.
    Retracted(Box<DefinitionView>),
    /// It was not published.
    NotPublished,
    /// There is no such definition.
    NotFound,
}

impl Definitions<'_> {
    /// Retracts a definition.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn retract(
        self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<RetractOutcome, RuntimeError> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(head) = self
                .store()
                .definitions()
                .definition_head(tenant, definition_id)
                .await?
            else {
                return Ok(RetractOutcome::NotFound);
            };
            let Some(info) = &head.published else {
                return Ok(RetractOutcome::NotPublished);
            };
            let version = info.version;
            let retracted = self
                .store()
                .definitions()
                .retract(tenant, definition_id, head.revision)
                .await?;
            if let Saved::Done(head) = retracted {
                self.changed(tenant, definition_id).await;
                let stored = self
                    .store()
                    .definitions()
                    .definition_version(tenant, definition_id, version)
                    .await?;
                let stored = stored.ok_or_else(|| RuntimeError::VersionMissing {
                    definition_id: definition_id.to_owned(),
                    version,
                })?;
                return Ok(RetractOutcome::Retracted(Box::new(view_stored(
                    &stored, &head,
                )?)));
            }
        }
        Err(RuntimeError::DefinitionContended {
            definition_id: definition_id.to_owned(),
        })
    }
}
