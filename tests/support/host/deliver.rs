//! What the host does about effects. Each is delivered twice: only the first time may count.

use dormouse_engine::activity::event;
use dormouse_engine::call::Answer;
use dormouse_engine::effect::{Child, Effect};
use dormouse_engine::graph::stimulus_hash;
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::{Start, Wait};
use dormouse_engine::step::{Environment, Stimulus};
use serde_json::{Map, Value};

use super::{Host, Letter, Task};

impl Host {
    pub(super) fn deliver(&mut self, from: &InstanceId, effect: Effect) {
        match effect {
            Effect::Timer { bookmark, due } if due <= self.now => {
                let stimulus = Stimulus::Resume {
                    bookmark,
                    input: Map::new(),
                };
                self.step_twice(from, stimulus);
            }
            // Later ones fire when the clock is moved.
            Effect::Timer { .. } => {}
            Effect::StartChild(child) => {
                let id = child.instance.clone();
                if self
                    .start_as(id, &child.definition_id, child.start.clone())
                    .is_none()
                {
                    self.child_not_found(&child);
                }
            }
            Effect::PublishEvent {
                name,
                correlation_id,
                payload,
            } => {
                self.publish_event(&name, correlation_id.as_deref(), payload);
            }
            Effect::RequestTask {
                task_id,
                name,
                payload,
            } => {
                let task = Task {
                    id: task_id,
                    name,
                    payload,
                };
                assert!(!self.tasks.contains(&task), "a task is asked for once");
                self.tasks.push(task);
            }
            Effect::ResumeParent {
                parent,
                bookmark,
                input,
            } => {
                if self.kept(&parent).is_some() {
                    self.step_twice(&parent, Stimulus::Resume { bookmark, input });
                }
            }
            Effect::CancelChild { instance } => {
                if self.kept(&instance).is_some() {
                    self.step_twice(&instance, Stimulus::Cancel);
                }
            }
            Effect::CallInBackground { bookmark } => {
                let open = self.bookmarks(from).into_iter().find(|b| b.id == bookmark);
                if let Some(Wait::Call(request)) = open.map(|b| b.wait) {
                    let answer = self.perform(*request);
                    self.step_twice(from, Stimulus::Answered { bookmark, answer });
                }
            }
        }
    }

    /// Gives a stimulus twice; the second time it must change nothing.
    fn step_twice(&mut self, id: &InstanceId, stimulus: Stimulus) {
        self.step(id, stimulus.clone());
        assert!(
            !self.step(id, stimulus.clone()),
            "a second delivery of {stimulus:?} changed {id}"
        );
    }

    /// Tells everybody who waits for an event, and starts whom it triggers. One that nobody waits for is kept.
    pub fn publish_event(&mut self, name: &str, correlation_id: Option<&str>, payload: Value) {
        let input = Map::from_iter([(event::PAYLOAD.to_owned(), payload)]);
        self.send(event::EVENT, &event::hashed(name), correlation_id, &input);
    }

    /// Sends a stimulus to all triggers and bookmarks that listen for it.
    pub fn send(
        &mut self,
        name: &str,
        hashed: &Value,
        correlation_id: Option<&str>,
        input: &Map<String, Value>,
    ) -> usize {
        let hash = stimulus_hash(name, hashed);
        let environment = Environment::new(self.now, &self.expressions);
        let triggered = self.library.triggered(&hash, &environment);
        let waiting = self.waiting(&hash, correlation_id);
        let count = triggered.len() + waiting.len();
        for (definition_id, activity_id) in triggered {
            let start = Start {
                input: input.clone(),
                correlation_id: correlation_id.map(str::to_owned),
                trigger_activity_id: Some(activity_id),
                ..Start::default()
            };
            self.start(&definition_id, start);
        }
        for (id, bookmark) in &waiting {
            let input = input.clone();
            self.step(
                id,
                Stimulus::Resume {
                    bookmark: bookmark.clone(),
                    input,
                },
            );
        }
        if waiting.is_empty() {
            self.inbox.push(Letter {
                name: name.to_owned(),
                hashed: hashed.clone(),
                correlation_id: correlation_id.map(str::to_owned),
                input: input.clone(),
            });
        }
        count
    }

    fn waiting(
        &self,
        hash: &str,
        correlation_id: Option<&str>,
    ) -> Vec<(InstanceId, dormouse_engine::id::BookmarkId)> {
        let fits = |instance: &dormouse_engine::instance::Instance| {
            correlation_id.is_none_or(|c| instance.correlation_id.as_deref() == Some(c))
        };
        self.instances
            .iter()
            .map(super::Kept::instance)
            .filter(fits)
            .flat_map(|i| i.bookmarks.into_iter().map(move |b| (i.id.clone(), b)))
            .filter(|(_, b)| b.hash() == Some(hash))
            .map(|(id, b)| (id, b.id))
            .collect()
    }

    /// Tells a parent that waits for a child that there is no such workflow.
    fn child_not_found(&mut self, child: &Child) {
        let Some(parent) = &child.start.parent else {
            return;
        };
        let Some(bookmark) = parent.bookmark.clone() else {
            return;
        };
        let message = format!("there is no published workflow `{}`", child.definition_id);
        let answer = Answer::NotStarted { message };
        self.step_twice(&parent.instance, Stimulus::Answered { bookmark, answer });
    }

    /// Gives kept events to bookmarks that were made after them.
    pub(super) fn deliver_letters(&mut self) {
        for letter in std::mem::take(&mut self.inbox) {
            let hash = stimulus_hash(&letter.name, &letter.hashed);
            let waiting = self.waiting(&hash, letter.correlation_id.as_deref());
            for (id, bookmark) in &waiting {
                let input = letter.input.clone();
                self.step(
                    id,
                    Stimulus::Resume {
                        bookmark: bookmark.clone(),
                        input,
                    },
                );
            }
            if waiting.is_empty() {
                self.inbox.push(letter);
            }
        }
    }
}
