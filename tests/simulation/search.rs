//! Running many seeds, on every processor, for a while or for so many.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::hardness::Hard;
use super::plan::{Plan, Size};
use super::run::{Outcome, run};
use super::sabotage::Sabotage;
use super::shrink::shrink;
use super::watch::Spent;
use super::workshop::Workshop;

/// So many seeds in a row are one thread's.
const SEEDS_A_TURN: u64 = 64;

/// After so many failures there is enough to look at.
const FAILURES_MAX: u64 = 3;

/// A number of the environment.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What to run.
pub(crate) struct Search {
    first: u64,
    count: u64,
    time: Duration,
    threads: usize,
    sizes: Vec<Size>,
    hard: Hard,
}

/// What it gave.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) first: u64,
    pub(crate) seeds: u64,
    pub(crate) failed: u64,
    /// Runs that took too long.
    pub(crate) given_up: u64,
    calls: u64,
    deaths: u64,
    freezes: u64,
    failures: u64,
    instances: u64,
    most: BTreeMap<&'static str, Spent>,
    seconds: f64,
    threads: usize,
}

impl Search {
    /// As the environment says: fresh seeds, for a minute.
    pub(crate) fn of_environment() -> Self {
        let since = std::time::UNIX_EPOCH
            .elapsed()
            .expect("a clock that is set");
        let count = number("DORMOUSE_SEEDS");
        let seconds = number("DORMOUSE_SIMULATION_S");
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = number("DORMOUSE_THREADS").and_then(|n| usize::try_from(n).ok());
        Self {
            // A fresh range each time, so that each run looks where none has looked.
            first: number("DORMOUSE_SEED").unwrap_or(since.as_secs() * 1_000_000),
            count: count.unwrap_or(u64::MAX),
            time: Duration::from_secs(match (seconds, count) {
                (Some(seconds), _) => seconds,
                (None, Some(_)) => 1_000_000,
                (None, None) => 60,
            }),
            threads: threads.unwrap_or(cores),
            hard: Hard::of_environment(),
            sizes: match std::env::var("DORMOUSE_WORLDS").as_deref() {
                Ok("small") => vec![Size::Small],
                Ok("large") => vec![Size::Large],
                Ok("corpus") => vec![Size::Corpus],
                Ok("crowd") => vec![Size::Crowd],
                _ => [
                    vec![Size::Small; 10],
                    vec![Size::Large; 3],
                    vec![Size::Corpus, Size::Crowd],
                ]
                .concat(),
            },
        }
    }

    /// Runs them all.
    pub(crate) fn go(&self) -> Report {
        let begin = Instant::now();
        let next = AtomicU64::new(0);
        let report = Mutex::new(Report {
            first: self.first,
            threads: self.threads,
            ..Report::default()
        });
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| self.work(begin, &next, &report));
            }
        });
        let mut report = report
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        report.seconds = begin.elapsed().as_secs_f64();
        report
    }

    fn work(&self, begin: Instant, next: &AtomicU64, report: &Mutex<Report>) {
        let mut workshop = Workshop::new();
        let has_corpus = self.sizes.contains(&Size::Corpus) && workshop.has_corpus();
        loop {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            let from = turn * SEEDS_A_TURN;
            let size = match self.sizes[usize::try_from(turn).unwrap_or(0) % self.sizes.len()] {
                Size::Corpus if !has_corpus => Size::Small,
                size => size,
            };
            let mut sum = Report::default();
            let seeds = if size == Size::Crowd && self.sizes.len() > 1 {
                SEEDS_A_TURN / 16
            } else {
                SEEDS_A_TURN
            };
            for seed in from..(from + seeds).min(self.count) {
                let is_enough = lock(report).failed >= FAILURES_MAX;
                if begin.elapsed() > self.time || is_enough {
                    lock(report).add(&sum);
                    return;
                }
                self.one(&mut workshop, self.first + seed, size, &mut sum);
            }
            lock(report).add(&sum);
            if from >= self.count {
                return;
            }
        }
    }

    fn one(&self, workshop: &mut Workshop, seed: u64, size: Size, sum: &mut Report) {
        let plan = Plan::draw_hard(seed, size, self.hard);
        let outcome = guarded(workshop, &plan, None, false);
        sum.count(&outcome);
        if outcome.wrong.is_empty() {
            return;
        }
        sum.failed += 1;
        println!("seed {seed} ({size:?}) failed: {:#?}", outcome.wrong);
        let kind = kind(&outcome.wrong);
        let smaller = shrink(&plan, |plan| {
            self::kind(&guarded(workshop, plan, None, false).wrong) == kind
        });
        let again = guarded(workshop, &smaller, None, true);
        let text = serde_json::to_string(&smaller).expect("a plan");
        let mut lines = again.trace;
        lines.push(format!("smaller: {:#?}", again.wrong));
        lines.push(format!(
            "DORMOUSE_PLAN='{text}' cargo test -p dormouse-tests --test simulation every_promise -- --nocapture"
        ));
        println!("{}", lines.join("\n"));
    }
}

