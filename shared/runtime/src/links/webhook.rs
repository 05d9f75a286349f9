//! Webhooks: signed messages of others ("Standard Webhooks") that become events. Their ids are remembered once their events
//! are safe, so one that its sender repeats wakes nobody who came later.

use dormouse_identity::webhook::{self, Signed};
use dormouse_store::Tenant;
pub use dormouse_store::identity::webhook::Webhook;
use dormouse_store::instance::idempotency::Answer;
use serde_json::Value;

use crate::error::RuntimeError;
use crate::links::Webhooks;
use crate::stimuli::publish_event::EventRequest;

/// How long the id of a message is remembered, in ms: senders give up within three days.
const REMEMBERED_MS: i64 = 3 * 24 * 3_600_000;

impl Webhooks<'_> {
    /// Makes an address that takes messages as `event`, and the secret that they are signed with. `correlation` is where
    /// a message has its correlation id: a JSON pointer.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn make(
        self,
        tenant: &Tenant,
        event: String,
        correlation: Option<String>,
    ) -> Result<Webhook, RuntimeError> {
        let made = Webhook {
            id: format!("{:016x}", self.ports().clock.random()),
            tenant: tenant.to_string(),
            event,
            correlation,
            secret: webhook::secret(self.new_secret().bytes()),
            created_ms: self.now().0,
        };
        self.store().links().put_webhook(tenant, &made).await?;
        Ok(made)
    }

    /// All webhooks of a tenant.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn list(self, tenant: &Tenant) -> Result<Vec<Webhook>, RuntimeError> {
        Ok(self.store().links().webhooks(tenant).await?)
    }

    /// Deletes a webhook: what comes to its address is refused. False: the tenant has none of this id.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete(self, tenant: &Tenant, id: &str) -> Result<bool, RuntimeError> {
        let found = self.store().links().webhook(id).await?;
        match found.filter(|found| found.value.tenant == tenant.as_str()) {
            Some(found) => Ok(self.store().links().delete_webhook(tenant, &found).await?),
            None => Ok(false),
        }
    }

    /// Takes a message, and publishes its event durably. The event's id; `None`: there is no such webhook, or nobody who
    /// has its secret has signed this just now. Which of them is not told.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: the same message again counts once.
    pub async fn receive(
        self,
        id: &str,
        signed: Signed<'_>,
        body: &[u8],
    ) -> Result<Option<String>, RuntimeError> {
        let (store, now) = (self.store(), self.now());
        let Some(found) = store.links().webhook(id).await? else {
            return Ok(None);
        };
        let hook = found.value;
        if webhook::verify(&[hook.secret], signed, now.0 / 1_000, body).is_err() {
            return Ok(None);
        }
        let tenant = Tenant::new(&hook.tenant)?;
        let event_id = format!("webhook-{}-{}", hook.id, signed.id);
        if store
            .instances()
            .answer(&tenant, &event_id, now.0)
            .await?
            .is_some()
        {
            return Ok(Some(event_id));
        }
        let payload = serde_json::from_slice(body)
            .unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned().into());
        let correlation = hook.correlation.as_deref();
        let event = EventRequest {
            name: hook.event,
            event_id: Some(event_id.clone()),
            correlation_id: correlation.and_then(|at| correlation_id(&payload, at)),
            payload,
            ..EventRequest::default()
        };
        self.stimuli().publish_event(&tenant, event).await?;
        let taken = Answer {
            key: event_id.clone(),
            expires_ms: now.plus_ms(REMEMBERED_MS).0,
            ..Answer::default()
        };
        // Of two that come at the same time both publish: under one id, which whoever is woken takes once.
        store.instances().put_answer(&tenant, &taken, now.0).await?;
        Ok(Some(event_id))
    }
}

/// The correlation id at a JSON pointer: a text, or a number as a text.
fn correlation_id(payload: &Value, at: &str) -> Option<String> {
    match payload.pointer(at)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
