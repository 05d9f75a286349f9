//! Delivering a stimulus: starting what it triggers, resuming what waits for it, and queueing it where nothing does.
//!
//! A page of recipients is reached at a time. Where there is a queue, the pages after the first are handed on by
//! message, so memory and time of one delivery do not depend on how many recipients there are.

use dormouse_store::Tenant;
use dormouse_store::stimulus::recipients::Earlier;

use crate::error::RuntimeError;
use crate::stimuli::Stimuli;
use crate::stimuli::reach::Delivery;
use crate::stimuli::receivers::{Found, owned};
use crate::work::stimulus::{StimulusOutcome, StimulusRequest};

/// How often recipients are looked for in all, because a publish or a commit came in between.
const LOOKS_MAX: u32 = 5;

/// The unit of the pauses between the looks at a recipient that is about to wait, in ms: each is twice the one before.
const WAITS_MS: u64 = 5;

/// What came of one look for recipients.
enum Look {
    Done(StimulusOutcome),
    /// A trigger was published anew meanwhile.
    Stale(StimulusOutcome),
    /// This recipient could not be had and waits still: its bookmark was about to open, or somebody hands it over.
    Waits(String),
}

impl Stimuli<'_> {
    /// Delivers a stimulus. Only [`Self::publish_event`] promises that a crash does not lose it.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. The same call again delivers what is missing and nothing twice.
    pub async fn stimulate(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
    ) -> Result<StimulusOutcome, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        // Where there is a queue, it brings the stimulus again.
        let looks_max = match self.ports().queue {
            Some(_) => 2,
            None => LOOKS_MAX,
        };
        let mut looks = 1;
        loop {
            match self.stimulate_once(tenant, stimulus).await? {
                Look::Done(outcome) => return Ok(outcome),
                Look::Stale(outcome) if looks == LOOKS_MAX => return Ok(outcome),
                Look::Waits(instance_id) if looks >= looks_max => {
                    return Err(RuntimeError::InProgress {
                        instance_id,
                        until_ms: self.now().0,
                    });
                }
                Look::Stale(_) => looks += 1,
                Look::Waits(_) => {
                    self.ports().clock.sleep(WAITS_MS << looks).await;
                    looks += 1;
                }
            }
        }
    }

    /// Looks for recipients and reaches them; where there are none, queues the stimulus.
    async fn stimulate_once(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
    ) -> Result<Look, RuntimeError> {
        let delivery = match &stimulus.instance_id {
            Some(instance) => self.reach_only(tenant, stimulus, instance).await?,
            None => match self.receivers(tenant, stimulus).await? {
                Found::Queued => {
                    let queued = self.deliver_queued(tenant, stimulus).await;
                    return queued.map(Look::Done);
                }
                Found::Taken => return Ok(Look::Done(StimulusOutcome::default())),
                Found::Receivers(receivers) => self.reach_all(tenant, stimulus, receivers).await?,
            },
        };
        if delivery.is_stale {
            return Ok(Look::Stale(delivery.outcome));
        }
        if let Some(failure) = delivery.failure {
            return Err(failure);
        }
        if let Some(instance) = delivery.waits {
            return Ok(Look::Waits(instance));
        }
        let outcome = delivery.outcome;
        let queued_ms = stimulus.queued_ms.unwrap_or(self.config().event_ms);
        if outcome.reached > 0 || queued_ms <= 0 {
            return Ok(Look::Done(outcome));
        }
        // It was noted as the recipient, so it must not be queued for others before it is known whether it opens.
        if let Some(instance) = delivery.opens {
            return Ok(Look::Waits(instance));
        }
        self.enqueue(tenant, stimulus, queued_ms).await
    }

    /// Goes on with a delivery at a page of its recipients.
    pub(crate) async fn stimulate_on(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        cursor: String,
    ) -> Result<(), RuntimeError> {
        self.pauses().refuse_while_paused()?;
        let mut delivery = Delivery::default();
        self.reach_pages(tenant, stimulus, Some(cursor), &mut delivery)
            .await?;
        delivery.failure.map_or(Ok(()), Err)
    }

    /// Queues a stimulus that nothing has received, unless somebody has had it before.
    async fn enqueue(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        queued_ms: i64,
    ) -> Result<Look, RuntimeError> {
        let queued = stimulus.queued(queued_ms, self.now())?;
        let store = self.store();
        let earlier = store
            .stimuli()
            .queue_stimulus(tenant, &queued, None)
            .await?;
        if let Earlier::SentTo(recipients) = earlier {
            // Rows first: one that is gone by now has been consumed before the look at its instance, or never opens.
            let opens = self.row_of_any(tenant, stimulus, &recipients).await?;
            let before = owned(recipients.besides(&[]));
            let before = self.before(tenant, stimulus, &before).await?;
            if !before.seen.is_empty() {
                let mut outcome = StimulusOutcome::default();
                before.seen.into_iter().for_each(|id| outcome.resumed(id));
                return Ok(Look::Done(outcome));
            }
            let waits = before.waiting.into_keys().next();
            if let Some(instance) = waits.or(opens) {
                return Ok(Look::Waits(instance));
            }
            // They had other reasons not to wait any more.
            store
                .stimuli()
                .queue_stimulus(tenant, &queued, Some(&recipients))
                .await?;
        }
        // A bookmark may have been opened since the look, by a commit that looked before this was queued.
        let met = self.deliver_queued(tenant, stimulus).await;
        met.map(Look::Done)
    }
}
