//! One run: a storm in which people do what they came for, the calm after it, and the judgement.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dormouse_store::outbox::dead_letter::Letter;

use super::cluster::{Cluster, Shared, lock, tenant};
use super::fate::Faults;
use super::hardness::OVERDUE_MS_MAX;
use super::inspector::Left;
use super::ledger::Ledger;
use super::model::Model;
use super::people::People;
use super::plan::Plan;
use super::sabotage::Sabotage;
use super::watch::Spent;
use super::workshop::{Menus, Workshop, until_done};
use super::world::{Counts, World};

/// So long a storm may last, in virtual ms: who is not done then never will be.
const STORM_MS_MAX: i64 = 48 * 3_600_000;

/// So long it may take until all is at rest, in virtual ms. The longest pause of a workflow is 20 minutes; a late call
/// comes after up to three hours.
const CALM_MS_MAX: i64 = 6 * 3_600_000;

/// What one run gave.
pub(crate) struct Outcome {
    pub(crate) wrong: Vec<String>,
    /// Whether it was given up because it took too long: then it says nothing.
    pub(crate) is_given_up: bool,
    pub(crate) hash: u64,
    pub(crate) counts: Counts,
    pub(crate) instances: usize,
    pub(crate) most: BTreeMap<&'static str, Spent>,
    pub(crate) trace: Vec<String>,
}

/// Runs a plan.
pub(crate) fn run(
    workshop: &mut Workshop,
    plan: &Plan,
    sabotage: Option<Sabotage>,
    is_traced: bool,
) -> Outcome {
    let menus = workshop.menus(plan);
    let world = World::new(plan.seed, plan.nodes, is_traced);
    let shared = Shared {
        table: menus.table.clone(),
        sabotage,
        ..Shared::default()
    };
    let cluster = Cluster::new(world.clone(), shared, plan, workshop.expressions.clone());
    let people = People {
        cluster: cluster.clone(),
        ledger: Arc::default(),
        left: Arc::new(Mutex::new(0)),
        is_changing: Arc::default(),
        recipes: menus.recipes.clone(),
    };
    let (mut wrong, left) = go(&people, &menus);
    wrong.append(&mut lock(&cluster.shared.watch).wrong);
    let ledger = std::mem::take(&mut *lock(&people.ledger));
    wrong.extend(judge(&cluster, &menus, &ledger, &left));
    wrong.sort();
    wrong.dedup();
    let is_given_up = world.is_too_long();
    if is_given_up {
        wrong.clear();
    }
    let outcome = Outcome {
        wrong,
        is_given_up,
        hash: world.hash(),
        counts: world.counts(),
        instances: left.instances.len(),
        most: std::mem::take(&mut lock(&cluster.shared.watch).most),
        trace: world.trace(),
    };
    cluster.end();
    outcome
}

fn go(people: &People, menus: &Menus) -> (Vec<String>, Left) {
    let cluster = &people.cluster;
    let (world, plan) = (&cluster.world, &cluster.plan);
    let mut wrong = Vec::new();
    world.set_faults(plan.faults);
    if plan.faults.skew_ms > 0 {
        for node in 0..plan.nodes {
            let ms = world.below(plan.faults.skew_ms.unsigned_abs());
            world.set_skew(node, i64::try_from(ms).unwrap_or(0));
        }
    }
    cluster.begin();
    people.begin();
    let end = world.now_ms() + STORM_MS_MAX;
    world.run(|| *lock(&people.left) == 0 || world.now_ms() > end);
    if *lock(&people.left) > 0 {
        wrong.push("somebody never got an answer".to_owned());
    }
    // The storm is over: what is left must come to rest by itself.
    world.set_faults(Faults::default());
    if plan.hard.impatient {
        rest(cluster, &mut wrong);
        cluster.come_back();
    }
    // What can never be delivered comes back as a dead letter however often it is replayed.
    for time in 0..2 {
        rest(cluster, &mut wrong);
        let is_any = replay(cluster, menus);
        if is_any && time == 0 && plan.faults.is_steady() {
            wrong.push("something was given up on, and nothing had failed".to_owned());
        }
        if !cluster.redrive() && !is_any {
            break;
        }
    }
    rest(cluster, &mut wrong);
    (wrong, menus.inspector.read(cluster))
}

/// Within this time a timer driver has read every row that is due, in ms.
const SEEN_MS_MAX: i64 = 60_000;

/// Lets everything come to rest.
fn rest(cluster: &Cluster, wrong: &mut Vec<String>) {
    let world = &cluster.world;
    for node in 0..cluster.plan.nodes {
        if world.is_frozen(node) {
            world.freeze(node, false);
        }
        if world.is_dead(node) {
            cluster.restart(node);
        }
    }
    // Kept stimuli are looked at by a sweep once they are some seconds old.
    let sweeps = if cluster.plan.sweep_s > 0 && cluster.shared.sabotage != Some(Sabotage::NoSweep) {
        *lock(&cluster.shared.sweeps) + 1 + 20_u64.div_ceil(cluster.plan.sweep_s)
    } else {
        0
    };
    let begin = world.now_ms();
    // A write that hung may put an old row there: then the driver has not seen it yet.
    let overdue_since = Cell::new(None);
    let is_overdue = || {
        let is_due = world.now_ms() > begin + OVERDUE_MS_MAX && cluster.is_overdue();
        let since = is_due.then(|| overdue_since.get().unwrap_or_else(|| world.now_ms()));
        overdue_since.set(since);
        since.is_some_and(|since| world.now_ms() > since + SEEN_MS_MAX)
    };
    let is_over = || {
        (cluster.is_at_rest() && *lock(&cluster.shared.sweeps) >= sweeps)
            || world.now_ms() > begin + CALM_MS_MAX
            || is_overdue()
    };
    world.run(is_over);
    if is_overdue() {
        wrong.push("a timer of the table is never fired".to_owned());
    } else if !cluster.is_at_rest() {
        wrong.push("it never comes to rest".to_owned());
    }
}

/// Replays what was given up on, as an operator does. Answers whether there was anything.
fn replay(cluster: &Cluster, menus: &Menus) -> bool {
    let letters = menus.inspector.read(cluster).letters;
    let ids: Vec<String> = letters
        .into_iter()
        .filter(|letter| !matches!(letter.letter, Letter::Stimulus { .. }))
        .map(|letter| letter.id)
        .collect();
    let is_any = !ids.is_empty();
    let people = cluster.clone();
    until_done(&cluster.world, async move {
        for id in ids {
            people
                .insist(
                    "replay",
                    |runtime| {
                        let id = id.clone();
                        async move {
                            runtime
                                .dead_letters()
                                .replay(&tenant(), &id, true)
                                .await
                                .ok()
                        }
                    },
                    |replayed| replayed,
                )
                .await;
        }
    });
    is_any
}

fn judge(cluster: &Cluster, menus: &Menus, ledger: &Ledger, left: &Left) -> Vec<String> {
    let requests = lock(&cluster.shared.requests);
    let fired = lock(&cluster.shared.fired);
    let model = Model {
        plan: &cluster.plan,
        ledger,
        recipes: menus.all.iter().map(|r| (r.id.as_str(), r)).collect(),
        left,
        fired: &fired,
        requests: &requests,
    };
    model.judge()
}

impl Outcome {
    /// Of a run that did not end.
    pub(crate) fn panicked(what: String) -> Self {
        Self {
            wrong: vec![format!("it panicked: {what}")],
            is_given_up: false,
            hash: 0,
            counts: Counts::default(),
            instances: 0,
            most: BTreeMap::new(),
            trace: Vec::new(),
        }
    }
}
