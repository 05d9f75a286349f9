//! Making a failing plan smaller: fewer errands, fewer nodes, fewer kinds of faults, for as long as it still fails.

use std::time::{Duration, Instant};

use super::fate::Faults;
use super::hardness::Hard;
use super::plan::{Errand, Plan};

/// So many other seeds are tried for each smaller plan: the schedule changes with the plan, so the same seed need not
/// fail again.
const SEEDS_A_TRY: u64 = 60;

/// For so long at most; a failure that is not as small as it could be is still one.
const TIME_MAX: Duration = Duration::from_secs(30);

/// The smallest plan found that still fails.
pub(crate) fn shrink(plan: &Plan, mut fails: impl FnMut(&Plan) -> bool) -> Plan {
    let mut smallest = plan.clone();
    let begin = Instant::now();
    while let Some(smaller) = smaller(&smallest).into_iter().find_map(|candidate| {
        let seeds = std::iter::once(plan.seed).chain(1..SEEDS_A_TRY);
        for seed in seeds {
            let candidate = Plan {
                seed,
                ..candidate.clone()
            };
            if begin.elapsed() < TIME_MAX && fails(&candidate) {
                return Some(candidate);
            }
        }
        None
    }) {
        smallest = smaller;
    }
    smallest
}

/// The same errand with less to do.
fn fewer_of(errand: &Errand) -> Option<Errand> {
    match *errand {
        Errand::Change { times } if times > 1 => Some(Errand::Change { times: times - 1 }),
        Errand::Crowd { count } if count > 1 => Some(Errand::Crowd { count: count / 2 }),
        Errand::Pile { timers, after_task } if timers > 1 => Some(Errand::Pile {
            timers: timers / 2,
            after_task,
        }),
        _ => None,
    }
}

/// Plans that are a little smaller.
fn smaller(plan: &Plan) -> Vec<Plan> {
    let mut plans = Vec::new();
    for place in 0..plan.errands.len() {
        let mut errands = plan.errands.clone();
        let errand = errands.remove(place);
        plans.push(Plan {
            errands: errands.clone(),
            ..plan.clone()
        });
        if let Some(errand) = fewer_of(&errand) {
            errands.insert(place, errand);
            plans.push(Plan {
                errands,
                ..plan.clone()
            });
        }
    }
    if plan.nodes > 1 {
        plans.push(Plan {
            nodes: plan.nodes - 1,
            ..plan.clone()
        });
    }
    let all = plan.faults;
    let hard = plan.hard;
    let softer = [
        Hard {
            occurrences: false,
            ..hard
        },
        Hard {
            impatient: false,
            ..hard
        },
        Hard {
            pages: false,
            ..hard
        },
        Hard {
            same_event: false,
            ..hard
        },
        Hard {
            families: false,
            ..hard
        },
        Hard {
            retried_alone: false,
            ..hard
        },
        Hard {
            fairness: false,
            ..hard
        },
    ];
    plans.extend(softer.into_iter().filter(|h| *h != hard).map(|hard| Plan {
        hard,
        ..plan.clone()
    }));
    let fewer = [
        Faults { refused: 0, ..all },
        Faults { lost: 0, ..all },
        Faults { vanished: 0, ..all },
        Faults { late: 0, ..all },
        Faults { slow: 0, ..all },
        Faults { crash: 0, ..all },
        Faults { freeze: 0, ..all },
        Faults { twice: 0, ..all },
        Faults { skew_ms: 0, ..all },
        Faults { index_ms: 0, ..all },
        Faults {
            freeze_ms: 0,
            late_ms: 0,
            ..all
        },
    ];
    plans.extend(fewer.into_iter().filter(|f| *f != all).map(|faults| Plan {
        faults,
        ..plan.clone()
    }));
    let simpler = [
        Plan {
            has_queue: false,
            ..plan.clone()
        },
        Plan {
            is_function: false,
            ..plan.clone()
        },
        Plan {
            has_table_timers: false,
            ..plan.clone()
        },
        Plan {
            writes_max: 100,
            ..plan.clone()
        },
        Plan {
            handlers: 0,
            ..plan.clone()
        },
        Plan {
            backlog_s: 0,
            ..plan.clone()
        },
    ];
    plans.extend(simpler.into_iter().filter(|p| p != plan));
    plans.retain(|p| {
        p.sweep_s > 0 || (!p.has_pause() && Plan::can_do_without_sweep(p.is_function, p.has_queue))
    });
    plans
}
