//! An instance that goes over to another version of its definition, before the step that says so.

use dormouse_engine::instance::Instance;

use super::Burst;
use crate::error::RuntimeError;

impl Burst<'_> {
    /// The instance at another version; the burst runs that version from here on. `Err` inside: why it cannot go there.
    pub(crate) async fn migrate(
        &mut self,
        instance: Instance,
        version: u32,
    ) -> Result<Result<Instance, String>, RuntimeError> {
        let id = instance.definition_id.clone();
        let target = self
            .runtime
            .graphs()
            .load_version(self.tenant, &id, version)
            .await?;
        let Some(target) = target else {
            return Ok(Err(format!(
                "the definition `{id}` has no version {version}"
            )));
        };
        let migrated = instance.migrate(&self.runnable.graph, &target.graph);
        if migrated.is_ok() {
            self.runnable = target;
            self.is_migrating = true;
        }
        Ok(migrated)
    }
}
