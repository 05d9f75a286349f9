//! Resume links: addresses in e-mails and chats that lead to one bookmark.
//!
//! A link is a secret of 256 random bits, and only its digest is kept. Looking at one changes nothing, for mail
//! scanners follow links. The first answer is stored before the bookmark is resumed with it, and the resume is an
//! event that the instance takes once: so an answer that a crash cut off is carried out by repeating it, and what
//! people are told was recorded is what the workflow received.

use dormouse_engine::instance::Wait;
use dormouse_engine::time::Timestamp;
use dormouse_identity::Secret;
use dormouse_store::Tenant;
use dormouse_store::identity::link::{Link, LinkAnswer, LinkState};
use dormouse_store::item::versioned::Versioned;
use serde_json::{Map, Value};

use crate::error::RuntimeError;
use crate::links::Links;
use crate::links::link_form::{BadAnswer, BadLink, LinkForm};
use crate::runtime::event_links::EXPIRES_IN_MS_MAX;
use crate::work::resume::{ResumeOutcome, ResumeRequest};

/// How long a link leads anywhere unless its maker says otherwise, in ms: 7 days.
const EXPIRES_IN_MS: i64 = 7 * 24 * 3_600_000;

/// What a link is to lead to.
#[derive(Debug, Clone)]
pub struct LinkRequest {
    /// The instance.
    pub instance_id: String,
    /// The bookmark.
    pub bookmark_id: String,
    /// How long it leads there, in ms. `None`: seven days.
    pub expires_in_ms: Option<i64>,
    /// What it asks.
    pub form: LinkForm,
}

/// What became of making a link.
#[derive(Debug)]
pub enum LinkMade {
    /// It is made. The secret is told this once.
    Made {
        /// What the link's address holds.
        secret: Secret,
        /// Until when it leads anywhere.
        expires: Timestamp,
    },
    /// What it is to ask cannot be asked.
    Bad(BadLink),
    /// The bookmark is not open, or is not one that people answer. These are.
    NotOpen(Vec<String>),
    /// There is no such instance.
    NotFound,
}

/// What became of an answer.
#[derive(Debug)]
pub enum LinkAnswered {
    /// It is recorded, now or before: the first answer, whatever this one was.
    Recorded(Box<Link>),
    /// It is no answer to what the link asks. Nothing happened.
    Bad(BadAnswer),
    /// The link leads nowhere: unknown, expired, or its bookmark went another way.
    NotFound,
}

