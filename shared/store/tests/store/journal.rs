//! The journal: every line once, in order, wherever it lies.

use bytes::Bytes;
use dormouse_store::StoreError;
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::table::{Condition, Table, Write};

use crate::rig::{commit, now, rig, rig_with};

fn line(n: usize) -> Bytes {
    Bytes::from(format!(
        "{n:05} {}",
        "some words about an activity ".repeat(n % 7)
    ))
}

#[test]
fn lines_move_from_the_head_to_items_without_a_gap() {
    let rig = rig_with(|config| config.compress_from = usize::MAX);
    let mut written = Vec::new();
    let mut add = |count: usize| {
        let lines: Vec<_> = (written.len()..written.len() + count).map(line).collect();
        written.extend(lines.clone());
        Commit {
            journal: lines,
            ..commit("s")
        }
    };
    rig.create("i", &add(3));
    for n in 0..60 {
        let mut loaded = rig.open("i", 2_000);
        let done = rig.commit(&mut loaded, &add(n % 5));
        assert!(matches!(done, Committed::Done(_)));
    }
    let items = rig.keys().iter().filter(|key| key.contains(" J#")).count();
    assert!((2..60).contains(&items), "{items}");
    assert_eq!(rig.journal("i"), written);

    for from in [0, 1, 50, 100, written.len() - 1] {
        let page = now(rig
            .store
            .instances()
            .journal(&rig.tenant, "i", from as u64, 3))
        .unwrap()
        .unwrap();
        let expected: Vec<_> = written.iter().skip(from).take(3).cloned().collect();
        assert_eq!(
            page.lines
                .iter()
                .map(|line| line.body.clone())
                .collect::<Vec<_>>(),
            expected
        );
        assert_eq!(page.total, written.len() as u64);
    }
    let beyond = now(rig.store.instances().journal(&rig.tenant, "i", 9_999, 3))
        .unwrap()
        .unwrap();
    assert!(beyond.lines.is_empty() && beyond.next.is_none());
    assert!(
        now(rig.store.instances().journal(&rig.tenant, "j", 0, 3))
            .unwrap()
            .is_none()
    );
}

#[test]
fn commits_without_lines_never_overwrite_what_moved_before() {
    let rig = rig_with(|config| config.journal_inline_max = 100);
    rig.create(
        "i",
        &Commit {
            journal: vec![line(6)],
            ..commit("s")
        },
    );
    for _ in 0..40 {
        let mut loaded = rig.open("i", 2_000);
        rig.commit(
            &mut loaded,
            &Commit {
                journal: Vec::new(),
                ..commit("s")
            },
        );
    }
    assert_eq!(rig.journal("i"), [line(6)]);
}

/// The keys of items that hold lines of one large commit.
fn beside(rig: &crate::rig::Rig) -> Vec<String> {
    let keys = rig.keys().into_iter();
    keys.filter(|key| key.contains(" L#")).collect()
}

#[test]
fn the_lines_of_large_commits_lie_beside_and_are_read_in_order_between_the_others() {
    let rig = rig_with(|config| config.journal_inline_max = 300);
    let mut written = Vec::new();
    for (n, count) in [2, 40, 1, 0, 60, 3, 3, 3, 50, 1].into_iter().enumerate() {
        let lines: Vec<_> = (written.len()..written.len() + count).map(line).collect();
        written.extend(lines.clone());
        let next = Commit {
            journal: lines,
            ..commit("s")
        };
        if n == 0 {
            rig.create("i", &next);
        } else {
            let mut loaded = rig.open("i", 2_000);
            let done = rig.commit(&mut loaded, &next);
            assert!(matches!(done, Committed::Done(_)), "{done:?}");
        }
    }
    assert!(beside(&rig).len() >= 3, "of the three largest commits");
    assert!(rig.keys().iter().any(|key| key.contains(" J#")));
    assert_eq!(rig.journal("i"), written);
    for from in 0..written.len() {
        let page = now(rig
            .store
            .instances()
            .journal(&rig.tenant, "i", from as u64, 5))
        .unwrap();
        let page = page.unwrap().lines.into_iter().map(|line| line.body);
        let expected = written.iter().skip(from).take(5).cloned();
        assert!(page.eq(expected), "from {from}");
    }
}

#[test]
fn large_lines_of_a_lost_commit_are_never_read() {
    let rig = rig_with(|config| config.journal_inline_max = 100);
    rig.create("i", &commit("s"));
    let large = |word: &str| Commit {
        journal: vec![Bytes::from(word.repeat(20)); 5],
        ..commit(word)
    };
    let (loser, mut winner) = (rig.open("i", 2_000), rig.open("i", 2_000));
    rig.prepare(&loser, &large("loser"));
    rig.commit(&mut winner, &large("winner"));
    assert_eq!(beside(&rig).len(), 2);
    let journal = rig.journal("i");
    assert_eq!(journal.len(), 6);
    assert!(journal.iter().all(|line| !line.contains("loser")));
}

#[test]
fn a_giant_burst_takes_several_items() {
    let rig = rig_with(|config| config.compress_from = usize::MAX);
    let lines: Vec<_> = (0..500)
        .map(|n| Bytes::from(format!("{n:05}{}", "x".repeat(1_995))))
        .collect();
    rig.create(
        "i",
        &Commit {
            journal: lines.clone(),
            ..commit("s")
        },
    );
    let items = beside(&rig).len();
    assert!((4..8).contains(&items), "{items}");
    assert_eq!(rig.journal("i"), lines);
}

#[test]
fn a_line_knows_its_commit_and_its_time() {
    let rig = rig();
    rig.create("i", &commit("s"));
    let mut loaded = rig.open("i", 2_000);
    rig.commit(
        &mut loaded,
        &Commit {
            now_ms: 2_500,
            ..commit("t")
        },
    );
    let page = now(rig.store.instances().journal(&rig.tenant, "i", 0, 9))
        .unwrap()
        .unwrap();
    let told: Vec<_> = page
        .lines
        .iter()
        .map(|l| (l.number, l.commit, l.at_ms))
        .collect();
    assert_eq!(told, [(0, 1, 1_000), (1, 2, 2_500)]);
}

#[test]
fn a_missing_part_is_damage_and_not_a_gap() {
    for (prefix, inline_max) in [("L#", 100), ("J#", 1_000)] {
        missing_part(prefix, inline_max);
    }
}

fn missing_part(prefix: &str, inline_max: usize) {
    let rig = rig_with(|config| config.journal_inline_max = inline_max);
    for n in 0..4 {
        let four = Commit {
            journal: vec![line(6); 4],
            ..commit("s")
        };
        if n == 0 {
            rig.create("i", &four);
        } else {
            let mut loaded = rig.open("i", 2_000);
            rig.commit(&mut loaded, &four);
        }
    }
    let items = rig.table.memory.items();
    let key = items
        .into_iter()
        .map(|item| item.key)
        .filter(|key| key.sort.starts_with(prefix))
        .nth(1);
    now(rig
        .table
        .memory
        .write(&[Write::Delete(key.unwrap(), Condition::Exists)]))
    .unwrap();
    let read = now(rig.store.instances().journal(&rig.tenant, "i", 0, 100));
    assert!(
        matches!(
            read,
            Err(StoreError::Damaged {
                what: "journal",
                ..
            })
        ),
        "{read:?}"
    );
}
