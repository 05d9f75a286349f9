//! The audit log: who did what, when, and with what success. Added to, never changed.

use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::operation::audit::{AuditPage, AuditRecord};

use crate::error::RuntimeError;
use crate::operations::Operations;

/// The most records on a page.
const PAGE_MAX: u32 = 1_000;

impl Operations<'_> {
    /// Adds a record of now. One write; when it returns, the record is safe.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn audit(self, tenant: &Tenant, record: AuditRecord) -> Result<(), RuntimeError> {
        let now = self.now();
        let record = AuditRecord {
            at_ms: now.0,
            ..record
        };
        // In front the order in which this node wrote, so that what it noted within a millisecond keeps it; behind
        // that chance, which keeps the nodes apart.
        let chance = self.next_audited() << 32 | self.ports().clock.random() >> 32;
        self.store()
            .operations()
            .add_audit_record(tenant, &month(now), &record, chance)
            .await?;
        Ok(())
    }

    /// A page of the records of a month such as `2026-11`, newest first. `None`: of this month.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn audit_records(
        self,
        tenant: &Tenant,
        of_month: Option<&str>,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<AuditPage, RuntimeError> {
        let month = of_month.map_or_else(|| month(self.now()), str::to_owned);
        let limit = limit.clamp(1, PAGE_MAX);
        let page = self
            .store()
            .operations()
            .audit_records(tenant, &month, limit, cursor);
        Ok(page.await?)
    }
}

/// The first seven characters of the time: `2026-11`.
fn month(at: Timestamp) -> String {
    at.to_string().chars().take(7).collect()
}
