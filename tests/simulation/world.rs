//! The simulated world: one thread, one seed, virtual time. It decides who goes on, when, and whose time stands
//! still. What goes wrong at a port call is decided in `fate.rs`.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Wake, Waker};

use dormouse_engine::id::splitmix;

use super::fate::Faults;
use super::nodes::NodeState;
use super::watch::Spent;

/// A run in which tasks are polled more often is given up, a few seconds.
const POLLS_MAX: u64 = 1_000_000;

/// Whose a task is. When a node dies, its tasks die with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// A node of the system.
    Node(usize),
    /// Somebody outside.
    Outside,
}

/// 2026-01-01T00:00:00Z.
pub(crate) const BEGINNING_MS: i64 = 1_767_225_600_000;

/// The world. Cheap to clone; all clones are the same one.
#[derive(Clone)]
pub(crate) struct World(Arc<Mutex<Inner>>);

pub(crate) struct Inner {
    random: u64,
    pub(crate) now_ms: i64,
    pub(crate) faults: Faults,
    pub(crate) tasks: Vec<Slot>,
    vacant: Vec<usize>,
    /// How often a task was polled.
    polls: u64,
    pub(super) ready: Vec<usize>,
    /// Those that would be, if their nodes did not stand still.
    pub(super) stopped: Vec<usize>,
    pub(crate) sleepers: BTreeMap<(i64, u64), Waker>,
    pub(crate) next_sleeper: u64,
    pub(crate) nodes: Vec<NodeState>,
    pub(crate) current: usize,
    ticks: u64,
    pub(crate) deaths: Vec<usize>,
    pub(crate) undertaker: Option<Waker>,
    pub(crate) counts: Counts,
    hash: u64,
    trace: Option<Vec<String>>,
}

pub(crate) type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The place of a task; used again when it is done.
pub(crate) struct Slot {
    pub(crate) owner: Owner,
    pub(crate) generation: u64,
    task: Option<Work>,
    pub(crate) waker: Option<Waker>,
    is_ready: bool,
    /// What it has asked of the table.
    pub(crate) spent: Spent,
    /// Calls of the table that are under way.
    pub(crate) under_way: u32,
    /// What it does.
    name: &'static str,
}

/// What has happened so far, in numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Port calls.
    pub(crate) calls: u64,
    /// Deaths of nodes.
    pub(crate) deaths: u64,
    /// Nodes that stood still for a while.
    pub(crate) freezes: u64,
    /// Calls that failed, or whose answers were lost.
    pub(crate) failures: u64,
}

struct TaskWaker {
    place: usize,
    generation: u64,
    world: World,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut inner = self.world.inner();
        let inner = &mut *inner;
        if let Some(slot) = inner.tasks.get_mut(self.place)
            && slot.generation == self.generation
            && !slot.is_ready
        {
            slot.is_ready = true;
            inner.ready.push(self.place);
        }
    }
}

