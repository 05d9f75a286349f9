//! Tasks that wait for workers, as this process knows them: each request is handed other tasks, oldest first, without a
//! race, and one read of a queue serves many requests.
//!
//! All of it is a hint. Rows of the table say where to look, the instance says who has a task, and another process may
//! have taken what is here. Dropping a line loses nothing but a read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_store::Tenant;
use dormouse_store::stimulus::task::TaskRow;
use futures_channel::oneshot::{Receiver, Sender, channel};
use futures_util::lock;

/// Tasks that one line remembers.
const ROWS_MAX: usize = 1_000;
/// Lines; beyond that those are dropped that nobody uses at the moment.
const LINES_MAX: usize = 1_000;
/// Tasks of a read that are remembered while other processes take from the same queue.
const WINDOW: usize = 32;
/// For so long after a task was found gone other processes are assumed to take from the queue, in ms.
const SHARED_MS: i64 = 10_000;
/// What was read is forgotten after so long, in ms.
const REMEMBERED_MS: i64 = 5_000;

/// Tasks of one type in one queue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineKey {
    pub(crate) tenant: Tenant,
    pub(crate) queue: String,
    pub(crate) activity_type: String,
}

/// Since when a task waits, and its id.
type Place = (i64, String);

#[derive(Debug, Default)]
struct Line {
    /// Seen, and in nobody's hands.
    rows: BTreeSet<Place>,
    /// In the hands of a request.
    out: BTreeSet<String>,
    /// Whether the table may have tasks that are not here.
    is_partial: bool,
    /// Reads begun.
    reads: u64,
    /// The last of them that was carried to its end.
    landed: u64,
    /// Whether that one left out what it saw.
    is_window: bool,
    /// When the last one began.
    read_ms: i64,
    /// Given back while a read is under way, which may still bring them.
    gone: Option<BTreeSet<String>>,
    /// Whoever reads has it.
    reader: Arc<lock::Mutex<()>>,
    shared_until_ms: i64,
    /// Requests that wait, in the order in which they came.
    waiting: BTreeMap<u64, Arc<Bell>>,
}

/// Wakes a request that waits, once.
#[derive(Debug)]
struct Bell(Mutex<Option<Sender<()>>>);

impl Bell {
    /// False: it was rung before, or the request is gone.
    fn ring(&self) -> bool {
        let mut bell = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bell.take().is_some_and(|bell| bell.send(()).is_ok())
    }
}

impl Line {
    fn ring_next(&mut self) {
        while let Some((_, bell)) = self.waiting.pop_first() {
            if bell.ring() {
                return;
            }
        }
    }

    fn forget(&mut self) {
        self.rows.clear();
        self.is_partial = true;
    }

    fn is_idle(&self) -> bool {
        self.out.is_empty() && self.waiting.is_empty() && self.gone.is_none()
    }

    fn hand_out(&mut self, room: usize) -> Vec<Place> {
        let mut places = Vec::new();
        while places.len() < room
            && let Some(place) = self.rows.pop_first()
        {
            self.out.insert(place.1.clone());
            places.push(place);
        }
        places
    }
}

/// The lines of a process.
#[derive(Debug, Default)]
pub(crate) struct TaskLines(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    lines: BTreeMap<LineKey, Line>,
    last_waiting: u64,
}

/// A task in the hands of a request. Dropping it gives it back, without a bell: whoever it was rung for would try in vain
/// what has just been tried.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    lines: &'a TaskLines,
    key: &'a LineKey,
    place: Place,
    is_done: bool,
}

/// What a request finds in a line.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// These are its own.
    Tasks(Vec<Held<'a>>),
    /// None is known: the table is to be read, one request at a time, unless more reads than these have begun by then.
    Read(Arc<lock::Mutex<()>>, u64),
}

/// A request that waits for a task. Dropping it takes it from its lines.
pub(crate) struct Waiting<'a> {
    lines: &'a TaskLines,
    keys: &'a [LineKey],
    number: u64,
    pub(crate) rung: Receiver<()>,
}

impl TaskLines {
    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a line; one that nobody asked for yet is new.
    fn with<T>(&self, key: &LineKey, change: impl FnOnce(&mut Line) -> T) -> T {
        let mut all = self.lock();
        if !all.lines.contains_key(key) {
            if all.lines.len() >= LINES_MAX {
                all.lines.retain(|_, line| !line.is_idle());
            }
            let line = Line {
                is_partial: true,
                ..Line::default()
            };
            all.lines.insert(key.clone(), line);
        }
        change(all.lines.entry(key.clone()).or_default())
    }

    fn held<'a>(&'a self, key: &'a LineKey, places: Vec<Place>) -> Vec<Held<'a>> {
        let held = |place| Held {
            lines: self,
            key,
            place,
            is_done: false,
        };
        places.into_iter().map(held).collect()
    }

    /// Hands out tasks that are known.
    pub(crate) fn find<'a>(&'a self, key: &'a LineKey, room: usize, now_ms: i64) -> Found<'a> {
        let places = self.with(key, |line| {
            if now_ms.saturating_sub(line.read_ms) > REMEMBERED_MS {
                line.forget();
            }
            let places = line.hand_out(room);
            match places.is_empty() {
                true => Err((Arc::clone(&line.reader), line.reads)),
                false => Ok(places),
            }
        });
        match places {
            Ok(places) => Found::Tasks(self.held(key, places)),
            Err((reader, reads)) => Found::Read(reader, reads),
        }
    }

