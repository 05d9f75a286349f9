//! The rows of `expectations.md`, by the end of each file's name.

use dormouse_tests::rows::Row;

use super::{left_out, shown};

const PROVIDERS: &str =
    "there are no file providers to refresh or reload from: definitions are published";
const HOST_FUNCTION: &str =
    "needs a script function that an Elsa host registers in C#; scripts here see no host code";
const ALTERATIONS: &str = "Elsa migrates an instance that has finished; here what has ended stays as it is (one that waits goes over)";
const C_SHARP: &str = "the file's only activity is C#, which is not run here; its output binding is shown with JavaScript";

const PARENT: &str =
    "CachingAndWorkflowDefinitionActivity__Workflows__workflow-definition-parent.json";
const HELLO: &str = "RestApis__Workflows__hello-world.json";
const REFRESH: &str = "WorkflowDefinitionRefresh__dynamic-endpoint-http-workflow.json";
const RELOAD: &str = "WorkflowDefinitionReload__Workflows__http-workflow.json";
const MAIN: &str = "WorkflowJsonStructures__main.json";

pub(super) const COMPONENT: &[Row] = &[
    shown!(
        "BasicWorkflows__hello-world.json",
        1,
        "POST/GET",
        corpus_runs::hello_world_finishes
    ),
    shown!(
        PARENT,
        1,
        "200 concurrent",
        http::nested_workflows_answer_many_requests_at_once
    ),
    shown!(
        "http-hello-world.json",
        1,
        "GET",
        http::hello_world_is_answered
    ),
    shown!(
        "consumer.json",
        1,
        "run definition",
        corpus_runs::an_unpublished_provider_gives_its_output
    ),
    shown!(
        "input-output-logging-1.json",
        1,
        "execute",
        corpus_runs::inputs_are_logged_where_the_activity_says_so
    ),
    shown!(
        "input-output-logging-3.json",
        1,
        "execute",
        corpus_runs::outputs_are_logged_though_nothing_is_bound
    ),
    shown!(
        HELLO,
        1,
        "POST",
        corpus_runs::a_start_takes_a_correlation_id
    ),
    shown!(
        HELLO,
        2,
        "same POST with no body",
        routes::an_execute_needs_no_body_and_no_type
    ),
    shown!(
        HELLO,
        3,
        "same POST with empty body",
        routes::an_execute_takes_an_empty_body_of_json
    ),
    shown!(
        HELLO,
        4,
        "POST /workflow-definitions//execute",
        routes::an_execute_without_a_definition_is_not_found
    ),
    shown!(HELLO, 5, "GET variants", routes::an_execute_can_be_a_get),
    shown!(
        "CacheInvalidation_Childv2.json",
        1,
        "publish child v2",
        routes::a_published_child_is_what_its_users_run
    ),
    shown!(
        "CacheInvalidation_Parent.json",
        1,
        "GET",
        http::an_endpoint_goes_on_into_another_workflow
    ),
    shown!(
        "WorkflowCompletion__hello-world.json",
        1,
        "execute",
        corpus_runs::hello_world_finishes
    ),
    left_out!(REFRESH, 1, "GET /workflows/first-value", HOST_FUNCTION),
    left_out!(REFRESH, 2, "host value changed", HOST_FUNCTION),
    left_out!(RELOAD, 1, "delete definition", PROVIDERS),
    left_out!(RELOAD, 2, "reload definitions", PROVIDERS),
    left_out!(RELOAD, 3, "publish a v2 draft", PROVIDERS),
    shown!(
        MAIN,
        1,
        "GET definition",
        corpus_runs::an_inlined_workflow_is_not_written_into_its_user
    ),
    shown!(
        MAIN,
        2,
        "GET subgraph",
        corpus_runs::an_inlined_workflow_has_elsas_node_ids
    ),
    shown!(
        "refgraph-child.json",
        1,
        "export",
        routes::an_export_has_the_users_of_a_workflow_if_it_is_told_to
    ),
    shown!(
        "refgraph-grandchild.json",
        1,
        "GET",
        corpus_runs::users_of_a_workflow_are_known_through_others
    ),
    shown!(
        "refgraph-parent.json",
        1,
        "GET …",
        corpus_runs::nobody_uses_the_outermost_workflow
    ),
    shown!(
        "refgraph-parent.json",
        2,
        "GET consumers of an unknown",
        routes::an_unknown_definition_has_no_users
    ),
];

const CRON: &str = "bad-cron-expression.json";
const HTTP: &str = "ImportAndPublish__Workflows__http-workflow.json";
const WITHOUT_FAILING: &str = "publishing in spite of errors is an Elsa host's option; here a definition with errors is not published";

