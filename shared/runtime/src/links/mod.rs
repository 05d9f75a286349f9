//! What lets others in without credentials of their own: resume links, event links and webhooks.

pub(crate) mod event_link;
pub(crate) mod link_form;
pub(crate) mod resume_link;
pub(crate) mod webhook;
