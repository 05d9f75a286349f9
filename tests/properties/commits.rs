//! A burst that is committed after each activity does the same as one that is committed once.

use dormouse_tests::seen::journal_text;
use proptest::prelude::*;

use super::definitions::definition;
use super::play::{config, host, moves, play};

proptest! {
    #![proptest_config(config())]

    #[test]
    fn commits_change_nothing(workflow in definition(), moves in moves(), has_tokens: bool) {
        let (mut whole, mut cut) = (host(&workflow), host(&workflow));
        cut.limits.step_activities_max = 1;
        play(&mut whole, &moves, has_tokens);
        play(&mut cut, &moves, has_tokens);
        prop_assert_eq!(&whole.lines, &cut.lines);
        prop_assert_eq!(whole.instances.len(), cut.instances.len());
        for (a, b) in whole.instances.iter().zip(&cut.instances) {
            prop_assert_eq!(journal_text(&a.journal, &a.graph), journal_text(&b.journal, &b.graph));
            prop_assert_eq!(&a.journal, &b.journal);
            prop_assert_eq!(&a.instance, &b.instance);
        }
    }
}
