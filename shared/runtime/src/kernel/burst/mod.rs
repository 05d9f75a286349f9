//! A burst: from waking to waiting again. Steps of the engine, each committed before anything of it leaves, until
//! the instance rests, has ended, or makes way.

mod call;
mod compose;
mod lifecycle;
mod measure;
mod migrate;
mod open;
mod stepper;
mod write;

use dormouse_engine::call::HttpResponse;
use dormouse_engine::instance::Instance;
use dormouse_engine::step::{Next, Stimulus, Transition};
use dormouse_engine::time::Timestamp;
use dormouse_store::instance::commit::Committed;
use dormouse_store::instance::lease::Loaded;
use dormouse_store::instance::uniqueness::Claim;
use dormouse_store::outbox::row::OutboxKey;
use dormouse_store::stimulus::queued_stimulus::QueuePlace;
use dormouse_store::table::{TableError, Write};
use dormouse_store::{StoreError, Tenant};
use futures_util::future::BoxFuture;

use call::Heard;
pub(crate) use call::no_such_workflow;
pub(crate) use compose::{Composed, found_by};
pub(crate) use measure::Since;
pub(crate) use stepper::Stepper;

use crate::error::RuntimeError;
use crate::graph::cache::Runnable;
use crate::outbox::batch::OutboxBatch;
use crate::port::Share;
use crate::runtime::Runtime;
use crate::runtime::config::Delivery;
use crate::work::message::{Message, Task};
use crate::work::report::BurstReport;

/// What the first commit of a burst is the answer to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cause {
    /// Events that the instance takes once.
    pub(crate) event_ids: Vec<String>,
    /// A queued stimulus.
    pub(crate) consumed: Option<QueuePlace>,
    /// Rows that only lead here, and do not any more.
    pub(crate) closes: Vec<Write>,
    /// What an instance that is opened again must be the only one of.
    pub(crate) claims: Vec<Claim>,
    /// The trigger whose next occurrence waits for the end of the instance; only with its first commit.
    pub(crate) buffers: Option<String>,
}

/// What a burst leaves to be done before its caller has an answer, once nobody waits for the instance because of it.
pub(crate) type Later = Vec<BoxFuture<'static, ()>>;

/// A burst in progress.
pub(crate) struct Burst<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) tenant: &'a Tenant,
    pub(crate) runnable: Runnable,
    /// The instance as it is stored.
    pub(crate) loaded: Option<Box<Loaded>>,
    /// The trigger whose next occurrence waits for this instance's end.
    pub(crate) buffers: Option<String>,
    has_http_request: bool,
    began: Timestamp,
    /// When its last commit was done, or when it began.
    last: Timestamp,
    pub(crate) since: Since,
    /// Activities that ran since the instance last waited.
    activities: u64,
    /// The row that would continue this burst after a crash, and what is in it.
    continuation: Option<(OutboxKey, Message)>,
    lines: Vec<String>,
    response: Option<HttpResponse>,
    /// Bookmarks that this burst opened and that are found by a hash.
    opened: Vec<(String, String)>,
    /// What is to be carried out when the burst is over.
    batches: Vec<OutboxBatch>,
    made_way: bool,
    /// Whether the instance has gone over to another version, and that is not committed yet.
    is_migrating: bool,
}

impl<'a> Burst<'a> {
    pub(crate) fn new(
        runtime: &'a Runtime,
        tenant: &'a Tenant,
        runnable: Runnable,
        has_http_request: bool,
        activities: u64,
    ) -> Self {
        let began = runtime.now();
        Self {
            runtime,
            tenant,
            runnable,
            loaded: None,
            buffers: None,
            has_http_request,
            began,
            last: began,
            since: Since {
                leased: None,
                is_active: false,
            },
            activities,
            continuation: None,
            lines: Vec::new(),
            response: None,
            opened: Vec::new(),
            batches: Vec::new(),
            made_way: false,
            is_migrating: false,
        }
    }

