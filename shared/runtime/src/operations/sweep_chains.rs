//! The part of the sweep that looks at the chains of recurring triggers.

use crate::error::RuntimeError;
use crate::operations::Operations;
use crate::work::timer::Occurrence;

/// An occurrence counts as forgotten by the scheduler so long after its time, in ms.
const OVERDUE_MS: i64 = 5 * 60_000;

/// An occurrence counts as claimed by a clock that was ahead if that was so long after now, in ms: more than clocks differ.
const AHEAD_MS: i64 = 5 * 60_000;

impl Operations<'_> {
    /// Fires occurrences of recurring triggers whose time is long over: whatever should have fired them is lost. Brings
    /// back chains that a clock which was ahead has moved into the future, where they would be silent until then.
    pub(super) async fn sweep_chains(self, shard: u16) -> Result<(), RuntimeError> {
        if self.pauses().is_paused() {
            return Ok(());
        }
        let now = self.now();
        let bounds = (now.0 - OVERDUE_MS, now.0 + AHEAD_MS);
        let mut cursor = None;
        loop {
            let chains = self.store().chains();
            let page = chains.misplaced_occurrences(shard, bounds, cursor).await?;
            let overdue = page.overdue.into_iter().map(|link| (link, false));
            let ahead = page.ahead.into_iter().map(|link| (link, true));
            for (link, is_ahead) in overdue.chain(ahead) {
                if self.is_out_of_time() {
                    return Ok(());
                }
                let (tenant, definition) = (&link.tenant, &link.definition_id);
                let Ok(occurrence) = serde_json::from_slice::<Occurrence>(&link.body) else {
                    tracing::error!(%tenant, definition, "an occurrence that cannot be read is passed over");
                    continue;
                };
                let swept = match is_ahead {
                    true => self.timers().rewind_occurrence(&link, occurrence).await,
                    false => {
                        let fired = self.timers().fire_occurrence(tenant, &occurrence).await;
                        fired.map(|_| ())
                    }
                };
                if let Err(cause) = swept {
                    tracing::warn!(%tenant, definition, cause = %cause, "an occurrence is left for the next sweep");
                }
            }
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }
}
