//! What drives the nodes: timers, messages, sweeps, news, workers, and whoever brings dead nodes back. Each thing
//! that is under way is a task of its own, asleep until something is due.

use dormouse_embedded::TimerDriver;
use dormouse_runtime::port::{DefinitionChanged, TaskRequest};
use dormouse_runtime::{PAUSE_SEEN_MS, ResumeOutcome, Runtime, RuntimeError, Timer, Wakes};
use dormouse_store::table::{Item, Query, Table, Value};
use serde_json::json;
use tokio::sync::watch;

use super::cluster::{Cluster, lock, tenant};
use super::hardness::OVERDUE_MS_MAX;
use super::inspector::at_once;
use super::sabotage::Sabotage;
use super::special::{FAN, MIXUP};
use super::world::Owner;

/// Fires timers as long as the node lives.
pub(crate) async fn fire(driver: TimerDriver) {
    let (_running, stopped) = watch::channel(false);
    driver.run(stopped).await;
}

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
        let redrives = self.clone().redrive_now_and_then();
        self.world.spawn(Owner::Outside, redrives);
    }

    async fn sweep(self) {
        loop {
            self.world.sleep(self.plan.sweep_s * 1_000).await;
            self.ask("sweep", |runtime| async move {
                runtime.operations().sweep().await.is_ok()
            })
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

    /// Notes the occurrences that a node has read among the timers that are due: it fires them now.
    pub(crate) fn has_read(&self, items: &[Item]) {
        let faults = self.plan.faults;
        let now = self.world.now_ms();
        for item in items {
            let due: i64 = item
                .key
                .sort
                .get(..13)
                .and_then(|due| due.parse().ok())
                .unwrap_or(i64::MAX);
            if let Some(Value::B(body)) = item.attributes.get("bo")
                && due <= now + faults.skew_ms
                && let Some(at) = body.windows(2).position(|two| two == b"{\"")
                && let Ok(timer) = serde_json::from_slice::<Timer>(&body[at..])
                && let Wakes::Occurrence(occurrence) = timer.wakes
            {
                let more = faults.frozen_ms().max(faults.slow_ms);
                let until = now + i64::try_from(more).unwrap_or(0);
                lock(&self.shared.fired).push((
                    occurrence.definition_id,
                    occurrence.nominal.0,
                    until,
                ));
            }
        }
    }

    /// A node hears that a definition was changed, some time.
    pub(crate) fn tell(&self, number: usize, changed: DefinitionChanged) {
        let cluster = self.clone();
        self.world.spawn(Owner::Outside, async move {
            cluster.world.sleep(cluster.world.below(5_000)).await;
            cluster.runtime(number).graphs().invalidate(&changed);
        });
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

    /// Ends what an order to pause that hung has begun after the end of its pause, as an operator does who sees it.
    pub(crate) async fn end_late_pauses(self) {
        loop {
            self.world.sleep(PAUSE_SEEN_MS.unsigned_abs()).await;
            if self.shared.table.has_partition("~/PAUSE") {
                self.insist(
                    "end pause",
                    |runtime| async move { runtime.pauses().end().await },
                    Result::ok,
                )
                .await;
            }
        }
    }

    /// A server looks whether there is a pause before it does anything, and then every few seconds.
    pub(crate) async fn watch_pauses(
        self,
        number: usize,
        runtime: Runtime,
        driver: Option<TimerDriver>,
    ) {
        while runtime.pauses().look().await.is_err() {
            self.world.sleep(1_000).await;
        }
        self.world.set_starting(number, false);
        if let Some(driver) = driver {
            self.world.spawn(Owner::Node(number), fire(driver));
        }
        loop {
            self.world.sleep(PAUSE_SEEN_MS.unsigned_abs()).await;
            // What fails is looked at again.
            let _ = runtime.pauses().look().await;
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
                runtime
                    .instances()
                    .complete_task(&tenant(), &id, json!("done"))
                    .await
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
                async move {
                    runtime
                        .instances()
                        .complete_task(&tenant(), &task, json!("done"))
                        .await
                }
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

/// Whether a report counts.
fn counts(outcome: Result<ResumeOutcome, RuntimeError>) -> bool {
    !matches!(outcome, Ok(ResumeOutcome::NotYet) | Err(_))
}
