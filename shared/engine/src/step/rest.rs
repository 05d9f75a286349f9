//! The end of a step: what the instance is now, what comes after the commit, and who is told of its end.

use super::{Next, Run, Transition, end_of};
use crate::call::Call;
use crate::effect::Effect;
use crate::instance::{SubStatus, Wait};

impl Run<'_> {
    /// Ends the step: what the instance is now, and what comes after the commit.
    pub(crate) fn conclude(mut self) -> Transition {
        let has_work = !self.instance.queue.is_empty() && !self.is_finishing;
        let calls = self.pending_calls();
        let next = if self.instance.is_ended() || self.is_finishing {
            Next::Rest
        } else if !calls.is_empty() {
            Next::Call(calls)
        } else if has_work {
            Next::Continue
        } else {
            Next::Rest
        };
        self.instance.note_search(self.graph);
        match next {
            Next::Rest => self.come_to_rest(),
            // A continuation after a crash looks at this. A cancellation that undoes began with an instance that was suspended.
            Next::Continue | Next::Call(_) => self.instance.sub_status = SubStatus::Executing,
        }
        self.instance.updated_at = self.environment.now;
        let added = std::mem::take(&mut self.added);
        let bookmarks_added = self
            .instance
            .bookmarks
            .iter()
            .filter(|b| added.contains(&b.id))
            .cloned()
            .collect();
        Transition {
            instance: self.instance,
            is_changed: true,
            bookmarks_added,
            bookmarks_removed: self.removed,
            effects: self.effects,
            journal: self.journal,
            lines: self.lines,
            response: self.response,
            activities: self.activities,
            next,
        }
    }

    /// Every call that has no answer yet, those of earlier steps that a crash cut off included.
    fn pending_calls(&self) -> Vec<Call> {
        self.instance
            .bookmarks
            .iter()
            .filter_map(|b| match &b.wait {
                Wait::Call(request) if !self.is_in_background(b.context) => Some(Call {
                    bookmark: b.id.clone(),
                    request: (**request).clone(),
                }),
                Wait::Call(_) | Wait::Stimulus { .. } | Wait::Timer { .. } | Wait::Direct => None,
            })
            .collect()
    }

    fn come_to_rest(&mut self) {
        if !self.instance.is_ended() {
            // What is being undone is undone first.
            if self.is_faulting && !self.undoing_goes_on() {
                self.end(SubStatus::Faulted);
            } else if self.instance.contexts.is_empty() {
                self.end(SubStatus::Finished);
            } else {
                self.instance.sub_status = SubStatus::Suspended;
            }
        }
        self.instance.drop_ended();
        self.instance.is_trigger_taken |= self.instance.trigger_activity_id.is_some();
        let graph = self.graph;
        self.instance.forget(graph);
        if self.instance.is_ended() {
            self.instance.redact_remains();
        }
    }

    /// Ends the instance. Whoever waits for it is told.
    pub(crate) fn end(&mut self, sub_status: SubStatus) {
        self.instance.sub_status = sub_status;
        self.instance.finished_at = Some(self.environment.now);
        self.instance.queue.clear();
        self.calls.clear();
        if sub_status == SubStatus::Faulted {
            let left = self.instance.bookmarks.iter();
            let left = left.filter(|b| !matches!(b.wait, Wait::Call(_)));
            self.instance.left = left.cloned().collect();
        }
        while let Some(id) = self.instance.bookmarks.first().map(|b| b.id.clone()) {
            self.burn(&id);
        }
        if sub_status != SubStatus::Faulted {
            self.instance.undoable.clear();
            self.instance.ending = None;
            let contexts = std::mem::take(&mut self.instance.contexts);
            if let Some(root) = contexts.values().find(|c| c.owner.is_none()) {
                self.instance.keep_variables(root);
            }
        }
        let Some(parent) = self.instance.parent.clone() else {
            return;
        };
        if let Some(bookmark) = parent.bookmark {
            self.effects.push(Effect::ResumeParent {
                parent: parent.instance,
                bookmark,
                input: end_of(&self.instance),
            });
        }
    }
}
