//! Event links: addresses that scripts make with `createEventTriggerUrl`, before there is a bookmark. They name the
//! instance and the event and are signed with a key of the deployment, so a step that makes one stays the same when
//! it is repeated, and nothing is stored until somebody follows it. The first time counts.

use dormouse_engine::id::InstanceId;
use dormouse_engine::step::EventLinks;
use dormouse_engine::time::Timestamp;
use dormouse_identity::mac;
use dormouse_identity::secret::sha256_hex;
use dormouse_store::Tenant;
use dormouse_store::link::{Link, LinkAnswer, LinkState};
use dormouse_store::versioned::Versioned;
use serde::{Deserialize, Serialize};

use crate::error::RuntimeError;
use crate::publish_event::EventRequest;
use crate::resume_link::{EXPIRES_IN_MS_MAX, LinkAnswered};
use crate::runtime::Runtime;

/// What the signature is for.
const PURPOSE: &str = "event link";

/// What a token begins with; a resume link's secret has no dot.
const PREFIX: &str = "v1.";

/// Makes and reads the tokens of event links.
#[derive(Debug)]
pub(crate) struct EventLinkKey {
    links: Links,
    key: Vec<u8>,
}

/// What links begin with.
#[derive(Debug)]
struct Links {
    base_url: String,
    path: &'static str,
}

/// The path of a page that asks before the event is fired.
const ASKING: &str = "/links/";

/// Elsa's path, which fires the event at once.
const FIRING: &str = "/elsa/api/events/trigger?t=";

/// What a token says.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    #[serde(rename = "t")]
    tenant: String,
    #[serde(rename = "i")]
    instance_id: String,
    #[serde(rename = "e")]
    event: String,
    #[serde(rename = "x")]
    expires_ms: i64,
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
        let Links { base_url, path } = &self.key.links;
        format!("{base_url}{path}{PREFIX}{token}")
    }
}

impl Runtime {
    /// From now on scripts can make event links that begin with `base_url`. With `fires` they are Elsa's, which fire the
    /// event when they are opened; without it they lead to a page that asks first. Reads the deployment's key, and makes
    /// it if there is none. Every node of a deployment is to call it, or none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn allow_event_links(&self, base_url: &str, fires: bool) -> Result<(), RuntimeError> {
        let made = self.new_secret().bytes().to_vec();
        let key = self.store().link_key(made.into()).await?;
        self.set_event_link_key(EventLinkKey {
            links: Links {
                base_url: base_url.trim_end_matches('/').to_owned(),
                path: if fires { FIRING } else { ASKING },
            },
            key: key.to_vec(),
        });
        Ok(())
    }

    /// What a step of a tenant makes links with.
    pub(crate) fn event_links<'a>(&'a self, tenant: &'a Tenant) -> Option<TenantLinks<'a>> {
        let key = self.event_link_key()?;
        let now = self.now();
        Some(TenantLinks { key, tenant, now })
    }

    /// What an event link leads to, in the form of a resume link without a bookmark. `None`: nowhere.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn event_link(&self, token: &str) -> Result<Option<Link>, RuntimeError> {
        Ok(self.read_event_link(token).await?.map(|(link, _)| link))
    }

    async fn read_event_link(&self, token: &str) -> Result<Option<(Link, Content)>, RuntimeError> {
        let Some(content) = self.event_link_content(token) else {
            return Ok(None);
        };
        let tenant = Tenant::new(&content.tenant)?;
        if let Some(stored) = self.store().link(&sha256_hex(token.as_bytes())).await? {
            return Ok(Some((stored.value, content)));
        }
        let head = self.store().instance(&tenant, &content.instance_id).await?;
        let link = Link {
            tenant: content.tenant.clone(),
            instance_id: content.instance_id.clone(),
            expires_ms: content.expires_ms,
            title: Some(content.event.clone()),
            ..Link::default()
        };
        let is_live = head.is_some_and(|head| !head.summary.ended);
        Ok(is_live.then_some((link, content)))
    }

    fn event_link_content(&self, token: &str) -> Option<Content> {
        let sealed = token.strip_prefix(PREFIX)?;
        let text = mac::open(&self.event_link_key()?.key, PURPOSE, sealed)?;
        let content: Content = serde_json::from_str(&text).ok()?;
        (content.expires_ms > self.now().0).then_some(content)
    }

    /// Publishes the event of a link to its instance, once.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: the same call again carries it out.
    pub async fn follow_event_link(&self, token: &str) -> Result<LinkAnswered, RuntimeError> {
        let Some((mut link, content)) = self.read_event_link(token).await? else {
            return Ok(LinkAnswered::NotFound);
        };
        if link.state == LinkState::Done {
            return Ok(LinkAnswered::Recorded(Box::new(link)));
        }
        self.refuse_while_paused()?;
        let digest = sha256_hex(token.as_bytes());
        if link.answer.is_none() {
            link.answer = Some(LinkAnswer {
                at_ms: self.now().0,
                ..LinkAnswer::default()
            });
            // If somebody else was first, his is the time that counts.
            self.store()
                .put_link(&digest, &Versioned::new(link.clone()))
                .await?;
        }
        let event = EventRequest {
            name: content.event,
            event_id: Some(format!("link-{digest}")),
            instance_id: Some(content.instance_id),
            waits: true,
            ..EventRequest::default()
        };
        self.publish_event(&Tenant::new(&content.tenant)?, event)
            .await?;
        let Some(mut stored) = self.store().link(&digest).await? else {
            return Ok(LinkAnswered::NotFound);
        };
        stored.value.state = LinkState::Done;
        self.store().put_link(&digest, &stored).await?;
        Ok(LinkAnswered::Recorded(Box::new(stored.value)))
    }
}
