//! All runs of a scenario: every order of the calls, every death of a node, every lost answer within its budget.
//!
//! A run is repeated from its beginning for each other choice. It is cut short where it comes to a state that was
//! there before: the table, the time, what is left of the budget, and all that each node and each client has seen.
//! What somebody does next follows from what they have seen, so nothing is missed.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use dormouse_store::table::Item;

use super::play::{BEGIN_MS, Client, Facts, Shape, Work};
use super::world::{Fate, Kind, Owner, PointId};

/// How much may go wrong in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Budget {
    /// Deaths of nodes, each before a write, after one, or with the answer on its lips.
    pub(crate) crashes: u8,
    /// Answers to writes that are lost, and writes that never arrive.
    pub(crate) lost: u8,
    /// Times at which somebody who waits wakes although others could go on.
    pub(crate) naps: u8,
    /// Times at which every lease runs out while its holder works.
    pub(crate) leaps: u8,
}

/// What happens, and what must be true after it.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) definitions: Vec<serde_json::Value>,
    /// What happened before, once for all runs.
    pub(crate) prepare: fn(Client) -> Work,
    /// What each node remembers of it, at the beginning of each run.
    pub(crate) remember: fn(Client) -> Work,
    /// Who does something at the same time. Client `n` talks to node `n`.
    pub(crate) clients: Vec<fn(Client) -> Work>,
    /// What is wrong when everything has come to rest.
    pub(crate) check: fn(Client) -> Work<Vec<String>>,
    pub(crate) budget: Budget,
    pub(crate) shape: Shape,
}

impl Budget {
    /// One kind of what goes wrong at a time. Together they are far more states; `DORMOUSE_EXHAUSTIVE=wide` has them.
    fn each(self) -> Vec<Self> {
        let none = Self::default();
        if std::env::var("DORMOUSE_EXHAUSTIVE").is_ok_and(|how| how == "wide") {
            return vec![self];
        }
        let kinds = [
            Self {
                crashes: self.crashes,
                ..none
            },
            Self {
                lost: self.lost,
                ..none
            },
            Self {
                naps: self.naps,
                leaps: self.leaps,
                ..none
            },
        ];
        let some: Vec<_> = kinds.into_iter().filter(|kind| *kind != none).collect();
        if some.is_empty() { vec![none] } else { some }
    }
}

/// Nothing to do.
pub(crate) fn nothing(_: Client) -> Work {
    Box::pin(async {})
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Runs from the beginning to an end, or to a state that was there before.
    pub(crate) runs: u64,
    /// Different states in which something had to be decided.
    pub(crate) states: usize,
    /// Different ends.
    pub(crate) ends: usize,
    /// The first run that broke a promise: what it broke, and what happened in it.
    pub(crate) broken: Option<(Vec<String>, Vec<String>)>,
}

#[derive(Debug, Clone, Copy)]
enum Choice {
    Grant(PointId, Fate),
    Dies(usize),
    Wakes,
    Leaps,
}

/// Longer than any run that comes to an end.
const STEPS_MAX: usize = 5_000;

/// Longer than any lease.
const LEAP_MS: i64 = 31_000;

struct Prepared {
    items: Vec<Item>,
    now_ms: i64,
    facts: Facts,
}

fn prepare(scenario: &Scenario) -> Prepared {
    let client = Client::new(scenario.shape, &[], BEGIN_MS, Facts::new());
    let (keeper, definitions) = (client.clone(), scenario.definitions.clone());
    client.quietly(async move {
        for json in definitions {
            keeper.publish(9, json).await;
        }
    });
    client.quietly((scenario.prepare)(client.clone()));
    let (items, facts) = (client.shared.table.items(), client.facts());
    Prepared {
        items,
        now_ms: client.world.now_ms() + 1_000,
        facts,
    }
}

/// One run under way.
struct Run {
    client: Client,
    left: Budget,
}

impl Run {
    fn new(scenario: &Scenario, prepared: &Prepared, left: Budget) -> Self {
        let facts = prepared.facts.clone();
        let client = Client::new(scenario.shape, &prepared.items, prepared.now_ms, facts);
        client.quietly((scenario.remember)(client.clone()));
        for (number, work) in scenario.clients.iter().enumerate() {
            let work = work(client.as_number(number));
            client.world.spawn(Owner::Client(number), work);
        }
        Self { client, left }
    }

    /// Goes to the next decision; answers what can happen. Nothing: the run is over.
    fn choices(&self) -> Vec<Choice> {
        let world = &self.client.world;
        world.settle();
        while world.points().is_empty() && world.has_sleepers() {
            world.wake_next();
            world.settle();
        }
        let points = world.points();
        if self.left.crashes == 0
            && let Some((id, _)) = points.iter().find(|(_, kind)| *kind == Kind::Tell)
        {
            // Nobody else can see whether somebody is told now or later.
            return vec![Choice::Grant(*id, Fate::Well)];
        }
        let grants = |fate| points.iter().map(move |(id, _)| Choice::Grant(*id, fate));
        let mut choices: Vec<Choice> = grants(Fate::Well).collect();
        if self.left.crashes > 0 {
            let dying: BTreeSet<usize> = points
                .iter()
                .filter_map(|((owner, _), kind)| match owner {
                    Owner::Node(node) if *kind != Kind::Read => Some(*node),
                    Owner::Node(_) | Owner::Client(_) => None,
                })
                .collect();
            choices.extend(dying.into_iter().map(Choice::Dies));
        }
        if self.left.lost > 0 {
            for (id, kind) in &points {
                if *kind == Kind::Write {
                    choices.push(Choice::Grant(*id, Fate::AnswerLost));
                    choices.push(Choice::Grant(*id, Fate::RequestLost));
                }
            }
        }
        if self.left.naps > 0 && !points.is_empty() && world.has_sleepers() {
            choices.push(Choice::Wakes);
        }
        if self.left.leaps > 0 && !points.is_empty() {
            choices.push(Choice::Leaps);
        }
        choices
    }

