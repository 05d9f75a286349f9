//! From a transition of the engine to a commit of the store: what is written, and what is to be sent out after it.

use bytes::Bytes;
use dormouse_engine::activity::event::PAYLOAD;
use dormouse_engine::effect::Effect;
use dormouse_engine::id::BookmarkId;
use dormouse_engine::instance::{Bookmark, Instance};
use dormouse_engine::journal;
use dormouse_engine::step::{Next, Transition};
use dormouse_engine::time::Timestamp;
use dormouse_store::instance::commit::Commit;
use dormouse_store::instance::expiry::Kept;
use dormouse_store::instance::head::Summary;
use dormouse_store::instance::stamp::Stamp;
use dormouse_store::stimulus::bookmark::{FoundBy, NewBookmark};
use serde_json::{Map, Value};

use super::{Burst, Cause};
use crate::error::RuntimeError;
use crate::graph::http_route::http_route;
use crate::graph::pin::Pin;
use crate::port::TaskRequest;
use crate::work::message::{Message, Task};
use crate::work::stimulus::{StimulusRequest, event_hash};
use crate::work::timer::{Timer, Wakes};

/// So many lines of the journal lie together.
const LINES_TOGETHER: usize = 200;

/// A timer that would fire later than this is taken away when nobody waits for it any more, in ms.
const FAR_MS: i64 = 15 * 60_000;

/// A commit and what goes with it.
pub(crate) struct Composed {
    pub(crate) commit: Commit,
    /// The commit's effects.
    pub(crate) messages: Vec<Message>,
    /// What would continue the burst after a crash; its row goes with the commit.
    pub(crate) continuation: Option<Message>,
    /// Timers that lie in the table, with the commit.
    pub(crate) timers: Vec<Timer>,
    /// Timers that lie elsewhere and are set before the commit.
    pub(crate) elsewhere: Vec<Timer>,
    /// Timers elsewhere that nobody waits for any more.
    pub(crate) forget: Vec<Timer>,
    /// Bookmarks that it opens and that are found by a hash.
    pub(crate) opened: Vec<(String, String)>,
}

