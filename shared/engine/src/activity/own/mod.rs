//! An activity of a type that is data. Each attempt is a bookmark and an effect; its bounds and the pauses between
//! attempts are timers. A script is part of the step.
//!
//! A task is named by its bookmark, and every attempt and every time that it is offered again has a bookmark of its
//! own: so whoever answers for an earlier one finds it gone.

mod task;
mod word;

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Activity;
use super::run_task::{RESULT, task_id};
use crate::activity_type::{ActivityType, Answer, Failure, Handler, misfit, script};
use crate::definition::data_type::DataType;
use crate::definition::fields::Fields;
use crate::effect::Effect;
use crate::graph::{Builder, Expression};
use crate::instance::{Bookmark, Memory};
use crate::journal::Event;
use crate::step::{Cx, Fault, Outcomes, Then};
use crate::time::format_duration;

use task::{FOR, Facts, Progress, body, progress_of};
pub use task::{OpenTask, ask_again, is_task, open_task};
pub(crate) use word::is_in_passing;
pub use word::{TASK, Word};

/// How often an attempt is offered again because nothing was heard of whoever took it.
pub const LOST_MAX: u32 = 10;

/// An activity of a type that is data.
#[derive(Debug)]
struct Own {
    ty: Arc<ActivityType>,
    script: Option<Expression>,
}

/// Makes the activity, and tells which inputs are missing.
pub(crate) fn build(builder: &mut Builder<'_>, ty: &Arc<ActivityType>) -> Box<dyn Activity> {
    let node = builder.node(builder.current());
    let missing: Vec<String> = ty
        .inputs
        .iter()
        .filter(|input| input.is_required && input.default.is_null())
        .filter(|input| {
            let given = node.and_then(|n| n.inputs.iter().find(|i| i.name == input.property));
            match given.map(|given| &given.expression) {
                None | Some(None) => true,
                Some(Some(expression)) => {
                    matches!(expression, Expression::Literal(Value::Null))
                }
            }
        })
        .map(|input| input.name.clone())
        .collect();
    for name in missing {
        let message = format!("`{}` needs its input `{name}`", ty.type_name);
        builder.problem("missingInput", message);
    }
    let script = match &ty.handler {
        Handler::JavaScript { source } => script(source).and_then(|text| {
            let json = json!({ "type": "JavaScript", "value": text });
            builder.expression(Fields::of(&json), &DataType::Object)
        }),
        Handler::Http { .. }
        | Handler::Worker { .. }
        | Handler::Lambda { .. }
        | Handler::Command { .. } => None,
    };
    Box::new(Own {
        ty: Arc::clone(ty),
        script,
    })
}

impl Own {
    /// Begins an attempt, or offers one again.
    fn begin(&self, cx: &mut Cx<'_, '_>, mut progress: Progress) -> Result<Then, Fault> {
        if let Handler::JavaScript { .. } = self.ty.handler {
            let answer = self.run(cx, &progress);
            return self.settle(cx, progress, answer);
        }
        let bookmark = cx.wait_for_resume(Value::Null, false);
        let queue = match &self.ty.handler {
            Handler::Worker { queue } => Some(queue.clone()),
            Handler::Http { .. }
            | Handler::JavaScript { .. }
            | Handler::Lambda { .. }
            | Handler::Command { .. } => None,
        };
        cx.set_bookmark_payload(
            &bookmark,
            json!({
                FOR: "task",
                "TaskId": task_id(cx.instance_id(), &bookmark),
                "Type": self.ty.type_name,
                "Version": self.ty.version,
                "Attempt": progress.attempt,
                "Queue": queue,
            }),
        );
        progress.lease = None;
        progress.heartbeat = None;
        progress.end = None;
        progress.deadline = None;
        if queue.is_none() {
            self.bound(cx, &mut progress);
        }
        cx.effect(Effect::Perform {
            bookmark: bookmark.clone(),
            queue,
            activity_type: self.ty.type_name.clone(),
            since: cx.now(),
        });
        progress.task = Some(bookmark);
        remember(cx, &progress);
        Ok(Then::Wait)
    }

    /// How long an attempt may take: as the activity says, else its type.
    fn timeout_ms(&self, cx: &Cx<'_, '_>) -> i64 {
        cx.node().guard.attempt_ms.unwrap_or(self.ty.timeout_ms)
    }

    /// From now on the attempt has so long.
    fn bound(&self, cx: &mut Cx<'_, '_>, progress: &mut Progress) {
        let due = cx.now().plus_ms(self.timeout_ms(cx));
        progress.deadline = Some(due);
        progress.end = Some(cx.wait_until(due, json!({ FOR: "end", "ResumeAt": due.to_string() })));
    }

