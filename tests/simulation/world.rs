//! The simulated world: one thread, one seed, virtual time. Every port call is a point at which it decides what
//! happens next: who goes on, what is delayed, which answer is lost, which node dies.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use dormouse_engine::id::splitmix;

/// Whose a task is. When a node dies, its tasks die with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// A node of the system.
    Node(usize),
    /// Somebody outside.
    Outside,
}

/// How often what goes wrong, in thousandths of the port calls.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    /// The call does nothing and says so.
    pub(crate) refused: u64,
    /// The call does its work, and the answer is lost.
    pub(crate) lost: u64,
    /// The call takes up to seconds.
    pub(crate) slow: u64,
    /// The node dies before or after the call.
    pub(crate) crash: u64,
    /// A message or timer comes twice.
    pub(crate) twice: u64,
    /// How far the nodes' clocks are apart, ms.
    pub(crate) skew_ms: i64,
}

/// What a port call meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing special.
    Well,
    /// Fail without doing anything.
    Refused,
    /// Do it, and lose the answer.
    Lost,
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Inner {
    random: u64,
    now_ms: i64,
    faults: Faults,
    next_task: u64,
    tasks: BTreeMap<u64, (Owner, Option<Task>)>,
    ready: Vec<u64>,
    sleepers: BTreeMap<(i64, u64), Waker>,
    dead: BTreeSet<usize>,
    calls: u64,
    crashes: u64,
    hash: u64,
    trace: Option<Vec<String>>,
}

/// The world. Cheap to clone; all clones are the same one.
#[derive(Clone)]
pub(crate) struct World(Arc<Mutex<Inner>>);

struct TaskWaker {
    id: u64,
    world: World,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        let mut inner = self.world.inner();
        if inner.tasks.contains_key(&self.id) && !inner.ready.contains(&self.id) {
            inner.ready.push(self.id);
        }
    }
}

/// 2026-01-01T00:00:00Z.
const BEGINNING_MS: i64 = 1_767_225_600_000;