impl Links<'_> {
    /// Makes a link to an open bookmark.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn make(
        self,
        tenant: &Tenant,
        request: LinkRequest,
    ) -> Result<LinkMade, RuntimeError> {
        let life_ms = request.expires_in_ms.unwrap_or(EXPIRES_IN_MS);
        if !(1..=EXPIRES_IN_MS_MAX).contains(&life_ms) {
            return Ok(LinkMade::Bad(BadLink::Life));
        }
        if let Err(bad) = request.form.check() {
            return Ok(LinkMade::Bad(bad));
        }
        let Some(found) = self.query().instance(tenant, &request.instance_id).await? else {
            return Ok(LinkMade::NotFound);
        };
        let open = found.instance.bookmarks.iter().filter(|b| match b.wait {
            Wait::Stimulus { .. } | Wait::Timer { .. } | Wait::Direct => true,
            Wait::Call(_) => false,
        });
        let open: Vec<String> = open.map(|b| b.id.to_string()).collect();
        if found.instance.is_ended() || !open.contains(&request.bookmark_id) {
            return Ok(LinkMade::NotOpen(open));
        }
        let expires = self.now().plus_ms(life_ms);
        let link = request.form.link(Link {
            tenant: tenant.to_string(),
            instance_id: request.instance_id,
            bookmark_id: request.bookmark_id,
            expires_ms: expires.0,
            ..Link::default()
        });
        let secret = self.new_secret();
        self.store()
            .links()
            .put_link(&secret.digest(), &Versioned::new(link))
            .await?;
        Ok(LinkMade::Made { secret, expires })
    }

    /// What a link leads to. `None`: nowhere, for whatever reason. Nothing is changed.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn link(self, secret: &Secret) -> Result<Option<Link>, RuntimeError> {
        let Some(link) = self.live_link(secret).await? else {
            return Ok(None);
        };
        let link = link.value;
        if link.state == LinkState::Done || link.answer.is_some() {
            return Ok(Some(link));
        }
        let tenant = link.tenant()?;
        let head = self
            .store()
            .instances()
            .get(&tenant, &link.instance_id)
            .await?;
        let is_open = head.is_some_and(|head| {
            !head.summary.ended && head.bookmarks.contains_key(&link.bookmark_id)
        });
        Ok(is_open.then_some(link))
    }

    async fn live_link(self, secret: &Secret) -> Result<Option<Versioned<Link>>, RuntimeError> {
        let found = self.store().links().link(&secret.digest()).await?;
        let now = self.now();
        Ok(found
            .filter(|link| link.value.expires_ms > now.0 && link.value.state != LinkState::Void))
    }

    /// Answers what a link asks, with the values of its form by name, and resumes its bookmark with the answer.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::InProgress`] and its like: the answer is kept, and the same call again carries it out.
    pub async fn answer(
        self,
        secret: &Secret,
        outcome: Option<&str>,
        values: &Map<String, Value>,
    ) -> Result<LinkAnswered, RuntimeError> {
        let Some(mut link) = self.live_link(secret).await? else {
            return Ok(LinkAnswered::NotFound);
        };
        if link.value.state == LinkState::Done {
            return Ok(LinkAnswered::Recorded(Box::new(link.value)));
        }
        self.pauses().refuse_while_paused()?;
        if link.value.answer.is_none() {
            if self.link(secret).await?.is_none() {
                return Ok(LinkAnswered::NotFound);
            }
            let input = match LinkForm::of(&link.value).read(outcome, values) {
                Ok(input) => input,
                Err(bad) => return Ok(LinkAnswered::Bad(bad)),
            };
            let input =
                serde_json::to_vec(&input).map_err(RuntimeError::format("link's answer"))?;
            link.value.answer = Some(LinkAnswer {
                at_ms: self.now().0,
                outcome: outcome.map(str::to_owned),
                input: input.into(),
            });
            self.store()
                .links()
                .put_link(&secret.digest(), &link)
                .await?;
            // Whoever was first: the first answer is carried out.
            match self.live_link(secret).await? {
                Some(stored) => link = stored,
                None => return Ok(LinkAnswered::NotFound),
            }
        }
        self.resume_with(secret, link).await
    }

    async fn resume_with(
        self,
        secret: &Secret,
        mut link: Versioned<Link>,
    ) -> Result<LinkAnswered, RuntimeError> {
        let tenant = link.value.tenant()?;
        let answer = link.value.answer.clone().unwrap_or_default();
        let input =
            serde_json::from_slice(&answer.input).map_err(RuntimeError::format("link's answer"))?;
        let event = format!("link-{}", secret.digest());
        let resume = ResumeRequest {
            event_id: Some(event.clone()),
            ..ResumeRequest::bookmark(&link.value.instance_id, &link.value.bookmark_id, input)
        };
        let is_ours = match self.instances().resume(&tenant, resume).await? {
            ResumeOutcome::Resumed(_) => true,
            ResumeOutcome::NotYet
            | ResumeOutcome::Seen(_)
            | ResumeOutcome::BookmarkGone(_)
            | ResumeOutcome::Ended(_) => {
                let instance = &link.value.instance_id;
                self.store()
                    .instances()
                    .has_seen(&tenant, instance, &event)
                    .await?
            }
            ResumeOutcome::Deleted | ResumeOutcome::NotFound => false,
        };
        link.value.state = match is_ours {
            true => LinkState::Done,
            false => LinkState::Void,
        };
        // If this is lost, the next call comes to the same.
        self.store()
            .links()
            .put_link(&secret.digest(), &link)
            .await?;
        Ok(match is_ours {
            true => LinkAnswered::Recorded(Box::new(link.value)),
            false => LinkAnswered::NotFound,
        })
    }
}
