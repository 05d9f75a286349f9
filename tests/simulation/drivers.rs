//! What drives the nodes: timers, messages, sweeps, news, workers, and whoever brings dead nodes back. Each thing
//! that is under way is a task of its own, asleep until something is due.

use dormouse_runtime::message::Message;
use dormouse_runtime::port::DefinitionChanged;
use dormouse_runtime::{Delivered, ResumeOutcome, Timer, TimerOutcome, Wakes};
use dormouse_store::table::{Key, Table};
use dormouse_store::timer::Timer as Row;
use serde_json::json;

use super::cluster::{ATTEMPTS_MAX, Cluster, lock, tenant};
use super::sabotage::Sabotage;
use super::world::Owner;

/// How long a timer is left alone at most before it is tried again, in ms: many that all try at every chance would let
/// no node live.
const PAUSE_MS_MAX: u64 = 30_000;

impl Cluster {
    /// Something more is under way, or less.
    pub(crate) fn pend(&self, more: i64) {
        *lock(&self.shared.pending) += more;
    }

    fn drive(&self, work: impl Future<Output = ()> + Send + 'static) {
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

    /// Promises to fire a timer that does not lie in the table.
    pub(crate) fn schedule(&self, timer: &Timer) {
        let before = lock(&self.shared.timers).insert(timer.id(), timer.clone());
        if before.is_none() {
            self.drive(self.clone().fire(timer.clone()));
        }
    }

    async fn fire(self, timer: Timer) {
        let world = &self.world;
        let faults = world.faults();
        let ms = u64::try_from(timer.due.0 - world.now_ms()).unwrap_or(0);
        if world.chance(faults.twice) {
            world.sleep(ms.saturating_sub(world.below(5_000))).await;
            self.fire_once(timer.clone()).await;
        }
        let ms = u64::try_from(timer.due.0 - world.now_ms()).unwrap_or(0);
        world.sleep(ms + world.below(800)).await;
        let mut pause_ms = 200;
        loop {
            let is_wanted = lock(&self.shared.timers).contains_key(&timer.id());
            // One that was forgotten fires all the same now and then.
            if !is_wanted && !world.chance(100) {
                return;
            }
            if self.shared.sabotage == Some(Sabotage::TimerOnce) {
                lock(&self.shared.timers).remove(&timer.id());
            }
            match self.fire_once(timer.clone()).await {
                Some(TimerOutcome::Fired(_) | TimerOutcome::Stale) => break,
                Some(TimerOutcome::Early | TimerOutcome::Later) | None if !is_wanted => break,
                Some(TimerOutcome::Early | TimerOutcome::Later) | None => {
                    world.sleep(pause_ms + world.below(1_000)).await;
                    pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
                }
            }
        }
        lock(&self.shared.timers).remove(&timer.id());
    }

    async fn fire_once(&self, mut timer: Timer) -> Option<TimerOutcome> {
        // Where timers lie in the table its row would stay.
        if self.shared.sabotage == Some(Sabotage::TimerNotDeduplicated)
            && !self.plan.has_table_timers
            && let Wakes::Occurrence(occurrence) = &mut timer.wakes
        {
            occurrence.nominal.0 = occurrence.nominal.0.max(self.world.now_ms());
        }
        let twice = self.world.chance(self.world.faults().twice);
        if twice {
            let (again, cluster) = (timer.clone(), self.clone());
            self.drive(async move {
                cluster
                    .ask("fire timer", |runtime| async move {
                        runtime.fire_timer(&again).await.ok()
                    })
                    .await;
            });
        }
        let occurrence = match &timer.wakes {
            Wakes::Occurrence(o) => Some((o.definition_id.clone(), o.nominal.0)),
            Wakes::Bookmark { .. } => None,
        };
        let outcome = self
            .ask("fire timer", |runtime| async move {
                runtime.fire_timer(&timer).await.ok()
            })
            .await;
        if let Some((definition, nominal)) = occurrence {
            // Who did not answer may go on for as long as it stands still.
            let more = if outcome.is_some() { 0 } else { 300_000 };
            let until = self.world.now_ms() + more;
            lock(&self.shared.fired).push((definition, nominal, until));
        }
        outcome.flatten()
    }

    /// A timer was put into the table: fires it when it is due, until its row is gone.
    pub(crate) fn drive_row(&self, key: &Key) {
        let (cluster, key) = (self.clone(), key.clone());
        self.drive(async move {
            let due: i64 = key.sort.get(..13).and_then(|d| d.parse().ok()).unwrap_or(0);
            let world = &cluster.world;
            let ms = u64::try_from(due - world.now_ms()).unwrap_or(0);
            world.sleep(ms + world.below(500)).await;
            let mut pause_ms = 100;
            while cluster
                .shared
                .table
                .get(&key)
                .await
                .is_ok_and(|i| i.is_some())
            {
                let wanted = key.clone();
                let found = cluster
                    .ask("timers due", |runtime| async move {
                        runtime.store().timers_due(due, 1_000).await.ok()
                    })
                    .await;
                let is_it = |row: &Row| {
                    Row::key(&row.tenant, &row.id, row.due_ms).is_ok_and(|key| key == wanted)
                };
                let row = found
                    .flatten()
                    .and_then(|rows| rows.into_iter().find(is_it));
                let timer = row.and_then(|row| serde_json::from_slice::<Timer>(&row.body).ok());
                if let Some(timer) = timer {
                    cluster.fire_once(timer).await;
                }
                world.sleep(pause_ms + world.below(500)).await;
                pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
            }
        });
    }

    /// A message in the queue: handed out again and again until it is done.
    pub(crate) fn queue(&self, message: Message, delay_ms: u64) {
        let cluster = self.clone();
        self.drive(async move {
            let world = cluster.world.clone();
            world.sleep(delay_ms + world.below(200)).await;
            for attempt in 1.. {
                let again = message.clone();
                let delivered = cluster
                    .ask(
                        "deliver",
                        |runtime| async move { runtime.deliver(&again).await },
                    )
                    .await;
                let reason = match delivered {
                    Some(Ok(Delivered::Done)) => return,
                    Some(Ok(Delivered::Never(reason))) => Some(reason),
                    _ if attempt >= ATTEMPTS_MAX => Some("too many attempts"),
                    _ => None,
                };
                if cluster.shared.sabotage == Some(Sabotage::MessageOnce) {
                    return;
                }
                let again = message.clone();
                if let Some(reason) = reason
                    && cluster
                        .ask("give up", |runtime| async move {
                            runtime.give_up(&again, reason).await.is_ok()
                        })
                        .await
                        == Some(true)
                {
                    return;
                }
                // Whoever did not answer keeps it hidden for a while, as SQS does; whoever did asks for longer and longer
                // pauses, as the functions do.
                let pause = match delivered {
                    Some(_) => 1_000 << attempt.min(5),
                    None => 30_000,
                };
                world.sleep(pause + world.below(500)).await;
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

    /// A worker hears of a task, does it, and says so until it is told that it counts.
    pub(crate) fn work_on(&self, task: String) {
        let cluster = self.clone();
        self.drive(async move {
            cluster.world.sleep(cluster.world.below(3_000)).await;
            cluster
                .insist(
                    "complete task",
                    |runtime| {
                        let task = task.clone();
                        async move { runtime.complete_task(&tenant(), &task, json!("done")).await }
                    },
                    |outcome| match outcome {
                        Ok(ResumeOutcome::NotYet(_)) | Err(_) => None,
                        Ok(_) => Some(()),
                    },
                )
                .await;
        });
    }
}