    /// From now on something must be heard within so long, and the attempt ends in its time. One timer does: that of
    /// the heartbeat is set anew by each, or it fires and the attempt is over.
    fn expect_heartbeat(&self, cx: &mut Cx<'_, '_>, progress: &mut Progress) {
        let Some(heartbeat_ms) = self.ty.heartbeat_ms else {
            if progress.deadline.is_none() && progress.lease.is_some() {
                self.bound(cx, progress);
            }
            return;
        };
        let timers = [progress.heartbeat.take(), progress.end.take()];
        for before in timers.into_iter().flatten() {
            cx.burn(&before);
        }
        if progress.deadline.is_none() && progress.lease.is_some() {
            progress.deadline = Some(cx.now().plus_ms(self.timeout_ms(cx)));
        }
        let due = cx.now().plus_ms(heartbeat_ms);
        let (what, at) = match progress.deadline {
            Some(deadline) if deadline <= due => ("end", deadline),
            Some(_) | None => ("heartbeat", due),
        };
        let timer = cx.wait_until(at, json!({ FOR: what, "ResumeAt": at.to_string() }));
        match what {
            "heartbeat" => progress.heartbeat = Some(timer),
            _ => progress.end = Some(timer),
        }
    }

    /// Somebody has it.
    fn taken(&self, cx: &mut Cx<'_, '_>, mut progress: Progress, lease: String, worker: &str) {
        if progress.lease.is_some() {
            return;
        }
        progress.lease = Some(lease);
        self.expect_heartbeat(cx, &mut progress);
        if let Some(task) = &progress.task {
            let payload = cx.bookmark_payload(task).cloned();
            if let Some(Value::Object(mut payload)) = payload {
                payload.insert("TakenBy".into(), worker.into());
                cx.set_bookmark_payload(task, Value::Object(payload));
            }
        }
        remember(cx, &progress);
    }

    /// Nothing was heard of whoever has it: a worker's task is offered again.
    fn lost(&self, cx: &mut Cx<'_, '_>, mut progress: Progress) -> Result<Then, Fault> {
        let heartbeat_ms = self.ty.heartbeat_ms.unwrap_or(self.timeout_ms(cx));
        let message = format!("nothing was heard of it for {heartbeat_ms} ms");
        let failure = Failure::new("HeartbeatTimeout", message);
        if !matches!(self.ty.handler, Handler::Worker { .. }) || progress.lost >= LOST_MAX {
            return self.failed(cx, progress, failure);
        }
        cx.log(
            Event::Retrying,
            json!({ "attemptNumber": progress.attempt, "retryDelay": format_duration(0), "details": failure.to_json() }),
        );
        forget(cx, &progress);
        progress.lost += 1;
        self.begin(cx, progress)
    }

    fn run(&self, cx: &mut Cx<'_, '_>, progress: &Progress) -> Answer {
        let Some(script) = &self.script else {
            return Answer::Failed(Failure::new("InvalidHandler", "it has no script").for_good());
        };
        let facts = Facts {
            task_id: &format!("{}/{}", cx.instance_id(), progress.serial),
            instance: cx.instance_id(),
            definition_id: &cx.graph().definition_id,
            correlation_id: cx.correlation_id(),
            tenant: None,
        };
        let mut opened = progress.clone();
        let sensitive = self.ty.inputs.iter().filter(|input| input.is_sensitive);
        for input in sensitive {
            let Some(value) = opened.input.get_mut(&input.name) else {
                continue;
            };
            match cx.opened(&input.name, value) {
                Ok(Some(plain)) => *value = plain,
                Ok(None) => {}
                Err(fault) => return Answer::Failed(Failure::new(&fault.kind, fault.message)),
            }
        }
        let task = body(&self.ty, &opened, &facts);
        cx.set_arguments(vec![("task".into(), task)]);
        let value = cx.evaluate(script, &DataType::Object);
        cx.set_arguments(Vec::new());
        match value {
            Ok(value) => Answer::read(&value),
            Err(fault) => Answer::Failed(Failure::new(&fault.kind, fault.message)),
        }
    }

    fn settle(
        &self,
        cx: &mut Cx<'_, '_>,
        progress: Progress,
        answer: Answer,
    ) -> Result<Then, Fault> {
        let (outputs, outcome) = match answer {
            Answer::Done { outputs, outcome } => (outputs, outcome),
            Answer::Failed(failure) => return self.failed(cx, progress, failure),
        };
        if let Some(message) = misfit(&self.ty, &outputs, outcome.as_deref()) {
            return self.failed(cx, progress, Failure::new("InvalidAnswer", message));
        }
        for output in &self.ty.outputs {
            let value = outputs.get(&output.name).cloned().unwrap_or(Value::Null);
            cx.set_output(&output.property, value);
        }
        let only = match self.ty.outcomes.as_slice() {
            [only] => only.as_str(),
            _ => "Done",
        };
        let outcome = outcome.unwrap_or_else(|| only.to_owned());
        Ok(if outcome == "Done" {
            Then::DONE
        } else {
            Then::Complete(Outcomes::Named(vec![outcome]))
        })
    }