    /// Commits a transition; one that cannot be stored because it is too large becomes a failure of the instance.
    /// Answers the transition that was committed.
    pub(crate) async fn commit(
        &mut self,
        transition: Transition,
        cause: &Cause,
    ) -> Result<(Committed, Transition), RuntimeError> {
        let transition = match self.settle_questions(transition).await {
            Ok(transition) => transition,
            Err(error) => {
                let failed = self
                    .stepper()
                    .step(self.stored_instance()?, error.of_a_step()?);
                return Ok((self.try_commit(&failed, cause).await?, failed));
            }
        };
        match self.try_commit(&transition, cause).await {
            // What is stored is of the version before: that it does not fit says nothing against the instance.
            Err(RuntimeError::Store(error)) if is_too_large(&error) && !self.is_migrating => {
                let failed = self
                    .stepper()
                    .step(self.stored_instance()?, too_large(&error));
                Ok((self.try_commit(&failed, cause).await?, failed))
            }
            committed => Ok((committed?, transition)),
        }
    }

    async fn try_commit(
        &mut self,
        transition: &Transition,
        cause: &Cause,
    ) -> Result<Committed, RuntimeError> {
        let composed = self.compose(transition, cause)?;
        let (committed, composed) = self.write(composed).await?;
        if let Committed::Done(keys) = &committed {
            self.after_commit(transition, composed, keys.clone()).await;
        }
        Ok(committed)
    }

    /// Takes note of a commit, and has its effects carried out.
    pub(crate) async fn after_commit(
        &mut self,
        transition: &Transition,
        composed: Composed,
        mut keys: Vec<OutboxKey>,
    ) {
        self.continuation = None;
        self.is_migrating = false;
        if let Some(message) = composed.continuation {
            self.continuation = keys.pop().map(|key| (key, message));
        }
        let ports = self.runtime.ports();
        for timer in &composed.timers {
            ports.scheduler.committed(timer);
        }
        self.measure_commit(transition, composed.timers.len() + composed.elsewhere.len());
        self.tell_observer(transition);
        self.activities += transition.activities;
        self.lines.extend(transition.lines.iter().cloned());
        if transition.response.is_some() {
            self.response.clone_from(&transition.response);
        }
        self.opened.extend(composed.opened);
        let gone = |id: &String| {
            transition
                .bookmarks_removed
                .iter()
                .any(|b| b.id.as_str() == id)
        };
        self.opened.retain(|(id, _)| !gone(id));
        let batch = OutboxBatch {
            keys,
            messages: composed.messages,
            forget: composed.forget,
        };
        self.post(batch).await;
    }

    /// Whose turn it is when something of this burst is done.
    fn share(&self) -> Share {
        Share::new(self.tenant.as_str(), &self.runnable.graph.definition_id)
    }

    async fn post(&mut self, batch: OutboxBatch) {
        if batch.is_empty() {
            return;
        }
        let runtime = self.runtime;
        match runtime.config().delivery {
            Delivery::Background => {
                let work = runtime.outbox().carry_out(batch);
                runtime.ports().background.queue(self.share(), work);
            }
            // To a queue it can be sent at once. Done here and now it could wait for this very instance.
            Delivery::Inline if runtime.ports().queue.is_some() => {
                runtime.outbox().carry_out(batch).await;
            }
            Delivery::Inline => self.batches.push(batch),
        }
    }

    /// Goes on after a commit until the instance rests, has ended, or makes way.
    pub(crate) async fn run_on(
        mut self,
        mut transition: Transition,
    ) -> Result<(BurstReport, Later), RuntimeError> {
        while !self.made_way {
            if transition.instance.ending.is_some() {
                let running = self.runtime.running();
                running.allow(self.tenant, transition.instance.id.as_str());
            }
            let stimulus = match std::mem::replace(&mut transition.next, Next::Rest) {
                Next::Rest => break,
                Next::Continue => Stimulus::Continue,
                Next::Call(calls) => match calls.into_iter().next() {
                    None => Stimulus::Continue,
                    // One at a time: its answer is committed before the next one starts.
                    Some(call) => {
                        let end = transition.instance.timeout_of(&call.bookmark);
                        match self.answer(&call, end).await {
                            Ok(Heard::Answer(answer)) => Stimulus::Answered {
                                bookmark: call.bookmark,
                                answer,
                            },
                            Ok(Heard::TimedOut(bookmark)) => Stimulus::Resume {
                                bookmark,
                                input: serde_json::Map::new(),
                            },
                            Ok(Heard::OutOfTime) => return self.hand_over(transition).await,
                            Err(error) => return Err(self.abandon(error).await),
                        }
                    }
                },
            };
            let next = match self.step(transition.instance, stimulus).await {
                Ok(next) => next,
                Err(error) => match (error.of_a_step(), self.stored_instance()) {
                    (Ok(failure), Ok(instance)) => self.stepper().step(instance, failure),
                    (Err(error), _) | (_, Err(error)) => return Err(self.abandon(error).await),
                },
            };
            match self.commit(next, &Cause::default()).await {
                Ok((Committed::Done(_), committed)) => transition = committed,
                Ok(_) => return Err(self.lost()),
                Err(error) => return Err(self.abandon(error).await),
            }
        }
        self.finish(transition)
    }

