//! Carries out effects, and brings events and HTTP requests to those that wait for them.

use dormouse_engine::activity::event;
use dormouse_engine::activity::http_endpoint::{self, normal_path};
use dormouse_engine::effect::{Child, Effect};
use dormouse_engine::graph::stimulus_hash;
use dormouse_engine::id::{BookmarkId, InstanceId};
use dormouse_engine::instance::{Start, Wait};
use dormouse_engine::step::{Environment, Stimulus, not_started};
use serde_json::{Map, Value};

use super::{Host, Letter, Recipient, Task, no_such_workflow};
use crate::request::Request;

impl Host {
    /// Carries out effects, and those that follow from them, until none is left and no kept event is waited for.
    pub(super) fn deliver_all(&mut self) {
        for _ in 0..self.deliveries_max {
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
                (self.deliver_with)(self, from, stimulus);
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
                self.events.push(name.clone());
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
                debug_assert!(!self.tasks.contains(&task), "a task is asked for once");
                self.tasks.push(task);
            }
            // Definitions here have no activity types that are data, so no instance asks for this.
            Effect::Perform { .. } => {}
            Effect::ResumeParent {
                parent,
                bookmark,
                input,
            } => {
                if self.kept(&parent).is_some() {
                    (self.deliver_with)(self, &parent, Stimulus::Resume { bookmark, input });
                }
            }
            Effect::CancelChild { instance } => {
                if self.kept(&instance).is_some() {
                    (self.deliver_with)(self, &instance, Stimulus::Cancel);
                }
            }
            Effect::CallInBackground { bookmark } => {
                let open = self.bookmarks(from).into_iter().find(|b| b.id == bookmark);
                if let Some(Wait::Call(request)) = open.map(|b| b.wait) {
                    let answer = self.perform(from, &bookmark, *request);
                    (self.deliver_with)(self, from, Stimulus::Answered { bookmark, answer });
                }
            }
        }
    }

    /// Publishes an event to all bookmarks and triggers that listen for it. Without a recipient it is queued.
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

    /// Sends an HTTP request. Gives the instance that answered it; `None`: no workflow listens.
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

    /// Path templates that workflows listen at for a method, given in lower case.
    #[must_use]
    pub fn templates(&self, method: &str) -> Vec<String> {
        let environment = Environment::new(self.now, &self.expressions);
        let triggers = self.library.triggers(&environment).into_iter();
        let triggers = triggers.map(|(_, trigger)| (trigger.name, trigger.payload));
        let open = self.instances.iter().flat_map(|k| &k.instance.bookmarks);
        let open = open.map(|b| (b.name.clone(), b.payload.clone()));
        let routes = triggers
            .chain(open)
            .filter(|(name, _)| name == http_endpoint::HTTP_ENDPOINT)
            .filter_map(|(_, payload)| http_endpoint::route(&payload));
        routes.filter(|r| r.1 == method).map(|r| r.0).collect()
    }

    fn waiting(&self, hash: &str, to: &Recipient) -> Vec<(InstanceId, BookmarkId)> {
        let all = self.instances.iter().map(|k| &k.instance);
        all.filter(|i| to.is(i))
            .flat_map(|i| i.bookmarks.iter().map(move |b| (&i.id, b)))
            .filter(|(_, b)| b.hash() == Some(hash))
            .map(|(id, b)| (id.clone(), b.id.clone()))
            .collect()
    }

    /// Tells a parent that waits for a child that there is no such workflow.
    fn child_not_found(&mut self, child: &Child) {
        let parent = child.start.parent.clone();
        if let Some((parent, bookmark)) = parent.and_then(|p| Some((p.instance, p.bookmark?))) {
            let input = not_started(child, &no_such_workflow(&child.definition_id));
            (self.deliver_with)(self, &parent, Stimulus::Resume { bookmark, input });
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
