//! Chains of occurrences: exactly one path schedules the next one, whatever is delivered how often.

use async_trait::async_trait;
use dormouse_engine::time::Timestamp;
use dormouse_expressions::Expressions;
use dormouse_runtime::port::{Clock, PortError, Ports, Scheduler};
use dormouse_runtime::{Occurrence, Runtime, RuntimeConfig, Timer, TimerOutcome, Wakes};
use futures_util::future::join_all;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::flow::{cron, sequence, write};
use crate::world::{Node, World, wait_ms};

const MINUTE: i64 = 60_000;

/// A scheduler elsewhere: it notes what it is asked for, and fails the first few times.
#[derive(Default)]
struct Elsewhere {
    set: Mutex<Vec<Timer>>,
    failures: AtomicUsize,
}

#[async_trait]
impl Scheduler for Elsewhere {
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError> {
        tokio::task::yield_now().await;
        let left = self.failures.load(Ordering::Relaxed);
        if left > 0 {
            self.failures.store(left - 1, Ordering::Relaxed);
            return Err("throttled".into());
        }
        self.set.lock().unwrap().push(timer.clone());
        Ok(())
    }

    async fn forget(&self, _timer: &Timer) -> Result<(), PortError> {
        Ok(())
    }
}

impl Elsewhere {
    fn times(&self) -> Vec<i64> {
        let set = self.set.lock().unwrap();
        set.iter().map(|timer| timer.due.0).collect()
    }
}

fn over(node: &Node, scheduler: &Arc<Elsewhere>) -> Runtime {
    let ports = Ports {
        scheduler: scheduler.clone(),
        ..node.ports().clone()
    };
    let expressions = Arc::new(Expressions::default());
    let config = RuntimeConfig::server("elsewhere");
    Runtime::new(node.store().clone(), ports, expressions, config)
}

/// A workflow that runs each minute, and its first timer.
async fn each_minute(world: &World, runtime: &Runtime, scheduler: &Elsewhere) -> Timer {
    let flow = sequence("flow", &[cron("0 * * * * *", "allow"), write("tick")]);
    runtime
        .definitions()
        .save(&world.tenant, flow)
        .await
        .unwrap();
    runtime
        .definitions()
        .publish(&world.tenant, "flow")
        .await
        .unwrap();
    crate::world::settle().await;
    let mut set = scheduler.set.lock().unwrap();
    assert_eq!(set.len(), 1);
    set.remove(0)
}

fn heads(world: &World) -> usize {
    let rows = world.rows("WF#").into_iter();
    rows.filter(|row| row == "HEAD").count()
}