impl World {
    /// A world of a seed.
    #[must_use]
    pub(crate) fn new(seed: u64, nodes: usize, is_traced: bool) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            random: splitmix(seed),
            now_ms: BEGINNING_MS,
            faults: Faults::default(),
            tasks: Vec::with_capacity(64),
            vacant: Vec::new(),
            polls: 0,
            ready: Vec::with_capacity(64),
            stopped: Vec::new(),
            sleepers: BTreeMap::new(),
            next_sleeper: 0,
            nodes: vec![NodeState::default(); nodes],
            current: 0,
            ticks: 0,
            deaths: Vec::new(),
            undertaker: None,
            counts: Counts::default(),
            hash: 0,
            trace: is_traced.then(Vec::new),
        })))
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
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

    /// What has happened, in numbers.
    #[must_use]
    pub(crate) fn counts(&self) -> Counts {
        self.inner().counts
    }

    /// A number that stands for everything that has happened, in order.
    #[must_use]
    pub(crate) fn hash(&self) -> u64 {
        self.inner().hash
    }

    /// What has happened, where it is traced.
    #[must_use]
    pub(crate) fn trace(&self) -> Vec<String> {
        self.inner().trace.take().unwrap_or_default()
    }

    /// Notes something.
    pub(crate) fn note(&self, what: impl FnOnce() -> String) {
        let mut inner = self.inner();
        let since = inner.now_ms - BEGINNING_MS;
        if let Some(trace) = &mut inner.trace {
            trace.push(format!("{since:>9} {}", what()));
        }
    }

    /// Adds a task.
    pub(crate) fn spawn(&self, owner: Owner, task: impl Future<Output = ()> + Send + 'static) {
        let mut inner = self.inner();
        if let Owner::Node(node) = owner {
            if inner.nodes[node].is_dead {
                return;
            }
            inner.nodes[node].tasks += 1;
        }
        let place = inner.vacant.pop().unwrap_or_else(|| {
            inner.tasks.push(Slot {
                owner,
                generation: 0,
                task: None,
                waker: None,
                is_ready: false,
                spent: Spent::default(),
                under_way: 0,
                name: "",
            });
            inner.tasks.len() - 1
        });
        let slot = &mut inner.tasks[place];
        let waker = Waker::from(Arc::new(TaskWaker {
            place,
            generation: slot.generation,
            world: self.clone(),
        }));
        slot.owner = owner;
        slot.task = Some(Box::pin(task));
        slot.waker = Some(waker);
        slot.is_ready = true;
        slot.spent = Spent::default();
        slot.under_way = 0;
        slot.name = "";
        inner.ready.push(place);
    }

    /// Names the task at work.
    pub(crate) fn name_current(&self, name: &'static str) {
        let mut inner = self.inner();
        let current = inner.current;
        inner.tasks[current].name = name;
    }

    /// What the task at work does.
    pub(crate) fn current_name(&self) -> &'static str {
        let inner = self.inner();
        inner.tasks[inner.current].name
    }

    /// A number that rises: what begins after something has ended has a greater one.
    #[must_use]
    pub(crate) fn tick(&self) -> u64 {
        let mut inner = self.inner();
        inner.ticks += 1;
        inner.ticks
    }

    /// Which task is at work.
    pub(crate) fn current(&self) -> (usize, u64) {
        let inner = self.inner();
        (inner.current, inner.tasks[inner.current].generation)
    }

    /// Runs everything until nothing can go on any more, or until `is_over`. Time jumps to whoever wakes next.
    pub(crate) fn run(&self, mut is_over: impl FnMut() -> bool) {
        while !is_over() && !self.is_too_long() {
            let Some(place) = self.next() else { return };
            if let Some(place) = place {
                self.poll(place);
            }
        }
    }

    /// Whether so much happens that the run is given up: a storm in which each attempt begins thousands of others shows
    /// nothing more for the hours that it takes.
    pub(crate) fn is_too_long(&self) -> bool {
        self.inner().polls > POLLS_MAX
    }

    /// Whose turn it is; else lets time pass. `None`: nothing will ever happen.
    fn next(&self) -> Option<Option<usize>> {
        let mut inner = self.inner();
        while !inner.ready.is_empty() {
            let count = inner.ready.len() as u64;
            let at = usize::try_from(inner.below(count)).unwrap_or(0);
            let place = inner.ready.swap_remove(at);
            if !inner.is_frozen(inner.tasks[place].owner) {
                return Some(Some(place));
            }
            inner.stopped.push(place);
        }
        let ((due, _), waker) = inner.sleepers.pop_first()?;
        inner.now_ms = inner.now_ms.max(due);
        drop(inner);
        waker.wake();
        Some(None)
    }

    fn poll(&self, place: usize) {
        let (task, waker) = {
            let mut inner = self.inner();
            inner.current = place;
            inner.polls += 1;
            let slot = &mut inner.tasks[place];
            slot.is_ready = false;
            (slot.task.take(), slot.waker.clone())
        };
        let (Some(mut task), Some(waker)) = (task, waker) else {
            return;
        };
        let is_done = task
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready();
        let mut inner = self.inner();
        let owner = inner.tasks[place].owner;
        let is_dead = matches!(owner, Owner::Node(node) if inner.nodes[node].is_dead);
        if !is_done {
            inner.tasks[place].task = Some(task);
        }
        let gone = if is_dead {
            inner.bury(owner, None)
        } else if is_done {
            inner.vacate(place);
            Vec::new()
        } else {
            return;
        };
        drop(inner);
        // Dropped without the lock: a task's end may wake others.
        drop(gone);
    }

    /// Ends everything. Tasks hold the world and the world holds tasks, so without it nothing would ever be freed.
    pub(crate) fn end(&self) {
        let (tasks, sleepers) = {
            let mut inner = self.inner();
            inner.ready.clear();
            inner.stopped.clear();
            let inner = &mut *inner;
            inner.undertaker = None;
            (
                std::mem::take(&mut inner.tasks),
                std::mem::take(&mut inner.sleepers),
            )
        };
        drop(tasks);
        drop(sleepers);
        // What a task's end has woken or spawned.
        self.inner().tasks.clear();
    }
}

impl Inner {
    pub(crate) fn bits(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        splitmix(self.random)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.bits() % bound }
    }

    /// A port call of the task at work: the hash stands for its place in the order of everything.
    pub(crate) fn stamp(&mut self, name: &str) {
        self.counts.calls += 1;
        let place = (self.current as u64) << 32 | name.len() as u64;
        self.hash = splitmix(self.hash ^ self.random ^ place);
    }

    pub(crate) fn vacate(&mut self, place: usize) -> Option<Work> {
        let slot = &mut self.tasks[place];
        slot.generation += 1;
        slot.waker = None;
        let task = slot.task.take();
        if std::mem::replace(&mut slot.is_ready, false) {
            self.ready.retain(|ready| *ready != place);
            self.stopped.retain(|stopped| *stopped != place);
        }
        if let Owner::Node(node) = self.tasks[place].owner {
            self.nodes[node].tasks -= 1;
        }
        self.vacant.push(place);
        task
    }
}
