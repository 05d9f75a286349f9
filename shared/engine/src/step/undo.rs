//! Compensation: what has completed is undone, in reverse order of completion, one after the other and each once.
//!
//! What can be undone is a list of the instance; each entry names the innermost execution around it that has not ended,
//! which changes as executions end. Who undoes takes its entries out of the list, and is the owner of what it runs. So a
//! second cancellation, error or crash finds nothing left to undo twice. A failed undo is an incident of its own:
//! once it is tried again and completes, the rest follows.

use serde_json::{Map, Value, json};

use super::{Cx, Fault, Run, Then};
use crate::graph::NodeIndex;
use crate::id::ContextId;
use crate::instance::{AfterUndo, Context, SubStatus, Undoable, Undoing, Work};
use crate::journal::Event;

/// The mark of an activity that undoes another one.
const UNDO: i64 = i64::MIN;
/// The variable that it sees.
const VARIABLE: &str = "Undo";
/// The most that an instance remembers to undo.
pub(super) const UNDOABLE_MAX: usize = 10_000;
/// What a [`Cx::compensate`] without a name reaches to.
const TRY: &str = "Dormouse.TryCatch";

impl Cx<'_, '_> {
    /// Keeps what this activity was given for what undoes it.
    pub(super) fn keep_inputs(&mut self) -> Result<(), Fault> {
        if self.node().guard.undo.is_none() {
            return Ok(());
        }
        if self.run.instance.undoable.len() >= UNDOABLE_MAX {
            let message = format!(
                "the instance has completed {UNDOABLE_MAX} activities that can be undone; put a `compensate` around many of them instead"
            );
            return Err(Fault::new("LimitReached", message).with("limit", UNDOABLE_MAX));
        }
        let inputs = &self.node().inputs;
        let given = inputs.iter().zip(&self.values);
        let given: Map<String, Value> = given
            .filter(|(input, _)| !input.is_sensitive)
            .filter_map(|(input, value)| Some((input.name.clone(), value.clone()?)))
            .collect();
        if let Some(context) = self.run.instance.contexts.get_mut(&self.context) {
            context.guarded.get_or_insert_default().inputs = given;
        }
        Ok(())
    }

    /// Undoes what has completed of an activity or in a container, by id or name; without one, in the nearest
    /// `TryCatch` around this activity, else in the workflow. This activity ends after it.
    ///
    /// # Errors
    ///
    /// A [`Fault`] where there is no such activity.
    pub fn compensate(&mut self, name: Option<&str>) -> Result<Then, Fault> {
        let all = std::mem::take(&mut self.run.instance.undoable);
        let is_chosen: Vec<bool> = match name {
            Some(name) => {
                let named = self.run.named(name);
                let is_in = |u: &Undoable| named.iter().any(|n| self.graph().is_within(u.node, *n));
                all.iter().map(is_in).collect()
            }
            None => {
                let around = self.run.boundary_of(self.context);
                let is_in =
                    |u: &Undoable| self.run.chain(u.scope).any(|(id, _)| Some(id) == around);
                all.iter().map(is_in).collect()
            }
        };
        let mut chosen = is_chosen.into_iter();
        let (left, rest) = all.into_iter().partition(|_| chosen.next() == Some(true));
        self.run.instance.undoable = rest;
        if let Some(name) = name.filter(|name| self.run.named(name).is_empty()) {
            let message =
                format!("there is no activity `{name}` to undo; give the id or the name of one");
            return Err(Fault::new("InvalidInput", message));
        }
        self.run
            .begin_undoing(self.context, self.node, left, AfterUndo::Complete);
        Ok(Then::Wait)
    }
}

