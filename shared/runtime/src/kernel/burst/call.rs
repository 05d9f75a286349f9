//! Calls that activities ask for, made while the lease is kept alive.

use std::pin::pin;

use dormouse_engine::call::{Answer, Call, Request};
use dormouse_engine::effect::Child;
use dormouse_engine::id::BookmarkId;
use dormouse_engine::step::{Next, Stimulus, Transition};
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use futures_util::future::{BoxFuture, Either, select};

use super::Burst;
use crate::error::RuntimeError;
use crate::kernel::Kernel;
use crate::kernel::create::Beginning;
use crate::runtime::invocation::NESTED_MAX;
use crate::runtime::secret_filling::Filled;
use crate::work::definition_handle::DefinitionHandle;
use crate::work::start::{StartOutcome, StartRequest};
use crate::work::wake::WakeRequest;

/// End of the wait for a call's answer.
pub(crate) enum Heard {
    /// It was answered.
    Answer(Answer),
    /// The time of the activity is over, or of one around it: the timer's bookmark, to be resumed.
    TimedOut(BookmarkId),
    /// It does not fit in what is left of the invocation, and is to be made by another one, under the same key.
    OutOfTime,
}

impl Burst<'_> {
    /// Makes a call and waits for its answer, renewing the lease meanwhile. `end`: the end of the activity's time and its
    /// timer, which cannot fire while this burst holds the instance.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::InProgress`] if the instance is being cancelled, and those of the call.
    pub(crate) async fn answer(
        &mut self,
        call: &Call,
        end: Option<(Timestamp, BookmarkId)>,
    ) -> Result<Heard, RuntimeError> {
        let runtime = self.runtime;
        // A child's burst is not given up halfway: it would keep its lease. Its own calls have ends of their own.
        let end = end.filter(|_| matches!(call.request, Request::Http(_)));
        let left_ms = || match &end {
            Some((due, _)) => (due.0 - runtime.now().0).max(0),
            None => i64::MAX,
        };
        let may_take_ms = runtime.kernel().may_take_ms(&call.request);
        if !runtime.has_time_for(may_take_ms.min(left_ms().unsigned_abs())) {
            return Ok(Heard::OutOfTime);
        }
        let instance = self.loaded()?.instance_id().to_owned();
        let key = (self.tenant, instance.as_str());
        let answer = runtime.kernel().answer(key, &call.request);
        let mut waiting = runtime
            .running()
            .wait((self.tenant.clone(), Some(instance.clone())));
        let mut answer = pin!(select(answer, &mut waiting.unwanted));
        let half_ms = (runtime.config().lease_ms / 2).max(1);
        loop {
            if let Some((_, timer)) = end.as_ref().filter(|_| left_ms() == 0) {
                return Ok(Heard::TimedOut(timer.clone()));
            }
            let pause_ms = runtime.within_ms(half_ms.min(left_ms())).unsigned_abs();
            let pause = pin!(runtime.ports().clock.sleep(pause_ms));
            match select(answer.as_mut(), pause).await {
                Either::Left((Either::Left((answer, _)), _)) => return answer.map(Heard::Answer),
                Either::Left((Either::Right(_), _)) => {
                    return Err(RuntimeError::InProgress {
                        instance_id: instance.clone(),
                        until_ms: runtime.now().0,
                    });
                }
                Either::Right(_) if left_ms() == 0 => {}
                Either::Right(_) if runtime.is_out_of_time() => return Ok(Heard::OutOfTime),
                Either::Right(_) => self.renew().await?,
            }
        }
    }

    /// Answers the questions that a step asks which change nothing: so they need no commit of their own.
    pub(crate) async fn settle_questions(
        &mut self,
        mut transition: Transition,
    ) -> Result<Transition, RuntimeError> {
        loop {
            let question = match &transition.next {
                Next::Call(calls) => calls.first().filter(|call| is_question(call)).cloned(),
                Next::Rest | Next::Continue => None,
            };
            let Some(question) = question else {
                return Ok(transition);
            };
            // It may be the first commit of an instance; a question names no secrets.
            let key = (self.tenant, "");
            let kernel = self.runtime.kernel();
            let answer = kernel.answer(key, &question.request).await?;
            let stimulus = Stimulus::Answered {
                bookmark: question.bookmark,
                answer,
            };
            // What ran so far counts, though it is not committed yet.
            let instance = transition.instance.clone();
            let later = self
                .step_after(transition.activities, instance, stimulus)
                .await?;
            transition = transition.followed_by(later);
        }
    }

    async fn renew(&mut self) -> Result<(), RuntimeError> {
        let until = self.runtime.lease_until(self.runtime.now());
        let Some(loaded) = self.loaded.as_mut() else {
            return Err(self.lost());
        };
        match self.runtime.store().leases().renew(loaded, until.0).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.lost()),
            // There is still half of it left; the next renewal may do.
            Err(error) if error.is_busy() || error.is_unknown() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_question(call: &Call) -> bool {
    match call.request {
        Request::FindWorkflow { .. } => true,
        Request::Http(_) | Request::ExecuteWorkflow(_) => false,
    }
}

