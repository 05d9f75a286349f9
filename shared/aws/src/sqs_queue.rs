//! The queue port on SQS: standard queues, made fair between tenants by the message group.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::MessageAttributeValue;
use dormouse_runtime::Message;
use dormouse_runtime::port::{Clock, PortError, Queue};

use crate::config::AwsConfig;
use crate::error::{CallError, call_failed};
use crate::large_message::LargeMessages;

/// The service's name in `AWS_ENDPOINT_URL_SQS`.
const SERVICE: &str = "SQS";

/// The longest delay that SQS takes, in seconds.
pub(crate) const DELAY_MAX_S: i64 = 900;

/// The attribute of a message that is to be handled later than SQS can delay it: not before this time, in ms since
/// 1970. Whoever receives it earlier sends it on with the rest.
pub const NOT_BEFORE: &str = "notBefore";

/// A queue as the [`Queue`] port. Cheap to clone.
#[derive(Clone)]
pub struct SqsQueue {
    client: Client,
    clock: Arc<dyn Clock>,
    url: String,
    large: LargeMessages,
    place: String,
}

impl SqsQueue {
    /// The queue at `url` where `config` says. Nothing is asked of AWS yet.
    pub fn new(config: &AwsConfig, clock: Arc<dyn Clock>, url: impl Into<String>) -> Self {
        Self {
            client: Client::new(config.sdk()),
            clock,
            url: url.into(),
            large: LargeMessages::default(),
            place: config.place(SERVICE),
        }
    }

    /// The queue with a place for messages that it does not carry itself.
    #[must_use]
    pub fn with_large(self, large: LargeMessages) -> Self {
        Self { large, ..self }
    }

    /// Where messages lie that it does not carry itself.
    #[must_use]
    pub fn large(&self) -> &LargeMessages {
        &self.large
    }

    /// Sends a message that nobody is to see before `not_before_ms`.
    pub(crate) async fn send_at(
        &self,
        message: &Message,
        not_before_ms: i64,
    ) -> Result<(), CallError> {
        let left_ms = not_before_ms - self.clock.now().0;
        let body = message.encode().map_err(|error| self.bad(error))?;
        let body = String::from_utf8(body.into()).map_err(|error| self.bad(error))?;
        let body = self.large.carried(message, body).await?;
        let mut request = self
            .client
            .send_message()
            .queue_url(&self.url)
            .message_body(body)
            .message_group_id(group(message.tenant.as_str()));
        let delay_s = delay_s(left_ms);
        if delay_s > 0 {
            request = request.delay_seconds(delay_s);
        }
        if left_ms > DELAY_MAX_S * 1_000 {
            let at = MessageAttributeValue::builder()
                .data_type("Number")
                .string_value(not_before_ms.to_string())
                .build()
                .map_err(|error| self.bad(error))?;
            request = request.message_attributes(NOT_BEFORE, at);
        }
        let sent = request.send().await;
        sent.map(drop)
            .map_err(|failed| call_failed(self.what(), &self.place, failed))
    }

    /// Lets a message that was received be received again after so many seconds.
    ///
    /// # Errors
    ///
    /// [`CallError`]: it comes back after the queue's own visibility timeout.
    pub async fn postpone(&self, receipt: &str, after_s: i32) -> Result<(), CallError> {
        let request = self
            .client
            .change_message_visibility()
            .queue_url(&self.url)
            .receipt_handle(receipt)
            .visibility_timeout(after_s);
        let changed = request.send().await;
        changed
            .map(drop)
            .map_err(|failed| call_failed(self.what(), &self.place, failed))
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether this is the queue with an ARN: both end in its name.
    #[must_use]
    pub fn is_at(&self, arn: &str) -> bool {
        let name = self.url.rsplit('/').next();
        arn.rsplit(':').next() == name
    }

    fn what(&self) -> String {
        format!("the queue `{}`", self.url)
    }

    fn bad(&self, error: impl std::error::Error + Send + Sync + 'static) -> CallError {
        CallError::unsent(self.what(), &self.place, error)
    }
}

/// SQS delays by whole seconds. Rounded up: a message that comes too early is sent again.
fn delay_s(left_ms: i64) -> i32 {
    let seconds = (left_ms.clamp(0, DELAY_MAX_S * 1_000) + 999) / 1_000;
    i32::try_from(seconds).unwrap_or(0)
}

/// The group of a tenant: a standard queue serves its groups in turn, so that no tenant starves the others. SQS takes
/// 128 letters, digits and punctuation marks.
fn group(tenant: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() { c } else { '-' };
    tenant.chars().take(128).map(plain).collect()
}

#[async_trait]
impl Queue for SqsQueue {
    async fn send(&self, message: &Message, delay_ms: u64) -> Result<(), PortError> {
        let delay_ms = i64::try_from(delay_ms).unwrap_or(i64::MAX);
        let at = self.clock.now().0.saturating_add(delay_ms);
        Ok(self.send_at(message, at).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_whole_seconds_and_never_too_short() {
        for (left_ms, s) in [
            (-5, 0),
            (0, 0),
            (1, 1),
            (1_000, 1),
            (1_001, 2),
            (900_000, 900),
            (i64::MAX / 2, 900),
        ] {
            assert_eq!(delay_s(left_ms), s, "{left_ms}");
        }
    }

    #[test]
    fn a_tenant_is_a_group() {
        assert_eq!(group("acme"), "acme");
        assert_eq!(group("größe 1"), "gr--e-1");
        assert_eq!(group(&"x".repeat(200)).len(), 128);
    }
}
