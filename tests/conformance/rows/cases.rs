//! The rows of `elsa-cases.md` about what happens inside an instance.

use dormouse_tests::rows::Row;

use super::shown;

const F: &str = "10.1 Flowchart graphs";
const C: &str = "10.2 Containers and loops";
const W: &str = "10.3 Blocking, faults, cancellation, variables";

pub(super) const FLOWCHARTS: &[Row] = &[
    shown!(
        F,
        1,
        "one WriteLine",
        flowcharts::an_outcome_that_is_not_produced_leads_nowhere
    ),
    shown!(
        F,
        2,
        "Loop: Start",
        flowcharts::a_dangling_activity_does_not_block_the_join_of_a_loop
    ),
    shown!(
        F,
        3,
        "Start→A→B",
        flowcharts::a_connection_back_to_what_does_not_lie_on_every_way_is_refused
    ),
    shown!(
        F,
        4,
        "Loop with join",
        flowcharts::a_join_inside_a_loop_fires_once_in_every_round
    ),
    shown!(
        F,
        5,
        "Start→sw",
        flowcharts::a_join_that_leads_back_lets_every_round_begin
    ),
    shown!(
        F,
        6,
        "Start→A,B,C",
        flowcharts::a_branch_that_goes_elsewhere_holds_up_only_a_join_of_all
    ),
    shown!(
        F,
        7,
        "same, decision=true",
        flowcharts::a_join_that_all_branches_reach_fires_in_every_mode
    ),
    shown!(F, 8, "braided", flowcharts::tokens_pass_a_braid_in_order),
    shown!(
        F,
        9,
        "loop by back edge",
        flowcharts::tokens_go_round_a_loop
    ),
    shown!(
        F,
        10,
        "empty flowchart",
        flowcharts::an_empty_flowchart_is_done_at_once
    ),
    shown!(
        F,
        11,
        "single activity",
        flowcharts::a_single_activity_needs_no_connection
    ),
    shown!(
        F,
        12,
        "unconnected activity",
        flowcharts::what_is_not_connected_to_the_start_does_not_run
    ),
    shown!(
        F,
        13,
        "FlowFork",
        flowcharts::a_fork_by_outcomes_joins_again
    ),
    shown!(
        F,
        14,
        "nested flowchart",
        flowcharts::a_flowchart_inside_a_flowchart_takes_its_turn
    ),
];

pub(super) const CONTAINERS: &[Row] = &[
    shown!(
        C,
        1,
        "Sequence with Break",
        containers::break_ends_a_sequence
    ),
    shown!(
        C,
        2,
        "Break inside If",
        containers::break_inside_an_if_ends_the_sequence
    ),
    shown!(
        C,
        3,
        "Break in an inner",
        containers::break_ends_every_sequence_it_passes
    ),
    shown!(
        C,
        4,
        "Sequence with Complete",
        containers::complete_ends_the_workflow
    ),
    shown!(
        C,
        5,
        "Fork WaitAll with 3",
        containers::a_fork_runs_its_branches_in_order
    ),
    shown!(
        C,
        6,
        "Fork WaitAny",
        containers::a_fork_that_waits_for_any_drops_the_others
    ),
    shown!(
        C,
        7,
        "Fork WaitAll, two",
        containers::a_fork_that_waits_for_all_goes_on_after_the_last
    ),
    shown!(
        C,
        8,
        "While(true)",
        containers::break_in_a_fork_leaves_the_loop_around_it
    ),
    shown!(
        C,
        9,
        "Fork without",
        containers::a_fork_without_branches_is_done_at_once
    ),
    shown!(
        C,
        10,
        "nested ForEach",
        containers::break_leaves_the_inner_loop_only
    ),
    shown!(
        C,
        11,
        "Break in For",
        containers::break_ends_every_kind_of_loop
    ),
    shown!(
        C,
        12,
        "ForEach over",
        containers::a_loop_takes_items_of_any_kind
    ),
    shown!(
        C,
        13,
        "ForEach, collection",
        containers::a_loop_sees_its_items_change
    ),
    shown!(C, 14, "ForEach null", containers::a_loop_over_null_fails),
    shown!(
        C,
        15,
        "ForEach, third",
        containers::a_loop_whose_body_fails_stays_where_it_is
    ),
    shown!(
        C,
        16,
        "ForEach with blocking",
        containers::a_loop_waits_in_every_round
    ),
    shown!(
        C,
        17,
        "ParallelForEach null",
        containers::a_parallel_loop_over_nothing_is_done
    ),
    shown!(
        C,
        18,
        "ParallelForEach CurrentIndex",
        containers::a_parallel_loop_numbers_its_items
    ),
    shown!(
        C,
        19,
        "Parallel nested",
        containers::parallel_runs_all_its_children
    ),
    shown!(
        C,
        20,
        "Finish in sequence",
        containers::finish_ends_everything
    ),
];

pub(super) const WAITING: &[Row] = &[
    shown!(
        W,
        1,
        "`Line 1`, Event",
        waiting::an_event_divides_a_sequence
    ),
    shown!(
        W,
        2,
        "Start → (1a",
        waiting::a_failing_branch_fails_the_workflow
    ),
    shown!(
        W,
        3,
        "same with Continue",
        waiting::with_incidents_allowed_the_other_branch_goes_on
    ),
    shown!(
        W,
        4,
        "cancel a suspended",
        waiting::a_cancelled_instance_does_nothing_more
    ),
    shown!(
        W,
        5,
        "activity schedules a child then cancels that",
        waiting::a_child_cancelled_before_it_runs_never_runs
    ),
    shown!(
        W,
        6,
        "activity schedules a child then cancels itself",
        waiting::an_activity_cancelled_after_scheduling_takes_its_child_along
    ),
    shown!(
        W,
        7,
        "background",
        waiting::a_background_activity_tells_its_outputs_like_any_other
    ),
    shown!(
        W,
        8,
        "`setX(42)`",
        waiting::a_script_sets_a_variable_in_three_ways
    ),
    shown!(
        W,
        9,
        "variable with storage",
        waiting::a_kept_variable_survives_every_wait
    ),
    shown!(
        W,
        10,
        "PublishEvent global",
        waiting::an_event_starts_whom_it_triggers
    ),
    shown!(
        W,
        11,
        "PublishEvent local",
        waiting::a_workflow_tells_itself_of_an_event
    ),
    shown!(
        W,
        12,
        "publishing an event",
        waiting::an_event_is_not_lost_when_it_comes_too_early
    ),
];
