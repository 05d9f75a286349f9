//! Retries and timeouts that a definition puts around an activity. Each pause and each end is a timer of the execution.

use serde_json::{Value, json};

use super::{Cx, Fault, Run};
use crate::activity_type::{Failure, Retry};
use crate::graph::NodeIndex;
use crate::id::{BookmarkId, ContextId};
use crate::instance::{Bookmark, Guarded, Instance, Memory};
use crate::journal::Event;
use crate::time::{Timestamp, format_duration};

/// Names the timer of a pause before another attempt.
const PAUSE: &str = "Dormouse.Retry";
/// Names the timer of the end of an attempt, or of all of them.
const END: &str = "Dormouse.Timeout";
/// The member of such a timer's payload that says whose end it is.
const OF: &str = "Of";

/// Whether a bookmark is a timer of what is around an activity, rather than of the activity.
pub(super) fn is_guard(bookmark: &Bookmark) -> bool {
    matches!(bookmark.name.as_str(), PAUSE | END)
}

/// Whether it ends all attempts.
fn is_end_of_all(bookmark: &Bookmark) -> bool {
    bookmark.name == END && bookmark.payload.get(OF).and_then(Value::as_str) == Some("all")
}

impl Cx<'_, '_> {
    /// Tells of an attempt that failed and waits for the next. `None`: there is none, and nothing has happened.
    pub fn pause(
        &mut self,
        retry: &Retry,
        attempt: u32,
        failure: &Failure,
        wait: impl FnOnce(&mut Self, Timestamp),
    ) -> Option<()> {
        if !retry.is_worth_another(attempt, failure) {
            return None;
        }
        let random = self.random();
        let pause_ms = retry.pause_ms(attempt, failure, random)?;
        self.log(
            Event::Retrying,
            json!({
                "attemptNumber": attempt,
                "retryDelay": format_duration(pause_ms),
                "details": failure.to_json(),
            }),
        );
        let due = self.now().plus_ms(pause_ms);
        wait(self, due);
        Some(())
    }

    /// Notes that this activity begins an attempt.
    pub(super) fn begin_attempt(&mut self) {
        let guard = &self.node().guard;
        if guard.retry.is_none() && guard.whole_ms.is_none() && guard.attempt_ms.is_none() {
            return;
        }
        let now = self.now();
        let Some(context) = self.run.instance.contexts.get_mut(&self.context) else {
            return;
        };
        if context.guarded.is_none() {
            context.guarded = Some(Box::new(Guarded {
                began_at: guard.whole_ms.map(|_| now),
                locals: u32::try_from(context.locals.len()).unwrap_or(u32::MAX),
                ..Guarded::default()
            }));
        }
    }

    /// Sets the timers of an attempt that goes on after this burst.
    pub(super) fn bound_attempt(&mut self) {
        let node = self.node();
        self.bound_all();
        if let Some(ms) = node
            .guard
            .attempt_ms
            .filter(|_| !node.activity.guards_itself())
        {
            let due = self.now().plus_ms(ms);
            self.end_at(due, "attempt");
        }
    }

    /// Sets the timer of all attempts, unless it is set.
    fn bound_all(&mut self) {
        let Some(ms) = self.node().guard.whole_ms else {
            return;
        };
        let mut bookmarks = self.run.instance.bookmarks.iter();
        let is_set = bookmarks.any(|b| b.context == self.context && is_end_of_all(b));
        let guarded = self.context().and_then(|c| c.guarded.as_ref());
        let began_at = guarded.and_then(|g| g.began_at);
        if let Some(began_at) = began_at.filter(|_| !is_set) {
            self.end_at(began_at.plus_ms(ms), "all");
        }
    }

    fn end_at(&mut self, due: Timestamp, of: &str) {
        self.wait_for_guard(END, due, json!({ OF: of, "ResumeAt": due.to_string() }));
    }
}

