//! Requests for one instance applied to it one after the other, in memory: one commit decides about all of them.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_engine::instance::Instance;
use dormouse_engine::step::{Next, Stimulus, Transition};
use dormouse_store::instance::stamp::{Stamp, Verdict};

use crate::error::RuntimeError;
use crate::kernel::advance::Answers;
use crate::kernel::burst::{Burst, Cause, Stepper};
use crate::kernel::create::claim;
use crate::runtime::inbox::Waiter;
use crate::work::resume::ResumeOutcome;
use crate::work::target::targeted;
use crate::work::wake::{Advanced, WakeRequest};

/// A commit with so many effects takes no more requests.
const EFFECTS_MAX: usize = 1_000;

/// Requests applied to an instance, before the commit that decides about them.
pub(crate) struct Combined {
    /// What they did together. `None`: nothing.
    pub(crate) transition: Option<Transition>,
    pub(crate) cause: Cause,
    /// One for each request that had its turn. `None`: it is part of the transition.
    answers: Vec<Option<Advanced>>,
}

impl Combined {
    /// Answers all that are part of the transition.
    pub(crate) fn resumed(&mut self, outcome: &ResumeOutcome) {
        for answer in &mut self.answers {
            answer.get_or_insert_with(|| Advanced::Outcome(outcome.clone()));
        }
    }

    pub(crate) fn answers(self) -> Answers {
        self.answers.into_iter().flatten().collect()
    }
}

/// What is known of the requests before one in a batch.
#[derive(Default)]
struct Before {
    /// The events that they brought.
    events: BTreeSet<String>,
    /// Whether the commit of a stamp may still happen: thousands of timers can share one.
    judged: BTreeMap<Stamp, bool>,
}

