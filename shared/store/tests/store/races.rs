//! Random workers on one instance, with lost answers and leases that run out: whatever the order, the journal has
//! each commit that was done once and in order, and none that was lost.

use std::collections::BTreeSet;

use bytes::Bytes;
use dormouse_store::commit::{Commit, Committed};
use dormouse_store::lease::{Acquired, Lease};

use crate::rig::{Fault, Rig, commit, event_bookmark, now, rig_with};

/// A small source of numbers that is the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

/// One that works on the instance.
struct Worker {
    lease: Option<Lease>,
    /// A commit whose outcome it does not know.
    pending: Option<Commit>,
}

/// What the workers were told.
#[derive(Default)]
struct Told {
    done: BTreeSet<String>,
    lost: BTreeSet<String>,
}

fn act(rig: &Rig, worker: &mut Worker, dice: &mut Dice, name: &str, now_ms: i64, told: &mut Told) {
    let Some(lease) = &mut worker.lease else {
        if let Acquired::Lease(lease) = rig.try_acquire("i", name, now_ms, None) {
            worker.lease = Some(*lease);
        }
        return;
    };
    let next = worker.pending.take().unwrap_or_else(|| Commit {
        now_ms,
        journal: vec![Bytes::from(name.to_owned())],
        state: Bytes::from(vec![7; dice.below(3_000) as usize]),
        bookmarks_added: (0..dice.below(40))
            .map(|n| event_bookmark(&format!("{name}-{n}"), "H"))
            .collect(),
        bookmarks_removed: lease.head().bookmarks.iter().take(30).cloned().collect(),
        keep_until_ms: (dice.below(3) == 0).then_some(now_ms + 2_000),
        ..commit("")
    });
    let line = String::from_utf8(next.journal[0].to_vec()).unwrap();
    match now(rig.store.commit(lease, &next)) {
        Ok(Committed::Done(_)) => {
            told.done.insert(line);
            if lease.until_ms().is_none() {
                worker.lease = None;
            }
        }
        Ok(Committed::Lost(_)) => {
            told.lost.insert(line);
            worker.lease = None;
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => {
            assert!(error.is_busy() || error.is_unknown(), "{error}");
            // Some ask again, some are gone for good.
            if dice.below(4) > 0 {
                worker.pending = Some(next);
            } else {
                worker.lease = None;
            }
        }
    }
}

fn check(rig: &Rig, told: &Told, seed: u64) {
    let journal = rig.journal("i");
    let once: BTreeSet<_> = journal.iter().cloned().collect();
    assert_eq!(once.len(), journal.len(), "seed {seed}: nothing twice");
    assert!(
        told.done.is_subset(&once),
        "seed {seed}: what was said to be done is done"
    );
    assert!(
        told.lost.is_disjoint(&once),
        "seed {seed}: what was said to be lost is lost"
    );
    let head = now(rig.store.instance(&rig.tenant, "i")).unwrap().unwrap();
    assert_eq!(head.commit, journal.len() as u64, "seed {seed}");
    assert!(
        now(rig.store.instance_with_state(&rig.tenant, "i"))
            .unwrap()
            .is_some()
    );
    let rows = now(rig.store.stimuli(&rig.tenant, "H", None))
        .unwrap()
        .bookmarks;
    let rows: BTreeSet<_> = rows.into_iter().map(|row| row.bookmark_id).collect();
    assert!(
        head.bookmarks.is_subset(&rows),
        "seed {seed}: an open bookmark is always found"
    );
}

#[test]
fn random_workers_and_faults_never_lose_or_repeat_a_commit() {
    let (mut done, mut lost) = (0, 0);
    for seed in 1..=250_u64 {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let rig = rig_with(|config| {
            config.writes_max = 20;
            config.journal_inline_max = 300;
            config.state_inline_max = 1_000;
            config.compress_from = usize::MAX;
        });
        rig.create("i", &commit("start"));
        let mut workers: Vec<_> = (0..3)
            .map(|_| Worker {
                lease: None,
                pending: None,
            })
            .collect();
        let mut told = Told::default();
        let mut now_ms = 10_000;
        for step in 0..60 {
            let faults = [
                Fault::None,
                Fault::None,
                Fault::None,
                Fault::LoseAnswer,
                Fault::LoseCall,
                Fault::Busy,
            ];
            let faults: Vec<_> = (0..12).map(|_| faults[dice.below(6) as usize]).collect();
            rig.faults(&[]);
            let n = dice.below(3) as usize;
            if workers[n].lease.is_some() {
                rig.faults(&faults);
            }
            act(
                &rig,
                &mut workers[n],
                &mut dice,
                &format!("w{n}-{step:02}"),
                now_ms,
                &mut told,
            );
            now_ms += dice.below(40_000) as i64;
        }
        rig.faults(&[]);
        check(&rig, &told, seed);
        done += told.done.len();
        lost += told.lost.len();
    }
    assert!(
        done > 1_200 && lost > 120,
        "the dice must reach both: {done} done, {lost} lost"
    );
}
