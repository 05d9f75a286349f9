//! Schedules for people: what fires when, and leaving out one occurrence.

use std::collections::BTreeMap;

use dormouse_engine::graph::Recurrence;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::instance::head::Summary;
use dormouse_store::stimulus::chain::Link;
use futures_util::future::try_join_all;

use crate::error::RuntimeError;
use crate::timers::Timers;
use crate::work::timer::{Occurrence, Overlap, Timer, Wakes};

/// How many of the next occurrences are told.
const NEXT_MAX: usize = 5;

/// How often timers are read for one page: those of occurrences and of other tenants lie among them.
const TIMERS_READS_MAX: usize = 20;

/// A recurring trigger that is in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The definition.
    pub definition_id: String,
    /// The trigger's activity.
    pub activity_id: String,
    /// When it fires.
    pub recurrence: Recurrence,
    /// What happens while an earlier instance still runs.
    pub overlap: Overlap,
    /// The next occurrences, at least one.
    pub next: Vec<Timestamp>,
}

/// One page of schedules.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SchedulePage {
    /// The schedules, by definition and activity.
    pub schedules: Vec<Schedule>,
    /// Where the next page begins; `None` at the end. A page may be short and still have a next one.
    pub cursor: Option<String>,
}

/// A timer that an instance waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceTimer {
    /// The instance.
    pub instance_id: String,
    /// The bookmark that the timer resumes.
    pub bookmark_id: String,
    /// When it is due.
    pub due: Timestamp,
    /// What lists show of the instance.
    pub summary: Summary,
}

/// One page of timers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InstanceTimerPage {
    /// The timers, soonest first.
    pub timers: Vec<InstanceTimer>,
    /// Where the next page begins; `None` at the end. A page may be short and still have a next one.
    pub cursor: Option<String>,
    /// Whether the timers can be listed here. Otherwise a scheduler outside has them.
    pub are_listed: bool,
}

/// Outcome of leaving out an occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipOutcome {
    /// It will not start an instance. The next occurrence, if there is one.
    Skipped(Option<Timestamp>),
    /// It has started its instance.
    Started {
        /// The instance.
        instance_id: String,
    },
    /// Another occurrence is the next one.
    NotNext {
        /// The next one.
        next: Timestamp,
    },
    /// No such trigger is in force.
    NotFound,
}

