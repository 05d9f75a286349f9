//! The sweep: delivers what a crash left, continues what was interrupted, gives up on what has expired.

use dormouse_store::StoreError;
use dormouse_store::instance::stamp::Verdict;
use dormouse_store::outbox::dead_letter::{DeadLetter, Letter};
use dormouse_store::outbox::row::OutboxRow;
use futures_util::future::BoxFuture;

use crate::beside::beside;
use crate::error::RuntimeError;
use crate::operations::Operations;
use crate::operations::sweep_report::SweepReport;
use crate::outbox::batch::Unsent;
use crate::port::Metric;
use crate::work::message::{Message, Task};
use crate::work::stimulus::StimulusRequest;

/// So many shards are swept at the same time.
const SHARDS_AT_ONCE: usize = 4;

/// How long a row rests after an attempt at it that failed, in ms: doubled with each more, up to this. Less than a
/// minute, so that a sweep each minute finds it every time.
const REST_MS_MAX: i64 = 50_000;

/// How long it rests after the first, in ms.
const REST_MS: i64 = 5_000;

/// At most so many queued stimuli become dead letters in one sweep.
const EXPIRED_A_SWEEP: u32 = 1_000;

/// Longer than any clock is wrong, in ms.
const A_CENTURY_MS: i64 = 100 * 365 * 24 * 3_600_000;