#[tokio::test(start_paused = true)]
async fn an_occurrence_that_is_delivered_three_times_schedules_the_next_one_once() {
    let world = World::new();
    let (one, other) = (world.node(), world.node());
    let scheduler = Arc::new(Elsewhere::default());
    let (one, other) = (over(&one, &scheduler), over(&other, &scheduler));
    let timer = each_minute(&world, &one, &scheduler).await;
    wait_ms(60_000).await;
    let (a, b) = tokio::join!(one.timers().fire(&timer), other.timers().fire(&timer));
    for outcome in [a, b] {
        outcome.unwrap();
    }
    one.timers().fire(&timer).await.unwrap();
    assert_eq!(scheduler.times(), [timer.due.0 + MINUTE]);
    assert_eq!(heads(&world), 1);
    // Also when the next one has gone on meanwhile.
    let next = scheduler.set.lock().unwrap()[0].clone();
    wait_ms(60_000).await;
    other.timers().fire(&next).await.unwrap();
    one.timers().fire(&timer).await.unwrap();
    let storm = join_all((0..20).map(|_| one.timers().fire(&next))).await;
    assert!(storm.iter().all(Result::is_ok));
    assert_eq!(scheduler.times(), [1, 2].map(|n| timer.due.0 + n * MINUTE));
    assert_eq!(heads(&world), 2);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_in_between_does_not_fork_the_chain() {
    let world = World::new();
    let node = world.node();
    let scheduler = Arc::new(Elsewhere::default());
    let runtime = over(&node, &scheduler);
    let timer = each_minute(&world, &runtime, &scheduler).await;
    wait_ms(60_000).await;
    // Its node dies at each call in turn: before the claim, before the start, in the start.
    for at in 0..8 {
        let dying = over(&world.dying_node(at, at % 2 == 0), &scheduler);
        let again = timer.clone();
        let firing = tokio::spawn(async move { dying.timers().fire(&again).await.map(|_| ()) });
        wait_ms(100).await;
        firing.abort();
    }
    wait_ms(31_000).await;
    for _ in 0..3 {
        runtime.timers().fire(&timer).await.unwrap();
    }
    let times = scheduler.times();
    assert!(!times.is_empty());
    assert!(
        times.iter().all(|due| *due == timer.due.0 + MINUTE),
        "one chain: {times:?}"
    );
    // A claim that was cut off between scheduling and its confirmation is taken once more, for the same timer.
    assert!(times.len() <= 2, "{times:?}");
    assert_eq!(heads(&world), 1);
}

#[tokio::test(start_paused = true)]
async fn an_occurrence_whose_scheduling_was_cut_off_is_scheduled_after_half_a_minute() {
    let world = World::new();
    let node = world.node();
    let scheduler = Arc::new(Elsewhere::default());
    let runtime = over(&node, &scheduler);
    let timer = each_minute(&world, &runtime, &scheduler).await;
    wait_ms(60_000).await;
    scheduler.failures.store(1, Ordering::Relaxed);
    runtime.timers().fire(&timer).await.unwrap_err();
    assert_eq!(scheduler.times(), [0; 0]);
    // Whoever claimed it may still be about to schedule it.
    wait_ms(20_000).await;
    let early = runtime.timers().fire(&timer).await.unwrap();
    assert!(matches!(early, TimerOutcome::Later), "{early:?}");
    assert_eq!(scheduler.times(), [0; 0]);
    assert_eq!(heads(&world), 1, "what is due is started meanwhile");
    wait_ms(11_000).await;
    runtime.timers().fire(&timer).await.unwrap();
    assert_eq!(scheduler.times(), [timer.due.0 + MINUTE]);
    runtime.timers().fire(&timer).await.unwrap();
    assert_eq!(scheduler.times().len(), 1);
    assert_eq!(heads(&world), 1);
}

#[tokio::test(start_paused = true)]
async fn a_sweep_fires_a_chain_that_its_scheduler_has_forgotten() {
    let world = World::new();
    let node = world.node();
    let scheduler = Arc::new(Elsewhere::default());
    let runtime = over(&node, &scheduler);
    let timer = each_minute(&world, &runtime, &scheduler).await;
    wait_ms(4 * 60_000).await;
    runtime.operations().sweep().await.unwrap();
    assert_eq!(scheduler.times(), [0; 0], "it may only be late");
    wait_ms(3 * 60_000).await;
    runtime.operations().sweep().await.unwrap();
    // Of those that were missed the latest, and the one after it.
    let now = world.now();
    let [next] = scheduler.times()[..] else {
        panic!("{:?}", scheduler.times());
    };
    assert!((now..=now + MINUTE).contains(&next), "{next} at {now}");
    assert_eq!(heads(&world), 1);
    runtime.operations().sweep().await.unwrap();
    // The forgotten one comes after all.
    runtime.timers().fire(&timer).await.unwrap();
    assert_eq!(scheduler.times().len(), 1);
    assert_eq!(heads(&world), 1);
}

#[tokio::test(start_paused = true)]
async fn a_publication_begins_one_chain_and_ends_the_one_before() {
    let world = World::new();
    let node = world.node();
    let scheduler = Arc::new(Elsewhere::default());
    let runtime = over(&node, &scheduler);
    let first = each_minute(&world, &runtime, &scheduler).await;
    let anew = each_minute(&world, &runtime, &scheduler).await;
    let generation = |timer: &Timer| match &timer.wakes {
        Wakes::Occurrence(Occurrence { generation, .. }) => *generation,
        Wakes::Bookmark { .. } => panic!("not an occurrence"),
    };
    assert!(generation(&anew) > generation(&first));
    wait_ms(60_000).await;
    let stale = runtime.timers().fire(&first).await.unwrap();
    assert!(matches!(stale, TimerOutcome::Stale));
    assert_eq!(scheduler.times(), [0; 0]);
    runtime.timers().fire(&anew).await.unwrap();
    assert_eq!(scheduler.times(), [anew.due.0 + MINUTE]);
    runtime
        .definitions()
        .retract(&world.tenant, "flow")
        .await
        .unwrap();
    let next = scheduler.set.lock().unwrap()[0].clone();
    wait_ms(60_000).await;
    runtime.timers().fire(&next).await.unwrap();
    assert_eq!(scheduler.times().len(), 1);
    assert_eq!(world.rows("CHAIN"), Vec::<String>::new());
}

/// A clock that is ahead of the others.
struct Ahead {
    clock: Arc<dyn Clock>,
    ms: i64,
}

#[async_trait]
impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        self.clock.now().plus_ms(self.ms)
    }

    async fn sleep(&self, ms: u64) {
        self.clock.sleep(ms).await;
    }

    fn random(&self) -> u64 {
        self.clock.random()
    }
}

#[tokio::test(start_paused = true)]
async fn a_schedule_is_not_silent_because_a_clock_was_ahead() {
    let world = World::new();
    let node = world.node();
    let scheduler = Arc::new(Elsewhere::default());
    let runtime = over(&node, &scheduler);
    let timer = each_minute(&world, &runtime, &scheduler).await;
    let mut ahead = node.ports().clone();
    ahead.scheduler = scheduler.clone();
    ahead.clock = Arc::new(Ahead {
        clock: ahead.clock.clone(),
        ms: 90 * MINUTE,
    });
    let config = RuntimeConfig::server("ahead");
    let expressions = Arc::new(Expressions::default());
    let ahead = Runtime::new(node.store().clone(), ahead, expressions, config);
    ahead.timers().fire(&timer).await.unwrap();
    let far = scheduler.times();
    assert_eq!(far, [timer.due.0 + 90 * MINUTE]);
    // The right clock sweeps: the rhythm goes on as if nothing had been, once.
    runtime.operations().sweep().await.unwrap();
    runtime.operations().sweep().await.unwrap();
    assert_eq!(scheduler.times()[1..], [timer.due.0]);
    wait_ms(60_000).await;
    let next = scheduler.set.lock().unwrap()[1].clone();
    runtime.timers().fire(&next).await.unwrap();
    assert_eq!(scheduler.times()[2..], [timer.due.0 + MINUTE]);
    assert_eq!(heads(&world), 2);
    // The occurrence that the wrong clock fired is not fired again in its time.
    wait_ms(89 * MINUTE.unsigned_abs()).await;
    let mut due = scheduler.set.lock().unwrap()[2].clone();
    while due.due.0 <= timer.due.0 + 89 * MINUTE {
        runtime.timers().fire(&due).await.unwrap();
        due = scheduler.set.lock().unwrap().last().unwrap().clone();
    }
    let fired = heads(&world);
    let first = scheduler.set.lock().unwrap()[0].clone();
    runtime.timers().fire(&first).await.unwrap();
    assert_eq!(heads(&world), fired);
}
