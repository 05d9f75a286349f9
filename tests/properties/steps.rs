//! Whatever happens to whatever definition, no step panics or breaks a law.

use dormouse_engine::instance::SubStatus;
use dormouse_engine::step::{Environment, Stimulus, step};
use proptest::prelude::*;

use super::definitions::definition;
use super::play::{Move, config, host, moves, play};

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_step_keeps_the_laws(workflow in definition(), moves in moves(), has_tokens: bool) {
        let mut host = host(&workflow);
        play(&mut host, &moves, has_tokens);
    }

    #[test]
    fn the_same_moves_give_the_same_bytes(workflow in definition(), moves in moves()) {
        let (mut one, mut two) = (host(&workflow), host(&workflow));
        play(&mut one, &moves, false);
        play(&mut two, &moves, false);
        let bytes = |host: &dormouse_tests::Host| -> Vec<Vec<u8>> {
            host.instances.iter().map(|kept| kept.instance.encode(&kept.graph)).collect()
        };
        prop_assert_eq!(bytes(&one), bytes(&two));
        prop_assert_eq!(&one.lines, &two.lines);
    }

    #[test]
    fn what_waits_can_be_woken_and_what_has_ended_cannot(workflow in definition(), moves in moves()) {
        // Cancelling a child that others wait for may leave them waiting for ever, as in Elsa.
        let moves: Vec<_> = moves.into_iter().filter(|m| !matches!(m, Move::CancelActivity(_))).collect();
        let mut host = host(&workflow);
        play(&mut host, &moves, false);
        for kept in &host.instances {
            let instance = kept.instance.clone();
            match instance.sub_status {
                SubStatus::Suspended => prop_assert!(
                    !instance.bookmarks.is_empty() || !instance.incidents.is_empty(),
                    "it waits for nothing: {:#?}", instance
                ),
                SubStatus::Finished | SubStatus::Faulted | SubStatus::Cancelled => {
                    let environment = Environment::new(host.now, &host.expressions);
                    let after = step(&kept.graph, instance, Stimulus::Cancel, &environment);
                    prop_assert!(!after.is_changed);
                }
                SubStatus::Pending | SubStatus::Executing | SubStatus::Interrupted => {
                    prop_assert!(false, "a burst ended in the middle: {:#?}", instance);
                }
            }
        }
    }
}