impl Operations<'_> {
    /// Sweeps once, over all tenants. To be called every minute, or every few seconds where it costs nothing;
    /// several nodes may do it at the same time.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] if the table could not be read; a delivery that fails is counted and tried again.
    pub async fn sweep(self) -> Result<SweepReport, RuntimeError> {
        let is_first = self.begin_sweep();
        let swept = self.sweep_all(is_first).await;
        if is_first && swept.is_err() {
            self.sweep_failed();
        }
        swept
    }

    async fn sweep_all(self, is_first: bool) -> Result<SweepReport, RuntimeError> {
        let before = self.left_before(is_first);
        let shards = self.store().outbox().shards();
        // Each sweep begins at another shard, so that none is always the last when time is short.
        let first = u16::try_from(self.next_sweep() % u64::from(shards.max(1))).unwrap_or(0);
        let order = (0..shards).map(|n| (first + n) % shards.max(1));
        let sweep = |shard| Box::pin(self.sweep_shard(shard, before)) as BoxFuture<'_, _>;
        let mut report = SweepReport::default();
        let mut failure = None;
        for shard in beside(order, SHARDS_AT_ONCE, sweep).await {
            match shard {
                Ok(shard) => report.add(shard),
                // One shard that cannot be read does not keep the others from being swept.
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = failure {
            return Err(error);
        }
        self.sweep_queued(before, is_first, &mut report).await?;
        report.removed = self.remove_expired().await?;
        self.record(Metric::Sweeps, 1);
        Ok(report)
    }

    /// What was written before this time was left by somebody, in ms since 1970: nobody takes so long. Where this
    /// process is the first to sweep its epoch that is everything, whatever the clock was when it was written.
    fn left_before(self, is_first: bool) -> i64 {
        let now = self.now();
        if self.store().has_epoch() && is_first {
            return now.plus_ms(A_CENTURY_MS).0;
        }
        now.plus_ms(-self.config().redeliver_after_ms).0
    }

    async fn sweep_shard(self, shard: u16, before: i64) -> Result<SweepReport, RuntimeError> {
        let mut report = SweepReport::default();
        self.sweep_chains(shard).await?;
        let most = self.config().swept_max;
        let rows_max = usize::try_from(most).unwrap_or(usize::MAX);
        let at_once = self.config().swept_parallel_max;
        let (mut tried, mut cursor) = (0, None);
        loop {
            let page = self
                .store()
                .outbox()
                .list(shard, before, most, cursor)
                .await?;
            let now = self.now().0;
            // One that rests after a failed attempt does not use up the budget of the others.
            let mut rows: Vec<OutboxRow> = page.rows;
            rows.retain(|row| !row.is_held(now));
            let room = rows_max.saturating_sub(tried);
            let is_over = rows.len() > room;
            rows.truncate(room);
            tried += rows.len();
            let sweep = |row| Box::pin(self.sweep_in_time(row)) as BoxFuture<'_, _>;
            // One row that fails or takes long does not keep the others from being delivered.
            for swept in beside(&rows, at_once, sweep).await {
                match swept {
                    Swept::Delivered => report.delivered += 1,
                    Swept::Left => report.left += 1,
                    Swept::GivenUp => report.given_up += 1,
                }
            }
            if is_over || self.is_out_of_time() {
                report.left += u32::from(is_over);
                return Ok(report);
            }
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(report);
            }
        }
    }

    /// Sweeps a row, if there is time left to.
    async fn sweep_in_time(self, row: &OutboxRow) -> Swept {
        if self.is_out_of_time() {
            return Swept::Left;
        }
        self.sweep_row(row).await.unwrap_or_else(|cause| {
            tracing::warn!(source = row.source, cause = %cause, "a row of the outbox is left for the next sweep");
            Swept::Left
        })
    }

    /// Whether a row belongs to a commit that happened, or to none.
    async fn judge_row(self, row: &OutboxRow) -> Result<Verdict, RuntimeError> {
        let Some(stamp) = &row.stamp else {
            return Ok(Verdict::Committed);
        };
        self.kernel().settled(&row.tenant, &row.source, stamp).await
    }

    async fn sweep_row(self, row: &OutboxRow) -> Result<Swept, RuntimeError> {
        let most = self.config().delivery_attempts_max;
        match self.judge_row(row).await? {
            Verdict::Committed => {}
            Verdict::Undecided => return Ok(Swept::Left),
            Verdict::Lost => {
                self.store().outbox().delete(&row.key).await?;
                return Ok(Swept::Delivered);
            }
        }
        let decoded: Result<Vec<_>, _> = row
            .effects
            .iter()
            .map(|effect| Message::decode(&effect.body))
            .collect();
        let waits = |message: &Message| message.task.waits_for_the_end_of_a_pause();
        if self.pauses().is_paused() && decoded.iter().flatten().any(waits) {
            return Ok(Swept::Left);
        }
        let is_call = |message: &Message| message.task.is_call();
        // Where there is a queue it makes the call.
        let calls = self.ports().queue.is_none() && decoded.iter().flatten().any(is_call);
        let call_ms = if calls {
            self.outbox().call_hold_ms()
        } else {
            0
        };
        let for_ms = rest_ms(row.attempts).max(call_ms);
        let taken = self.store().outbox().take(&row.key, self.now().0, for_ms);
        let Some(attempts) = taken.await? else {
            return Ok(Swept::Left);
        };
        let Ok(messages) = decoded else {
            return self.dead_letter(row, attempts, "it cannot be read").await;
        };
        if attempts > most.saturating_mul(2) {
            return self
                .dead_letter(row, attempts, "it was tried too often")
                .await;
        }
        let count = messages.len();
        let Unsent {
            messages: left,
            has_failed,
        } = self.outbox().send_all(messages).await;
        if left.is_empty() {
            self.store().outbox().delete(&row.key).await?;
            return Ok(Swept::Delivered);
        }
        if has_failed && attempts >= most {
            return self.give_up_row(row, attempts, &left).await;
        }
        if left.len() < count || !has_failed {
            let effects: Result<Vec<_>, _> = left.iter().map(Message::effect).collect();
            self.store()
                .outbox()
                .keep(&row.key, &effects?, has_failed)
                .await?;
        }
        Ok(Swept::Left)
    }

    /// Gives up on what could not be delivered in all those attempts.
    async fn give_up_row(
        self,
        row: &OutboxRow,
        attempts: u32,
        left: &[Message],
    ) -> Result<Swept, RuntimeError> {
        // A child that was never started needs no cancelling, and a burst that cannot go on is a failure of its
        // instance; neither is of use as a dead letter.
        for message in left {
            if let Task::Continue { instance, .. } = &message.task {
                let reason = format!("it could not be continued in {attempts} attempts");
                let failed = self
                    .kernel()
                    .fail_stuck(&message.tenant, instance, &reason)
                    .await;
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
            return self
                .dead_letter(row, attempts, "it was tried too often")
                .await;
        }
        self.store().outbox().delete(&row.key).await?;
        Ok(Swept::GivenUp)
    }

    async fn dead_letter(
        self,
        row: &OutboxRow,
        attempts: u32,
        reason: &str,
    ) -> Result<Swept, RuntimeError> {
        let letter = DeadLetter {
            id: format!(
                "{:013}-{}-{}",
                row.at_ms,
                row.source.replace('/', "-"),
                row.stamp.map_or(0, |stamp| stamp.commit)
            ),
            at_ms: self.now().0,
            reason: reason.to_owned(),
            attempts,
            letter: Letter::Effects {
                source: row.source.clone(),
                commit: row.stamp.map_or(0, |stamp| stamp.commit),
                effects: row.effects.clone(),
            },
        };
        self.store()
            .dead_letters()
            .take_outbox(&row.tenant, &row.key, &letter)
            .await?;
        self.record(Metric::DeadLetters, 1);
        Ok(Swept::GivenUp)
    }

    /// Gives queued stimuli to bookmarks that a crash kept from looking for them, and gives up on expired ones.
    async fn sweep_queued(
        self,
        before: i64,
        is_first: bool,
        report: &mut SweepReport,
    ) -> Result<(), RuntimeError> {
        let now = self.now();
        if let Some(pause) = self.pauses().paused() {
            // Nobody opens a bookmark that a queued stimulus waits for, so its time does not run out. What had expired
            // before is given up on all the same.
            let before_ms = pause.since_ms.min(now.0);
            self.expire_queued(before_ms, report).await?;
            let queued_ms = self.config().event_ms;
            let (soon, anew) = (now.plus_ms(queued_ms / 2), now.plus_ms(queued_ms));
            self.store()
                .stimuli()
                .prolong_stimuli(soon.0, anew.0)
                .await?;
            return Ok(());
        }
        for shard in 0..self.store().outbox().shards() {
            self.sweep_queue((shard, before), is_first, report).await?;
        }
        self.expire_queued(now.0, report).await
    }

    /// Looks at some queued stimuli of a shard: the next ones in each sweep, so that a backlog does not make each sweep
    /// longer. The first sweep of a process that has the table for itself looks at all.
    async fn sweep_queue(
        self,
        (shard, before): (u16, i64),
        is_first: bool,
        report: &mut SweepReport,
    ) -> Result<(), RuntimeError> {
        let now = self.now();
        let is_first = self.store().has_epoch() && is_first;
        let mut cursor = self.queue_cursor(shard);
        loop {
            let most = self.config().swept_max;
            let listed = self
                .store()
                .stimuli()
                .list_queued(shard, most, cursor)
                .await;
            let (listed, next) = match listed {
                // It is of an earlier state of the index.
                Err(StoreError::BadCursor) => (Vec::new(), None),
                listed => listed?,
            };
            for (tenant, queued) in listed {
                let is_young = queued.created_ms > before;
                if self.is_out_of_time() {
                    return Ok(());
                }
                if is_young || queued.expires_ms <= now.0 {
                    continue;
                }
                let Ok(stimulus) = StimulusRequest::of_queued(queued) else {
                    continue;
                };
                match self.stimuli().deliver_queued(&tenant, &stimulus).await {
                    Ok(outcome) if !outcome.queued => report.matched += 1,
                    Ok(_) => {}
                    Err(cause) => {
                        tracing::debug!(id = stimulus.id, cause = %cause, "a queued stimulus is looked at again later");
                    }
                }
            }
            self.set_queue_cursor(shard, next.clone());
            cursor = next;
            if !is_first || cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Makes dead letters of queued stimuli that expired before a time.
    async fn expire_queued(
        self,
        before_ms: i64,
        report: &mut SweepReport,
    ) -> Result<(), RuntimeError> {
        let store = self.store();
        report.expired = store
            .dead_letters()
            .expire_stimuli(before_ms, EXPIRED_A_SWEEP)
            .await?;
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
