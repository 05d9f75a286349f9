//! The scheduler port on EventBridge Scheduler and SQS.
//!
//! Scheduler fires anywhere within a minute and keeps for years; SQS delays to the second and for 15 minutes at most.
//! So a timer that is due within 15 minutes is a delayed message, and any other is a schedule that sends that message
//! 90 seconds ahead; whoever receives it early schedules it again, which is a delayed message then.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_scheduler::Client;
use aws_sdk_scheduler::types::{
    ActionAfterCompletion, DeadLetterConfig, FlexibleTimeWindow, FlexibleTimeWindowMode,
    RetryPolicy, Target,
};
use dormouse_runtime::message::Task;
use dormouse_runtime::port::{Clock, PortError, Scheduler};
use dormouse_runtime::{Message, Timer};
use sha2::{Digest, Sha256};

use crate::config::AwsConfig;
use crate::environment::Queues;
use crate::error::{self, CallError, call_failed};
use crate::sqs_queue::{DELAY_MAX_S, SqsQueue};

/// The service's name in `AWS_ENDPOINT_URL_SCHEDULER`.
const SERVICE: &str = "SCHEDULER";

/// How long before it is due a schedule sends its timer, in ms: Scheduler may be a minute late, and the message takes
/// its time.
const AHEAD_MS: i64 = 90_000;

/// For how long Scheduler tries to send a timer, in seconds: a day, the most it takes.
const TRIES_FOR_S: i32 = 86_400;

/// Timers on EventBridge Scheduler and SQS. Cheap to clone.
#[derive(Clone)]
pub struct EventBridgeScheduler {
    client: Client,
    clock: Arc<dyn Clock>,
    soon: SqsQueue,
    queues: Queues,
    place: String,
}

impl EventBridgeScheduler {
    /// Timers in the group and over the timer queue of a deployment. Nothing is asked of AWS yet.
    pub fn new(config: &AwsConfig, clock: Arc<dyn Clock>, queues: Queues) -> Self {
        Self {
            client: Client::new(config.sdk()),
            soon: SqsQueue::new(config, Arc::clone(&clock), &queues.timer_url),
            clock,
            queues,
            place: config.place(SERVICE),
        }
    }

    async fn create(&self, timer: &Timer) -> Result<(), CallError> {
        let message = firing(timer).encode().map_err(|error| self.bad(error))?;
        let message = String::from_utf8(message.into()).map_err(|error| self.bad(error))?;
        let retry = RetryPolicy::builder()
            .maximum_event_age_in_seconds(TRIES_FOR_S)
            .build();
        let dead_letters = self
            .queues
            .schedule_dead_letter_arn
            .as_ref()
            .map(|arn| DeadLetterConfig::builder().arn(arn).build());
        let target = Target::builder()
            .arn(&self.queues.timer_arn)
            .role_arn(&self.queues.schedule_role_arn)
            .input(message)
            .retry_policy(retry)
            .set_dead_letter_config(dead_letters)
            .build()
            .map_err(|error| self.bad(error))?;
        let exactly = FlexibleTimeWindow::builder()
            .mode(FlexibleTimeWindowMode::Off)
            .build()
            .map_err(|error| self.bad(error))?;
        let created = self
            .client
            .create_schedule()
            .name(name(timer))
            .group_name(&self.queues.schedule_group)
            .schedule_expression(at(timer))
            .schedule_expression_timezone("UTC")
            .flexible_time_window(exactly)
            .action_after_completion(ActionAfterCompletion::Delete)
            .target(target)
            .send()
            .await;
        match created {
            Ok(_) => Ok(()),
            // The same timer under the same name, by an earlier try.
            Err(failed) if error::is_scheduled_already(&failed) => Ok(()),
            Err(failed) => Err(call_failed(self.what(), &self.place, failed)),
        }
    }

    fn what(&self) -> String {
        format!("the schedule group `{}`", self.queues.schedule_group)
    }

    fn bad(&self, error: impl std::error::Error + Send + Sync + 'static) -> CallError {
        CallError::unsent(self.what(), &self.place, error)
    }
}

/// The message that fires a timer.
fn firing(timer: &Timer) -> Message {
    let task = Task::Fire {
        timer: timer.clone(),
    };
    Message::new(format!("timer/{}", timer.id()), timer.tenant.clone(), task)
}

/// The name of a timer's schedule: the same for the same timer, within Scheduler's 64 letters and digits.
fn name(timer: &Timer) -> String {
    let text = format!("{}\n{}\n{}", timer.tenant, timer.due.0, timer.id());
    let digest = Sha256::digest(text.as_bytes());
    let mut name = String::from("t-");
    for byte in digest.iter().take(20) {
        name.push_str(&format!("{byte:02x}"));
    }
    name
}

/// When the schedule of a timer fires, as Scheduler writes it: UTC, to the second.
fn at(timer: &Timer) -> String {
    let part_ms = timer.due.0.rem_euclid(1_000);
    let ahead = timer.due.plus_ms(-AHEAD_MS - part_ms).to_string();
    format!("at({})", ahead.trim_end_matches('Z'))
}

#[async_trait]
impl Scheduler for EventBridgeScheduler {
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError> {
        let left_ms = timer.due.0 - self.clock.now().0;
        if left_ms <= DELAY_MAX_S * 1_000 {
            return Ok(self.soon.send_at(&firing(timer), timer.due.0).await?);
        }
        Ok(self.create(timer).await?)
    }

    async fn forget(&self, timer: &Timer) -> Result<(), PortError> {
        // A schedule that has sent its timer has deleted itself, and a message cannot be taken back. It will find
        // that nobody waits.
        if timer.due.0 - self.clock.now().0 <= AHEAD_MS {
            return Ok(());
        }
        let deleted = self
            .client
            .delete_schedule()
            .name(name(timer))
            .group_name(&self.queues.schedule_group)
            .send()
            .await;
        match deleted {
            Ok(_) => Ok(()),
            Err(failed) if error::is_no_schedule(&failed) => Ok(()),
            Err(failed) => Err(call_failed(self.what(), &self.place, failed).into()),
        }
    }
}
