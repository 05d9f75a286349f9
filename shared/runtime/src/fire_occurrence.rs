//! Firing an occurrence of a recurring trigger: the next one is scheduled first, then the instance is started whose
//! id is derived from the occurrence.

use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::fire_timer::TimerOutcome;
use crate::runtime::Runtime;
use crate::timer::Occurrence;

impl Runtime {
    /// Fires an occurrence that is due. One of a generation that is not in force is a no-op.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. Fire it again then.
    pub async fn fire_occurrence(
        &self,
        tenant: &Tenant,
        occurrence: &Occurrence,
    ) -> Result<TimerOutcome, RuntimeError> {
        let _ = (tenant, occurrence);
        todo!()
    }
}
