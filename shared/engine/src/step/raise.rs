//! The way of an error outwards: to the nearest execution that deals with it, else to an incident.

use serde_json::json;

use super::fault::Origin;
use super::{Cx, Fault, Run};
use crate::graph::NodeIndex;
use crate::id::ContextId;
use crate::instance::AfterUndo;
use crate::journal::Event;

/// How an execution deals with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handling {
    /// As its activity says.
    Catch,
    /// It undoes what had completed in it, and the error goes on from there.
    Undo,
    /// It begins again after a pause.
    Retry,
}

impl Cx<'_, '_> {
    /// Passes an error on outwards. This activity deals with it no more.
    pub fn raise(&mut self, fault: Fault) {
        self.run.fault(self.context, self.node, fault);
    }
}

impl Run<'_> {
    /// An execution failed. The nearest one around it that deals with the error does so; what is below that one is
    /// cancelled first. Without one it is an incident.
    pub(crate) fn fault(&mut self, id: ContextId, node: NodeIndex, fault: Fault) {
        self.raise(id, node, fault, false);
    }

    /// The same; what had completed in it may have been undone for it already.
    pub(super) fn raise(
        &mut self,
        id: ContextId,
        node: NodeIndex,
        mut fault: Fault,
        is_undone: bool,
    ) {
        let activity = self.graph.node(node);
        fault.origin.get_or_insert_with(|| {
            Box::new(Origin {
                activity_id: activity.id.clone(),
                activity_name: activity.name.clone(),
            })
        });
        let Some((at, handling)) = self.handler_of(id, &fault, is_undone) else {
            self.fault_for_good(id, node, fault);
            return;
        };
        let Some((handler, owner)) = self.instance.contexts.get(&at).map(|c| (c.node, c.owner))
        else {
            return;
        };
        if at != id {
            let by = &self.graph.node(handler).id;
            let data = json!({ "exception": fault.exception(), "handledBy": by });
            self.log(Event::Faulted, id, node, data);
            self.cancel_children(id);
            self.burn_all(id);
            if let Some(context) = self.instance.contexts.remove(&id) {
                self.pass_undoable(id, &context, false);
            }
        }
        if handling == Handling::Undo {
            self.cancel_and_take(at);
        } else {
            self.cancel_below(at);
        }
        // What goes wrong in what follows is no failure of an activity that has been cancelled.
        self.turn = Some((at, handler));
        self.turn_owner = owner;
        match handling {
            Handling::Catch => {
                let activity = self.graph.node(handler).activity.as_ref();
                let then = activity.caught(&mut Cx::new(self, at, handler), fault, at == id);
                self.settle(at, handler, then);
            }
            Handling::Undo => {
                self.burn_own(at);
                let left = self.take_undoable(at);
                self.begin_undoing(at, handler, left, AfterUndo::Raise(Box::new(fault)));
            }
            Handling::Retry => self.try_again(at, handler, &fault),
        }
    }

    /// What deals with an error, from the execution outwards. An error in what undoes something stays there.
    fn handler_of(
        &self,
        id: ContextId,
        fault: &Fault,
        is_undone: bool,
    ) -> Option<(ContextId, Handling)> {
        for (at, context) in self.chain(id).filter(|(_, c)| !c.has_ended) {
            if self.is_undoing(at) {
                return None;
            }
            let node = self.graph.node(context.node);
            let is_own = at == id;
            if !(is_own && is_undone) {
                if node.activity.handles(&context.memory, fault, is_own) {
                    return Some((at, Handling::Catch));
                }
                if node.guard.undoes_on_fault {
                    return Some((at, Handling::Undo));
                }
            }
            if self.may_try_again(at, context.node, fault) {
                return Some((at, Handling::Retry));
            }
        }
        None
    }

    /// Cancels all that has begun or is due below an execution, also below those that have ended meanwhile.
    pub(super) fn cancel_below(&mut self, id: ContextId) {
        self.cancel_children(id);
        let is_below = |run: &Self, at: Option<ContextId>| {
            at.is_some_and(|at| run.chain(at).any(|(outer, _)| outer == id))
        };
        if self.instance.ended.is_empty() {
            return;
        }
        let queue = std::mem::take(&mut self.instance.queue);
        let (below, rest): (Vec<_>, Vec<_>) = queue
            .into_iter()
            .partition(|work| is_below(self, work.owner));
        drop(below);
        self.instance.queue = rest.into();
        let contexts = self.instance.contexts.iter();
        let begun: Vec<_> = contexts
            .filter(|(_, context)| is_below(self, context.owner))
            .map(|(id, _)| *id)
            .collect();
        for context in begun {
            self.cancel(context);
        }
    }
}
