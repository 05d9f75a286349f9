//! What lets others in without credentials of their own: resume links, event links and webhooks.

pub(crate) mod event_link;
pub(crate) mod link_form;
pub(crate) mod resume_link;
pub(crate) mod webhook;

use crate::runtime::handle::handle;

handle!(
    /// Resume links and event links.
    pub Links,
    links
);

handle!(
    /// Webhooks that let outside systems publish events.
    pub Webhooks,
    webhooks
);
