//! Working on an instance that is there: open it, step, commit, continue. What resumes, cancellations, retries, timers
//! and continuations have in common.
//!
//! Requests for one instance are combined ([`crate::inbox`]): those that wait are applied one after the other to the
//! state in memory, and one commit decides about all of them.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::instance::commit::Committed;
use dormouse_store::instance::head::InstanceHead;
use dormouse_store::instance::lease::{Loaded, Opened};
use futures_util::future::{BoxFuture, Either, select};

use crate::error::RuntimeError;
use crate::graph::pin::Pin;
use crate::kernel::Kernel;
use crate::kernel::burst::{Burst, Later, Since};
use crate::port::Metric;
use crate::runtime::inbox::{Answered, Reply, Seats, Waiter};
use crate::work::resume::ResumeOutcome;
use crate::work::wake::{Advanced, WakeRequest};

/// How often a first commit that somebody else got ahead of is tried anew.
const ATTEMPTS_MAX: u32 = 8;

/// At most so many requests are decided by one commit.
const COMBINED_MAX: usize = 500;

/// Answers to the first requests of a batch; the others have not had their turn.
pub(crate) type Answers = Vec<Advanced>;

impl<'k> Kernel<'k> {
    /// Wakes an instance and runs it until it waits or ends.
    pub(crate) async fn advance(self, tenant: &Tenant, request: WakeRequest) -> Answered {
        let id = request.instance_id.clone();
        let mut answers = self.advance_all(tenant, &id, vec![request]).await;
        answers
            .pop()
            .unwrap_or(Ok(Advanced::Outcome(ResumeOutcome::NotFound)))
    }

    /// Wakes an instance by several requests at once; answers each in its place.
    pub(crate) async fn advance_all(
        self,
        tenant: &Tenant,
        instance_id: &str,
        requests: Vec<WakeRequest>,
    ) -> Vec<Answered> {
        let key = (tenant.clone(), instance_id.to_owned());
        let mut seats = self.inboxes().put(&key, requests);
        if seats.works {
            self.work(&key, &seats).await;
        }
        let mut answers = Vec::with_capacity(seats.replies.len());
        let asked = self.now();
        for n in 0..seats.replies.len() {
            answers.push(self.answer_at(&key, &mut seats, n, asked).await);
        }
        answers
    }

    async fn answer_at(
        self,
        key: &(Tenant, String),
        seats: &mut Seats<'_>,
        n: usize,
        asked: Timestamp,
    ) -> Answered {
        loop {
            let Some(reply) = seats.replies.get_mut(n) else {
                return Ok(Advanced::Outcome(ResumeOutcome::NotFound));
            };
            // Bounded, as every wait for somebody else's work: a burst may even wait for a child that waits for it.
            let waited_ms = self.now().0 - asked.0;
            let left_ms = (self.within_ms(self.config().wait_ms_max) - waited_ms).max(0);
            let patience = pin!(self.ports().clock.sleep(left_ms.unsigned_abs()));
            let soon = match select(&mut *reply, patience).await {
                Either::Left((reply, _)) => Some(reply),
                Either::Right((..)) => None,
            };
            let reply = match soon {
                Some(reply) => reply,
                None if self.inboxes().take_back(key, reply) => {
                    return Err(self.kept_waiting(key, asked));
                }
                // It is being worked on right now.
                None => reply.await,
            };
            match reply {
                Ok(Reply::Answered(answered)) => return answered,
                Ok(Reply::Work(request)) => {
                    let reply = self.inboxes().put_back(key, *request, seats);
                    if let Some(seat) = seats.replies.get_mut(n) {
                        *seat = reply;
                    }
                    self.work(key, seats).await;
                }
                // Whoever worked on it was cut off in the middle: the request was carried out or not.
                Err(_) => {
                    return Err(RuntimeError::LeaseLost {
                        instance_id: key.1.clone(),
                    });
                }
            }
        }
    }

