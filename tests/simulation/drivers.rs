//! What drives the nodes: timers, messages, sweeps, news, workers, and whoever brings dead nodes back. Each thing
//! that is under way is a task of its own, asleep until something is due.

use dormouse_runtime::port::{DefinitionChanged, TaskRequest};
use dormouse_runtime::{PAUSE_SEEN_MS, ResumeOutcome, RuntimeError, Timer, Wakes};
use dormouse_store::table::{Key, Query, Table};
use dormouse_store::timer::Timer as Row;
use serde_json::json;

use super::cluster::{Cluster, lock, tenant};
use super::hardness::{OVERDUE_MS_MAX, ROWS_A_LOOK};
use super::inspector::at_once;
use super::sabotage::Sabotage;
use super::special::{FAN, MIXUP};
use super::world::Owner;

/// How long a timer is left alone at most before it is tried again, in ms: many that all try at every chance would let
/// no node live.
const PAUSE_MS_MAX: u64 = 30_000;

impl Cluster {
    /// Something more is under way, or less.
    pub(crate) fn pend(&self, more: i64) {
        *lock(&self.shared.pending) += more;
    }

    pub(crate) fn drive(&self, work: impl Future<Output = ()> + Send + 'static) {
        let cluster = self.clone();
        self.pend(1);
        self.world.spawn(Owner::Outside, async move {
            work.await;
            cluster.pend(-1);
        });
    }

    /// Starts what goes on for ever.
    pub(crate) fn begin(&self) {
        let cluster = self.clone();
        self.world.spawn(Owner::Outside, async move {
            loop {
                let number = cluster.world.next_death().await;
                let cluster = cluster.clone();
                let world = cluster.world.clone();
                world.clone().spawn(Owner::Outside, async move {
                    world.sleep(50 + world.below(2_000)).await;
                    if world.is_dead(number) {
                        cluster.restart(number);
                    }
                });
            }
        });
        if self.plan.sweep_s > 0 && self.shared.sabotage != Some(Sabotage::NoSweep) {
            self.world.spawn(Owner::Outside, self.clone().sweep());
        }
        if self.plan.faults.skew_ms > 0 {
            self.world.spawn(Owner::Outside, self.clone().jump());
        }
        if self.plan.has_pause() {
            let looks = self.clone().look_at_pauses();
            self.world.spawn(Owner::Outside, looks);
        }
    }

    async fn sweep(self) {
        loop {
            self.world.sleep(self.plan.sweep_s * 1_000).await;
            self.ask(
                "sweep",
                |runtime| async move { runtime.sweep().await.is_ok() },
            )
            .await;
            let mut sweeps = lock(&self.shared.sweeps);
            *sweeps += 1;
        }
    }

    /// Clocks jump, as when they are set.
    async fn jump(self) {
        loop {
            self.world.sleep(1 + self.world.below(30_000)).await;
            let most = self.world.faults().skew_ms;
            if most == 0 {
                return;
            }
            let node = usize::try_from(self.world.below(self.plan.nodes as u64)).unwrap_or(0);
            let ms = self.world.below(most.unsigned_abs());
            self.world.set_skew(node, i64::try_from(ms).unwrap_or(0));
        }
    }

    /// Notes that a node was asked to fire an occurrence: its definition and the time it is about.
    pub(crate) fn fired(&self, (definition, nominal): (String, i64), is_answered: bool) {
        // Who did not answer may go on for as long as it stands still.
        let more = if is_answered {
            0
        } else {
            180_000 + self.plan.faults.frozen_ms()
        };
        let until = self.world.now_ms() + i64::try_from(more).unwrap_or(0);
        lock(&self.shared.fired).push((definition, nominal, until));
    }

    /// Fires a timer of the table once, and now and then twice at once.
    async fn fire_row(&self, timer: Timer) {
        if self.world.chance(self.world.faults().twice) {
            let (again, cluster) = (timer.clone(), self.clone());
            self.drive(async move {
                cluster.fire_once(again).await;
            });
        }
        let occurrence = match &timer.wakes {
            Wakes::Occurrence(o) => Some((o.definition_id.clone(), o.nominal.0)),
            Wakes::Bookmark { .. } => None,
        };
        let turn = self.take_turn().await;
        let is_answered = self.fire_once(timer).await;
        drop(turn);
        if let Some(occurrence) = occurrence {
            self.fired(occurrence, is_answered);
        }
    }

    async fn fire_once(&self, timer: Timer) -> bool {
        let fired = self.ask("fire timer", |runtime| async move {
            // What could not be done is tried again for as long as its row is there.
            drop(runtime.fire_timer(&timer).await);
        });
        fired.await.is_some()
    }

