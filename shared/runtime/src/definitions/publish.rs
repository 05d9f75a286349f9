//! Publishing a definition: one atomic write, after which no start anywhere uses the version before.

use std::sync::Arc;

use dormouse_engine::definition::name::type_key;
use dormouse_engine::graph::{Problem, Trigger};
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::definition::head::{DefinitionHead, DefinitionVersion, VersionInfo};
use dormouse_store::definition::publish::{Draft, Saved};
use dormouse_store::definition::trigger::NewTrigger;
use dormouse_store::outbox::row::OutboxKey;

use crate::definitions::Definitions;
use crate::definitions::draft::{ATTEMPTS_MAX, view};
use crate::definitions::view::DefinitionView;
use crate::error::RuntimeError;
use crate::graph::bindings::Bindings;
use crate::graph::cache::{self, Runnable};
use crate::graph::http_route::http_route;
use crate::graph::version_extra::VersionExtra;
use crate::loading::load::read_definition;
use crate::loading::resolve::Resolve;
use crate::runtime::Runtime;
use crate::work::delivered::Delivered;
use crate::work::message::{Message, Published, Task};
use crate::work::timer::{Occurrence, Overlap};

/// How long a publish may be under way, in ms.
const PUBLISH_MS_MAX: i64 = 600_000;

/// What became of a publish.
#[derive(Debug)]
pub enum PublishOutcome {
    /// It is published.
    Published(Box<Publication>),
    /// It has errors and is not published; all of its problems.
    Invalid(Vec<Problem>),
    /// The definition refuses changes.
    ReadOnly,
    /// There is no such definition.
    NotFound,
}

/// A published version.
#[derive(Debug)]
pub struct Publication {
    /// As it is now.
    pub definition: DefinitionView,
    /// Whether it was published already, so that nothing had to be done.
    pub was_published: bool,
    /// The definitions that were moved to the new version.
    pub consumers_updated: Vec<String>,
    /// What is wrong with it and did not keep it from being published.
    pub problems: Vec<Problem>,
}

impl Definitions<'_> {
    /// Publishes the latest version of a definition.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn publish(
        self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<PublishOutcome, RuntimeError> {
        self.publish_latest(tenant, definition_id, false).await
    }

    /// The same; `anew`: also if it is published already, to use what other workflows it finds now.
    pub(crate) async fn publish_latest(
        self,
        tenant: &Tenant,
        definition_id: &str,
        anew: bool,
    ) -> Result<PublishOutcome, RuntimeError> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(head) = self
                .store()
                .definitions()
                .definition_head(tenant, definition_id)
                .await?
            else {
                return Ok(PublishOutcome::NotFound);
            };
            let latest = head.latest.version;
            let stored = self
                .store()
                .definitions()
                .definition_version(tenant, definition_id, latest)
                .await?;
            // Deleted since the head was read.
            let Some(stored) = stored else { continue };
            let definition = read_definition(&stored)?;
            let was_published = head
                .published
                .as_ref()
                .is_some_and(|info| info.version == latest);
            if was_published && !anew {
                return Ok(PublishOutcome::Published(Box::new(Publication {
                    definition: view(definition, &stored.info, &head),
                    was_published,
                    consumers_updated: Vec::new(),
                    problems: Vec::new(),
                })));
            }
            if definition.is_readonly && !anew {
                return Ok(PublishOutcome::ReadOnly);
            }
            let compiled = self
                .graphs()
                .compile(
                    tenant,
                    Arc::new(definition),
                    Bindings::default(),
                    Resolve::AndPin,
                )
                .await?;
            let problems = self.problems(tenant, &compiled).await?;
            let has_errors = problems.iter().any(|problem| problem.is_error);
            if has_errors && self.config().fail_on_validation_errors {
                return Ok(PublishOutcome::Invalid(problems));
            }
            if let Some(published) = self.put_in_force(tenant, &head, &stored, compiled).await? {
                return Ok(PublishOutcome::Published(Box::new(Publication {
                    problems,
                    ..published
                })));
            }
        }
        Err(RuntimeError::DefinitionContended {
            definition_id: definition_id.to_owned(),
        })
    }

    /// Publishes a compiled version. `None`: somebody changed the definition meanwhile.
    async fn put_in_force(
        self,
        tenant: &Tenant,
        head: &DefinitionHead,
        stored: &DefinitionVersion,
        compiled: Runnable,
    ) -> Result<Option<Publication>, RuntimeError> {
        let now = self.now();
        let triggers = compiled
            .graph
            .triggers(&self.environment())
            .unwrap_or_default();
        let definition = &compiled.definition;
        let afterwards = Afterwards {
            recurs: triggers.iter().any(|trigger| trigger.recurrence.is_some()),
            updates: definition.options.usable_as_activity
                && definition.options.auto_update_consuming_workflows,
        };
        let (id, revision) = (&head.definition_id, head.revision + 1);
        let published = Published {
            definition_id: id.clone(),
            revision,
            at: now,
        };
        let messages = afterwards.messages(tenant, &published);
        // Before it is published, so that a crash in between leaves nothing undone.
        let keys = self.put_messages(tenant, id, &messages).await?;
        let publication = publication(head, stored, &compiled, &triggers, now)?;
        let saved = self
            .store()
            .definitions()
            .publish(tenant, &publication)
            .await?;
        let Saved::Done(head) = saved else {
            self.outbox().delete_rows(&keys).await?;
            return Ok(None);
        };
        self.changed(tenant, id).await;
        let mut consumers_updated = Vec::new();
        if afterwards.recurs {
            self.schedule_triggers(tenant, &published).await?;
        }
        if afterwards.updates {
            consumers_updated = self.update_references_boxed(tenant, id).await?;
        }
        self.outbox().delete_rows(&keys).await?;
        let definition = Arc::unwrap_or_clone(compiled.definition);
        Ok(Some(Publication {
            definition: view(definition, &publication.draft.info, &head),
            was_published: false,
            consumers_updated,
            problems: Vec::new(),
        }))
    }

    async fn put_messages(
        self,
        tenant: &Tenant,
        definition_id: &str,
        messages: &[Message],
    ) -> Result<Vec<OutboxKey>, RuntimeError> {
        if messages.is_empty() {
            return Ok(Vec::new());
        }
        let effects: Result<Vec<_>, _> = messages.iter().map(Message::effect).collect();
        let (id, now) = (format!("publish/{definition_id}"), self.now());
        Ok(self
            .store()
            .outbox()
            .put(tenant, &id, now.0, &effects?)
            .await?)
    }

    /// Schedules the first occurrences of a publication.
    pub(crate) async fn schedule_triggers(
        self,
        tenant: &Tenant,
        published: &Published,
    ) -> Result<Delivered, RuntimeError> {
        let definition_id = &published.definition_id;
        let Some(head) = self
            .store()
            .definitions()
            .definition_head(tenant, definition_id)
            .await?
        else {
            return Ok(Delivered::Done);
        };
        if head.revision < published.revision {
            return Ok(self.not_published_yet(published.at));
        }
        let Some(loaded) = self.graphs().load_published(tenant, head).await? else {
            return Ok(Delivered::Done);
        };
        let since = loaded.extra.published_ms.map_or(published.at, Timestamp);
        for occurrence in first_occurrences(&self, &loaded, since) {
            self.timers()
                .schedule_occurrence(tenant, occurrence)
                .await?;
        }
        Ok(Delivered::Done)
    }

    /// Whether a publish that is not visible may still come, or has failed.
    pub(crate) fn not_published_yet(self, at: Timestamp) -> Delivered {
        if self.now().0 - at.0 > PUBLISH_MS_MAX {
            Delivered::Done
        } else {
            Delivered::Later
        }
    }
}

