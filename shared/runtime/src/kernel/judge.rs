//! Judging what prepared commits left behind: whether a commit that would make it valid may still happen.

use std::collections::BTreeMap;

use dormouse_store::Tenant;
use dormouse_store::instance::stamp::{Stamp, Verdict};

use crate::error::RuntimeError;
use crate::kernel::Kernel;
use crate::work::wake::WakeRequest;

impl Kernel<'_> {
    /// Whether a commit that prepared what a request wakes, after this one, may still happen or has happened since the
    /// look.
    pub(super) async fn is_ahead(
        self,
        (tenant, instance_id): (&Tenant, &str),
        (request, commit): (&WakeRequest, u64),
        judged: &mut BTreeMap<Stamp, bool>,
    ) -> Result<bool, RuntimeError> {
        for stamp in request.target.stamps().filter(|s| s.commit > commit) {
            let is_ahead = match judged.get(stamp) {
                Some(is_ahead) => *is_ahead,
                None => self.may_happen(tenant, instance_id, stamp).await?,
            };
            judged.insert(*stamp, is_ahead);
            if is_ahead {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn may_happen(
        self,
        tenant: &Tenant,
        instance_id: &str,
        stamp: &Stamp,
    ) -> Result<bool, RuntimeError> {
        Ok(match self.settled(tenant, instance_id, stamp).await? {
            Verdict::Undecided => true,
            Verdict::Lost => false,
            // Since the look, or before the instance was deleted.
            Verdict::Committed => self
                .store()
                .instances()
                .get(tenant, instance_id)
                .await?
                .is_some(),
        })
    }

    /// Judges a stamp. One that is undecided and older than any burst is fenced first, so that whatever it prepared may
    /// be dropped.
    pub(crate) async fn settled(
        self,
        tenant: &Tenant,
        instance_id: &str,
        stamp: &Stamp,
    ) -> Result<Verdict, RuntimeError> {
        let store = self.store();
        let verdict = store.commits().judge(tenant, instance_id, stamp).await?;
        let now = self.now().0;
        let is_old = now.saturating_sub(stamp.at_ms) > self.config().undecided_ms_max;
        if verdict == Verdict::Undecided && is_old {
            return Ok(store
                .commits()
                .fence(tenant, instance_id, stamp, now)
                .await?);
        }
        Ok(verdict)
    }
}