impl Burst<'_> {
    /// Applies requests one after the other, as far as one commit can decide about them.
    pub(crate) async fn combine(&mut self, batch: &[Waiter]) -> Result<Combined, RuntimeError> {
        let mut combined = Combined {
            transition: None,
            cause: Cause::default(),
            answers: Vec::new(),
        };
        let mut before = Before::default();
        let mut untouched = Some(self.stored_instance()?);
        for waiter in batch {
            let request = &waiter.request;
            if let Some(version) = request.migrates_to
                && let Some(instance) = untouched.take()
            {
                match self.migrate(instance, version).await? {
                    Ok(migrated) => untouched = Some(migrated),
                    Err(reason) => {
                        combined.answers.push(Some(Advanced::CannotMigrate(reason)));
                        return Ok(combined);
                    }
                }
            }
            let done = combined.transition.as_ref();
            let Some(instance) = done.map(|done| &done.instance).or(untouched.as_ref()) else {
                break;
            };
            let stimuli = match self.stimuli(request, instance, &mut before).await? {
                Ok(stimuli) => stimuli,
                Err(outcome) => {
                    combined.answers.push(Some(Advanced::Outcome(outcome)));
                    continue;
                }
            };
            let so_far = (combined.transition.take(), untouched.take());
            let applied = self.apply(so_far, stimuli).await?;
            let has_failed = applied.has_failed;
            (combined.transition, untouched) = (applied.transition, applied.untouched);
            if has_failed {
                combined.answers.push(None);
                break;
            }
            if !applied.is_changed {
                let outcome = self.nothing_to_do()?;
                combined.answers.push(Some(Advanced::Outcome(outcome)));
                continue;
            }
            combined.answers.push(None);
            combined.cause.consumed.clone_from(&request.consumed);
            combined.cause.closes.extend(request.closes.clone());
            if let Some(event) = &request.event_id {
                before.events.insert(event.clone());
                combined.cause.event_ids.push(event.clone());
            }
            if request.reopens {
                let instance = combined.transition.as_ref().map(|done| &done.instance);
                let correlation = instance.and_then(|i| i.correlation_id.as_deref());
                combined.cause.claims = claim(&self.runnable, correlation).into_iter().collect();
            }
            let is_full = combined.transition.as_ref().is_some_and(|done| {
                done.next != Next::Rest
                    || done.instance.is_ended()
                    || done.effects.len() >= EFFECTS_MAX
            });
            if is_full {
                break;
            }
        }
        Ok(combined)
    }

    /// The stimuli that a request comes to, or its outcome where it comes to none.
    async fn stimuli(
        &self,
        request: &WakeRequest,
        instance: &Instance,
        before: &mut Before,
    ) -> Result<Result<Vec<Stimulus>, ResumeOutcome>, RuntimeError> {
        let loaded = self.loaded()?;
        let store = self.runtime.store();
        let head = || Box::new(loaded.head().clone());
        if let Some(event) = &request.event_id
            && (before.events.contains(event)
                || store.leases().has_seen_loaded(loaded, event).await?)
        {
            return Ok(Err(ResumeOutcome::Seen(head())));
        }
        let stimuli = targeted(&request.target, instance, loaded);
        if !stimuli.is_empty() {
            return Ok(Ok(stimuli));
        }
        for stamp in request.target.stamps() {
            if self.is_ahead(stamp, before).await? {
                return Ok(Err(ResumeOutcome::NotYet));
            }
        }
        Ok(Err(self.nothing_to_do()?))
    }

    /// Whether the commit of a stamp may still happen, or has happened since the load.
    async fn is_ahead(&self, stamp: &Stamp, before: &mut Before) -> Result<bool, RuntimeError> {
        if let Some(is_ahead) = before.judged.get(stamp) {
            return Ok(*is_ahead);
        }
        let (loaded, runtime) = (self.loaded()?, self.runtime);
        let verdict = runtime.store().leases().judge_loaded(loaded, stamp).await?;
        let is_ahead = verdict == Verdict::Undecided
            && runtime
                .kernel()
                .settled(self.tenant, loaded.instance_id(), stamp)
                .await?
                != Verdict::Lost;
        before.judged.insert(*stamp, is_ahead);
        Ok(is_ahead)
    }

    /// Steps by each stimulus; a step whose scripts take too long fails the instance.
    async fn apply(
        &self,
        (transition, untouched): (Option<Transition>, Option<Instance>),
        stimuli: Vec<Stimulus>,
    ) -> Result<Applied, RuntimeError> {
        let before = Applied {
            transition,
            untouched,
            is_changed: false,
            has_failed: false,
        };
        let is_cancelled = |stimulus: &Stimulus| matches!(stimulus, Stimulus::Cancel);
        if stimuli.iter().all(is_cancelled) {
            // It runs no scripts, so it needs no turn among those that do.
            return Ok(before.apply(&self.stepper(), stimuli));
        }
        match self.compute(|stepper| before.apply(stepper, stimuli)).await {
            Ok(applied) => Ok(applied),
            Err(error) => {
                let failure = error.of_a_step()?;
                let failed = self.stepper().step(self.stored_instance()?, failure);
                Ok(Applied {
                    transition: Some(failed),
                    untouched: None,
                    is_changed: true,
                    has_failed: true,
                })
            }
        }
    }

    fn nothing_to_do(&self) -> Result<ResumeOutcome, RuntimeError> {
        let head = Box::new(self.loaded()?.head().clone());
        Ok(if head.summary.ended {
            ResumeOutcome::Ended(head)
        } else {
            ResumeOutcome::BookmarkGone(head)
        })
    }
}

/// An instance in the middle of a batch: as the steps so far have left it, or as it was loaded.
struct Applied {
    transition: Option<Transition>,
    untouched: Option<Instance>,
    /// Whether the last stimuli changed anything.
    is_changed: bool,
    /// Whether they took too long.
    has_failed: bool,
}

impl Applied {
    /// Steps by each stimulus.
    fn apply(mut self, stepper: &Stepper, stimuli: Vec<Stimulus>) -> Self {
        for stimulus in stimuli {
            let later = match self.transition.take() {
                // Also after one that asks for something: the event is noted for all who wait for it, and what is asked
                // for stays in the state.
                Some(before) => {
                    let (ran, asked) = (before.activities, before.next.clone());
                    let mut has_stepped = false;
                    let step = |instance| {
                        let later = stepper.step_after(ran, instance, stimulus);
                        has_stepped = later.is_changed;
                        later
                    };
                    let mut both = before.then(step);
                    if !has_stepped {
                        both.next = asked;
                    }
                    self.is_changed |= has_stepped;
                    both
                }
                None => match self.untouched.take() {
                    Some(instance) => {
                        let first = stepper.step(instance, stimulus);
                        self.is_changed |= first.is_changed;
                        first
                    }
                    None => break,
                },
            };
            if later.is_changed {
                self.transition = Some(later);
            } else {
                self.untouched = Some(later.instance);
            }
        }
        self
    }
}
