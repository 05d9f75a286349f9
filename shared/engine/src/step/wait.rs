//! How an activity waits, and what it asks for outside its instance.

use serde_json::{Map, Value, json};

use super::guard::is_guard;
use super::{Cx, Fault, Run, Then};
use crate::call::{Call, Request};
use crate::effect::Effect;
use crate::graph::stimulus_hash;
use crate::id::{BookmarkId, ContextId, InstanceId, hex, mix};
use crate::instance::{Bookmark, Wait};
use crate::time::Timestamp;

/// Names the bookmark with which a background activity is put off to a burst of its own.
pub(crate) const BACKGROUND: &str = "BackgroundActivity";

impl Cx<'_, '_> {
    /// Waits for a stimulus that is found by name and payload.
    pub fn wait_for_stimulus(&mut self, name: &str, hashed: &Value, payload: Value) -> BookmarkId {
        let hash = stimulus_hash(name, hashed);
        self.wait(name, Wait::Stimulus { hash }, payload, true)
    }

    /// Waits for a point in time.
    pub fn wait_until(&mut self, due: Timestamp, payload: Value) -> BookmarkId {
        let name = self.node().type_name.clone();
        self.wait(&name, Wait::Timer { due }, payload, true)
    }

    /// Waits for somebody who knows the bookmark.
    pub fn wait_for_resume(&mut self, payload: Value, auto_burn: bool) -> BookmarkId {
        let name = self.node().type_name.clone();
        self.wait(&name, Wait::Direct, payload, auto_burn)
    }

    /// Asks the shell to make a call and waits for its answer. Under `runAsynchronously` the call is made in the background.
    pub fn call(&mut self, request: Request) -> BookmarkId {
        let name = self.node().type_name.clone();
        let id = self.wait(&name, Wait::Call(Box::new(request)), Value::Null, true);
        if self.run.is_in_background(self.context) {
            self.run.calls.retain(|c| c.bookmark != id);
            self.run.effects.push(Effect::CallInBackground {
                bookmark: id.clone(),
            });
        }
        id
    }

    /// Waits for a point in time for what is around this activity.
    pub(super) fn wait_for_guard(&mut self, name: &str, due: Timestamp, payload: Value) {
        self.wait(name, Wait::Timer { due }, payload, true);
    }

    fn wait(&mut self, name: &str, wait: Wait, payload: Value, auto_burn: bool) -> BookmarkId {
        let serial = self.run.instance.serial();
        let id = BookmarkId::from(hex(mix(self.run.instance.id.as_str(), serial)));
        self.run.bookmark(Bookmark {
            id: id.clone(),
            name: name.to_owned(),
            wait,
            payload,
            context: self.context,
            auto_burn,
            created_at: self.run.environment.now,
        });
        id
    }

    /// Changes the payload of an open bookmark.
    pub fn set_bookmark_payload(&mut self, id: &BookmarkId, payload: Value) {
        if let Some(bookmark) = self.run.instance.bookmarks.iter_mut().find(|b| &b.id == id) {
            bookmark.payload = payload;
        }
    }

    /// The payload of an open bookmark.
    #[must_use]
    pub fn bookmark_payload(&self, id: &BookmarkId) -> Option<&Value> {
        self.run.instance.bookmark(id).map(|b| &b.payload)
    }

    /// Removes a bookmark of this activity.
    pub fn burn(&mut self, id: &BookmarkId) {
        self.run.burn(id);
    }

    /// Asks for something after the commit.
    pub fn effect(&mut self, effect: Effect) {
        self.run.effects.push(effect);
    }

    /// The number and the id of a new child instance: the same if this step is repeated.
    pub fn new_child(&mut self) -> (u64, InstanceId) {
        let serial = self.run.instance.serial();
        self.run.instance.children.push(serial);
        (serial, self.run.instance.child_id(serial))
    }

    /// The id of the child with a number.
    #[must_use]
    pub fn child_id(&self, serial: u64) -> InstanceId {
        self.run.instance.child_id(serial)
    }

