//! Load on nodes that may vanish at any moment, and the check of what became of it: nothing that was acknowledged is
//! lost, nothing happened twice, nothing is stuck.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::api::{complete_task, count, journal, look, publish, seen, trigger_event};
use super::flow::flow;
use super::http_client::{Client, Response};
use super::outcome::Outcome;
use super::primitives::{delay, dispatch, line, sequence, task};
use super::sink::Sink;
use super::{activity, js, workflow};

/// The definitions that are started in turn: one that waits for a task, one for a time, one for an event, one for a
/// child, and one that calls somebody outside.
const KINDS: [&str; 5] = [
    "kill-task",
    "kill-sleep",
    "kill-event",
    "kill-parent",
    "kill-call",
];

/// What `kill-parent` starts.
const CHILD: &str = "kill-child";

/// How long `kill-sleep` sleeps.
const DELAY_MS: i64 = 500;

/// How often an activity did something, by its id and the event's name.
type Counts = BTreeMap<(String, String), u32>;

/// Load on the nodes at these ports.
pub struct Load {
    ports: Vec<u16>,
    patience: Duration,
    may_be_early: bool,
    refusals: Vec<u16>,
    sink: Sink,
    /// What the journal of an undisturbed instance of each kind counts.
    undisturbed: Mutex<Vec<Counts>>,
    /// Kind and instance id by key, for each acknowledged start.
    started: Mutex<BTreeMap<String, (usize, String)>>,
    resumed: AtomicUsize,
    repeated: AtomicUsize,
    is_over: AtomicBool,
}

impl Load {
    /// Load on the nodes at these ports. A request that is not answered for so long is repeated at another node.
    #[must_use]
    pub fn new(ports: Vec<u16>, patience: Duration) -> Self {
        Self {
            ports,
            patience,
            may_be_early: false,
            refusals: vec![409, 429, 503],
            sink: Sink::start(),
            undisturbed: Mutex::default(),
            started: Mutex::default(),
            resumed: AtomicUsize::new(0),
            repeated: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    /// Also this status means: again later.
    #[must_use]
    pub fn refused_by(mut self, status: u16) -> Self {
        self.refusals.push(status);
        self
    }

    /// Timers may be early, because clocks are wrong.
    #[must_use]
    pub fn with_wrong_clocks(mut self) -> Self {
        self.may_be_early = true;
        self
    }

    /// Publishes what is started, and runs one of each while nothing disturbs it.
    pub fn publish(&self) {
        let mut client = self.client(0);
        let wait = activity("Elsa.Event")
            .input("eventName", js("'go-' + getInput('Key')"))
            .id("wait");
        let call = activity("Elsa.SendHttpRequest")
            .id("call")
            .input(
                "url",
                js(&format!("'{}/' + getInput('Key')", self.sink.url())),
            )
            .input("method", "POST");
        let roots = [
            (CHILD, flow("one > two", [])),
            (
                KINDS[0],
                flow("before > work > after", [task("work").id("work")]),
            ),
            (
                KINDS[1],
                flow("sleep > awake", [delay("00:00:00.500").id("sleep")]),
            ),
            (KINDS[2], flow("wait > went", [wait])),
            (
                KINDS[3],
                flow("first > child > last", [dispatch(CHILD, true).id("child")]),
            ),
            (KINDS[4], sequence([line("ask"), call, line("asked")])),
        ];
        for (id, root) in roots {
            publish(&mut client, workflow(id, root).json());
        }
        for kind in 0..KINDS.len() {
            self.run(kind, 0, &format!("undisturbed-{kind}"));
        }
        let started = self.started.lock().unwrap().clone();
        let stuck = wait_until_at_rest(&mut client, &started);
        assert!(stuck.is_empty(), "stuck undisturbed: {stuck:?}");
        let mut all: Vec<_> = started.into_values().collect();
        all.sort_unstable();
        let lines = all.iter().map(|(_, id)| journal(&mut client, id));
        let counts = lines.map(|lines| counts(&lines.expect("the journal")));
        *self.undisturbed.lock().unwrap() = counts.collect();
    }

    /// Runs so many workers while the faults happen.
    pub fn during(&self, workers: usize, faults: impl FnOnce()) {
        self.is_over.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            for worker in 0..workers {
                scope.spawn(move || self.work(worker));
            }
            // A failed test must not leave its workers working.
            let _over = Over(&self.is_over);
            faults();
        });
    }

    /// How many starts were acknowledged by now.
    #[must_use]
    pub fn started(&self) -> usize {
        self.started.lock().unwrap().len()
    }

    fn client(&self, node: usize) -> Client {
        Client::patient(self.ports[node % self.ports.len()], self.patience)
    }