impl<'k> Kernel<'k> {
    /// How long a call may take, in ms; 0 where the work is our own.
    fn may_take_ms(self, request: &Request) -> u64 {
        match request {
            Request::Http(http) => self.call_ms(http.timeout_ms),
            Request::ExecuteWorkflow(_) | Request::FindWorkflow { .. } => 0,
        }
    }

    /// Makes a call.
    pub(crate) fn answer<'a>(
        self,
        (tenant, instance): (&'a Tenant, &'a str),
        request: &'a Request,
    ) -> BoxFuture<'a, Result<Answer, RuntimeError>>
    where
        'k: 'a,
    {
        Box::pin(async move {
            match request {
                Request::Http(http) => {
                    let timeout_ms = self.call_ms(http.timeout_ms);
                    let caller = &self.ports().http_caller;
                    match self.filled_request(tenant, instance, http).await? {
                        None => Ok(caller.call(http, timeout_ms).await),
                        Some(Filled::Refused(why)) => Ok(Answer::Refused {
                            message: why.message,
                        }),
                        Some(Filled::Done(filled, redaction)) => {
                            let answer = caller.call(&filled, timeout_ms).await;
                            self.redacted(tenant, &redaction, answer).await
                        }
                    }
                }
                Request::ExecuteWorkflow(child) => self.execute(tenant, child).await,
                Request::FindWorkflow { definition_id } => {
                    let head = self
                        .store()
                        .definitions()
                        .definition_head(tenant, definition_id)
                        .await?;
                    let found = head.is_some_and(|head| head.published.is_some());
                    Ok(if found {
                        Answer::Found
                    } else {
                        not_started(&no_such_workflow(definition_id))
                    })
                }
            }
        })
    }

    /// Starts a child and runs it until it waits or ends. One that was started before is found as it is.
    async fn execute(self, tenant: &Tenant, child: &Child) -> Result<Answer, RuntimeError> {
        let Some(nested) = self.nested() else {
            return Ok(not_started(&format!(
                "{NESTED_MAX} workflows execute each other and wait, one within the other, and no more may do so: dispatch `{}` instead",
                child.definition_id
            )));
        };
        let kernel = nested.kernel();
        let request = StartRequest::of_child(child);
        // Not `start`: it is part of a burst in progress, which a pause lets run.
        let begun = kernel.begin(tenant, request, Beginning::default()).await?;
        match begun.outcome() {
            StartOutcome::Started(report) => Ok(Answer::Executed {
                sub_status: report.instance.sub_status,
                output: report.instance.output,
            }),
            StartOutcome::AlreadyStarted(head) => {
                if !head.summary.ended {
                    // Its first burst may have been cut off together with ours.
                    let request = WakeRequest::new(child.instance.as_str(), Stimulus::Continue);
                    kernel.advance(tenant, request).await?;
                }
                match self.read(tenant, child.instance.as_str()).await? {
                    Some(found) => Ok(Answer::Executed {
                        sub_status: found.instance.sub_status,
                        output: found.instance.output,
                    }),
                    None => Ok(not_started("the workflow's instance was deleted")),
                }
            }
            StartOutcome::Deleted { .. } => Ok(not_started("the workflow's instance was deleted")),
            StartOutcome::NotAllowed { holder } => {
                Ok(not_started(&format!("the instance `{holder}` runs")))
            }
            StartOutcome::NotFound | StartOutcome::Stale => {
                Ok(not_started(&no_such_workflow(&child.definition_id)))
            }
        }
    }
}

/// What is said of a workflow that is not there.
pub(crate) fn no_such_workflow(definition_id: &str) -> String {
    format!("there is no published workflow `{definition_id}`")
}

fn not_started(why: &str) -> Answer {
    Answer::NotStarted {
        message: why.to_owned(),
    }
}

impl StartRequest {
    /// Starts a child: its id is given, and activation strategies do not count.
    pub(crate) fn of_child(child: &Child) -> Self {
        let start = child.start.clone();
        Self {
            instance_id: Some(child.instance.to_string()),
            input: start.input,
            correlation_id: start.correlation_id,
            name: start.name,
            trigger_activity_id: start.trigger_activity_id,
            properties: start.properties,
            parent: start.parent,
            ignores_activation: true,
            ..Self::new(DefinitionHandle::published(&child.definition_id))
        }
    }
}
