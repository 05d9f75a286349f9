//! Event links: addresses that scripts make with `createEventTriggerUrl`, before there is a bookmark. They name the
//! instance and the event and are signed with a key of the deployment, so a step that makes one stays the same when
//! it is repeated, and nothing is stored until somebody follows it. The first time counts.

use dormouse_identity::secret::sha256_hex;
use dormouse_store::Tenant;
use dormouse_store::identity::link::{Link, LinkAnswer, LinkState};
use dormouse_store::item::versioned::Versioned;

use crate::error::RuntimeError;
use crate::links::Links;
use crate::links::resume_link::LinkAnswered;
use crate::runtime::event_links::{Address, Content, EventLinkKey};
use crate::stimuli::publish_event::EventRequest;

impl Links<'_> {
    /// From now on scripts can make event links that begin with `base_url`. With `fires` they are Elsa's, which fire the
    /// event when they are opened; without it they lead to a page that asks first. Reads the deployment's key, and makes
    /// it if there is none. Every node of a deployment is to call it, or none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn allow_event_links(self, base_url: &str, fires: bool) -> Result<(), RuntimeError> {
        let made = self.new_secret().bytes().to_vec();
        let key = self.store().links().link_key(made.into()).await?;
        self.set_event_link_key(EventLinkKey {
            address: Address {
                base_url: base_url.trim_end_matches('/').to_owned(),
                fires,
            },
            key: key.to_vec(),
        });
        Ok(())
    }

    /// What an event link leads to, in the form of a resume link without a bookmark. `None`: nowhere.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn event_link(self, token: &str) -> Result<Option<Link>, RuntimeError> {
        Ok(self.read_event_link(token).await?.map(|(link, _)| link))
    }

    async fn read_event_link(self, token: &str) -> Result<Option<(Link, Content)>, RuntimeError> {
        let Some(content) = self.event_link_content(token) else {
            return Ok(None);
        };
        let tenant = Tenant::new(&content.tenant)?;
        if let Some(stored) = self
            .store()
            .links()
            .link(&sha256_hex(token.as_bytes()))
            .await?
        {
            return Ok(Some((stored.value, content)));
        }
        let head = self
            .store()
            .instances()
            .get(&tenant, &content.instance_id)
            .await?;
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

    /// Publishes the event of a link to its instance, once.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: the same call again carries it out.
    pub async fn follow_event_link(self, token: &str) -> Result<LinkAnswered, RuntimeError> {
        let Some((mut link, content)) = self.read_event_link(token).await? else {
            return Ok(LinkAnswered::NotFound);
        };
        if link.state == LinkState::Done {
            return Ok(LinkAnswered::Recorded(Box::new(link)));
        }
        self.pauses().refuse_while_paused()?;
        let digest = sha256_hex(token.as_bytes());
        if link.answer.is_none() {
            link.answer = Some(LinkAnswer {
                at_ms: self.now().0,
                ..LinkAnswer::default()
            });
            // If somebody else was first, his is the time that counts.
            self.store()
                .links()
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
        self.stimuli()
            .publish_event(&Tenant::new(&content.tenant)?, event)
            .await?;
        let Some(mut stored) = self.store().links().link(&digest).await? else {
            return Ok(LinkAnswered::NotFound);
        };
        stored.value.state = LinkState::Done;
        self.store().links().put_link(&digest, &stored).await?;
        Ok(LinkAnswered::Recorded(Box::new(stored.value)))
    }
}
