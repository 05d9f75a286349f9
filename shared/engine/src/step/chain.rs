//! Two steps as one, for a shell that need not save what lies between them.

use std::collections::BTreeSet;

use super::Transition;
use crate::effect::Effect;
use crate::id::BookmarkId;
use crate::instance::Instance;

impl Transition {
    /// This transition and the one after it as a single one: what is to be saved and done if nothing was saved
    /// between. A shell may go on like that after a step that rests, and after one that asks nothing but
    /// [`crate::call::Request::FindWorkflow`], because such a question changes nothing.
    #[must_use]
    pub fn followed_by(self, later: Self) -> Self {
        self.then(|_| later)
    }

    /// The same, where the later one is a step on the instance as this one leaves it.
    #[must_use]
    pub fn then(self, step: impl FnOnce(Instance) -> Self) -> Self {
        let Self {
            instance,
            is_changed,
            mut bookmarks_added,
            mut bookmarks_removed,
            mut effects,
            mut journal,
            mut lines,
            response,
            activities,
            next: _,
        } = self;
        let mut later = step(instance);
        // A bookmark that was made and burnt in between was never there for anybody outside.
        let added: BTreeSet<BookmarkId> = bookmarks_added.iter().map(|b| b.id.clone()).collect();
        let (passing, removed): (Vec<_>, Vec<_>) = later
            .bookmarks_removed
            .drain(..)
            .partition(|bookmark| added.contains(&bookmark.id));
        if !passing.is_empty() {
            let is_passing = |id: &BookmarkId| passing.iter().any(|bookmark| &bookmark.id == id);
            bookmarks_added.retain(|bookmark| !is_passing(&bookmark.id));
            effects.retain(|effect| match effect {
                Effect::Timer { bookmark, .. }
                | Effect::CallInBackground { bookmark }
                | Effect::Perform { bookmark, .. } => !is_passing(bookmark),
                Effect::StartChild(_)
                | Effect::PublishEvent { .. }
                | Effect::RequestTask { .. }
                | Effect::ResumeParent { .. }
                | Effect::CancelChild { .. } => true,
            });
        }
        bookmarks_removed.extend(removed);
        bookmarks_added.append(&mut later.bookmarks_added);
        effects.append(&mut later.effects);
        journal.append(&mut later.journal);
        lines.append(&mut later.lines);
        Self {
            instance: later.instance,
            is_changed: is_changed || later.is_changed,
            bookmarks_added,
            bookmarks_removed,
            effects,
            journal,
            lines,
            response: later.response.or(response),
            activities: activities + later.activities,
            next: later.next,
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_expressions::Expressions;
    use serde_json::json;

    use crate::activity::scenario::{BEGIN, Scenario, line, literal, sequence};
    use crate::call::Answer;
    use crate::effect::Effect;
    use crate::id::InstanceId;
    use crate::instance::{Instance, Start};
    use crate::step::{Environment, Next, Stimulus, step};

    #[test]
    fn a_question_between_two_steps_leaves_no_trace() {
        let dispatch =
            json!({ "type": "Elsa.DispatchWorkflow", "workflowDefinitionId": literal("child") });
        let graph = Scenario::of(sequence(json!([line("a"), dispatch, line("b")]))).graph;
        let expressions = Expressions::default();
        let environment = Environment::new(BEGIN, &expressions);
        let instance = Instance::new(&graph, InstanceId::from("i1"), Start::default(), BEGIN, 7);
        let first = step(&graph, instance, Stimulus::Start, &environment);
        let Next::Call(calls) = &first.next else {
            panic!("it asks")
        };
        let stimulus = Stimulus::Answered {
            bookmark: calls[0].bookmark.clone(),
            answer: Answer::Found,
        };
        let second = step(&graph, first.instance.clone(), stimulus, &environment);
        assert_eq!(second.bookmarks_removed.len(), 1);
        let both = first.followed_by(second);
        assert!(both.bookmarks_added.is_empty() && both.bookmarks_removed.is_empty());
        assert!(matches!(both.effects[..], [Effect::StartChild(_)]));
        assert_eq!(both.lines, ["a", "b"]);
        assert_eq!(both.next, Next::Rest);
        let numbers: Vec<_> = both.journal.iter().map(|e| e.sequence).collect();
        assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    }
}