impl Burst<'_> {
    /// Composes the next commit out of a transition.
    pub(crate) fn compose(
        &mut self,
        transition: &Transition,
        cause: &Cause,
    ) -> Result<Composed, RuntimeError> {
        let now = self.runtime.now();
        // The number is stored as a signed one.
        let attempt = self.runtime.ports().clock.random() >> 1;
        let stamp = self.loaded()?.stamp(attempt, now.0);
        let number = stamp.commit;
        let is_new = self.loaded()?.is_new();
        let instance = &transition.instance;
        let mut composed = Composed {
            commit: Commit {
                attempt,
                now_ms: now.0,
                state: Bytes::from(instance.encode(&self.runnable.graph)),
                summary: summary(instance, self.runnable.definition.is_system),
                journal: transition
                    .journal
                    .chunks(LINES_TOGETHER)
                    .map(|lines| Bytes::from(journal::encode(lines, &self.runnable.graph)))
                    .collect(),
                event_ids: cause.event_ids.clone(),
                claims: cause.claims.clone(),
                consumed: cause.consumed.clone(),
                rows_closed: cause.closes.clone(),
                kept: self.kept(instance, now),
                outbox_done: self.continuation.iter().map(|c| c.0.clone()).collect(),
                ..Commit::default()
            },
            messages: Vec::new(),
            continuation: None,
            timers: Vec::new(),
            elsewhere: Vec::new(),
            forget: Vec::new(),
            opened: Vec::new(),
        };
        if is_new {
            self.buffers.clone_from(&cause.buffers);
        }
        if is_new || self.is_migrating {
            let pin = Pin {
                bindings: self.runnable.bindings.clone(),
                buffers: self.buffers.clone(),
            };
            composed.commit.pinned = Some(pin.encode()?);
        }
        self.bookmarks(transition, &stamp, &mut composed)?;
        for effect in &transition.effects {
            let place = composed.messages.len();
            let id = format!("{}/{number}/{place}", instance.id);
            self.effect(effect, id, (instance, &stamp, now), &mut composed)?;
        }
        self.lifecycle(transition, (number, is_new), now, &mut composed);
        self.afterwards(transition, number, now, &mut composed)?;
        let effects: Result<Vec<_>, _> = composed.messages.iter().map(Message::effect).collect();
        composed.commit.effects = effects?;
        Ok(composed)
    }

    /// How long the instance is kept, if the commit ends it.
    fn kept(&self, instance: &Instance, now: Timestamp) -> Option<Kept> {
        let retention = self.runtime.config().retention;
        instance
            .is_ended()
            .then(|| retention.of(instance.sub_status, now))?
    }

    fn bookmarks(
        &self,
        transition: &Transition,
        stamp: &Stamp,
        composed: &mut Composed,
    ) -> Result<(), RuntimeError> {
        let instance = &transition.instance;
        for bookmark in &transition.bookmarks_added {
            let id = bookmark.id.as_str().to_owned();
            if let Some(hash) = bookmark.hash() {
                composed.opened.push((id.clone(), hash.to_owned()));
            }
            composed
                .commit
                .routes_added
                .extend(http_route(&bookmark.name, &bookmark.payload));
            composed.commit.bookmarks_added.push(NewBookmark {
                id,
                found_by: found_by(instance, bookmark)?,
            });
        }
        for bookmark in &transition.bookmarks_removed {
            let id = bookmark.id.as_str().to_owned();
            composed.commit.bookmarks_removed.push(id);
            let (Some(due), Some(open)) = (
                bookmark.due(),
                self.loaded()?.bookmark(bookmark.id.as_str()),
            ) else {
                continue;
            };
            let opened = Stamp {
                attempt: open.attempt,
                ..*stamp
            };
            let timer = self.timer(instance, &bookmark.id, opened, due);
            let scheduler = &self.runtime.ports().scheduler;
            match scheduler
                .forget_write(&timer)
                .map_err(RuntimeError::Scheduler)?
            {
                Some(write) => composed.commit.timers_cleared.push(write),
                None if due > Timestamp(stamp.at_ms).plus_ms(FAR_MS) => composed.forget.push(timer),
                None => {}
            }
        }
        Ok(())
    }

    fn timer(
        &self,
        instance: &Instance,
        bookmark: &BookmarkId,
        stamp: Stamp,
        due: Timestamp,
    ) -> Timer {
        Timer {
            tenant: self.tenant.clone(),
            due,
            wakes: Wakes::Bookmark {
                instance: instance.id.clone(),
                bookmark: bookmark.clone(),
                stamp: Some(stamp),
            },
        }
    }

    fn effect(
        &self,
        effect: &Effect,
        id: String,
        (instance, stamp, now): (&Instance, &Stamp, Timestamp),
        composed: &mut Composed,
    ) -> Result<(), RuntimeError> {
        let task = match effect {
            Effect::Timer { bookmark, due } => {
                let timer = self.timer(instance, bookmark, *stamp, *due);
                return self.schedule(timer, composed);
            }
            Effect::StartChild(child) => Task::StartChild {
                child: child.clone(),
            },
            Effect::PublishEvent {
                name,
                correlation_id,
                instance: only,
                payload,
            } => Task::Stimulate {
                stimulus: StimulusRequest {
                    id: id.clone(),
                    hash: event_hash(name),
                    input: Map::from_iter([(PAYLOAD.to_owned(), payload.clone())]),
                    correlation_id: correlation_id.clone(),
                    instance_id: only.as_ref().map(ToString::to_string),
                    at: now,
                    ..StimulusRequest::default()
                },
            },
            Effect::RequestTask { .. } if self.runtime.ports().bus.is_none() => return Ok(()),
            Effect::RequestTask {
                task_id,
                name,
                payload,
            } => Task::RequestTask {
                request: TaskRequest {
                    id: id.clone(),
                    task_id: task_id.clone(),
                    task_name: name.clone(),
                    task_payload: payload.clone(),
                    ..self.request(instance)
                },
            },
            Effect::ResumeParent {
                parent,
                bookmark,
                input,
            } => Task::Resume {
                instance: parent.clone(),
                bookmark: bookmark.clone(),
                input: input.clone(),
            },
            Effect::CancelChild { instance } => Task::Cancel {
                instance: instance.clone(),
            },
            Effect::CallInBackground { bookmark } => Task::CallInBackground {
                instance: instance.id.clone(),
                bookmark: bookmark.clone(),
            },
            Effect::Perform {
                bookmark,
                queue,
                activity_type,
                since,
            } => perform(
                instance,
                bookmark,
                (queue.as_deref(), activity_type, *since),
            ),
        };
        composed.messages.push(self.message(id, task));
        Ok(())
    }

    /// What every request to a worker says of the instance.
    fn request(&self, instance: &Instance) -> TaskRequest {
        TaskRequest {
            id: String::new(),
            tenant_id: self.tenant.to_string(),
            workflow_instance_id: instance.id.to_string(),
            workflow_definition_id: instance.definition_id.clone(),
            workflow_name: self.runnable.graph.name.clone(),
            correlation_id: instance.correlation_id.clone(),
            task_id: String::new(),
            task_name: String::new(),
            task_payload: Value::Null,
        }
    }

    /// Adds a timer to what the commit prepares.
    fn schedule(&self, timer: Timer, composed: &mut Composed) -> Result<(), RuntimeError> {
        let scheduler = &self.runtime.ports().scheduler;
        let write = scheduler
            .schedule_write(&timer)
            .map_err(RuntimeError::Scheduler)?;
        match write {
            Some(write) => {
                composed.commit.timers_set.push(write);
                composed.timers.push(timer);
            }
            None => composed.elsewhere.push(timer),
        }
        Ok(())
    }

    /// What becomes of the lease, and who is told that the instance has ended.
    fn afterwards(
        &mut self,
        transition: &Transition,
        number: u64,
        now: Timestamp,
        composed: &mut Composed,
    ) -> Result<(), RuntimeError> {
        let instance = &transition.instance;
        let id = format!("{}/{number}/{}", instance.id, composed.messages.len());
        if instance.is_ended()
            && let Some(activity_id) = self.buffers.clone()
        {
            let task = Task::StartBuffered {
                definition_id: instance.definition_id.clone(),
                activity_id,
            };
            composed.messages.push(self.message(id, task));
            return Ok(());
        }
        if transition.next == Next::Rest {
            return Ok(());
        }
        let config = self.runtime.config();
        self.made_way =
            now.0 - self.began.0 >= config.burst_ms_max || self.runtime.is_out_of_time();
        let message = self.message(
            id,
            Task::Continue {
                instance: instance.id.clone(),
                activities: self.activities + transition.activities,
                made_way: self.made_way,
            },
        );
        if self.made_way {
            composed.messages.push(message);
        } else {
            composed.commit.keep_until_ms = Some(self.runtime.lease_until(now).0);
            composed.commit.continuation = Some(message.effect()?);
            composed.continuation = Some(message);
        }
        Ok(())
    }

    pub(super) fn message(&self, id: String, task: Task) -> Message {
        self.runtime.message(self.tenant, id, task)
    }
}

