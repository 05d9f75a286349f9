//! Events and other stimuli on the way to the instances and triggers that wait for them.

pub(crate) mod publish_event;
pub(crate) mod queued;
pub(crate) mod reach;
pub(crate) mod receivers;
pub(crate) mod stimulate;

use crate::runtime::handle::handle;

handle!(
    /// Events and other stimuli.
    pub Stimuli,
    stimuli
);
