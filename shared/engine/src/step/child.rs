//! What an activity does with the activities inside it, and with those around it.

use std::collections::VecDeque;

use super::{Cx, Outcomes};
use crate::graph::NodeIndex;
use crate::id::ContextId;
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

    /// Executions of chosen child activities that have begun, faulted ones included, in the order in which they did. What
    /// is only queued is not among them: in Elsa a queued activity is nothing that could be cancelled yet.
    pub fn children_begun(&self, is_chosen: impl Fn(NodeIndex) -> bool) -> VecDeque<ContextId> {
        let owner = Some(self.context);
        let contexts = self.run.instance.contexts.iter();
        contexts
            .filter(|(_, c)| c.owner == owner && is_chosen(c.node))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Cancels an execution of a child, without being told of it. `None`: it has ended meanwhile.
    pub fn cancel_execution(&mut self, id: ContextId) -> Option<NodeIndex> {
        let node = self.run.instance.contexts.get(&id)?.node;
        self.run.cancel(id);
        if let Some(context) = self.run.instance.contexts.get_mut(&self.context) {
            context.children_open = context.children_open.saturating_sub(1);
        }
        Some(node)
    }

    /// Cancels executions of a child activity that have begun, without being told of it.
    pub fn cancel_child(&mut self, node: NodeIndex) {
        for id in self.children_begun(|n| n == node) {
            self.cancel_execution(id);
        }
    }

    /// Whether nothing is open below: neither begun nor due.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let owner = Some(self.context);
        let instance = &self.run.instance;
        !instance.contexts.values().any(|c| c.owner == owner)
            && !instance.queue.iter().any(|w| w.owner == owner)
    }

    /// Ends this activity in the middle of its own work, which may still schedule children.
    pub fn complete_now(&mut self) {
        if let Some(context) = self.run.instance.contexts.get(&self.context) {
            let mut kept = context.clone();
            kept.has_ended = true;
            self.run.instance.ended.insert(self.context, kept);
        }
        self.run.complete(self.context, Outcomes::Done);
    }

    /// Tells the owner that this activity joins branches.
    ///
    /// # Errors
    ///
    /// A [`crate::step::Fault`] where what the branches lead to cannot be gone over.
    pub fn join(&mut self) -> Result<(), super::Fault> {
        let owner = self.context().and_then(|c| c.owner);
        let Some((owner, node)) = owner.and_then(|id| {
            let context = self.run.instance.contexts.get(&id)?;
            Some((id, context.node))
        }) else {
            return Ok(());
        };
        let activity = self.run.graph.node(node).activity.as_ref();
        activity.child_joins(&mut Cx::new(self.run, owner, node), self.node)
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

    /// Ends this activity and the nearest workflow around it, with outcomes; what is pending inside is cancelled. As in
    /// Elsa, this activity ends first, so that what it is in may end by itself; loops on the way are cancelled with it.
    pub fn complete_composite(&mut self, outcomes: Outcomes) {
        let mut at = self.context().and_then(|c| c.owner);
        while let Some(id) = at {
            let Some(context) = self.run.instance.contexts.get(&id) else {
                break;
            };
            at = context.owner;
            let activity = self.run.graph.node(context.node).activity.as_ref();
            if activity.is_loop() {
                self.run.cancel(id);
            } else if activity.is_workflow() {
                self.run.composite_outcomes = Some(outcomes.clone());
                self.run.complete(self.context, Outcomes::Done);
                // What its end leads to may have failed; nothing more happens then.
                if !self.run.instance.contexts.contains_key(&self.context) {
                    self.run.complete(id, outcomes);
                }
                return;
            }
        }
        // What it is in has ended already.
        self.run.complete(self.context, Outcomes::Done);
    }

    /// Outcomes that `Complete` gave for the workflow that has just ended.
    pub fn take_composite_outcomes(&mut self) -> Option<Outcomes> {
        self.run.composite_outcomes.take()
    }

    /// Ends this activity and the instance as finished, whatever else it is doing.
    pub fn finish(&mut self) {
        self.run.close(self.context, &Outcomes::Done);
        if self
            .run
            .end_after_undo(crate::instance::SubStatus::Finished)
        {
            return;
        }
        self.run.instance.queue.clear();
        self.run.end(crate::instance::SubStatus::Finished);
        self.run.is_finishing = true;
    }
}