fn perform(
    instance: &Instance,
    bookmark: &BookmarkId,
    (queue, activity_type, since): (Option<&str>, &str, Timestamp),
) -> Task {
    Task::Perform {
        instance: instance.id.clone(),
        bookmark: bookmark.clone(),
        queue: queue.map(str::to_owned),
        activity_type: activity_type.to_owned(),
        since,
    }
}

/// What the row of a bookmark holds. `None`: it is found by its id only.
pub(crate) fn found_by(
    instance: &Instance,
    bookmark: &Bookmark,
) -> Result<Option<FoundBy>, RuntimeError> {
    let Some(hash) = bookmark.hash() else {
        return Ok(None);
    };
    let payload =
        serde_json::to_vec(&bookmark.payload).map_err(RuntimeError::format("bookmark"))?;
    Ok(Some(FoundBy {
        hash: hash.to_owned(),
        correlation_id: instance.correlation_id.clone(),
        activity_instance_id: Some(instance.context_text(bookmark.context)),
        payload: payload.into(),
    }))
}

fn summary(instance: &Instance, is_system: bool) -> Summary {
    Summary {
        definition_id: instance.definition_id.clone(),
        definition_version: instance.version,
        definition_version_id: instance.version_id.clone(),
        status: instance.status().as_str().to_owned(),
        sub_status: instance.sub_status.as_str().to_owned(),
        ended: instance.is_ended(),
        name: instance.name.clone(),
        correlation_id: instance.correlation_id.clone(),
        parent_id: instance.parent.as_ref().map(|p| p.instance.to_string()),
        attributes: instance.search.clone(),
        incident_count: u32::try_from(instance.incidents.len()).unwrap_or(u32::MAX),
        is_system,
        created_ms: instance.created_at.0,
        updated_ms: instance.updated_at.0,
        finished_ms: instance.finished_at.map(|at| at.0),
    }
}
