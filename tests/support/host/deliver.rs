//! What the host does about effects. Each is delivered twice: only the first time may count.

use dormouse_engine::activity::event;
use dormouse_engine::activity::http_endpoint::{self, normal_path};
use dormouse_engine::effect::{Child, Effect};
use dormouse_engine::graph::stimulus_hash;
use dormouse_engine::id::{BookmarkId, InstanceId};
use dormouse_engine::instance::{Start, Wait};
use dormouse_engine::step::{Environment, Stimulus, not_started};
use serde_json::{Map, Value};

use crate::web::Request;

use super::{DELIVERIES_MAX, Host, Letter, Recipient, Task, no_such_workflow};

impl Host {
    /// Carries out effects, and those that follow from them, until none is left and no kept event is waited for.
    pub(super) fn deliver_all(&mut self) {
        for _ in 0..DELIVERIES_MAX {
            match self.pending.pop_front() {
                Some((from, effect)) => self.deliver(&from, effect),
                None if self.deliver_letters() => {}
                None => return,
            }
        }
    }

    fn deliver(&mut self, from: &InstanceId, effect: Effect) {
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
                instance,
                payload,
            } => {
                let to = Recipient {
                    correlation_id,
                    instance,
                };
                let input = Map::from_iter([(event::PAYLOAD.to_owned(), payload)]);
                self.send(event::EVENT, &event::hashed(&name), &to, &input);
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
            // This host has no activity types that are data.
            Effect::Perform { activity_type, .. } => panic!("nobody does {activity_type}"),
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

    /// Gives a stimulus twice; the second time nothing may come of it.
    fn step_twice(&mut self, id: &InstanceId, stimulus: Stimulus) {
        self.step(id, stimulus.clone());
        let before = (self.lines.len(), self.pending.len());
        let sub_status = self.instance(id).sub_status;
        let is_changed = self.step(id, stimulus.clone());
        // A bookmark that waits for many notes each of them, but does nothing about a second one.
        let is_open = matches!(&stimulus, Stimulus::Resume { bookmark, .. } if self.instance(id).bookmark(bookmark).is_some());
        assert!(
            !is_changed || is_open,
            "a second delivery of {stimulus:?} changed {id}"
        );
        assert_eq!(
            before,
            (self.lines.len(), self.pending.len()),
            "something came of a second {stimulus:?}"
        );
        assert_eq!(
            sub_status,
            self.instance(id).sub_status,
            "a second {stimulus:?} moved {id}"
        );
    }

    /// Tells everybody who waits for an event, and starts whom it triggers. One that nobody waits for is kept.
    pub fn publish_event(&mut self, name: &str, payload: Value) {
        let input = Map::from_iter([(event::PAYLOAD.to_owned(), payload)]);
        self.send(
            event::EVENT,
            &event::hashed(name),
            &Recipient::default(),
            &input,
        );
    }

    /// Sends a stimulus to all triggers and bookmarks that listen for it.
    pub fn send(&mut self, name: &str, hashed: &Value, to: &Recipient, input: &Map<String, Value>) {
        let hash = stimulus_hash(name, hashed);
        let environment = Environment::new(self.now, &self.expressions);
        let triggered = match to.instance {
            None => self.library.triggered(&hash, &environment),
            Some(_) => Vec::new(),
        };
        let waiting = self.waiting(&hash, to);
        for (definition_id, activity_id) in triggered {
            let start = Start {
                input: input.clone(),
                correlation_id: to.correlation_id.clone(),
                trigger_activity_id: Some(activity_id),
                ..Start::default()
            };
            self.start(&definition_id, start);
        }
        for (id, bookmark) in &waiting {
            let (bookmark, input) = (bookmark.clone(), input.clone());
            self.step(id, Stimulus::Resume { bookmark, input });
        }
        if waiting.is_empty() {
            let (to, input) = (to.clone(), input.clone());
            self.inbox.push(Letter { hash, to, input });
        }
    }

    /// Sends an HTTP request. The instance it started or resumed, which has its answer; `None`: nobody listens.
    pub fn request(&mut self, request: &Request) -> Option<InstanceId> {
        let hashed = http_endpoint::hashed(&normal_path(&request.template), &request.method);
        let hash = stimulus_hash(http_endpoint::HTTP_ENDPOINT, &hashed);
        let environment = Environment::new(self.now, &self.expressions);
        self.has_http_request = true;
        let trigger = self
            .library
            .triggered(&hash, &environment)
            .into_iter()
            .next();
        let waiting = self
            .waiting(&hash, &Recipient::default())
            .into_iter()
            .next();
        let answering = match (trigger, waiting) {
            (Some((definition_id, activity_id)), _) => {
                let start = Start {
                    input: request.input(),
                    trigger_activity_id: Some(activity_id),
                    ..Start::default()
                };
                self.start(&definition_id, start)
            }
            (None, Some((id, bookmark))) => {
                let input = request.input();
                self.step(&id, Stimulus::Resume { bookmark, input });
                Some(id)
            }
            (None, None) => None,
        };
        self.has_http_request = false;
        answering
    }

    fn waiting(&self, hash: &str, to: &Recipient) -> Vec<(InstanceId, BookmarkId)> {
        let all = self.instances.iter().map(super::Kept::instance);
        all.filter(|i| to.is(i))
            .flat_map(|i| i.bookmarks.into_iter().map(move |b| (i.id.clone(), b)))
            .filter(|(_, b)| b.hash() == Some(hash))
            .map(|(id, b)| (id, b.id))
            .collect()
    }

    /// Tells a parent that waits for a child that there is no such workflow.
    fn child_not_found(&mut self, child: &Child) {
        let parent = child.start.parent.clone();
        if let Some((parent, bookmark)) = parent.and_then(|p| Some((p.instance, p.bookmark?))) {
            let input = not_started(child, &no_such_workflow(&child.definition_id));
            self.step_twice(&parent, Stimulus::Resume { bookmark, input });
        }
    }

    /// Gives kept events to bookmarks that were made after them. `false`: there are none.
    fn deliver_letters(&mut self) -> bool {
        let mut is_any_delivered = false;
        for letter in std::mem::take(&mut self.inbox) {
            let waiting = self.waiting(&letter.hash, &letter.to);
            for (id, bookmark) in &waiting {
                let (bookmark, input) = (bookmark.clone(), letter.input.clone());
                self.step(id, Stimulus::Resume { bookmark, input });
            }
            is_any_delivered |= !waiting.is_empty();
            if waiting.is_empty() {
                self.inbox.push(letter);
            }
        }
        is_any_delivered
    }
}