/// What is to be done after a publish.
#[derive(Debug, Clone, Copy)]
struct Afterwards {
    recurs: bool,
    updates: bool,
}

impl Afterwards {
    fn messages(self, tenant: &Tenant, published: &Published) -> Vec<Message> {
        let (id, revision) = (&published.definition_id, published.revision);
        let schedule = self
            .recurs
            .then(|| Task::ScheduleTriggers(published.clone()));
        let update = self
            .updates
            .then(|| Task::UpdateConsumers(published.clone()));
        let tasks = [schedule, update].into_iter().flatten().enumerate();
        tasks
            .map(|(place, task)| {
                let id = format!("publish/{id}/{revision}/{place}");
                Message::new(id, tenant.clone(), task)
            })
            .collect()
    }
}

/// What the store is told of a publication.
fn publication(
    head: &DefinitionHead,
    stored: &DefinitionVersion,
    compiled: &Runnable,
    triggers: &[Trigger],
    now: Timestamp,
) -> Result<dormouse_store::definition::publish::Publication, RuntimeError> {
    let definition = &compiled.definition;
    let extra = VersionExtra {
        published_ms: Some(now.0),
        bindings: compiled.bindings.clone(),
        saved_by: VersionExtra::read(&stored.info)?.saved_by,
        ..VersionExtra::of(definition)
    };
    let info = VersionInfo {
        extra: extra.encode()?,
        ..stored.info.clone()
    };
    let rows = triggers.iter().map(|trigger| {
        let payload =
            serde_json::to_vec(&trigger.payload).map_err(RuntimeError::format("trigger"))?;
        Ok(NewTrigger {
            hash: trigger.hash.clone(),
            activity_id: trigger.activity_id.clone(),
            name: trigger.name.clone(),
            payload: payload.into(),
        })
    });
    let name = definition.name.as_deref().map(type_key);
    Ok(dormouse_store::definition::publish::Publication {
        draft: Draft {
            definition_id: head.definition_id.clone(),
            info,
            body: stored.body.clone(),
            uses: compiled.bindings.definitions(),
            expected_revision: head.revision,
        },
        type_name: name.filter(|name| definition.options.usable_as_activity && !name.is_empty()),
        triggers: rows.collect::<Result<_, RuntimeError>>()?,
        routes: triggers
            .iter()
            .filter_map(|trigger| http_route(&trigger.name, &trigger.payload))
            .collect(),
    })
}

/// The first occurrence of each recurring trigger of a publication after a time.
pub(crate) fn first_occurrences(
    runtime: &Runtime,
    loaded: &cache::Published,
    since: Timestamp,
) -> Vec<Occurrence> {
    let triggers = loaded.runnable.graph.triggers(&runtime.environment());
    let first = |trigger: Trigger| {
        let recurrence = trigger.recurrence?;
        Some(Occurrence {
            definition_id: loaded.head.definition_id.clone(),
            generation: loaded.head.generation,
            activity_id: trigger.activity_id,
            nominal: recurrence.first(since)?,
            recurrence,
            overlap: Overlap::parse(&trigger.overlap_policy),
        })
    };
    triggers
        .unwrap_or_default()
        .into_iter()
        .filter_map(first)
        .collect()
}