    /// A timer was put into the table: fires it when it is due, until its row is gone.
    pub(crate) fn drive_row(&self, key: &Key) {
        let (cluster, key) = (self.clone(), key.clone());
        self.drive(async move {
            let due: i64 = key.sort.get(..13).and_then(|d| d.parse().ok()).unwrap_or(0);
            let world = &cluster.world;
            let ms = u64::try_from(due - world.now_ms()).unwrap_or(0);
            world.sleep(ms + world.below(500)).await;
            let most = cluster.rows_a_look();
            let mut pause_ms = 100;
            while cluster
                .shared
                .table
                .get(&key)
                .await
                .is_ok_and(|i| i.is_some())
            {
                let wanted = key.clone();
                let shard = shard_of(&wanted);
                let found = cluster
                    .ask("timers due", |runtime| async move {
                        let store = runtime.store();
                        store.timers_due(shard, due, most, None).await.ok()
                    })
                    .await;
                let is_it = |row: &Row| {
                    row.set(1)
                        .is_ok_and(|write| write.key().sort == wanted.sort)
                };
                let row = found
                    .flatten()
                    .and_then(|page| page.timers.into_iter().find(is_it));
                let timer = row.and_then(|row| serde_json::from_slice::<Timer>(&row.body).ok());
                if let Some(timer) = timer {
                    cluster.fire_row(timer).await;
                }
                world.sleep(pause_ms + world.below(500)).await;
                pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
            }
        });
    }

    /// A node hears that a definition was changed, some time.
    pub(crate) fn tell(&self, number: usize, changed: DefinitionChanged) {
        let cluster = self.clone();
        self.world.spawn(Owner::Outside, async move {
            cluster.world.sleep(cluster.world.below(5_000)).await;
            cluster.runtime(number).invalidate(&changed);
        });
    }

    /// How many rows one look at the timers of the table reads.
    fn rows_a_look(&self) -> u32 {
        if self.plan.hard.few_rows {
            ROWS_A_LOOK
        } else {
            1_000
        }
    }

    /// Whether a row of the timers has been due for longer than anything may take.
    pub(crate) fn is_overdue(&self) -> bool {
        (0..TIMER_SHARDS_MAX).any(|shard| {
            let query = Query {
                until: format!("{:013}", self.world.now_ms() - OVERDUE_MS_MAX),
                limit: 1,
                ..Query::prefix(format!("~/TIMER#{shard:02}"), "")
            };
            let first = at_once(self.shared.table.query(&query));
            first.is_ok_and(|page| !page.items.is_empty())
        })
    }

    /// Nodes look every few seconds whether there is a pause.
    async fn look_at_pauses(self) {
        loop {
            self.world.sleep(PAUSE_SEEN_MS.unsigned_abs()).await;
            for number in 0..self.plan.nodes {
                let runtime = self.runtime(number);
                self.world.spawn(Owner::Node(number), async move {
                    // What fails is looked at again.
                    let _ = runtime.look_at_pause().await;
                });
            }
        }
    }

    /// A worker does a task. It reports until it is told that the report counts; an impatient one reports once.
    pub(crate) fn work_on(&self, request: &TaskRequest) {
        let (cluster, task) = (self.clone(), request.task_id.clone());
        let is_many = [FAN, MIXUP].contains(&request.workflow_definition_id.as_str());
        let is_patient = !(self.plan.hard.impatient && is_many && request.task_name == "work");
        self.drive(async move {
            cluster.world.sleep(cluster.world.below(3_000)).await;
            if is_patient {
                cluster.report(task).await;
                return;
            }
            let id = task.clone();
            let told = cluster.ask("complete task", |runtime| async move {
                runtime.complete_task(&tenant(), &id, json!("done")).await
            });
            if !told.await.is_some_and(counts) {
                lock(&cluster.shared.given_up).push(task);
            }
        });
    }

    async fn report(&self, task: String) {
        self.insist(
            "complete task",
            |runtime| {
                let task = task.clone();
                async move { runtime.complete_task(&tenant(), &task, json!("done")).await }
            },
            |outcome| counts(outcome).then_some(()),
        )
        .await;
    }

    /// Impatient workers come back and report until they are told that it counts.
    pub(crate) fn come_back(&self) {
        for task in std::mem::take(&mut *lock(&self.shared.given_up)) {
            let cluster = self.clone();
            self.drive(async move { cluster.report(task).await });
        }
    }
}

/// More shards than the timers of any configuration have.
const TIMER_SHARDS_MAX: u16 = 8;

/// The shard in which a timer's row lies.
fn shard_of(key: &Key) -> u16 {
    let shard = key.partition.rsplit('#').next();
    shard.and_then(|shard| shard.parse().ok()).unwrap_or(0)
}

/// Whether a report counts.
fn counts(outcome: Result<ResumeOutcome, RuntimeError>) -> bool {
    !matches!(outcome, Ok(ResumeOutcome::NotYet) | Err(_))
}
