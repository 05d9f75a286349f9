//! What an activity does with the activities inside it, and with those around it.

use super::{Cx, Outcomes};
use crate::graph::NodeIndex;
use crate::instance::{Local, Work};

impl Cx<'_, '_> {
    /// Queues a child.
    pub fn schedule(&mut self, node: NodeIndex) {
        self.schedule_with(node, 0, Vec::new());
    }

    /// Queues a child with a mark, which comes back when it ends, and variables that it and what is below it see.
    pub fn schedule_with(&mut self, node: NodeIndex, tag: i64, locals: Vec<Local>) {
        if let Some(context) = self.run.instance.contexts.get_mut(&self.context) {
            context.children_open += 1;
        }
        self.run.instance.queue.push_back(Work {
            node,
            owner: Some(self.context),
            tag,
            locals,
            existing: None,
        });
    }

    /// How many children are scheduled and not ended.
    #[must_use]
    pub fn children_open(&self) -> u32 {
        self.context().map_or(0, |c| c.children_open)
    }

    /// Whether a direct child has failed.
    #[must_use]
    pub fn has_faulted_child(&self) -> bool {
        self.context().is_some_and(|c| c.faults > 0)
            && self
                .run
                .instance
                .contexts
                .values()
                .any(|c| c.owner == Some(self.context) && (c.is_faulted || c.faults > 0))
    }

    /// Whether the child activity is queued.
    #[must_use]
    pub fn is_queued(&self, node: NodeIndex) -> bool {
        self.run
            .instance
            .queue
            .iter()
            .any(|w| w.owner == Some(self.context) && w.node == node)
    }

    /// Whether the child activity is queued or active.
    #[must_use]
    pub fn is_open(&self, node: NodeIndex) -> bool {
        self.is_queued(node)
            || self
                .run
                .instance
                .contexts
                .values()
                .any(|c| c.owner == Some(self.context) && c.node == node)
    }

    /// Cancels executions of a child activity that have begun, without being told of it. What is only queued still
    /// runs: in Elsa a queued activity is nothing that could be cancelled yet.
    pub fn cancel_child(&mut self, node: NodeIndex) {
        let owner = Some(self.context);
        let active: Vec<_> = self
            .run
            .instance
            .contexts
            .iter()
            .filter(|(_, c)| c.owner == owner && c.node == node && !c.is_faulted)
            .map(|(id, _)| *id)
            .collect();
        let ended = u32::try_from(active.len()).unwrap_or(u32::MAX);
        for id in active {
            self.run.cancel(id);
        }
        if let Some(context) = self.run.instance.contexts.get_mut(&self.context) {
            context.children_open = context.children_open.saturating_sub(ended);
        }
    }

    /// Cancels all children.
    pub fn cancel_children(&mut self) {
        self.run.cancel_children(self.context);
    }

    /// Whether a `Break` was seen below.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.context().is_some_and(|c| c.is_broken)
    }

    /// Sends `Break` outwards: everyone on the way notes it, the nearest loop stops it.
    pub fn send_break(&mut self) {
        let mut at = self.context().and_then(|c| c.owner);
        while let Some(id) = at {
            let Some(context) = self.run.instance.contexts.get_mut(&id) else {
                return;
            };
            context.is_broken = true;
            at = context.owner;
            if self.run.graph.node(context.node).activity.is_loop() {
                return;
            }
        }
    }

    /// Ends this activity and the nearest composite around it, with outcomes; what is pending inside is cancelled.
    pub fn complete_composite(&mut self, outcomes: Outcomes) {
        let owner = self.context().and_then(|c| c.owner);
        self.run.close(self.context, &Outcomes::Done);
        let mut at = owner;
        while let Some(id) = at {
            let Some(context) = self.run.instance.contexts.get(&id) else {
                return;
            };
            at = context.owner;
            if self
                .run
                .graph
                .node(context.node)
                .activity
                .ends_on_complete()
            {
                self.run.complete(id, outcomes);
                return;
            }
        }
    }

    /// Ends this activity and the instance as finished, whatever else it is doing.
    pub fn finish(&mut self) {
        self.run.close(self.context, &Outcomes::Done);
        self.run.instance.queue.clear();
        self.run.end(crate::instance::SubStatus::Finished);
        self.run.is_finishing = true;
    }
}