    /// Leaves a call that does not fit in what is left of the invocation to another one. It is committed that it is to
    /// be made, so this is like a crash, but nobody has to wait for the lease.
    async fn hand_over(
        mut self,
        transition: Transition,
    ) -> Result<(BurstReport, Later), RuntimeError> {
        self.release().await?;
        if let Some((key, mut message)) = self.continuation.take() {
            if let Task::Continue { made_way, .. } = &mut message.task {
                *made_way = true;
            }
            let batch = OutboxBatch {
                keys: vec![key],
                messages: vec![message],
                forget: Vec::new(),
            };
            self.post(batch).await;
        }
        self.made_way = true;
        self.finish(transition)
    }

    fn finish(mut self, transition: Transition) -> Result<(BurstReport, Later), RuntimeError> {
        self.measure_end();
        let (commit, share) = (self.loaded()?.head().commit, self.share());
        let instance = transition.instance;
        let runtime = self.runtime;
        let opened = std::mem::take(&mut self.opened);
        let mut later = Later::new();
        if !opened.is_empty() && !instance.is_ended() {
            let work = runtime
                .outgoing()
                .meet_queued(runtime, self.tenant, &instance, opened);
            match runtime.config().delivery {
                Delivery::Background => runtime.ports().background.queue(share, work),
                Delivery::Inline => later.push(work),
            }
        }
        for batch in std::mem::take(&mut self.batches) {
            later.push(runtime.outbox().carry_out(batch));
        }
        let report = BurstReport {
            instance,
            graph: self.runnable.graph,
            commit,
            lines: self.lines,
            response: self.response,
            goes_on: self.made_way,
        };
        Ok((report, later))
    }

    /// Gives the lease back as well as it can, because of an error.
    pub(crate) async fn abandon(&mut self, error: RuntimeError) -> RuntimeError {
        if let Some(loaded) = self.loaded.as_mut()
            && let Err(cause) = self.runtime.store().leases().release(loaded).await
        {
            tracing::debug!(instance = loaded.instance_id(), cause = %cause, "a lease runs out by itself");
        }
        error
    }

    /// Gives the lease back without having changed anything.
    pub(crate) async fn release(&mut self) -> Result<(), RuntimeError> {
        if let Some(loaded) = self.loaded.as_mut() {
            self.runtime.store().leases().release(loaded).await?;
        }
        Ok(())
    }

    /// The instance as the last commit left it.
    pub(crate) fn stored_instance(&self) -> Result<Instance, RuntimeError> {
        let loaded = self.loaded()?;
        Instance::decode(loaded.state(), &self.runnable.graph).map_err(|source| {
            RuntimeError::Instance {
                instance_id: loaded.instance_id().to_owned(),
                source,
            }
        })
    }

    pub(crate) fn loaded(&self) -> Result<&Loaded, RuntimeError> {
        self.loaded.as_deref().ok_or_else(|| self.lost())
    }

    fn lost(&self) -> RuntimeError {
        let id = self.loaded.as_ref().map(|loaded| loaded.instance_id());
        RuntimeError::LeaseLost {
            instance_id: id.unwrap_or_default().to_owned(),
        }
    }
}

/// Whether a commit can never succeed because of its size.
pub(crate) fn is_too_large(error: &StoreError) -> bool {
    match error {
        StoreError::TooLarge { .. } | StoreError::NoBlobs { .. } => true,
        StoreError::Table(error) => matches!(error, TableError::TooLarge { .. }),
        StoreError::BadId { .. }
        | StoreError::Damaged { .. }
        | StoreError::NewerFormat { .. }
        | StoreError::Encode { .. }
        | StoreError::Blobs(_)
        | StoreError::BadCursor => false,
    }
}

/// The stimulus that makes a failure of a state that is too large.
pub(crate) fn too_large(error: &StoreError) -> Stimulus {
    Stimulus::Fail {
        kind: "LimitReached".into(),
        message: format!(
            "the workflow was stopped because it cannot be stored: {error}. Keep large values elsewhere and their address here"
        ),
    }
}
