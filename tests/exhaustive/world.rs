//! A world that stands still until it is told what happens next: tasks, virtual time, and the calls that wait.
//!
//! Every call to the world outside is a point: it happens when the explorer grants it, in one piece, and the node
//! goes on to its next points. So a run is a list of choices, and nothing else.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use dormouse_engine::id::splitmix;

/// Whose a task or a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Owner {
    /// A node: it may die, and all it remembers with it.
    Node(usize),
    /// Somebody outside.
    Client(usize),
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It reads: that it fails or that its node dies before it makes no difference to anybody else.
    Read,
    /// It changes something.
    Write,
    /// A use case is over, and its caller is told.
    Tell,
}

/// How a call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Well.
    Well,
    /// It is done, and its answer is lost.
    AnswerLost,
    /// It never arrives, and nobody knows.
    RequestLost,
}

/// A call that waits: whose, and the how manieth of theirs.
pub(crate) type PointId = (Owner, u64);

struct Point {
    what: String,
    kind: Kind,
    fate: Option<Fate>,
    waker: Waker,
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
struct Inner {
    now_ms: i64,
    next_task: u64,
    tasks: BTreeMap<u64, (Owner, Option<Task>)>,
    ready: VecDeque<u64>,
    points: BTreeMap<PointId, Point>,
    sleepers: BTreeMap<(i64, Owner, u64), Waker>,
    /// How many points and sleeps each has begun.
    begun: BTreeMap<Owner, u64>,
    /// All that each has seen. What it does next follows from it.
    seen: BTreeMap<Owner, u64>,
    births: BTreeMap<usize, u64>,
    is_traced: bool,
    /// Whether a node has died or something was lost.
    had_fault: bool,
    wrong: Vec<String>,
}

/// The world. Cheap to clone; all clones are the same one.
#[derive(Clone, Default)]
pub(crate) struct World(Arc<Mutex<Inner>>);

struct TaskWaker {
    id: u64,
    world: World,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        let mut inner = self.world.inner();
        if inner.tasks.contains_key(&self.id) && !inner.ready.contains(&self.id) {
            inner.ready.push_back(self.id);
        }
    }
}

impl World {
    /// A world at a time.
    pub(crate) fn at(now_ms: i64) -> Self {
        let world = Self::default();
        world.inner().now_ms = now_ms;
        world
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.inner().now_ms
    }

    /// Whether anybody will read what the calls were about.
    pub(crate) fn is_traced(&self) -> bool {
        self.inner().is_traced
    }

    pub(crate) fn trace(&self) {
        self.inner().is_traced = true;
    }

    /// Whether a node has died or something was lost.
    pub(crate) fn had_fault(&self) -> bool {
        self.inner().had_fault
    }

    /// How often a node has died.
    pub(crate) fn births(&self, node: usize) -> u64 {
        self.inner().births.get(&node).copied().unwrap_or(0)
    }

    /// Notes that a promise is broken.
    pub(crate) fn is_wrong(&self, what: String) {
        self.inner().wrong.push(what);
    }

    /// The broken promises so far.
    pub(crate) fn wrong(&self) -> Vec<String> {
        self.inner().wrong.clone()
    }

    /// Somebody has seen something.
    pub(crate) fn see(&self, owner: Owner, what: u64) {
        let mut inner = self.inner();
        let now = inner.now_ms.unsigned_abs();
        let seen = inner.seen.entry(owner).or_default();
        *seen = splitmix(*seen ^ splitmix(what) ^ now.rotate_left(32));
    }

    /// A number for all that somebody has seen.
    pub(crate) fn seen_by(&self, owner: Owner) -> u64 {
        self.inner().seen.get(&owner).copied().unwrap_or(0)
    }

    /// A number for all that everybody has seen: with what lies outside of them, the whole state of the world.
    pub(crate) fn seen(&self) -> u64 {
        let inner = self.inner();
        let mut all = splitmix(inner.now_ms.unsigned_abs());
        for (owner, seen) in &inner.seen {
            let owner = match owner {
                Owner::Node(n) => *n as u64,
                Owner::Client(n) => 1_000 + *n as u64,
            };
            all = splitmix(all ^ splitmix(owner) ^ seen.rotate_left(1));
        }
        all
    }

    pub(crate) fn spawn(&self, owner: Owner, task: impl Future<Output = ()> + Send + 'static) {
        let mut inner = self.inner();
        let id = inner.next_task;
        inner.next_task += 1;
        inner.tasks.insert(id, (owner, Some(Box::pin(task))));
        inner.ready.push_back(id);
    }

    /// A call begins; returns when it is granted.
    pub(crate) async fn point(&self, owner: Owner, kind: Kind, what: String) -> Fate {
        let fate = Granted {
            world: self.clone(),
            owner,
            new: Some((kind, what)),
            number: 0,
        }
        .await;
        self.see(owner, fate as u64);
        fate
    }

    /// Returns after so many milliseconds of virtual time.
    pub(crate) async fn sleep(&self, owner: Owner, ms: u64) {
        let due = self.now_ms() + i64::try_from(ms).unwrap();
        let (world, key) = (self.clone(), None);
        Sleep {
            world,
            owner,
            due,
            key,
        }
        .await;
        self.see(owner, 7);
    }

