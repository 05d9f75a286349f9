//! Branches that share nothing do not notice each other.

use dormouse_engine::id::InstanceId;
use dormouse_engine::step::Stimulus;
use dormouse_tests::primitives::{parallel, sequence, write};
use dormouse_tests::{Activity, Host, activity, workflow};
use proptest::prelude::*;
use serde_json::Map;

use super::definitions::quiet_tree;
use super::play::config;

/// What each branch wrote, and how it ended, when bookmarks are resumed in an order that `pick` chooses.
fn run(branches: &[Activity; 2], pick: impl Fn(usize) -> usize) -> ([Vec<String>; 2], String) {
    let marked = |mark: &str, branch: &Activity| {
        // The branch writes through a workflow of its own, so that its lines can be told apart.
        let name = format!("Branch{mark}");
        (
            workflow(&name, branch.clone()).as_activity(),
            activity(&name),
        )
    };
    let mut host = Host::default();
    let (one, first) = marked("1", &branches[0]);
    let (two, second) = marked("2", &branches[1]);
    let root = parallel([
        sequence([first, write("one")]),
        sequence([second, write("two")]),
    ]);
    for definition in [one, two, workflow("main", root)] {
        host.add(definition.json());
    }
    let id: InstanceId = host.start("main", Default::default()).unwrap();
    for round in 0..200 {
        let bookmarks = host.bookmarks(&id);
        if bookmarks.is_empty() {
            break;
        }
        let bookmark = bookmarks[pick(round) % bookmarks.len()].id.clone();
        host.step(
            &id,
            Stimulus::Resume {
                bookmark,
                input: Map::new(),
            },
        );
    }
    let kept = host.kept(&id).unwrap();
    let of = |branch: &str| -> Vec<String> {
        let mine = kept
            .journal
            .iter()
            .filter(|e| kept.graph.node(e.node).node_id.contains(branch));
        mine.map(|e| format!("{} {:?}", kept.graph.node(e.node).node_id, e.event))
            .collect()
    };
    (
        [of("Branch1"), of("Branch2")],
        format!("{:?}", kept.instance.sub_status),
    )
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_order_between_branches_does_not_matter(one in quiet_tree(), two in quiet_tree()) {
        let branches = [one, two];
        let front = run(&branches, |_| 0);
        let back = run(&branches, |_| usize::MAX);
        prop_assert_eq!(&front.1, "Finished");
        prop_assert_eq!(&back.1, "Finished");
        // Within a branch the order may differ, for it may itself be parallel; what happened may not.
        for (mut a, mut b) in front.0.into_iter().zip(back.0) {
            a.sort();
            b.sort();
            prop_assert_eq!(a, b);
        }
    }
}
