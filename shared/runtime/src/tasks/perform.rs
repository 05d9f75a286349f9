//! Having a task done: a worker's waits in its queue, any other is handed to its handler and answered.

use dormouse_engine::activity::own::{Word, open_task};
use dormouse_engine::activity::run_task::task_id;
use dormouse_engine::activity_type::{ANSWER_BYTES_MAX, Failure, Handler};
use dormouse_engine::step::Stimulus;
use dormouse_store::Tenant;
use dormouse_store::stimulus::task::TaskRow;
use serde_json::{Value, json};

use super::Tasks;
use crate::error::RuntimeError;
use crate::port::CommandAnswer;
use crate::runtime::secret_filling::{Filled, Unfilled};
use crate::work::delivered::Delivered;
use crate::work::message::Task;
use crate::work::target::Target;
use crate::work::wake::{WakeRequest, outcome};

/// What a handler said.
pub(super) enum Said {
    /// This is the answer.
    Answer(Value),
    /// The answer comes later.
    Later,
}

impl Said {
    pub(super) fn failed(failure: &Failure) -> Self {
        Self::Answer(json!({ "error": failure.to_json() }))
    }
}

impl Tasks<'_> {
    /// Has a task done. Of one that is gone nothing is done.
    pub(crate) async fn perform(
        self,
        tenant: &Tenant,
        task: &Task,
    ) -> Result<Delivered, RuntimeError> {
        let Task::Perform {
            instance,
            bookmark,
            queue,
            activity_type,
            since,
        } = task
        else {
            return Ok(Delivered::Never("it is no task"));
        };
        let id = task_id(instance, bookmark);
        if let Some(queue) = queue {
            let row = TaskRow {
                queue: queue.clone(),
                activity_type: activity_type.clone(),
                since_ms: since.0,
                task_id: id,
            };
            self.store().task_rows().put(tenant, &row).await?;
            self.task_lines().put(tenant, &row);
            return Ok(Delivered::Done);
        }
        let found = self.query().instance(tenant, instance.as_str()).await?;
        let Some(found) = found else {
            return Ok(Delivered::Done);
        };
        let Some(open) = open_task(&found.graph, &found.instance, bookmark) else {
            return Ok(Delivered::Done);
        };
        // It has begun already, and answers later.
        if open.lease.is_some() {
            return Ok(Delivered::Done);
        }
        let filled = self.filled_task(tenant, &found.instance, &open).await?;
        let left_ms = open
            .deadline
            .map_or(open.activity_type.timeout_ms, |end| end.0 - self.now().0);
        let timeout_ms = self.call_ms(u64::try_from(left_ms).unwrap_or(0).max(1));
        let said = match filled {
            Filled::Refused(why) => not_sent(&why),
            Filled::Done(body, redaction) => {
                let handler = &open.activity_type.handler;
                match self.hand(handler, &id, &body, timeout_ms).await {
                    None => return Ok(Delivered::Done),
                    Some(Said::Answer(answer)) => {
                        Said::Answer(self.redacted(tenant, &redaction, answer).await?)
                    }
                    Some(Said::Later) => Said::Later,
                }
            }
        };
        let word = match said {
            Said::Answer(answer) => Word::Answered { answer },
            Said::Later => Word::Accepted,
        };
        // Not as a resume from outside, which a pause refuses: the handler would be asked again.
        let target = Target::Bookmark {
            id: bookmark.as_str().to_owned(),
            stamp: None,
            stimulus: Stimulus::Resume {
                bookmark: bookmark.clone(),
                input: word.input(),
            },
        };
        let request = WakeRequest::to(instance.as_str(), target);
        let advanced = self.kernel().advance(tenant, request).await?;
        Ok(outcome(advanced).settled())
    }

    /// Hands a task to its handler. `None`: it is handed to nobody.
    async fn hand(
        self,
        handler: &Handler,
        id: &str,
        body: &Value,
        timeout_ms: u64,
    ) -> Option<Said> {
        Some(match handler {
            Handler::Http { url } => self.ask(url, id, body, timeout_ms).await,
            Handler::Command { command } => self.run(command, body, timeout_ms).await,
            Handler::Lambda { function } => self.invoke(function, body, timeout_ms).await,
            Handler::Worker { .. } | Handler::JavaScript { .. } => return None,
        })
    }

    async fn run(self, command: &[String], body: &Value, timeout_ms: u64) -> Said {
        let Some(commands) = &self.ports().commands else {
            let message = "commands are not allowed here; a server that was started with --allow-commands runs them";
            return Said::failed(&Failure::new("HandlerNotAllowed", message).for_good());
        };
        let input = body.to_string().into_bytes();
        let run = commands.run(command, input, timeout_ms, ANSWER_BYTES_MAX);
        match run.await {
            CommandAnswer::Done(bytes) => answer(&bytes),
            CommandAnswer::Failed { message } => {
                Said::failed(&Failure::new("CommandFailed", message))
            }
            CommandAnswer::TimedOut => {
                let message = format!("the command did not end within {timeout_ms} ms");
                Said::failed(&Failure::new("Timeout", message))
            }
            CommandAnswer::TooLong => Said::failed(&too_large()),
        }
    }
}

/// Answer for a task that cannot be handed out without the values in it. They may be there at the next attempt.
pub(super) fn not_sent(why: &Unfilled) -> Said {
    Said::failed(&Failure::new(why.code, why.message.clone()))
}

/// What a handler answered, as JSON. Nothing at all is an answer without outputs.
pub(super) fn answer(bytes: &[u8]) -> Said {
    if bytes.len() > ANSWER_BYTES_MAX {
        return Said::failed(&too_large());
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Said::Answer(Value::Null);
    }
    match serde_json::from_slice(bytes) {
        Ok(answer) => Said::Answer(answer),
        Err(error) => {
            let message = format!("the answer is no JSON: {error}");
            Said::failed(&Failure::new("InvalidAnswer", message))
        }
    }
}

/// What is said of an answer that is too large.
pub(super) fn too_large() -> Failure {
    let message = format!("the answer has more than {ANSWER_BYTES_MAX} bytes");
    Failure::new("AnswerTooLarge", message)
}