impl Run<'_> {
    fn named(&self, name: &str) -> Vec<NodeIndex> {
        let is_it = |index: &NodeIndex| {
            let node = self.graph.node(*index);
            node.id == name || node.name.as_deref() == Some(name)
        };
        self.graph.indexes().filter(is_it).collect()
    }

    /// The nearest execution around one that a compensation without a name reaches to.
    fn boundary_of(&self, id: ContextId) -> Option<ContextId> {
        let mut around = self.chain(id);
        let found = around.find(|(_, context)| {
            let node = self.graph.node(context.node);
            node.type_name == TRY || node.activity.is_workflow()
        });
        found.map(|(id, _)| id)
    }

    /// Whether an execution undoes what had completed in it.
    pub(super) fn is_undoing(&self, id: ContextId) -> bool {
        self.instance.contexts.get(&id).is_some_and(undoes)
    }

    /// Whether any execution does.
    pub(super) fn is_any_undoing(&self) -> bool {
        self.instance.contexts.values().any(undoes)
    }

    /// Whether a compensation waits for something, rather than having failed.
    pub(super) fn undoing_goes_on(&self) -> bool {
        self.is_any_undoing()
            && self
                .instance
                .bookmarks
                .iter()
                .any(|b| self.is_in_undo(Some(b.context)))
    }

    /// Whether an execution is one that undoes, or below one.
    fn is_in_undo(&self, id: Option<ContextId>) -> bool {
        id.is_some_and(|id| self.chain(id).any(|(_, context)| undoes(context)))
    }

    /// An execution is gone. What can be undone in it can be undone in what is around it; what undoes all of one that
    /// has completed takes the place of what was in it.
    pub(super) fn pass_undoable(&mut self, id: ContextId, context: &Context, is_completed: bool) {
        let undo = self
            .graph
            .node(context.node)
            .guard
            .undo
            .filter(|_| is_completed);
        if undo.is_none() && self.instance.undoable.is_empty() {
            return;
        }
        let is_lost = self.is_in_undo(context.owner);
        let living = context.owner.and_then(|owner| {
            let mut around = self.chain(owner);
            let living = around.find(|(_, c)| !c.has_ended);
            living.map(|(id, _)| id)
        });
        let Some(owner) = living.filter(|_| !is_lost) else {
            self.instance.undoable.retain(|u| u.scope != id);
            return;
        };
        if undo.is_some() {
            self.instance.undoable.retain(|u| u.scope != id);
            let own = context.outputs.iter().filter(|r| r.node == context.node);
            self.instance.undoable.push(Undoable {
                node: context.node,
                scope: owner,
                inputs: context
                    .guarded
                    .as_ref()
                    .map(|g| g.inputs.clone())
                    .unwrap_or_default(),
                outputs: own.map(|r| (r.output.clone(), r.value.clone())).collect(),
            });
        }
        let inner = self.instance.undoable.iter_mut().filter(|u| u.scope == id);
        inner.for_each(|u| u.scope = owner);
    }

    /// Takes what can be undone in an execution out of the list.
    pub(super) fn take_undoable(&mut self, id: ContextId) -> Vec<Undoable> {
        let all = std::mem::take(&mut self.instance.undoable);
        let (taken, rest) = all.into_iter().partition(|u| u.scope == id);
        self.instance.undoable = rest;
        taken
    }

    /// Undoes what was taken, below an execution in which nothing else runs any more.
    pub(super) fn begin_undoing(
        &mut self,
        id: ContextId,
        node: NodeIndex,
        left: Vec<Undoable>,
        then: AfterUndo,
    ) {
        if !left.is_empty() {
            let order = left.iter().rev().map(|u| &self.graph.node(u.node).id);
            let order: Vec<_> = order.collect();
            let data = match &then {
                AfterUndo::Raise(fault) => {
                    json!({ "activities": order, "exception": fault.exception() })
                }
                AfterUndo::Complete | AfterUndo::Cancelled => json!({ "activities": order }),
            };
            self.log(Event::Compensating, id, node, data);
        }
        if let Some(context) = self.instance.contexts.get_mut(&id) {
            let undoing = Undoing {
                left,
                then,
                is_detached: false,
            };
            context.guarded.get_or_insert_default().undoing = Some(Box::new(undoing));
        }
        self.undo_next(id);
    }

    /// Runs the next undo of an execution, or goes on after the last one.
    fn undo_next(&mut self, id: ContextId) {
        let Some(context) = self.instance.contexts.get_mut(&id) else {
            return;
        };
        let Some(undoing) = context.guarded.as_mut().and_then(|g| g.undoing.as_mut()) else {
            return;
        };
        let error = match &undoing.then {
            AfterUndo::Raise(fault) => fault.error(),
            AfterUndo::Complete | AfterUndo::Cancelled => Value::Null,
        };
        while let Some(next) = undoing.left.pop() {
            let node = self.graph.node(next.node);
            let Some(undo) = node.guard.undo else {
                continue;
            };
            let undone = json!({
                "activityId": node.id,
                "activityName": node.name,
                "inputs": next.inputs,
                "outputs": next.outputs,
            });
            let mut locals = vec![(VARIABLE.to_owned(), undone)];
            if !error.is_null() {
                locals.push(("Error".to_owned(), error));
            }
            context.children_open = context.children_open.saturating_add(1);
            self.instance.queue.push_back(Work {
                node: undo,
                owner: Some(id),
                tag: UNDO,
                locals,
                existing: None,
            });
            return;
        }
        self.all_is_undone(id);
    }

    fn all_is_undone(&mut self, id: ContextId) {
        let Some(context) = self.instance.contexts.get_mut(&id) else {
            return;
        };
        let node = context.node;
        let undoing = context.guarded.as_mut().and_then(|g| g.undoing.take());
        match undoing.map(|undoing| undoing.then) {
            Some(AfterUndo::Complete) => self.complete(id, super::Outcomes::Done),
            Some(AfterUndo::Raise(fault)) => self.raise(id, node, *fault, true),
            Some(AfterUndo::Cancelled) | None => {
                self.remove_cancelled(id);
                self.end_at_last();
            }
        }
    }

    /// What an execution undid has ended. `false`: it does not undo, or something else ended.
    pub(super) fn is_undone(&mut self, owner: ContextId) -> bool {
        let is_undoing = self.is_undoing(owner);
        if is_undoing {
            self.undo_next(owner);
        }
        is_undoing
    }

    /// Takes an execution that undoes out of what it is in, which is cancelled or goes on without it.
    pub(super) fn detach(&mut self, id: ContextId) {
        let root = self.root();
        let Some(context) = self.instance.contexts.get_mut(&id) else {
            return;
        };
        let Some(undoing) = context.guarded.as_mut().and_then(|g| g.undoing.as_mut()) else {
            return;
        };
        undoing.is_detached = true;
        undoing.then = AfterUndo::Cancelled;
        context.owner = root;
        context.tag = 0;
    }

    /// Whether an execution undoes apart from what it was in.
    pub(super) fn is_detached(&self, id: ContextId) -> bool {
        let guarded = self
            .instance
            .contexts
            .get(&id)
            .and_then(|c| c.guarded.as_ref());
        let undoing = guarded.and_then(|g| g.undoing.as_ref());
        undoing.is_some_and(|u| u.is_detached)
    }

    /// The execution of the workflow itself.
    pub(super) fn root(&self) -> Option<ContextId> {
        let mut contexts = self.instance.contexts.iter();
        contexts.find(|(_, c)| c.owner.is_none()).map(|(id, _)| *id)
    }

    /// Puts the end of the instance off until what is being undone is undone, and ends all else. `false`: nothing is.
    pub(super) fn end_after_undo(&mut self, ending: SubStatus) -> bool {
        if !self.is_any_undoing() {
            return false;
        }
        self.instance.ending = Some(ending);
        let queue = std::mem::take(&mut self.instance.queue);
        self.instance.queue = queue
            .into_iter()
            .filter(|w| self.is_in_undo(w.owner))
            .collect();
        let contexts = self.instance.contexts.keys().copied();
        let others: Vec<_> = contexts.filter(|id| !self.is_in_undo(Some(*id))).collect();
        let contexts = self.instance.contexts.iter();
        let undoing = contexts.filter(|(_, c)| undoes(c)).map(|(id, _)| *id);
        for id in undoing.collect::<Vec<_>>() {
            self.detach(id);
        }
        let root = self.root();
        for id in others {
            self.burn_all(id);
            if Some(id) != root {
                self.instance.contexts.remove(&id);
            }
        }
        true
    }

    /// Ends an instance whose end was put off, once nothing is being undone any more.
    fn end_at_last(&mut self) {
        if self.is_any_undoing() {
            return;
        }
        let (Some(ending), Some(root)) = (self.instance.ending.take(), self.root()) else {
            return;
        };
        if ending == SubStatus::Cancelled {
            self.is_quiet = true;
            self.cancel(root);
            self.end(ending);
            self.is_finishing = true;
        } else {
            self.complete(root, super::Outcomes::Done);
        }
    }
}

fn undoes(context: &Context) -> bool {
    context
        .guarded
        .as_ref()
        .is_some_and(|g| g.undoing.is_some())
}

#[cfg(test)]
mod tests;