    /// An attempt has failed: another one follows after a pause, or it is an incident.
    fn failed(
        &self,
        cx: &mut Cx<'_, '_>,
        mut progress: Progress,
        failure: Failure,
    ) -> Result<Then, Fault> {
        let failure = {
            let secret = self.ty.inputs.iter().filter(|input| input.is_sensitive);
            failure.without(secret.filter_map(|input| progress.input.get(&input.name)))
        };
        forget(cx, &progress);
        let attempt = progress.attempt;
        progress.attempt += 1;
        progress.lost = 0;
        progress.task = None;
        // As the activity says, else its type.
        let node = cx.node();
        let retry = node.guard.retry.as_ref().unwrap_or(&self.ty.retry);
        let paused = cx.pause(retry, attempt, &failure, |cx, due| {
            let payload =
                json!({ FOR: "pause", "ResumeAt": due.to_string(), "AttemptNumber": attempt + 1 });
            cx.wait_until(due, payload);
            remember(cx, &progress);
        });
        if paused.is_some() {
            return Ok(Then::Wait);
        }
        let mut fault = Fault::new(&failure.kind, failure.message).with("attempts", attempt);
        fault.is_final = !failure.is_retryable;
        Err(fault)
    }

    /// Word came at the task's bookmark.
    fn heard(&self, cx: &mut Cx<'_, '_>, mut progress: Progress) -> Result<Then, Fault> {
        match Word::of(cx.burst_inputs()) {
            Some(Word::Taken { lease, worker }) => self.taken(cx, progress, lease, &worker),
            Some(Word::Accepted) => self.taken(cx, progress, "later".into(), "its handler"),
            Some(Word::Heartbeat { details }) => {
                if !details.is_null() {
                    progress.details = details;
                }
                self.expect_heartbeat(cx, &mut progress);
                remember(cx, &progress);
            }
            Some(Word::Answered { answer }) => {
                return self.settle(cx, progress, Answer::read(&answer));
            }
            // Somebody resumed it by its bookmark: what he brings are the outputs.
            None => {
                let given = cx.burst_inputs().get(RESULT).cloned();
                let outputs = given.filter(Value::is_object).unwrap_or(json!({}));
                let answer = Answer::read(&json!({ "outputs": outputs }));
                return self.settle(cx, progress, answer);
            }
        }
        Ok(Then::Wait)
    }
}

impl Activity for Own {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let mut input = Map::new();
        for declared in &self.ty.inputs {
            let value = cx.input(&declared.property)?;
            if declared.is_required && value.is_null() {
                let message = format!(
                    "`{}` has no value for its input `{}`",
                    self.ty.type_name, declared.name
                );
                return Err(Fault::new("InvalidInput", message));
            }
            // It is in the state for as long as the task is open.
            let kept = match declared.is_sensitive {
                true => cx.sealed(&declared.name, value)?,
                false => value,
            };
            input.insert(declared.name.clone(), kept);
        }
        let progress = Progress {
            attempt: 1,
            serial: cx.serial(),
            input,
            ..Progress::default()
        };
        self.begin(cx, progress)
    }

    fn guards_itself(&self) -> bool {
        true
    }

    fn resumed(&self, cx: &mut Cx<'_, '_>, bookmark: &Bookmark) -> Result<Then, Fault> {
        let Some(progress) = progress_of(cx.memory()) else {
            return Ok(Then::Wait);
        };
        match bookmark.payload.get(FOR).and_then(Value::as_str) {
            Some("end") => {
                let message = format!("there was no answer within {} ms", self.timeout_ms(cx));
                self.failed(cx, progress, Failure::new("Timeout", message))
            }
            Some("heartbeat") => self.lost(cx, progress),
            Some("pause") => self.begin(cx, progress),
            _ => self.heard(cx, progress),
        }
    }
}

fn remember(cx: &mut Cx<'_, '_>, progress: &Progress) {
    *cx.memory() = Memory::Json(serde_json::to_value(progress).unwrap_or(Value::Null));
}

/// Nobody waits for this attempt any more.
fn forget(cx: &mut Cx<'_, '_>, progress: &Progress) {
    for bookmark in [&progress.task, &progress.end, &progress.heartbeat]
        .into_iter()
        .flatten()
    {
        cx.burn(bookmark);
    }
}

#[cfg(test)]
mod tests;