    /// Lets everybody go on as far as they can without anything from outside.
    pub(crate) fn settle(&self) {
        loop {
            let next = {
                let mut inner = self.inner();
                let Some(id) = inner.ready.pop_front() else {
                    return;
                };
                let task = inner.tasks.get_mut(&id).and_then(|(_, task)| task.take());
                task.map(|task| (id, task))
            };
            let Some((id, mut task)) = next else { continue };
            let world = self.clone();
            let waker = Waker::from(Arc::new(TaskWaker { id, world }));
            let is_done = task
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_ready();
            let mut inner = self.inner();
            if is_done {
                inner.tasks.remove(&id);
            } else if let Some((_, place)) = inner.tasks.get_mut(&id) {
                *place = Some(task);
            }
        }
    }

    /// The calls that wait, in order.
    pub(crate) fn points(&self) -> Vec<(PointId, Kind)> {
        let inner = self.inner();
        inner.points.iter().map(|(id, p)| (*id, p.kind)).collect()
    }

    /// What a call is about.
    pub(crate) fn what(&self, id: &PointId) -> String {
        let inner = self.inner();
        inner
            .points
            .get(id)
            .map_or(String::new(), |p| p.what.clone())
    }

    pub(crate) fn has_sleepers(&self) -> bool {
        !self.inner().sleepers.is_empty()
    }

    /// Lets a call happen.
    pub(crate) fn grant(&self, id: &PointId, fate: Fate) {
        let waker = {
            let mut inner = self.inner();
            inner.had_fault |= fate != Fate::Well;
            let point = inner.points.get_mut(id).unwrap();
            point.fate = Some(fate);
            point.waker.clone()
        };
        waker.wake();
    }

    /// Time goes on to whoever wakes next.
    pub(crate) fn wake_next(&self) {
        let first = self.inner().sleepers.first_key_value().map(|(k, _)| k.0);
        if let Some(due) = first {
            self.wait_until(due);
        }
    }

    /// Time goes on; whoever slept until then wakes.
    pub(crate) fn wait_until(&self, ms: i64) {
        let woken = {
            let mut inner = self.inner();
            inner.now_ms = inner.now_ms.max(ms);
            let now = inner.now_ms;
            let later = inner.sleepers.split_off(&(now + 1, Owner::Node(0), 0));
            std::mem::replace(&mut inner.sleepers, later)
        };
        woken.into_values().for_each(Waker::wake);
    }

    /// Nobody goes on. What tasks hold leads back to the world, which would keep itself in memory.
    pub(crate) fn ends(&self) {
        let gone = std::mem::take(&mut self.inner().tasks);
        // Without the lock: a task's end wakes others, and takes its calls back.
        drop(gone);
    }

    /// A node dies and comes back with nothing in its memory.
    pub(crate) fn kill(&self, node: usize) {
        let gone: Vec<_> = {
            let mut inner = self.inner();
            inner.had_fault = true;
            *inner.births.entry(node).or_default() += 1;
            let of = |(owner, _): &(Owner, Option<Task>)| *owner == Owner::Node(node);
            let ids: Vec<u64> = inner
                .tasks
                .iter()
                .filter(|(_, t)| of(t))
                .map(|(id, _)| *id)
                .collect();
            ids.into_iter()
                .filter_map(|id| inner.tasks.remove(&id))
                .collect()
        };
        // Without the lock: a task's end wakes others, and takes its calls back.
        drop(gone);
        self.see(Owner::Node(node), 13);
    }
}

struct Granted {
    world: World,
    owner: Owner,
    new: Option<(Kind, String)>,
    number: u64,
}

impl Future for Granted {
    type Output = Fate;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Fate> {
        let (world, owner) = (self.world.clone(), self.owner);
        let mut inner = world.inner();
        if let Some((kind, what)) = self.new.take() {
            let begun = inner.begun.entry(owner).or_default();
            *begun += 1;
            self.number = *begun;
            let (fate, waker) = (None, cx.waker().clone());
            let point = Point {
                what,
                kind,
                fate,
                waker,
            };
            inner.points.insert((owner, self.number), point);
            return Poll::Pending;
        }
        let id = (owner, self.number);
        let Some(fate) = inner.points.get(&id).and_then(|point| point.fate) else {
            if let Some(point) = inner.points.get_mut(&id) {
                point.waker = cx.waker().clone();
            }
            return Poll::Pending;
        };
        inner.points.remove(&id);
        Poll::Ready(fate)
    }
}

impl Drop for Granted {
    fn drop(&mut self) {
        self.world.inner().points.remove(&(self.owner, self.number));
    }
}

struct Sleep {
    world: World,
    owner: Owner,
    due: i64,
    key: Option<(i64, Owner, u64)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let world = self.world.clone();
        let mut inner = world.inner();
        if inner.now_ms >= self.due {
            return Poll::Ready(());
        }
        let key = self.key.unwrap_or_else(|| {
            let begun = inner.begun.entry(self.owner).or_default();
            *begun += 1;
            (self.due, self.owner, *begun)
        });
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
