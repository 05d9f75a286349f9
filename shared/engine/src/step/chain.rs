//! Two steps as one, for a shell that need not save what lies between them.

use super::Transition;
use crate::effect::Effect;

impl Transition {
    /// This transition and the one after it as a single one: what is to be saved and done if nothing was saved
    /// between. A shell that answers nothing but [`crate::call::Request::FindWorkflow`] may go on like that, because
    /// such a question changes nothing.
    #[must_use]
    pub fn followed_by(self, later: Self) -> Self {
        // A bookmark that was made and burnt in between was never there for anybody outside.
        let is_passing = |id: &crate::id::BookmarkId| {
            self.bookmarks_added.iter().any(|b| &b.id == id)
                && later.bookmarks_removed.iter().any(|b| &b.id == id)
        };
        let mut removed = self.bookmarks_removed.clone();
        removed.extend(
            later
                .bookmarks_removed
                .iter()
                .filter(|b| !is_passing(&b.id))
                .cloned(),
        );
        let added = self
            .bookmarks_added
            .iter()
            .filter(|b| !is_passing(&b.id))
            .cloned();
        let added = added.chain(later.bookmarks_added.iter().cloned()).collect();
        let is_moot = |effect: &Effect| match effect {
            Effect::Timer { bookmark, .. } | Effect::CallInBackground { bookmark } => {
                is_passing(bookmark)
            }
            Effect::StartChild(_)
            | Effect::PublishEvent { .. }
            | Effect::RequestTask { .. }
            | Effect::ResumeParent { .. }
            | Effect::CancelChild { .. } => false,
        };
        let mut effects: Vec<_> = self
            .effects
            .iter()
            .filter(|e| !is_moot(e))
            .cloned()
            .collect();
        effects.extend(later.effects);
        Self {
            instance: later.instance,
            is_changed: self.is_changed || later.is_changed,
            bookmarks_added: added,
            bookmarks_removed: removed,
            effects,
            journal: [self.journal, later.journal].concat(),
            lines: [self.lines, later.lines].concat(),
            response: later.response.or(self.response),
            activities: self.activities + later.activities,
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
