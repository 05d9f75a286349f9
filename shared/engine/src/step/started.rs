//! The line of the journal with which an execution begins.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Run;
use super::guard::is_guard;
use crate::graph::NodeIndex;
use crate::id::ContextId;
use crate::journal::Event;

impl Run<'_> {
    /// As in Elsa, an activity that begins while another execution of it waits is told of as resumed.
    fn event_of_start(&mut self, node: NodeIndex) -> Event {
        let instance = &self.instance;
        let waiting = self.waiting.get_or_insert_with(|| {
            let mut waiting = BTreeMap::new();
            for bookmark in instance.bookmarks.iter().filter(|b| !is_guard(b)) {
                if let Some(context) = instance.contexts.get(&bookmark.context) {
                    *waiting.entry(context.node).or_default() += 1;
                }
            }
            waiting
        });
        if waiting.get(&node).is_some_and(|w| *w > 0) {
            Event::Resumed
        } else {
            Event::Started
        }
    }

    pub(super) fn journal_started(
        &mut self,
        context: ContextId,
        node: NodeIndex,
        owner: Option<ContextId>,
        data: Value,
    ) {
        let event = self.event_of_start(node);
        self.log(event, context, node, data);
        if let Some(entry) = self.journal.last_mut() {
            entry.owner = owner;
        }
    }
}