    /// Says that a request waited in vain for others of this process.
    fn kept_waiting(self, (tenant, instance): &(Tenant, String), asked: Timestamp) -> RuntimeError {
        let wait_ms = self.now().0 - asked.0;
        self.record(Metric::LeaseContended, 1);
        self.record(Metric::LeaseFailed, 1);
        tracing::info!(%tenant, instance, wait_ms, "resume already in progress");
        RuntimeError::InProgress {
            instance_id: instance.clone(),
            until_ms: self.now().0,
        }
    }

    /// Works on an instance until the caller's own requests are answered.
    fn work<'a>(self, key: &'a (Tenant, String), seats: &'a Seats<'_>) -> BoxFuture<'a, ()>
    where
        'k: 'a,
    {
        Box::pin(async move {
            let turn = self.inboxes().turn(key, seats);
            let mut later = Later::new();
            loop {
                let mut batch = turn.next(COMBINED_MAX);
                if batch.is_empty() {
                    break;
                }
                match self.advance_batch(&key.0, &key.1, &batch, &mut later).await {
                    Ok(answers) => {
                        let rest = batch.split_off(answers.len().min(batch.len()));
                        for (waiter, answer) in batch.into_iter().zip(answers) {
                            waiter.answer(Ok(answer));
                        }
                        turn.put_back(rest);
                    }
                    Err(error) => answer_all(batch, error),
                }
            }
            // It may concern this very instance, so whoever waits for that goes first.
            drop(turn);
            for work in later {
                work.await;
            }
        })
    }

    /// Applies requests to an instance in one burst.
    async fn advance_batch(
        self,
        tenant: &Tenant,
        instance_id: &str,
        batch: &[Waiter],
        later: &mut Later,
    ) -> Result<Answers, RuntimeError> {
        let reopens = batch.first().is_some_and(|first| first.request.reopens);
        for attempt in 0..ATTEMPTS_MAX {
            // Who has lost one race would lose the next one as well: then others are made to wait.
            let takes_lease = attempt > 0;
            let (opened, at) = self.open(tenant, instance_id, reopens, takes_lease).await?;
            let loaded = match opened {
                Opened::Loaded(loaded) => loaded,
                Opened::Ended(head) => return self.ended(tenant, &head, batch).await,
                Opened::Deleted => {
                    let nothing = ResumeOutcome::Deleted;
                    return self
                        .to_nothing((tenant, instance_id), batch, &nothing)
                        .await;
                }
                Opened::NotFound => {
                    let nothing = ResumeOutcome::NotFound;
                    return self
                        .to_nothing((tenant, instance_id), batch, &nothing)
                        .await;
                }
                Opened::Busy { until_ms } => {
                    return Err(RuntimeError::InProgress {
                        instance_id: instance_id.to_owned(),
                        until_ms,
                    });
                }
            };
            let since = Since {
                leased: loaded.is_leased().then_some(at),
                is_active: !loaded.head().summary.ended,
            };
            let advanced = self.advance_with(tenant, batch, (loaded, since), later);
            if let Some(answers) = advanced.await? {
                return Ok(answers);
            }
        }
        Err(RuntimeError::LeaseLost {
            instance_id: instance_id.to_owned(),
        })
    }

    /// What those get who come to an instance that has ended: one whose event it took before must be told so, for it
    /// may be the very event that it ended with. And a retry that opens it again may be about to commit.
    async fn ended(
        self,
        tenant: &Tenant,
        head: &InstanceHead,
        batch: &[Waiter],
    ) -> Result<Answers, RuntimeError> {
        let id = head.instance_id.as_str();
        let (mut answers, mut judged) = (Vec::new(), BTreeMap::new());
        for Waiter { request, .. } in batch {
            let has_seen = match &request.event_id {
                Some(event) => self.store().instances().has_seen(tenant, id, event).await?,
                None => false,
            };
            answers.push(Advanced::Outcome(if has_seen {
                ResumeOutcome::Seen(Box::new(head.clone()))
            } else if self
                .is_ahead((tenant, id), (request, head.commit), &mut judged)
                .await?
            {
                ResumeOutcome::NotYet
            } else {
                ResumeOutcome::Ended(Box::new(head.clone()))
            }));
        }
        Ok(answers)
    }

    /// `None`: somebody else was first, and nothing was committed.
    async fn advance_with(
        self,
        tenant: &Tenant,
        batch: &[Waiter],
        (mut loaded, since): (Box<Loaded>, Since),
        later: &mut Later,
    ) -> Result<Option<Answers>, RuntimeError> {
        let Some(first) = batch.first().map(|waiter| &waiter.request) else {
            return Ok(Some(Vec::new()));
        };
        let mut burst = match self.burst_of(tenant, first, &loaded).await {
            Ok(burst) => burst,
            Err(error) => {
                // The error at hand says more than one about giving back; the lease runs out anyway.
                let _ = self.store().leases().release(&mut loaded).await;
                return Err(error);
            }
        };
        burst.since = since;
        burst.loaded = Some(loaded);
        let mut combined = match burst.combine(batch).await {
            Ok(combined) => combined,
            Err(error) => return Err(burst.abandon(error).await),
        };
        let Some(transition) = combined.transition.take() else {
            burst.release().await?;
            return Ok(Some(combined.answers()));
        };
        let refused = match burst.commit(transition, &combined.cause).await {
            Ok((Committed::Done(_), committed)) => {
                let (report, rest) = Box::pin(burst.run_on(committed)).await?;
                later.extend(rest);
                let report = Arc::new(report);
                combined.resumed(&ResumeOutcome::Resumed(report));
                return Ok(Some(combined.answers()));
            }
            Ok((refused, _)) => refused,
            Err(error) => return Err(burst.abandon(error).await),
        };
        burst.release().await?;
        Ok(match refused {
            Committed::StimulusTaken => Some(vec![Advanced::StimulusTaken]),
            Committed::NotUnique { holder, .. } => Some(vec![Advanced::NotAllowed(holder)]),
            Committed::Done(_) | Committed::Lost(_) | Committed::Deleted | Committed::Fenced(_) => {
                None
            }
        })
    }

    /// What requests for an instance that is not there come to: what its first commit prepared may be before it.
    async fn to_nothing(
        self,
        key: (&Tenant, &str),
        batch: &[Waiter],
        nothing: &ResumeOutcome,
    ) -> Result<Answers, RuntimeError> {
        let (mut answers, mut judged) = (Vec::new(), BTreeMap::new());
        for Waiter { request, .. } in batch {
            let is_ahead = self.is_ahead(key, (request, 0), &mut judged).await?;
            answers.push(Advanced::Outcome(if is_ahead {
                ResumeOutcome::NotYet
            } else {
                nothing.clone()
            }));
        }
        Ok(answers)
    }

    async fn burst_of<'a>(
        self,
        tenant: &'a Tenant,
        request: &WakeRequest,
        loaded: &Loaded,
    ) -> Result<Burst<'a>, RuntimeError>
    where
        'k: 'a,
    {
        let head = loaded.head();
        let pin = Pin::decode(&head.pinned)?;
        let runnable = self
            .graphs()
            .runnable_of(tenant, &head.summary, pin.bindings)
            .await?;
        let mut burst = Burst::new(
            self.0,
            tenant,
            runnable,
            request.has_http_request,
            request.activities,
        );
        burst.buffers = pin.buffers;
        Ok(burst)
    }
}

/// Tells an error to everybody who waits.
fn answer_all(mut batch: Vec<Waiter>, error: RuntimeError) {
    if batch.len() == 1 {
        if let Some(only) = batch.pop() {
            only.answer(Err(error));
        }
        return;
    }
    let error = Arc::new(error);
    for waiter in batch {
        waiter.answer(Err(RuntimeError::Shared(Arc::clone(&error))));
    }
}
