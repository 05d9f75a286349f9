//! The sweep: delivers what a crash left, continues what was interrupted, gives up on what has expired.

use dormouse_store::dead_letter::{DeadLetter, Letter};
use dormouse_store::outbox::OutboxRow;

use crate::error::RuntimeError;
use crate::message::{Message, Task};
use crate::port::Metric;
use crate::runtime::Runtime;
use crate::stimulate::StimulusRequest;

/// Rows of the outbox read at once.
const ROWS_A_PAGE: u32 = 100;

/// At most so many kept stimuli of a shard are looked at in one sweep.
const KEPT_A_SWEEP: u32 = 1_000;

/// How long a row rests after an attempt at it that failed, in ms: doubled with each more, up to this. Less than a
/// minute, so that a sweep each minute finds it every time.
const REST_MS_MAX: i64 = 50_000;

/// How long it rests after the first, in ms.
const REST_MS: i64 = 5_000;

/// Longer than any clock is wrong, in ms.
const A_CENTURY_MS: i64 = 100 * 365 * 24 * 3_600_000;

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Rows of the outbox that were delivered.
    pub delivered: u32,
    /// Rows of the outbox that could not be delivered yet.
    pub left: u32,
    /// Rows of the outbox that became dead letters.
    pub given_up: u32,
    /// Kept stimuli that found a bookmark.
    pub matched: u32,
    /// Kept stimuli that expired and became dead letters.
    pub expired: u32,
    /// Ended instances that were removed because their time has come.
    pub removed: u32,
}

impl Runtime {
    /// Sweeps once, over all tenants. To be called every minute, or every few seconds where it costs nothing;
    /// several nodes may do it at the same time.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] if the table could not be read; a delivery that fails is counted and tried again.
    pub async fn sweep(&self) -> Result<SweepReport, RuntimeError> {
        let mut report = SweepReport::default();
        let before = self.left_before();
        for shard in 0..self.store().outbox_shards() {
            self.sweep_shard(shard, before, &mut report).await?;
        }
        self.sweep_kept(before, &mut report).await?;
        report.removed = self.remove_expired().await?;
        self.has_swept();
        self.record(Metric::Sweeps, 1);
        Ok(report)
    }

    /// What was written before this time was left by somebody, in ms since 1970: nobody takes so long. Where this
    /// process is the first to sweep its epoch that is everything, whatever the clock was when it was written.
    fn left_before(&self) -> i64 {
        let now = self.now();
        if self.store().has_epoch() && self.is_first_sweep() {
            return now.plus_ms(A_CENTURY_MS).0;
        }
        now.plus_ms(-self.config().redeliver_after_ms).0
    }