    fn make(&mut self, choice: Choice) {
        let world = &self.client.world;
        match choice {
            Choice::Grant(id, fate) => {
                self.left.lost -= u8::from(fate != Fate::Well);
                world.grant(&id, fate);
            }
            Choice::Dies(node) => {
                self.left.crashes -= 1;
                world.kill(node);
            }
            Choice::Wakes => {
                self.left.naps -= 1;
                world.wake_next();
            }
            Choice::Leaps => {
                self.left.leaps -= 1;
                world.wait_until(world.now_ms() + LEAP_MS);
            }
        }
    }

    fn describe(&self, choice: Choice) -> String {
        let world = &self.client.world;
        match choice {
            Choice::Grant(id, fate) => format!("{:?} {} {fate:?}", id.0, world.what(&id)),
            Choice::Dies(node) => format!("node {node} dies"),
            Choice::Wakes => "the next sleeper wakes".into(),
            Choice::Leaps => "half a minute passes".into(),
        }
    }

    fn state(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (
            self.client.world.seen(),
            self.client.shared.fingerprint(),
            self.left,
        )
            .hash(&mut hasher);
        hasher.finish()
    }

    /// What can be told apart when everybody has come to their end.
    fn end(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.client.shared.fingerprint().hash(&mut hasher);
        self.client.facts().hash(&mut hasher);
        self.client.world.had_fault().hash(&mut hasher);
        hasher.finish()
    }

    fn check(&self, scenario: &Scenario) -> Vec<String> {
        self.client.heal();
        let world = self.client.world.clone();
        let check = (scenario.check)(self.client.clone());
        self.client.quietly(async move {
            for what in check.await {
                world.is_wrong(what);
            }
        });
        self.client.world.wrong()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.client.world.ends();
    }
}

/// Explores all runs of a scenario, or until one breaks a promise.
pub(crate) fn explore(scenario: &Scenario) -> Found {
    let prepared = prepare(scenario);
    let mut found = Found::default();
    for budget in scenario.budget.each() {
        let mut search = Search {
            scenario,
            prepared: &prepared,
            budget,
            states: BTreeSet::new(),
            ends: BTreeSet::new(),
        };
        search.all(&mut found);
        found.states += search.states.len();
        found.ends = found.ends.max(search.ends.len());
        if found.broken.is_some() {
            break;
        }
    }
    found
}

struct Search<'a> {
    scenario: &'a Scenario,
    prepared: &'a Prepared,
    budget: Budget,
    states: BTreeSet<u64>,
    ends: BTreeSet<u64>,
}

impl Search<'_> {
    fn all(&mut self, found: &mut Found) {
        // What was chosen at each decision, and of how many.
        let mut path: Vec<(usize, usize)> = Vec::new();
        loop {
            found.runs += 1;
            let wrong = self.one(&mut path);
            if !wrong.is_empty() {
                let chosen: Vec<usize> = path.iter().map(|(chosen, _)| *chosen).collect();
                found.broken = Some((wrong, self.trace(&chosen)));
                return;
            }
            while path.last().is_some_and(|(chosen, of)| chosen + 1 == *of) {
                path.pop();
            }
            let Some((chosen, _)) = path.last_mut() else {
                return;
            };
            *chosen += 1;
        }
    }

    /// One run along the path, and then along the first choices; the path is made longer by them.
    fn one(&mut self, path: &mut Vec<(usize, usize)>) -> Vec<String> {
        let name = self.scenario.name;
        let mut run = Run::new(self.scenario, self.prepared, self.budget);
        for depth in 0.. {
            let choices = run.choices();
            let wrong = run.client.world.wrong();
            if !wrong.is_empty() {
                path.truncate(depth);
                return wrong;
            }
            if choices.is_empty() {
                let is_new = self.ends.insert(run.end());
                return if is_new {
                    run.check(self.scenario)
                } else {
                    Vec::new()
                };
            }
            if depth == path.len() {
                if !self.states.insert(run.state()) {
                    break;
                }
                path.push((0, choices.len()));
            }
            if depth == STEPS_MAX {
                path.truncate(100);
                return vec!["a run without an end".into()];
            }
            let (chosen, of) = path[depth];
            assert_eq!(of, choices.len(), "{name}: the same choices lead elsewhere");
            run.make(choices[chosen]);
        }
        Vec::new()
    }

    /// What happens in a run.
    fn trace(&self, chosen: &[usize]) -> Vec<String> {
        let mut run = Run::new(self.scenario, self.prepared, self.budget);
        run.client.world.trace();
        let mut trace = Vec::new();
        for chosen in chosen {
            let choices = run.choices();
            trace.push(run.describe(choices[*chosen]));
            run.make(choices[*chosen]);
        }
        trace
    }
}