impl Instance {
    /// The first end of the time that an activity which waits at a bookmark has: its own, or that of an activity around it.
    /// Answers when it is due and the timer's bookmark, which is to be resumed then. `None`: its time has no end.
    #[must_use]
    pub fn timeout_of(&self, bookmark: &BookmarkId) -> Option<(Timestamp, BookmarkId)> {
        let mut around = Vec::new();
        let mut at = self.bookmark(bookmark).map(|b| b.context);
        while let Some(id) = at {
            around.push(id);
            at = self.contexts.get(&id).and_then(|context| context.owner);
        }
        let ends = self.bookmarks.iter().filter(|b| b.name == END);
        let ends = ends.filter(|end| around.contains(&end.context));
        let first = ends
            .filter_map(|end| Some((end.due()?, end)))
            .min_by_key(|(due, _)| *due);
        first.map(|(due, end)| (due, end.id.clone()))
    }
}

impl Run<'_> {
    /// Whether another attempt follows if the execution fails now.
    pub(super) fn may_try_again(&self, id: ContextId, node: NodeIndex, fault: &Fault) -> bool {
        let node = self.graph.node(node);
        let Some(retry) = node
            .guard
            .retry
            .as_ref()
            .filter(|_| !node.activity.guards_itself())
        else {
            return false;
        };
        let guarded = self
            .instance
            .contexts
            .get(&id)
            .and_then(|c| c.guarded.as_ref());
        let is_over = guarded.is_some_and(|g| g.is_over);
        let failed = guarded.map_or(0, |g| g.failed);
        !is_over && retry.is_worth_another(failed + 1, &failure_of(fault))
    }

    /// Lets an execution begin again after a pause, as if it had not run: what ran below has been cancelled.
    pub(super) fn try_again(&mut self, id: ContextId, node: NodeIndex, fault: &Fault) {
        let Some(context) = self.instance.contexts.get_mut(&id) else {
            return;
        };
        context.memory = Memory::None;
        context.variables.clear();
        context.outputs.clear();
        context.is_broken = false;
        let mut attempt = 1;
        if let Some(guarded) = &mut context.guarded {
            context.locals.truncate(guarded.locals as usize);
            guarded.failed = guarded.failed.saturating_add(1);
            attempt = guarded.failed;
        }
        self.burn_own(id);
        let Some(retry) = &self.graph.node(node).guard.retry else {
            return;
        };
        let mut cx = Cx::new(self, id, node);
        cx.bound_all();
        cx.pause(retry, attempt, &failure_of(fault), |cx, due| {
            let payload = json!({ "ResumeAt": due.to_string(), "AttemptNumber": attempt + 1 });
            cx.wait_for_guard(PAUSE, due, payload);
        });
    }

    /// Burns the bookmarks of an execution, but not the timer of all its attempts.
    pub(super) fn burn_own(&mut self, id: ContextId) {
        let own = self.instance.bookmarks.iter();
        let own = own.filter(|b| b.context == id && !is_end_of_all(b));
        let ids: Vec<_> = own.map(|b| b.id.clone()).collect();
        for bookmark in ids {
            self.burn(&bookmark);
        }
    }

    /// A timer of what is around an activity is due. `false`: it is none.
    pub(super) fn wake_guard(&mut self, bookmark: &Bookmark, node: NodeIndex) -> bool {
        if !is_guard(bookmark) {
            return false;
        }
        let id = bookmark.context;
        if bookmark.name == PAUSE {
            let then = self.run_activity(id, node, None);
            self.settle(id, node, then);
            return true;
        }
        let guard = &self.graph.node(node).guard;
        let is_end_of_all = is_end_of_all(bookmark);
        let (ms, what) = if is_end_of_all {
            (guard.whole_ms, "with all its attempts")
        } else {
            (guard.attempt_ms, "in one attempt")
        };
        if is_end_of_all && let Some(context) = self.instance.contexts.get_mut(&id) {
            context.guarded.get_or_insert_default().is_over = true;
        }
        // It has failed or ended already, and what it did is being undone.
        if self.is_undoing(id) {
            return true;
        }
        let ms = ms.unwrap_or_default();
        let message = format!("it did not end within {ms} ms {what}");
        self.fault(id, node, Fault::new("Timeout", message));
        true
    }
}

/// As a retry judges it.
fn failure_of(fault: &Fault) -> Failure {
    let failure = Failure::new(&fault.kind, fault.message.as_str());
    if fault.is_final {
        failure.for_good()
    } else {
        failure
    }
}

#[cfg(test)]
mod tests;