    /// A fresh serial number, for ids that must be the same if this step is repeated.
    pub fn serial(&mut self) -> u64 {
        self.run.instance.serial()
    }

    /// A number of the instance's own sequence, as scripts draw them.
    pub fn random(&mut self) -> u64 {
        self.run.draw()
    }

    /// Resumes other bookmarks of this same instance that wait for a stimulus; they are handled after the running activity.
    pub fn stimulate_self(
        &mut self,
        name: &str,
        hashed: &Value,
        input: &Map<String, Value>,
    ) -> usize {
        let hash = stimulus_hash(name, hashed);
        let waiting: Vec<_> = self
            .run
            .instance
            .bookmarks
            .iter()
            .filter(|b| b.hash() == Some(hash.as_str()))
            .map(|b| b.id.clone())
            .collect();
        let count = waiting.len();
        let waiting = waiting.into_iter().map(|id| (id, input.clone()));
        self.run.overheard.extend(waiting);
        count
    }

    pub(crate) fn move_to_background(&mut self) -> Result<Then, Fault> {
        let due = self.now();
        self.wait(
            BACKGROUND,
            Wait::Timer { due },
            json!({ "JobId": self.run.instance.next_serial }),
            true,
        );
        Ok(Then::Wait)
    }
}

impl Run<'_> {
    /// Resumes what the activity that has just run has woken in its own instance.
    pub(super) fn hear_own(&mut self) {
        for (id, input) in std::mem::take(&mut self.overheard) {
            if self.is_finishing {
                return;
            }
            let outer = std::mem::take(&mut self.input);
            self.resume(&id, input);
            self.input = outer;
        }
    }

    /// Adds a bookmark for an execution.
    pub(crate) fn bookmark(&mut self, bookmark: Bookmark) {
        if let Wait::Call(request) = &bookmark.wait {
            self.calls.push(Call {
                bookmark: bookmark.id.clone(),
                request: (**request).clone(),
            });
        }
        if let Some(due) = bookmark.due() {
            self.effects.push(Effect::Timer {
                bookmark: bookmark.id.clone(),
                due,
            });
        }
        // A call is answered within the burst, unless it is made in the background.
        let is_answered = matches!(bookmark.wait, Wait::Call(_));
        if !is_guard(&bookmark) {
            if !is_answered || self.is_in_background(bookmark.context) {
                self.new_waits.push(bookmark.context);
            }
            if let Some(waits) = self.waits_of(bookmark.context) {
                *waits += 1;
            }
        }
        self.added.push(bookmark.id.clone());
        self.instance.bookmarks.push(bookmark);
    }

    fn waits_of(&mut self, context: ContextId) -> Option<&mut usize> {
        let node = self.instance.contexts.get(&context)?.node;
        Some(self.waiting.as_mut()?.entry(node).or_default())
    }

    /// Removes a bookmark. What is gone already stays gone.
    pub(crate) fn burn(&mut self, id: &BookmarkId) {
        let Some(place) = self.instance.bookmarks.iter().position(|b| &b.id == id) else {
            return;
        };
        let bookmark = self.instance.bookmarks.remove(place);
        if !is_guard(&bookmark)
            && let Some(waits) = self.waits_of(bookmark.context)
        {
            *waits = waits.saturating_sub(1);
        }
        self.calls.retain(|c| &c.bookmark != id);
        if let Some(place) = self.added.iter().position(|a| a == id) {
            // Made and burnt in one step: nobody outside ever sees it.
            self.added.remove(place);
            self.effects.retain(|e| !matches!(e, Effect::Timer { bookmark, .. } | Effect::CallInBackground { bookmark } | Effect::Perform { bookmark, .. } if bookmark == id));
        } else {
            self.removed.push(bookmark);
        }
    }

    /// Removes the bookmarks of an execution.
    pub(crate) fn burn_all(&mut self, context: ContextId) {
        while let Some(id) = self
            .instance
            .bookmarks
            .iter()
            .find(|b| b.context == context)
            .map(|b| b.id.clone())
        {
            self.burn(&id);
        }
    }
}
