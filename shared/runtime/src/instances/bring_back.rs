//! The first commit of an instance that was here or elsewhere before: it begins where it stood.

use dormouse_engine::activity::own::ask_again;
use dormouse_engine::effect::Effect;
use dormouse_engine::instance::{Bookmark, Instance, Wait};
use dormouse_engine::step::{Next, Transition};

use crate::error::RuntimeError;
use crate::kernel::burst::Composed;
use crate::work::message::{Message, Task};
use crate::work::target::is_cut_off;

/// What a burst would have done that ends where the instance stands: it waits where it waits, and asks again for what
/// wakes it by itself.
pub(super) fn back(instance: Instance) -> Transition {
    let wakes = |bookmark: &Bookmark| match (&bookmark.wait, bookmark.due()) {
        (_, Some(due)) => Some(Effect::Timer {
            bookmark: bookmark.id.clone(),
            due,
        }),
        (Wait::Call(_), None) if !is_cut_off(&instance) => Some(Effect::CallInBackground {
            bookmark: bookmark.id.clone(),
        }),
        (Wait::Direct, None) => ask_again(bookmark),
        (Wait::Call(_) | Wait::Stimulus { .. } | Wait::Timer { .. }, None) => None,
    };
    let waits = !instance.is_ended();
    let open = instance.bookmarks.iter().filter(|_| waits);
    Transition {
        is_changed: true,
        bookmarks_added: open.clone().cloned().collect(),
        bookmarks_removed: Vec::new(),
        effects: open.filter_map(wakes).collect(),
        journal: Vec::new(),
        lines: Vec::new(),
        response: None,
        activities: 0,
        next: Next::Rest,
        instance,
    }
}

impl Composed {
    /// Makes it the first commit of an instance that was here or elsewhere before.
    pub(super) fn bring_back(&mut self, goes_on: Option<Message>) -> Result<(), RuntimeError> {
        // That it waits or has ended was told when it came to that.
        self.messages
            .retain(|message| !matches!(message.task, Task::Tell { .. }));
        self.messages.extend(goes_on);
        let effects: Result<Vec<_>, _> = self.messages.iter().map(Message::effect).collect();
        self.commit.effects = effects?;
        Ok(())
    }
}
