//! Random workers on one instance, with lost answers and leases that run out: whatever the order, the journal has
//! each commit that was done once and in order, and none that was lost.

use std::collections::BTreeSet;

use bytes::Bytes;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::lease::{Loaded, Opened};
use dormouse_store::instance::stamp::Verdict;

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
    loaded: Option<Loaded>,
    /// A commit whose outcome it does not know.
    pending: Option<Commit>,
}

/// What the workers were told.
#[derive(Default)]
struct Told {
    done: BTreeSet<String>,
    lost: BTreeSet<String>,
    done_attempts: BTreeSet<u64>,
    lost_attempts: BTreeSet<u64>,
    fenced: u64,
}

fn act(rig: &Rig, worker: &mut Worker, dice: &mut Dice, name: &str, now_ms: i64, told: &mut Told) {
    let Some(loaded) = &mut worker.loaded else {
        // Some take the lease, some only read.
        let opened = if dice.below(2) == 0 {
            rig.try_lease("i", name, now_ms)
        } else {
            rig.try_open("i", now_ms)
        };
        if let Opened::Loaded(loaded) = opened {
            worker.loaded = Some(*loaded);
        }
        return;
    };
    // Some have more rows than one atomic write takes.
    let bookmarks_max = if dice.below(6) == 0 { 40 } else { 4 };
    let bookmarks = dice.below(bookmarks_max);
    let next = worker.pending.take().unwrap_or_else(|| Commit {
        now_ms,
        journal: vec![Bytes::from(name.to_owned())],
        state: Bytes::from(vec![7; dice.below(3_000) as usize]),
        bookmarks_added: (0..bookmarks)
            .map(|n| event_bookmark(&format!("{name}-{n}"), "H"))
            .collect(),
        bookmarks_removed: loaded.head().bookmarks.keys().take(30).cloned().collect(),
        keep_until_ms: (dice.below(3) == 0).then_some(now_ms + 2_000),
        ..commit("")
    });
    let line = String::from_utf8(next.journal[0].to_vec()).unwrap();
    match now(rig.store.commits().commit(loaded, &next)) {
        Ok(Committed::Done(_)) => {
            told.done.insert(line);
            told.done_attempts.insert(next.attempt);
            // One that has no lease may go on all the same, and sees whether others came between.
            if !loaded.is_leased() && dice.below(2) == 0 {
                worker.loaded = None;
            }
        }
        Ok(Committed::Lost(_)) => {
            told.lost.insert(line);
            told.lost_attempts.insert(next.attempt);
            worker.loaded = None;
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => {
            assert!(error.is_busy() || error.is_unknown(), "{error}");
            // Some ask again, some are gone for good.
            if dice.below(4) > 0 {
                worker.pending = Some(next);
            } else {
                worker.loaded = None;
            }
        }
    }
}

/// Finds a row now and then, fences it where its commit is undecided, and notes what must be true for ever.
fn finder(rig: &Rig, dice: &mut Dice, told: &mut Told) {
    rig.faults(&[]);
    let rows = rig.rows("H");
    if rows.is_empty() || dice.below(12) > 0 {
        return;
    }
    let row = &rows[dice.below(rows.len() as u64) as usize];
    if rig.judge("i", &row.stamp) == Verdict::Undecided {
        assert_eq!(rig.fence("i", &row.stamp), Verdict::Lost);
        told.fenced += 1;
    }
    match rig.judge("i", &row.stamp) {
        Verdict::Committed => told.done_attempts.insert(row.stamp.attempt),
        Verdict::Lost => told.lost_attempts.insert(row.stamp.attempt),
        Verdict::Undecided => panic!("it was fenced"),
    };
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
    let head = now(rig.store.instances().get(&rig.tenant, "i"))
        .unwrap()
        .unwrap();
    assert_eq!(head.commit, journal.len() as u64, "seed {seed}");
    assert!(
        told.done_attempts.is_disjoint(&told.lost_attempts),
        "seed {seed}: what was judged stays judged"
    );
    assert!(
        now(rig.store.instances().instance_with_state(&rig.tenant, "i"))
            .unwrap()
            .is_some()
    );
    let rows = rig.rows("H");
    let open = rows.iter().filter(|row| {
        let bookmark = head.bookmarks.get(&row.bookmark_id);
        bookmark.is_some_and(|open| open.attempt == row.stamp.attempt)
    });
    assert_eq!(
        open.count(),
        head.bookmarks.len(),
        "seed {seed}: an open bookmark is always found, and once"
    );
    for row in rows {
        let made = told.done_attempts.contains(&row.stamp.attempt);
        let verdict = rig.judge("i", &row.stamp);
        assert!(
            !made || verdict == Verdict::Committed,
            "seed {seed}: {row:?}"
        );
        let lost = told.lost_attempts.contains(&row.stamp.attempt);
        assert!(!lost || verdict == Verdict::Lost, "seed {seed}: {row:?}");
    }
}

#[test]
fn random_workers_and_faults_never_lose_or_repeat_a_commit() {
    let (mut done, mut lost, mut fenced) = (0, 0, 0);
    for seed in 1..=250_u64 {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let rig = rig_with(|config| {
            config.commits_whole = seed % 2 == 0;
            config.writes_max = 20;
            config.journal_inline_max = 300;
            config.state_inline_max = 1_000;
            config.compress_from = usize::MAX;
        });
        rig.create("i", &commit("start"));
        let mut workers: Vec<_> = (0..3)
            .map(|_| Worker {
                loaded: None,
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
                Fault::None,
                Fault::None,
                Fault::None,
                Fault::LoseAnswer,
                Fault::LoseCall,
                Fault::Busy,
            ];
            let faults: Vec<_> = (0..12).map(|_| faults[dice.below(9) as usize]).collect();
            rig.faults(&[]);
            let n = dice.below(3) as usize;
            if workers[n].loaded.is_some() {
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
            finder(&rig, &mut dice, &mut told);
            now_ms += dice.below(40_000) as i64;
        }
        rig.faults(&[]);
        check(&rig, &told, seed);
        done += told.done.len();
        lost += told.lost.len();
        fenced += told.fenced;
    }
    assert!(
        done > 1_200 && lost > 120 && fenced > 50,
        "the dice must reach all: {done} done, {lost} lost, {fenced} fenced"
    );
}
