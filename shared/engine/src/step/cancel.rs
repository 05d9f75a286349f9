//! Cancelling: a whole instance, an activity, or what is left inside one that has ended.

use super::{Ended, Outcomes, Run};
use crate::effect::Effect;
use crate::id::ContextId;
use crate::instance::{AfterUndo, SubStatus};
use crate::journal::Event;

impl Run<'_> {
    /// Ends the instance and its children, once what is to be undone for it is undone. `false`: that is under way.
    pub(crate) fn cancel_instance(&mut self) -> bool {
        if self.instance.ending == Some(SubStatus::Cancelled) {
            return false;
        }
        let root = self.root();
        // As in Elsa, the journal does not name what was cancelled with the instance: its status says so of all.
        self.is_quiet = true;
        if let Some(root) = root {
            self.cancel_children(root);
        }
        for instance in self.instance.child_ids() {
            self.effects.push(Effect::CancelChild { instance });
        }
        if self.end_after_undo(SubStatus::Cancelled) {
            // The cancellation is saved before anything of it is undone.
            self.is_quiet = false;
            self.must_commit = true;
            return true;
        }
        if let Some(root) = root {
            self.cancel(root);
        }
        self.end(SubStatus::Cancelled);
        self.is_finishing = true;
        true
    }

    /// Cancels every execution of an activity, queued ones included. `false`: there is none.
    pub(crate) fn cancel_activity(&mut self, activity_id: &str) -> bool {
        let is_it = |run: &Self, node| run.graph.node(node).id == activity_id;
        let active: Vec<_> = self
            .instance
            .contexts
            .iter()
            .filter(|(_, c)| is_it(self, c.node))
            .map(|(id, _)| *id)
            .collect();
        let queued: Vec<_> = self
            .instance
            .queue
            .iter()
            .filter(|w| is_it(self, w.node))
            .cloned()
            .collect();
        if active.is_empty() && queued.is_empty() {
            return false;
        }
        self.instance.sub_status = SubStatus::Executing;
        self.instance.queue.retain(|w| !queued.contains(w));
        for work in queued {
            let ended = Ended {
                node: work.node,
                context: ContextId::default(),
                outcomes: Outcomes::none(),
                tag: work.tag,
                is_cancelled: true,
            };
            self.tell_owner(work.owner, &ended);
        }
        for id in active {
            self.cancel_and_tell(id);
        }
        true
    }

    /// Cancels an execution and tells its owner.
    pub(crate) fn cancel_and_tell(&mut self, id: ContextId) {
        let Some(context) = self.instance.contexts.get(&id) else {
            return;
        };
        let (node, owner, tag) = (context.node, context.owner, context.tag);
        if self.is_detached(id) {
            return;
        }
        if owner.is_none() {
            self.cancel_children(id);
            if self.end_after_undo(SubStatus::Cancelled) {
                return;
            }
        }
        self.cancel(id);
        if owner.is_none() {
            self.end(SubStatus::Cancelled);
            self.is_finishing = true;
            return;
        }
        let ended = Ended {
            node,
            context: id,
            outcomes: Outcomes::none(),
            tag,
            is_cancelled: true,
        };
        self.tell_owner(owner, &ended);
    }

    /// Cancels an execution and all below it, without telling anybody. One that undoes goes on with it; one that is to
    /// undo what had completed in it does so, apart from what it was in.
    pub(crate) fn cancel(&mut self, id: ContextId) {
        if self.is_undoing(id) {
            self.detach(id);
            return;
        }
        let node = self.instance.contexts.get(&id).map(|c| c.node);
        let undoing =
            node.filter(|n| self.graph.node(*n).guard.undoes_on_cancel && !self.is_taking);
        let Some(node) = undoing else {
            self.cancel_children(id);
            self.burn_all(id);
            self.remove_cancelled(id);
            return;
        };
        self.cancel_and_take(id);
        self.burn_all(id);
        let left = self.take_undoable(id);
        if left.is_empty() {
            self.remove_cancelled(id);
            return;
        }
        self.begin_undoing(id, node, left, AfterUndo::Cancelled);
        self.detach(id);
    }

    /// Cancels all below an execution, which is to undo what had completed there itself.
    pub(super) fn cancel_and_take(&mut self, id: ContextId) {
        let outer = std::mem::replace(&mut self.is_taking, true);
        self.cancel_below(id);
        self.is_taking = outer;
    }

    pub(super) fn remove_cancelled(&mut self, id: ContextId) {
        if let Some(context) = self.instance.contexts.remove(&id) {
            self.instance.keep_variables(&context);
            self.pass_undoable(id, &context, false);
            if !self.is_quiet {
                let data = self.outputs_data(&context);
                self.log(Event::Canceled, id, context.node, data);
            }
        }
    }

    /// Cancels what is active or queued directly below an execution, and all below that.
    pub(crate) fn cancel_children(&mut self, id: ContextId) {
        match self.instance.contexts.get_mut(&id) {
            Some(context) if context.children_open > 0 => context.children_open = 0,
            Some(_) | None => return,
        }
        self.instance.queue.retain(|w| w.owner != Some(id));
        self.cancel_begun(id);
    }

    /// Cancels what has begun directly below an execution, and all below that. What is only queued is not touched.
    pub(super) fn cancel_begun(&mut self, id: ContextId) {
        let children: Vec<_> = self
            .instance
            .contexts
            .iter()
            .filter(|(_, c)| c.owner == Some(id))
            .map(|(id, _)| *id)
            .collect();
        for child in children {
            self.cancel(child);
        }
    }
}