    /// Begins a read, or hands out what one has brought that began meanwhile.
    pub(crate) fn begin_read<'a>(
        &'a self,
        key: &'a LineKey,
        room: usize,
        reads: u64,
        now_ms: i64,
    ) -> Option<Vec<Held<'a>>> {
        let places = self.with(key, |line| {
            let places = line.hand_out(room);
            if !places.is_empty() || (line.landed > reads && !line.is_partial) {
                return Some(places);
            }
            line.reads += 1;
            line.read_ms = now_ms;
            line.is_window = false;
            line.gone = Some(BTreeSet::new());
            None
        });
        places.map(|places| self.held(key, places))
    }

    /// Notes a page. False: all of it is in other hands, and the next page should be read.
    pub(crate) fn note_page(&self, key: &LineKey, page: &[TaskRow], random: u64) -> bool {
        self.with(key, |line| {
            let mut new: Vec<Place> = Vec::new();
            for row in page {
                let is_gone = line.gone.as_ref().is_some_and(|g| g.contains(&row.task_id));
                if !is_gone && !line.out.contains(&row.task_id) {
                    new.push((row.since_ms, row.task_id.clone()));
                }
            }
            if line.shared_until_ms > line.read_ms && new.len() > WINDOW {
                // Other processes have read the same: not all shall begin at the same place.
                let choices = (new.len() - WINDOW) as u64 + 1;
                let from = usize::try_from(random % choices).unwrap_or(0);
                new = new.split_off(from);
                new.truncate(WINDOW);
                line.is_window = true;
            }
            let has_new = !new.is_empty();
            line.rows.extend(new);
            has_new
        })
    }

    /// Ends a read. `last`: of the last page, where there are more.
    pub(crate) fn end_read<'a>(
        &'a self,
        key: &'a LineKey,
        room: usize,
        last: Option<&TaskRow>,
    ) -> Vec<Held<'a>> {
        let places = self.with(key, |line| {
            line.gone = None;
            line.landed = line.reads;
            line.is_partial = last.is_some() || line.is_window;
            if let Some(last) = last {
                // What is younger comes after what was not read.
                let end = (last.since_ms, last.task_id.clone());
                line.rows.retain(|place| *place <= end);
            }
            let places = line.hand_out(room);
            if !line.rows.is_empty() {
                line.ring_next();
            }
            places
        });
        self.held(key, places)
    }

    /// Whether more tasks than it was handed may wait for a request.
    pub(crate) fn has_more(&self, key: &LineKey) -> bool {
        self.with(key, |line| line.is_partial || !line.rows.is_empty())
    }

    /// Whether a line was read within the last so many ms.
    pub(crate) fn is_fresh(&self, key: &LineKey, now_ms: i64, within_ms: i64) -> bool {
        self.with(key, |line| {
            line.reads > 0
                && line.landed == line.reads
                && now_ms.saturating_sub(line.read_ms) < within_ms
        })
    }

    /// Notes a task that this process has put into the table, and wakes one request that waits for it.
    pub(crate) fn put(&self, tenant: &Tenant, row: &TaskRow) {
        let key = LineKey {
            tenant: tenant.clone(),
            queue: row.queue.clone(),
            activity_type: row.activity_type.clone(),
        };
        let mut all = self.lock();
        // Nobody has asked for it here.
        let Some(line) = all.lines.get_mut(&key) else {
            return;
        };
        if line.rows.len() >= ROWS_MAX {
            line.is_partial = true;
        }
        if !line.is_partial && !line.out.contains(&row.task_id) {
            line.rows.insert((row.since_ms, row.task_id.clone()));
        }
        line.ring_next();
    }

    /// Waits in lines; to be called before the look that finds nothing.
    pub(crate) fn wait<'a>(&'a self, keys: &'a [LineKey]) -> Waiting<'a> {
        let (bell, rung) = channel();
        let bell = Arc::new(Bell(Mutex::new(Some(bell))));
        let number = {
            let mut all = self.lock();
            all.last_waiting += 1;
            all.last_waiting
        };
        for key in keys {
            self.with(key, |line| line.waiting.insert(number, Arc::clone(&bell)));
        }
        Waiting {
            lines: self,
            keys,
            number,
            rung,
        }
    }
}

impl Held<'_> {
    pub(crate) fn task_id(&self) -> &str {
        &self.place.1
    }

    /// The task's row.
    pub(crate) fn row(&self) -> TaskRow {
        TaskRow {
            queue: self.key.queue.clone(),
            activity_type: self.key.activity_type.clone(),
            since_ms: self.place.0,
            task_id: self.place.1.clone(),
        }
    }

    /// The task waits no more: the request has it.
    pub(crate) fn taken(&mut self) {
        self.is_done = true;
    }

    /// The task waits no more: it is gone, or another process has it, and perhaps others that are known here.
    pub(crate) fn gone(&mut self, now_ms: i64) {
        self.is_done = true;
        self.lines.with(self.key, |line| {
            line.shared_until_ms = now_ms.saturating_add(SHARED_MS);
            line.forget();
        });
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let place = std::mem::take(&mut self.place);
        self.lines.with(self.key, |line| {
            line.out.remove(&place.1);
            if !self.is_done {
                line.rows.insert(place);
            } else if let Some(gone) = &mut line.gone {
                gone.insert(place.1);
            }
        });
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let was_rung = self.rung.try_recv().is_ok_and(|rung| rung.is_some());
        for key in self.keys {
            self.lines.with(key, |line| {
                line.waiting.remove(&self.number);
                // It was woken and leaves what it was woken for.
                if was_rung && !line.rows.is_empty() {
                    line.ring_next();
                }
            });
        }
    }
}
