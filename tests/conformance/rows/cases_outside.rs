//! The rows of `elsa-cases.md` about what lies outside an instance: children and HTTP.

use dormouse_tests::rows::Row;

use super::shown;

const P: &str = "10.4 Parent/child";
const H: &str = "10.5 HTTP";

pub(super) const CHILDREN: &[Row] = &[
    shown!(
        P,
        1,
        "BulkDispatch wait",
        children::bulk_waits_for_all_children
    ),
    shown!(
        P,
        2,
        "BulkDispatch no wait",
        children::bulk_without_waiting_is_done_at_once
    ),
    shown!(
        P,
        3,
        "BulkDispatch with correlation",
        children::bulk_gives_each_child_its_correlation_id
    ),
    shown!(
        P,
        4,
        "BulkDispatch with 3 faulting",
        children::bulk_counts_failing_children_as_done
    ),
    shown!(
        P,
        5,
        "BulkDispatch empty",
        children::bulk_over_nothing_is_done
    ),
    shown!(
        P,
        6,
        "BulkDispatch / Dispatch of unknown",
        children::an_unknown_child_fails_the_parent
    ),
    shown!(
        P,
        7,
        "BulkDispatch over fruits",
        children::bulk_gives_each_child_its_item
    ),
    shown!(
        P,
        8,
        "Dispatch wait",
        children::a_waiting_parent_ends_after_its_child
    ),
    shown!(
        P,
        9,
        "Dispatch no wait",
        children::a_parent_that_does_not_wait_ends_before_its_child
    ),
    shown!(
        P,
        10,
        "Dispatch with input",
        children::a_child_receives_its_input
    ),
    shown!(
        P,
        11,
        "nested composites",
        children::complete_ends_the_nearest_workflow_only
    ),
];

pub(super) const HTTP: &[Row] = &[
    shown!(
        H,
        1,
        "GET workflow",
        http::only_the_methods_of_an_endpoint_are_heard
    ),
    shown!(
        H,
        2,
        "endpoint supporting",
        http::an_endpoint_hears_each_of_its_methods
    ),
    shown!(H, 3, "basic GET", http::a_text_is_answered_as_it_is),
    shown!(
        H,
        4,
        "route",
        routes::route_values_are_as_they_were_sent_and_the_whole_path_must_match
    ),
    shown!(H, 5, "upper/mixed-case", http::a_text_is_answered_as_it_is),
    shown!(H, 6, "`?name=`", routes::odd_queries_are_no_mistake),
    shown!(H, 7, "JSON echo", http::json_is_answered_with_its_own_names),
    shown!(
        H,
        8,
        "malformed JSON",
        http::malformed_json_is_a_bad_request
    ),
    shown!(H, 9, "empty JSON body", http::an_empty_json_body_is_null),
    shown!(H, 10, "form post", http::the_fields_of_a_form_can_be_read),
    shown!(H, 11, "multipart", http::the_files_of_a_form_can_be_read),
    shown!(
        H,
        12,
        "blocked extension",
        http::a_blocked_ending_leads_through_its_outcome
    ),
    shown!(
        H,
        13,
        "requestSizeLimit",
        http::a_body_over_the_limit_is_refused
    ),
    shown!(
        H,
        14,
        "3 concurrent",
        http::each_request_has_its_own_route_values
    ),
    shown!(
        H,
        15,
        "three instances",
        routes::of_three_that_wait_at_one_path_the_one_that_is_named_goes_on
    ),
];
