//! Repairs of what an examination finds: nothing is deleted that may still be needed.

use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::predecessor::Predecessor;
use dormouse_store::operation::examine::Kind;

use crate::rig::{commit, event_bookmark, now, rig_with};

fn opens(id: &str, hash: &str, state: &str) -> Commit {
    Commit {
        bookmarks_added: vec![event_bookmark(id, hash)],
        ..commit(state)
    }
}

#[test]
fn a_creation_that_was_frozen_is_refused_after_a_repair_deleted_what_it_prepared() {
    for is_large in [false, true] {
        let rig = rig_with(|config| config.state_inline_max = 10);
        let frozen_at = 2_000;
        let state = "a large state".repeat(usize::from(is_large) * 100);
        let late = Commit {
            now_ms: frozen_at,
            ..opens("b", "H", &state)
        };
        let mut frozen = rig.blank("i", &[], Predecessor::default());
        let mut prepared = rig.prepare(&frozen, &late);
        let kinds = |now_ms| -> Vec<Kind> {
            let found =
                now(rig
                    .store
                    .operations()
                    .examine(rig.table.memory.as_ref(), now_ms, true))
                .unwrap();
            let findings = found.findings.iter();
            for finding in findings.clone().filter(|_| now_ms > 100_000) {
                assert!(now(rig.store.operations().repair(finding, now_ms)).unwrap());
            }
            findings.map(|finding| finding.kind).collect()
        };
        assert!(!kinds(frozen_at + 50_000).contains(&Kind::BookmarkWithoutInstance));
        assert!(kinds(frozen_at + 100_000).contains(&Kind::BookmarkWithoutInstance));
        kinds(frozen_at + 100_000);
        assert_eq!(kinds(frozen_at + 100_000), []);
        let refused = now(rig
            .store
            .commits()
            .commit_prepared(&mut frozen, &mut prepared))
        .unwrap();
        let Committed::Fenced(predecessor) = refused else {
            panic!("{refused:?}");
        };
        let mut anew = rig.blank("i", &[], predecessor);
        let done = rig.commit(&mut anew, &opens("b", "H", &state));
        assert!(matches!(done, Committed::Done(_)), "{done:?}");
        assert!(rig.is_open(&rig.rows("H")[0]));
    }
}