/// A run whose panic is one more thing that is wrong.
fn guarded(
    workshop: &mut Workshop,
    plan: &Plan,
    sabotage: Option<Sabotage>,
    is_traced: bool,
) -> Outcome {
    let ran = catch_unwind(AssertUnwindSafe(|| {
        run(workshop, plan, sabotage, is_traced)
    }));
    ran.unwrap_or_else(|cause| {
        let text = cause
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Outcome::panicked(text.unwrap_or_default())
    })
}

/// What kind of failure it is: its last words, without numbers and names.
fn kind(wrong: &[String]) -> Option<String> {
    let last = wrong.first()?.rsplit(": ").next()?;
    let words = last
        .split(' ')
        .filter(|word| word.chars().all(char::is_alphabetic));
    Some(words.collect::<Vec<_>>().join(" "))
}

/// How many seeds it takes until a planted bug shows, and how. `None`: it does not in so many.
pub(crate) fn first_failure(bug: Sabotage, most: u64) -> Option<(u64, String)> {
    let mut workshop = Workshop::new();
    for seed in 0..most {
        let size = if seed % 4 == 3 {
            Size::Large
        } else {
            Size::Small
        };
        let plan = Plan::draw(seed, size);
        let outcome = guarded(&mut workshop, &plan, Some(bug), false);
        if let Some(wrong) = outcome.wrong.into_iter().next() {
            return Some((seed + 1, wrong));
        }
    }
    None
}

fn lock(report: &Mutex<Report>) -> MutexGuard<'_, Report> {
    report
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Report {
    fn count(&mut self, outcome: &Outcome) {
        self.seeds += 1;
        self.given_up += u64::from(outcome.is_given_up);
        self.calls += outcome.counts.calls;
        self.deaths += outcome.counts.deaths;
        self.freezes += outcome.counts.freezes;
        self.failures += outcome.counts.failures;
        self.instances += outcome.instances as u64;
        self.spent(&outcome.most);
    }

    fn add(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.failed += other.failed;
        self.given_up += other.given_up;
        self.calls += other.calls;
        self.deaths += other.deaths;
        self.freezes += other.freezes;
        self.failures += other.failures;
        self.instances += other.instances;
        self.spent(&other.most);
    }

    fn spent(&mut self, most: &BTreeMap<&'static str, Spent>) {
        for (name, spent) in most {
            let most = self.most.entry(name).or_default();
            most.calls = most.calls.max(spent.calls);
            most.rows = most.rows.max(spent.rows);
            most.at_once = most.at_once.max(spent.at_once);
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[allow(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = self.seeds as f64 / self.seconds;
        writeln!(
            f,
            "{} seeds from {} in {:.1} s on {} threads ({rate:.0}/s), failed {}, given up {}: {} instances, {} port calls, {} of them failed or lost, {} deaths and {} freezes of nodes",
            self.seeds,
            self.first,
            self.seconds,
            self.threads,
            self.failed,
            self.given_up,
            self.instances,
            self.calls,
            self.failures,
            self.deaths,
            self.freezes
        )?;
        let each = self.most.iter().map(|(name, spent)| {
            format!("{name} {}/{}/{}", spent.calls, spent.rows, spent.at_once)
        });
        let each = each.collect::<Vec<_>>().join(", ");
        write!(f, "most of one use case (table calls/rows/at once): {each}")
    }
}
