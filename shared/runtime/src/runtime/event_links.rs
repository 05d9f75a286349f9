//! The tokens of event links: what scripts make them with, and what they say.

use dormouse_engine::id::InstanceId;
use dormouse_engine::step::EventLinks;
use dormouse_engine::time::Timestamp;
use dormouse_identity::mac;
use dormouse_identity::secret::Secret;
use dormouse_store::Tenant;
use serde::{Deserialize, Serialize};

use crate::runtime::Runtime;

/// The longest life of a link, in ms: a year.
pub(crate) const EXPIRES_IN_MS_MAX: i64 = 366 * 24 * 3_600_000;

/// What the signature is for.
const PURPOSE: &str = "event link";

/// What a token begins with; a resume link's secret has no dot.
const PREFIX: &str = "v1.";

/// Makes and reads the tokens of event links.
#[derive(Debug)]
pub(crate) struct EventLinkKey {
    pub(crate) address: Address,
    pub(crate) key: Vec<u8>,
}

/// What links begin with.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) base_url: String,
    /// Whether the event is fired when the link is opened, as Elsa's are, and not on a page that asks first.
    pub(crate) fires: bool,
}

/// The path of a page that asks before the event is fired.
const ASKING: &str = "/links/";

/// Elsa's path, which fires the event at once.
const FIRING: &str = "/elsa/api/events/trigger?t=";

/// What a token says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Content {
    #[serde(rename = "t")]
    pub(crate) tenant: String,
    #[serde(rename = "i")]
    pub(crate) instance_id: String,
    #[serde(rename = "e")]
    pub(crate) event: String,
    #[serde(rename = "x")]
    pub(crate) expires_ms: i64,
}

/// Links of one tenant, for a step.
pub(crate) struct TenantLinks<'a> {
    key: &'a EventLinkKey,
    tenant: &'a Tenant,
    now: Timestamp,
}

impl EventLinks for TenantLinks<'_> {
    fn url(&self, instance: &InstanceId, event: &str, expires: Option<Timestamp>) -> String {
        let latest = self.now.plus_ms(EXPIRES_IN_MS_MAX);
        let content = Content {
            tenant: self.tenant.to_string(),
            instance_id: instance.to_string(),
            event: event.to_owned(),
            expires_ms: expires.map_or(latest, |at| at.min(latest)).0,
        };
        // Four texts and a number always have a JSON.
        let text = serde_json::to_string(&content).unwrap_or_default();
        let token = mac::seal(&self.key.key, PURPOSE, &text);
        let Address { base_url, fires } = &self.key.address;
        let path = if *fires { FIRING } else { ASKING };
        format!("{base_url}{path}{PREFIX}{token}")
    }
}

impl Runtime {
    /// A secret of the clock's randomness.
    pub(crate) fn new_secret(&self) -> Secret {
        let clock = &self.ports().clock;
        Secret::new([(); 4].map(|()| clock.random()))
    }

    /// What a step of a tenant makes links with.
    pub(crate) fn event_links<'a>(&'a self, tenant: &'a Tenant) -> Option<TenantLinks<'a>> {
        let key = self.event_link_key()?;
        let now = self.now();
        Some(TenantLinks { key, tenant, now })
    }

    /// What a token says that counts.
    pub(crate) fn event_link_content(&self, token: &str) -> Option<Content> {
        let sealed = token.strip_prefix(PREFIX)?;
        let text = mac::open(&self.event_link_key()?.key, PURPOSE, sealed)?;
        let content: Content = serde_json::from_str(&text).ok()?;
        (content.expires_ms > self.now().0).then_some(content)
    }
}