impl Timers<'_> {
    /// The recurring triggers that are in force, at most `limit`. A query of each shard, and a read for each definition.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn schedules(
        self,
        tenant: &Tenant,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<SchedulePage, RuntimeError> {
        let page = self.store().chains().list(tenant, cursor, limit).await?;
        let ids = page.links.iter().map(|link| (&link.definition_id, link));
        let ids: BTreeMap<_, _> = ids.collect();
        let generations = ids.keys().map(async |id| {
            let generation = self.generation(tenant, id).await?;
            Ok::<_, RuntimeError>(((*id).clone(), generation))
        });
        let generations = try_join_all(generations).await?;
        let generations: BTreeMap<String, Option<u64>> = generations.into_iter().collect();
        let is_in_force = |link: &&Link| {
            let generation = generations.get(&link.definition_id);
            generation.is_some_and(|generation| *generation == Some(link.generation))
        };
        let schedules = page.links.iter().filter(is_in_force).map(schedule);
        Ok(SchedulePage {
            schedules: schedules.collect::<Result<_, _>>()?,
            cursor: page.cursor,
        })
    }

    /// The generation of a definition's triggers, if it is published.
    async fn generation(self, tenant: &Tenant, id: &str) -> Result<Option<u64>, RuntimeError> {
        let head = self.store().definitions().definition_head(tenant, id);
        let head = head.await?.filter(|head| head.published.is_some());
        Ok(head.map(|head| head.generation))
    }

    /// The timers that the tenant's instances wait for, soonest first, at most `limit`. A timer whose instance waits for it
    /// no more is left out.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn instance_timers(
        self,
        tenant: &Tenant,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<InstanceTimerPage, RuntimeError> {
        if !self.ports().scheduler.lies_in_table() {
            return Ok(InstanceTimerPage::default());
        }
        let mut page = InstanceTimerPage {
            are_listed: true,
            cursor: cursor.map(str::to_owned),
            ..InstanceTimerPage::default()
        };
        for _ in 0..TIMERS_READS_MAX {
            let missing = limit - page.timers.len();
            let timers = self.store().timers();
            let read = timers.list(tenant, page.cursor.as_deref(), missing).await?;
            let own = read.timers.iter().filter(|row| row.tenant == *tenant);
            let own = own.map(|row| self.awaited(tenant, &row.body));
            page.timers
                .extend(try_join_all(own).await?.into_iter().flatten());
            page.cursor = read.cursor;
            if page.cursor.is_none() || page.timers.len() >= limit {
                break;
            }
        }
        Ok(page)
    }

    /// The timer of a row, if its instance still waits for it. One read.
    async fn awaited(
        self,
        tenant: &Tenant,
        body: &[u8],
    ) -> Result<Option<InstanceTimer>, RuntimeError> {
        let Ok(Timer {
            due,
            wakes: Wakes::Bookmark {
                instance, bookmark, ..
            },
            ..
        }) = serde_json::from_slice(body)
        else {
            return Ok(None);
        };
        let head = self
            .store()
            .instances()
            .get(tenant, instance.as_str())
            .await?;
        let head = head.filter(|head| head.bookmarks.contains_key(bookmark.as_str()));
        Ok(head.map(|head| InstanceTimer {
            instance_id: instance.to_string(),
            bookmark_id: bookmark.as_str().to_owned(),
            due,
            summary: head.summary,
        }))
    }

    /// Leaves out the next occurrence of a trigger. Doing it again changes nothing.
    ///
    /// The instance that the occurrence would start is ruled out first, and then the chain moves on. After a crash in between
    /// the timer fires, starts nothing, and moves the chain on itself.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn skip_occurrence(
        self,
        tenant: &Tenant,
        (definition_id, activity_id): (&str, &str),
        nominal: Timestamp,
    ) -> Result<SkipOutcome, RuntimeError> {
        let Some(generation) = self.generation(tenant, definition_id).await? else {
            return Ok(SkipOutcome::NotFound);
        };
        let of = Link {
            tenant: tenant.clone(),
            definition_id: definition_id.to_owned(),
            activity_id: activity_id.to_owned(),
            generation,
            nominal_ms: nominal.0,
            body: bytes::Bytes::new(),
        };
        let chains = self.store().chains();
        let Some(standing) = chains.standing_occurrence(&of).await? else {
            return Ok(SkipOutcome::NotFound);
        };
        let standing = occurrence(&standing)?;
        if standing.nominal < nominal {
            return Ok(SkipOutcome::NotNext {
                next: standing.nominal,
            });
        }
        let skipped = standing.clone().at(nominal);
        let instance_id = skipped.instance_id(tenant);
        if standing.nominal > nominal {
            // It was skipped before, or it has fired.
            let instances = self.store().instances();
            let is_there = instances.get(tenant, &instance_id).await?.is_some();
            return Ok(match is_there {
                true => SkipOutcome::Started { instance_id },
                false => SkipOutcome::NotNext {
                    next: standing.nominal,
                },
            });
        }
        let times = (self.now().0, nominal.0);
        let instances = self.store().instances();
        if !instances.rule_out(tenant, &instance_id, times).await? {
            return Ok(SkipOutcome::Started { instance_id });
        }
        let next = skipped.recurrence.next(nominal);
        let is_scheduled = match next {
            Some(next) => {
                let next = skipped.clone().at(next);
                self.schedule_occurrence(tenant, next).await?
            }
            None => {
                chains.end_chain(&skipped.link(tenant)?).await?;
                true
            }
        };
        // Whoever has claimed the next one may be gone: then this timer looks again.
        if is_scheduled {
            self.forget_timer(&skipped.timer(tenant)).await?;
        }
        Ok(SkipOutcome::Skipped(next))
    }
}

fn occurrence(link: &Link) -> Result<Occurrence, RuntimeError> {
    serde_json::from_slice(&link.body).map_err(RuntimeError::format("occurrence"))
}

fn schedule(link: &Link) -> Result<Schedule, RuntimeError> {
    let Occurrence {
        definition_id,
        activity_id,
        nominal,
        recurrence,
        overlap,
        ..
    } = occurrence(link)?;
    let next = std::iter::successors(Some(nominal), |at| recurrence.next(*at));
    let next = next.take(NEXT_MAX).collect();
    Ok(Schedule {
        definition_id,
        activity_id,
        recurrence,
        overlap,
        next,
    })
}
