//! The bus port on EventBridge: task requests and lifecycle events as events of the source `dormouse`.
//!
//! A task's payload that is too large for an event lies in the bucket: `taskPayload` is null then, and `taskPayloadAt`
//! says where, like `s3://bucket/name`. It lies there for 30 days.

use async_trait::async_trait;
use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use dormouse_runtime::Tenant;
use dormouse_runtime::port::{Bus, LifecycleEvent, PortError, TaskRequest};
use serde_json::Value;

use crate::config::AwsConfig;
use crate::error::{CallError, call_failed};
use crate::large_message::{CARRIED_BYTES_MAX, LargeMessages};

/// The service's name in `AWS_ENDPOINT_URL_EVENTBRIDGE`.
const SERVICE: &str = "EVENTBRIDGE";

/// Who these events are from. Rules go by it, and events of this source wake no workflow.
pub const SOURCE: &str = "dormouse";

/// What a task request is called on the bus.
const TASK_REQUESTED: &str = "TaskRequested";

/// An event bus as the [`Bus`] port. Cheap to clone.
#[derive(Debug, Clone)]
pub struct EventBridgeBus {
    client: Client,
    name: String,
    tells_lifecycle: bool,
    large: LargeMessages,
    place: String,
}

/// The bus took the request and refused the event in it.
#[derive(Debug, thiserror::Error)]
#[error("{code}: {message}")]
struct Refused {
    code: String,
    message: String,
}

impl EventBridgeBus {
    /// The bus where `config` says, and whether it is told when instances start, suspend and end. Nothing is asked of
    /// AWS yet.
    pub fn new(config: &AwsConfig, name: impl Into<String>, tells_lifecycle: bool) -> Self {
        Self {
            client: Client::new(config.sdk()),
            name: name.into(),
            tells_lifecycle,
            large: LargeMessages::default(),
            place: config.place(SERVICE),
        }
    }

    /// The bus with a place for payloads that it does not carry itself.
    #[must_use]
    pub fn with_large(self, large: LargeMessages) -> Self {
        Self { large, ..self }
    }

    /// What the event of a task says.
    async fn detail(&self, request: &TaskRequest) -> Result<String, PortError> {
        let whole = serde_json::to_string(request)?;
        if whole.len() <= CARRIED_BYTES_MAX {
            return Ok(whole);
        }
        let tenant = Tenant::new(&request.tenant_id)?;
        let payload = request.task_payload.to_string();
        let Some((bucket, name)) = self.large.keep(&tenant, &payload).await? else {
            return Ok(whole);
        };
        let mut detail = serde_json::to_value(request)?;
        if let Value::Object(fields) = &mut detail {
            fields.insert("taskPayload".into(), Value::Null);
            let place = format!("s3://{bucket}/{name}");
            fields.insert("taskPayloadAt".into(), place.into());
        }
        Ok(detail.to_string())
    }

    async fn put(
        &self,
        detail_type: &str,
        instance_id: &str,
        detail: String,
    ) -> Result<(), PortError> {
        let entry = PutEventsRequestEntry::builder()
            .event_bus_name(&self.name)
            .source(SOURCE)
            .detail_type(detail_type)
            .resources(instance_id)
            .detail(detail)
            .build();
        let what = || format!("the bus `{}`", self.name);
        let answer = self.client.put_events().entries(entry).send().await;
        let answer = answer.map_err(|failed| call_failed(what(), &self.place, failed))?;
        // A refusal of one event is not an error of the request.
        let refused = answer
            .entries()
            .iter()
            .find_map(|entry| Some((entry.error_code()?, entry.error_message())));
        if let Some((code, message)) = refused {
            let refused = Refused {
                code: code.to_owned(),
                message: message.unwrap_or_default().to_owned(),
            };
            return Err(CallError::unsent(what(), &self.place, refused).into());
        }
        Ok(())
    }
}

#[async_trait]
impl Bus for EventBridgeBus {
    async fn request_task(&self, request: &TaskRequest) -> Result<(), PortError> {
        let instance_id = &request.workflow_instance_id;
        let detail = self.detail(request).await?;
        self.put(TASK_REQUESTED, instance_id, detail).await
    }

    fn hears_lifecycle(&self) -> bool {
        self.tells_lifecycle
    }

    async fn tell(&self, event: &LifecycleEvent) -> Result<(), PortError> {
        let instance_id = &event.workflow_instance_id;
        let detail = serde_json::to_string(event)?;
        self.put(event.kind.as_str(), instance_id, detail).await
    }
}
