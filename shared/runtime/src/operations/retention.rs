//! How long ended instances are kept, and removing those whose time has come.

use dormouse_store::instance::clean::Deleted;
use dormouse_store::instance::expiry::ExpiredInstance;
use serde_json::json;

use crate::error::RuntimeError;
use crate::operations::Operations;
use crate::query::Journal;

/// At most so many instances of a shard are removed in one sweep.
const REMOVED_A_SWEEP: u32 = 500;

/// How many lines of a journal are archived at most.
const LINES_MAX: usize = 1_000_000;

impl Operations<'_> {
    /// Removes instances whose time has come, over all tenants, and archives them first if that is asked for.
    /// Answers how many. What fails is left for the next sweep.
    pub(crate) async fn remove_expired(self) -> Result<u32, RuntimeError> {
        let mut removed = 0;
        for shard in 0..self.store().outbox().shards() {
            let now = self.now().0;
            let listed = self
                .store()
                .instances()
                .list_expired(shard, now, REMOVED_A_SWEEP)
                .await?;
            for expired in listed {
                match self.remove(&expired).await {
                    Ok(true) => removed += 1,
                    Ok(false) => {}
                    Err(cause) => {
                        let instance = expired.instance_id;
                        tracing::warn!(instance, cause = %cause, "an instance whose time has come stays for the next sweep");
                    }
                }
            }
        }
        Ok(removed)
    }

    async fn remove(self, expired: &ExpiredInstance) -> Result<bool, RuntimeError> {
        if self.config().retention.is_archived {
            self.archive(expired).await?;
        }
        let now = self.now().0;
        let deleted = self.store().instances().expire(expired, now).await?;
        Ok(matches!(deleted, Deleted::Done(_)))
    }

    /// Writes an instance with its journal to the blobs. Writing it again changes nothing.
    async fn archive(self, expired: &ExpiredInstance) -> Result<(), RuntimeError> {
        let (tenant, id) = (&expired.tenant, expired.instance_id.as_str());
        let Some(found) = self.query().instance(tenant, id).await? else {
            return Ok(());
        };
        let Some(finished) = found.instance.finished_at else {
            // Somebody has opened it again.
            return Ok(());
        };
        let journal = self.query().journal(tenant, id, 0, LINES_MAX).await?;
        let Journal { lines, .. } = journal.unwrap_or_default();
        let body = json!({
            "format": 1,
            "tenantId": tenant.as_str(),
            "definitionId": found.instance.definition_id,
            "definitionVersion": found.instance.version,
            "status": found.head.summary.status,
            "subStatus": found.head.summary.sub_status,
            "instance": found.instance,
            "journal": lines,
        });
        let body = serde_json::to_vec(&body).map_err(RuntimeError::format("archive"))?;
        let finished = finished.to_string();
        let day = finished.get(..10).unwrap_or("unknown");
        self.store()
            .instances()
            .archive(tenant, day, id, body.into())
            .await
            .map_err(RuntimeError::from)
    }
}