    async fn sweep_shard(
        &self,
        shard: u16,
        before: i64,
        report: &mut SweepReport,
    ) -> Result<(), RuntimeError> {
        let mut cursor = None;
        loop {
            let page = self
                .store()
                .list_outbox(shard, before, ROWS_A_PAGE, cursor)
                .await?;
            for row in page.rows {
                if self.is_out_of_time() {
                    report.left += 1;
                    return Ok(());
                }
                if row.is_held(self.now().0) {
                    continue;
                }
                // One row that fails does not keep the others from being delivered.
                match self.sweep_row(&row).await {
                    Ok(Swept::Delivered) => report.delivered += 1,
                    Ok(Swept::Left) => report.left += 1,
                    Ok(Swept::GivenUp) => report.given_up += 1,
                    Err(cause) => {
                        tracing::warn!(source = row.source, cause = %cause, "a row of the outbox is left for the next sweep");
                        report.left += 1;
                    }
                }
            }
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    async fn sweep_row(&self, row: &OutboxRow) -> Result<Swept, RuntimeError> {
        let most = self.config().delivery_attempts_max;
        let decoded: Result<Vec<_>, _> = row
            .effects
            .iter()
            .map(|effect| Message::decode(&effect.body))
            .collect();
        let waits = |message: &Message| message.task.waits_for_the_end_of_a_pause();
        if self.is_paused() && decoded.iter().flatten().any(waits) {
            return Ok(Swept::Left);
        }
        let is_call = |message: &Message| matches!(message.task, Task::CallInBackground { .. });
        // Where there is a queue it makes the call.
        let calls = self.ports().queue.is_none() && decoded.iter().flatten().any(is_call);
        let call_ms = if calls { self.call_hold_ms() } else { 0 };
        let for_ms = rest_ms(row.attempts).max(call_ms);
        let taken = self.store().take_outbox(&row.key, self.now().0, for_ms);
        let Some(attempts) = taken.await? else {
            return Ok(Swept::Left);
        };
        let Ok(messages) = decoded else {
            return self.bury(row, attempts, "it cannot be read").await;
        };
        if attempts > most.saturating_mul(2) {
            return self.bury(row, attempts, "it was tried too often").await;
        }
        let count = messages.len();
        let left = self.send_all(messages).await;
        if left.is_empty() {
            self.store().delete_outbox(&row.key).await?;
            return Ok(Swept::Delivered);
        }
        if attempts >= most {
            return self.give_up_row(row, attempts, &left).await;
        }
        if left.len() < count {
            let effects: Result<Vec<_>, _> = left.iter().map(Message::effect).collect();
            self.store().keep_outbox(&row.key, &effects?).await?;
        }
        Ok(Swept::Left)
    }

    /// Gives up on what could not be delivered in all those attempts.
    async fn give_up_row(
        &self,
        row: &OutboxRow,
        attempts: u32,
        left: &[Message],
    ) -> Result<Swept, RuntimeError> {
        // A child that was never started needs no cancelling, and a burst that cannot go on is a failure of its
        // instance; neither is of use as a dead letter.
        for message in left {
            if let Task::Continue { instance, .. } = &message.task {
                let reason = format!("it could not be continued in {attempts} attempts");
                let failed = self.fail_stuck(&message.tenant, instance, &reason).await;
                if let Err(cause) = failed {
                    tracing::warn!(%instance, cause = %cause, "an instance cannot be continued and not be failed");
                    return Ok(Swept::Left);
                }
            }
        }
        let is_letter = |message: &Message| {
            !matches!(message.task, Task::Continue { .. } | Task::Cancel { .. })
        };
        if left.iter().any(is_letter) {
            return self.bury(row, attempts, "it was tried too often").await;
        }
        self.store().delete_outbox(&row.key).await?;
        Ok(Swept::GivenUp)
    }

    async fn bury(
        &self,
        row: &OutboxRow,
        attempts: u32,
        reason: &str,
    ) -> Result<Swept, RuntimeError> {
        let letter = DeadLetter {
            id: format!(
                "{:013}-{}-{}",
                row.at_ms,
                row.source.replace('/', "-"),
                row.commit
            ),
            at_ms: self.now().0,
            reason: reason.to_owned(),
            attempts,
            letter: Letter::Effects {
                source: row.source.clone(),
                commit: row.commit,
                effects: row.effects.clone(),
            },
        };
        self.store()
            .bury_outbox(&row.tenant, &row.key, &letter)
            .await?;
        self.record(Metric::DeadLetters, 1);
        Ok(Swept::GivenUp)
    }

    /// Gives kept stimuli to bookmarks that a crash kept from looking for them, and gives up on expired ones.
    async fn sweep_kept(&self, before: i64, report: &mut SweepReport) -> Result<(), RuntimeError> {
        let now = self.now();
        if let Some(pause) = self.paused() {
            // Nobody opens a bookmark that a kept stimulus waits for, so its time does not run out. What had expired
            // before is given up on all the same.
            let before_ms = pause.since_ms.min(now.0);
            self.expire_kept(before_ms, report).await?;
            let kept_ms = self.config().event_ms;
            let (soon, anew) = (now.plus_ms(kept_ms / 2), now.plus_ms(kept_ms));
            self.store().keep_stimuli(soon.0, anew.0).await?;
            return Ok(());
        }
        for (tenant, kept) in self.store().list_queued(KEPT_A_SWEEP).await? {
            let is_young = kept.created_ms > before;
            if self.is_out_of_time() {
                break;
            }
            if is_young || kept.expires_ms <= now.0 {
                continue;
            }
            let Ok(stimulus) = StimulusRequest::of_kept(kept) else {
                continue;
            };
            match self.deliver_kept(&tenant, &stimulus).await {
                Ok(outcome) if !outcome.kept => report.matched += 1,
                Ok(_) => {}
                Err(cause) => {
                    tracing::debug!(id = stimulus.id, cause = %cause, "a kept stimulus is looked at again later");
                }
            }
        }
        self.expire_kept(now.0, report).await
    }

    /// Makes dead letters of kept stimuli that expired before a time.
    async fn expire_kept(
        &self,
        before_ms: i64,
        report: &mut SweepReport,
    ) -> Result<(), RuntimeError> {
        let store = self.store();
        report.expired = store.expire_stimuli(before_ms, KEPT_A_SWEEP).await?;
        let expired = i64::from(report.expired);
        if expired > 0 {
            self.record(Metric::DeadLetters, expired);
        }
        Ok(())
    }
}

/// How long a row rests after one more attempt. Ten take six minutes, however often the sweep comes: who is not
/// there for a while, or has a lease that must run out, is not given up on.
fn rest_ms(attempts_before: u32) -> i64 {
    (REST_MS << attempts_before.min(10)).min(REST_MS_MAX)
}

/// What became of a row.
enum Swept {
    Delivered,
    Left,
    GivenUp,
}
