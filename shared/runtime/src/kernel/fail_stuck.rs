//! Failing an instance whose burst cannot go on.

use dormouse_engine::id::InstanceId;
use dormouse_engine::step::Stimulus;
use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::kernel::Kernel;
use crate::work::wake::WakeRequest;

impl Kernel<'_> {
    /// Fails an instance whose burst cannot go on.
    pub(crate) async fn fail_stuck(
        self,
        tenant: &Tenant,
        instance: &InstanceId,
        reason: &str,
    ) -> Result<(), RuntimeError> {
        let stimulus = Stimulus::Fail {
            kind: "GivenUp".into(),
            message: format!("the workflow was stopped: {reason}"),
        };
        let request = WakeRequest::new(instance.as_str(), stimulus);
        self.advance(tenant, request).await.map(drop)
    }
}