impl World {
    /// A world of a seed.
    #[must_use]
    pub(crate) fn new(seed: u64, faults: Faults, is_traced: bool) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            random: splitmix(seed),
            now_ms: BEGINNING_MS,
            faults,
            next_task: 0,
            tasks: BTreeMap::new(),
            ready: Vec::new(),
            sleepers: BTreeMap::new(),
            dead: BTreeSet::new(),
            calls: 0,
            crashes: 0,
            hash: 0,
            trace: is_traced.then(Vec::new),
        })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0
            .lock()
            .expect("one thread, and it does not panic while it holds this")
    }

    /// A random number below `bound`.
    #[must_use]
    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.inner().below(bound)
    }

    /// 64 random bits.
    #[must_use]
    pub(crate) fn bits(&self) -> u64 {
        self.inner().bits()
    }

    /// Whether something happens that happens so many times in a thousand.
    #[must_use]
    pub(crate) fn chance(&self, thousandths: u64) -> bool {
        thousandths > 0 && self.below(1_000) < thousandths
    }

    /// The true time, ms since 1970.
    #[must_use]
    pub(crate) fn now_ms(&self) -> i64 {
        self.inner().now_ms
    }

    /// What can go wrong.
    #[must_use]
    pub(crate) fn faults(&self) -> Faults {
        self.inner().faults
    }

    /// From here on other things go wrong.
    pub(crate) fn set_faults(&self, faults: Faults) {
        self.inner().faults = faults;
    }

    /// Port calls so far, and deaths of nodes.
    #[must_use]
    pub(crate) fn counts(&self) -> (u64, u64) {
        let inner = self.inner();
        (inner.calls, inner.crashes)
    }

    /// A number that stands for everything that has happened, in order.
    #[must_use]
    pub(crate) fn hash(&self) -> u64 {
        self.inner().hash
    }

    /// What has happened, where it is traced.
    #[must_use]
    pub(crate) fn trace(&self) -> Vec<String> {
        self.inner().trace.clone().unwrap_or_default()
    }

    /// Notes something.
    pub(crate) fn note(&self, what: impl FnOnce() -> String) {
        let mut inner = self.inner();
        if inner.trace.is_some() {
            let line = format!("{:>9} {}", inner.now_ms - BEGINNING_MS, what());
            inner.trace.iter_mut().for_each(|t| t.push(line.clone()));
        }
    }

    /// Adds a task.
    pub(crate) fn spawn(&self, owner: Owner, task: impl Future<Output = ()> + Send + 'static) {
        let mut inner = self.inner();
        if let Owner::Node(node) = owner
            && inner.dead.contains(&node)
        {
            return;
        }
        let id = inner.next_task;
        inner.next_task += 1;
        inner.tasks.insert(id, (owner, Some(Box::pin(task))));
        inner.ready.push(id);
    }

    /// A port call begins: lets others go on first, perhaps for long, perhaps for ever.
    pub(crate) async fn point(&self, owner: Owner, name: &'static str) -> Fate {
        let (slow_ms, fate) = {
            let mut inner = self.inner();
            inner.calls += 1;
            inner.hash = splitmix(inner.hash ^ inner.random ^ name.len() as u64);
            let faults = inner.faults;
            let slow_ms = if inner.below(1_000) < faults.slow {
                inner.below(3_000)
            } else {
                0
            };
            let dice = inner.below(1_000);
            let fate = if dice < faults.refused {
                Fate::Refused
            } else if dice < faults.refused + faults.lost {
                Fate::Lost
            } else {
                Fate::Well
            };
            (slow_ms, fate)
        };
        self.note(|| {
            format!(
                "{owner:?} {name} {fate:?}{}",
                if slow_ms > 0 { " slow" } else { "" }
            )
        });
        if slow_ms > 0 {
            self.sleep(slow_ms).await;
        } else {
            Yield(false).await;
        }
        self.maybe_crash(owner).await;
        fate
    }

    /// The node dies here, now and then; whoever dies never returns.
    pub(crate) async fn maybe_crash(&self, owner: Owner) {
        let Owner::Node(node) = owner else { return };
        let dies = {
            let mut inner = self.inner();
            let crash = inner.faults.crash;
            inner.below(1_000) < crash
        };
        if dies {
            self.kill(node);
            std::future::pending::<()>().await;
        }
    }

    /// Kills a node: all its tasks and all its memory are gone.
    pub(crate) fn kill(&self, node: usize) {
        let mut inner = self.inner();
        inner.dead.insert(node);
        inner.crashes += 1;
        drop(inner);
        self.note(|| format!("node {node} dies"));
    }

    /// Whether a node is dead.
    #[must_use]
    pub(crate) fn is_dead(&self, node: usize) -> bool {
        self.inner().dead.contains(&node)
    }

    /// A node may run tasks again.
    pub(crate) fn revive(&self, node: usize) {
        self.inner().dead.remove(&node);
        self.note(|| format!("node {node} lives"));
    }

    /// Returns after so many milliseconds of virtual time.
    pub(crate) fn sleep(&self, ms: u64) -> impl Future<Output = ()> + Send + 'static {
        let due = self.now_ms() + i64::try_from(ms).unwrap_or(i64::MAX / 2);
        Sleep {
            world: self.clone(),
            due,
            key: None,
        }
    }

    /// Runs everything until nothing can go on any more, or until `is_over`. Time jumps to whoever wakes next.
    pub(crate) fn run(&self, mut is_over: impl FnMut() -> bool) {
        while !is_over() {
            let next = {
                let mut inner = self.inner();
                let count = inner.ready.len() as u64;
                if count == 0 {
                    let Some((&(due, number), _)) = inner.sleepers.first_key_value() else {
                        return;
                    };
                    inner.now_ms = inner.now_ms.max(due);
                    let waker = inner.sleepers.remove(&(due, number));
                    drop(inner);
                    waker.into_iter().for_each(Waker::wake);
                    continue;
                }
                let place = usize::try_from(inner.below(count)).unwrap_or(0);
                let id = inner.ready.swap_remove(place);
                inner
                    .tasks
                    .get_mut(&id)
                    .and_then(|(owner, task)| task.take().map(|t| (id, *owner, t)))
            };
            if let Some((id, owner, task)) = next {
                self.poll(id, owner, task);
            }
        }
    }

    fn poll(&self, id: u64, owner: Owner, mut task: Task) {
        let waker = Waker::from(Arc::new(TaskWaker {
            id,
            world: self.clone(),
        }));
        let is_done = task
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready();
        let mut gone = Vec::new();
        {
            let mut inner = self.inner();
            if is_done {
                inner.tasks.remove(&id);
            } else if let Some((_, place)) = inner.tasks.get_mut(&id) {
                *place = Some(task);
            }
            if let Owner::Node(node) = owner
                && inner.dead.contains(&node)
            {
                let dying: Vec<u64> = inner
                    .tasks
                    .iter()
                    .filter(|(_, (o, _))| *o == owner)
                    .map(|(id, _)| *id)
                    .collect();
                gone.extend(dying.into_iter().filter_map(|id| inner.tasks.remove(&id)));
            }
        }
        // Dropped without the lock: a task's end may wake others.
        drop(gone);
    }
}

impl Inner {
    fn bits(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        splitmix(self.random)
    }

    fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.bits() % bound }
    }
}

/// Lets others go first, once.
struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

struct Sleep {
    world: World,
    due: i64,
    key: Option<(i64, u64)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let world = self.world.clone();
        let mut inner = world.inner();
        if inner.now_ms >= self.due {
            if let Some(key) = self.key.take() {
                inner.sleepers.remove(&key);
            }
            return Poll::Ready(());
        }
        let key = match self.key {
            Some(key) => key,
            None => {
                inner.next_task += 1;
                (self.due, inner.next_task)
            }
        };
        inner.sleepers.insert(key, cx.waker().clone());
        drop(inner);
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.world.inner().sleepers.remove(&key);
        }
    }
}