    /// Starts and resumes instances, one after the other.
    fn work(&self, worker: usize) {
        let first = self.started();
        for number in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let kind = (number + worker) % KINDS.len();
            self.run(
                kind,
                worker + number,
                &format!("w{worker}-{first}-{number}"),
            );
        }
    }

    /// Starts an instance and resumes it, each until it is acknowledged.
    fn run(&self, kind: usize, node: usize, key: &str) {
        let response = self.until_acknowledged(node, |client| {
            let path = format!("/elsa/api/workflow-definitions/{}/execute", KINDS[kind]);
            client.post_once(&path, key, &json!({ "input": { "Key": key } }))
        });
        let state = seen(&response.json()["workflowState"]);
        assert!(
            !state.id.is_empty(),
            "{}",
            String::from_utf8_lossy(&response.body)
        );
        let started = (kind, state.id.clone());
        self.started.lock().unwrap().insert(key.to_owned(), started);
        match kind {
            // A start that is repeated may find its instance further on; then there is nothing to complete.
            0 if !state.bookmarks.is_empty() => {
                let task = format!("{}.{}", state.id, state.bookmarks[0]);
                self.until_acknowledged(node + 1, |client| complete_task(client, &task));
            }
            2 => {
                self.until_acknowledged(node + 1, |client| {
                    trigger_event(client, &format!("go-{key}"), key)
                });
            }
            _ => return,
        }
        self.resumed.fetch_add(1, Ordering::Relaxed);
    }

    /// Repeats a request, each time at another node, until one says that it is done. Without an answer it may have
    /// happened or not.
    fn until_acknowledged(
        &self,
        node: usize,
        mut request: impl FnMut(&mut Client) -> io::Result<Response>,
    ) -> Response {
        let begin = Instant::now();
        for node in node.. {
            let last = match request(&mut self.client(node)) {
                Ok(response) if response.is_success() => return response,
                Ok(response) => {
                    let body = String::from_utf8_lossy(&response.body);
                    // Done already, by a try whose answer was lost.
                    if ["instanceEnded", "bookmarkGone"]
                        .iter()
                        .any(|code| body.contains(code))
                    {
                        return response;
                    }
                    let last = format!("{} {body}", response.status);
                    assert!(self.refusals.contains(&response.status), "{last}");
                    last
                }
                Err(error) => error.to_string(),
            };
            self.repeated.fetch_add(1, Ordering::Relaxed);
            assert!(
                begin.elapsed() < Duration::from_secs(90),
                "no answer for a minute and a half, but {last}"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        unreachable!("the nodes are tried again and again")
    }

    /// Waits until every instance has ended, and checks each of them.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let started = self.started.lock().unwrap().clone();
        let mut client = self.client(0);
        let mut outcome = Outcome {
            started: started.len(),
            resumed: self.resumed.load(Ordering::Relaxed),
            repeated: self.repeated.load(Ordering::Relaxed),
            calls: 0,
            calls_repeated: 0,
            stuck: wait_until_at_rest(&mut client, &started),
            wrong: Vec::new(),
        };
        let mut per_kind = [0; KINDS.len()];
        for (key, (kind, id)) in &started {
            per_kind[*kind] += 1;
            if outcome.stuck.contains(key) {
                continue;
            }
            outcome
                .wrong
                .extend(self.check(&mut client, key, *kind, id));
            if *kind == 4 {
                outcome.calls += 1;
                let calls = self.sink.calls(key);
                outcome.calls_repeated += calls.count.saturating_sub(1);
                if calls.keys != 1 || calls.count == 0 {
                    let wrong = format!("{key} {id}: {calls:?}");
                    outcome.wrong.push(wrong);
                }
            }
        }
        // One instance for each key, and one child for each parent: no start happened twice.
        let kinds = KINDS.into_iter().zip(per_kind);
        for (kind, count_of_told) in kinds.chain([(CHILD, per_kind[3])]) {
            let there = count(&mut client, kind);
            if there != count_of_told {
                let wrong = format!("{there} instances of {kind} for {count_of_told} starts");
                outcome.wrong.push(wrong);
            }
        }
        outcome
    }

    /// What is wrong with the journal of an instance that has ended.
    fn check(&self, client: &mut Client, key: &str, kind: usize, id: &str) -> Vec<String> {
        let lines = journal(client, id).expect("the journal");
        let mut wrong = Vec::new();
        let numbers: Vec<_> = lines
            .iter()
            .map(|l| l["sequence"].as_u64().unwrap_or(u64::MAX))
            .collect();
        let is_gapless = numbers
            .iter()
            .enumerate()
            .all(|(at, number)| at as u64 == *number);
        if numbers.is_empty() || !is_gapless {
            wrong.push(format!("{key} {id}: the journal's numbers are {numbers:?}"));
        }
        let (counts, wanted) = (counts(&lines), &self.undisturbed.lock().unwrap()[kind]);
        if counts != *wanted {
            wrong.push(format!("{key} {id}: {counts:?} instead of {wanted:?}"));
        }
        if !self.may_be_early {
            wrong.extend(early(&lines).map(|ms| format!("{key} {id}: the delay took {ms} ms")));
        }
        wrong
    }
}

/// Ends the workers, also when it is dropped by a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Waits until every instance has ended; gives the keys of those that have not after several sweeps.
fn wait_until_at_rest(
    client: &mut Client,
    started: &BTreeMap<String, (usize, String)>,
) -> Vec<String> {
    let begin = Instant::now();
    let mut open: Vec<String> = started.keys().cloned().collect();
    while !open.is_empty() && begin.elapsed() < Duration::from_secs(130) {
        open.retain(|key| {
            let id = &started[key].1;
            match look(client, id) {
                Ok(Some(seen)) => seen.sub_status != "Finished",
                Ok(None) => panic!("the acknowledged start {key} ({id}) is lost"),
                Err(error) => panic!("the server does not answer: {error}"),
            }
        });
        std::thread::sleep(Duration::from_millis(100));
    }
    open
}

/// How often each activity of a journal began, was resumed and completed.
fn counts(lines: &[Value]) -> Counts {
    let mut counts = Counts::new();
    for line in lines {
        let name = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        let event = name("eventName");
        if matches!(event.as_str(), "Started" | "Resumed" | "Completed") {
            *counts.entry((name("activityId"), event)).or_default() += 1;
        }
    }
    counts
}

/// How long a delay took, if that was too short.
fn early(lines: &[Value]) -> Option<i64> {
    let at = |event: &str| {
        let line = lines
            .iter()
            .find(|l| l["activityType"] == "Elsa.Delay" && l["eventName"] == event)?;
        let time: jiff::Timestamp = line["timestamp"].as_str()?.parse().ok()?;
        Some(time.as_millisecond())
    };
    let took = at("Resumed")? - at("Started")?;
    (took < DELAY_MS).then_some(took)
}