pub(super) const INTEGRATION: &[Row] = &[
    left_out!("version-1.json", 1, "run v1", ALTERATIONS),
    shown!(
        "parent-no-wait.json",
        1,
        "run",
        corpus_children::an_executed_child_runs_although_nobody_waits
    ),
    shown!(
        "ExecuteWorkflow__Workflows__parent-with-input.json",
        1,
        "run",
        corpus_children::an_executed_child_receives_an_object
    ),
    shown!(
        "parent-with-wait.json",
        1,
        "run",
        corpus_children::an_executed_child_is_waited_for
    ),
    shown!(
        "DependencyWorkflowsPublishing__Workflows__child.json",
        1,
        "get draft",
        routes::a_draft_follows_the_child_that_is_published
    ),
    shown!(
        "DependencyWorkflowsPublishing__Workflows__parent.json",
        1,
        "initially",
        corpus_children::a_draft_uses_the_version_it_names
    ),
    shown!(
        "join-all-1.json",
        1,
        "run",
        corpus_runs::a_join_of_all_waits_for_both_lines
    ),
    shown!(
        "join-all-2.json",
        1,
        "run",
        corpus_runs::a_join_of_all_waits_for_both_lines
    ),
    shown!(
        "join-any-1.json",
        1,
        "run",
        corpus_runs::joins_of_any_fire_once
    ),
    shown!(
        "workflow1.json",
        1,
        "run",
        corpus_runs::branches_without_a_join_finish
    ),
    shown!(
        "workflow2.json",
        1,
        "run",
        corpus_runs::a_braid_of_implicit_joins_finishes
    ),
    shown!(
        "workflow4.json",
        1,
        "run + resume",
        corpus_runs::a_braid_with_delays_finishes
    ),
    shown!(
        "implicit-loop.json",
        1,
        "import, run",
        corpus_runs::a_loop_by_a_connection_back_counts
    ),
    shown!(
        "writeline.json",
        1,
        "import, run",
        corpus_runs::a_single_line_is_written
    ),
    shown!(
        CRON,
        1,
        "import, publish",
        corpus_runs::a_bad_cron_expression_is_told
    ),
    left_out!(CRON, 2, "same with", WITHOUT_FAILING),
    shown!(
        "cron-every-hour.json",
        1,
        "import, publish",
        corpus_runs::good_triggers_have_no_problems
    ),
    shown!(
        HTTP,
        1,
        "import, publish",
        corpus_runs::good_triggers_have_no_problems
    ),
    shown!(
        HTTP,
        2,
        "import the same file again",
        http::the_same_path_twice_is_the_same_stimulus
    ),
    left_out!(HTTP, 3, "same with", WITHOUT_FAILING),
    shown!(
        "timer-workflow.json",
        1,
        "import, publish",
        corpus_runs::good_triggers_have_no_problems
    ),
    shown!(
        "fork-decision-join-converge.json",
        1,
        "run",
        corpus_runs::a_dead_branch_blocks_a_merge_of_tokens
    ),
    shown!(
        "fork-decision-join-none.json",
        1,
        "run",
        corpus_runs::a_dead_branch_does_not_block_a_stream_of_tokens
    ),
    shown!(
        "fork-decision-join-waitall.json",
        1,
        "run",
        corpus_runs::a_dead_branch_blocks_a_join_of_tokens
    ),
    shown!(
        "JoinBehaviors__Workflows__join.json",
        1,
        "run",
        corpus_runs::a_join_of_tokens_completes_once
    ),
    shown!(
        "instance-serialization.json",
        1,
        "run; serialise",
        corpus_runs::keys_with_a_dollar_sign_survive
    ),
    shown!(
        "ParentChildCompletion__Workflows__parent.json",
        1,
        "run",
        corpus_children::a_child_with_outcomes_finishes_its_parent
    ),
    shown!(
        "ParentChildInputs__Workflows__parent1.json",
        1,
        "run",
        corpus_children::a_child_sees_what_it_was_given
    ),
    shown!(
        "ParentChildInputs__Workflows__parent2.json",
        1,
        "run",
        corpus_children::a_child_is_given_the_parents_input
    ),
    shown!(
        "WorkflowDefinitionActivities__Workflows__parent-with-input.json",
        1,
        "run",
        corpus_children::an_activity_passes_its_input
    ),
    shown!(
        "parent-with-outcomes.json",
        1,
        "run",
        corpus_children::an_activity_ends_through_its_outcome
    ),
    shown!(
        "parent-with-output.json",
        1,
        "run",
        corpus_children::an_activitys_unbound_output_can_be_read
    ),
    left_out!("workflow-output.json", 1, "run", C_SHARP),
];
