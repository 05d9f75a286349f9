//! What Elsa's own tests expect of its real files.

use dormouse_engine::instance::{Start, SubStatus};
use dormouse_engine::journal::Event;
use dormouse_engine::step::Environment;
use dormouse_engine::validate::validate;
use dormouse_tests::host::{BEGIN, Host};
use dormouse_tests::{Scenario, Seen, corpus, finished};
use serde_json::{Value, json};

/// A file by the end of its name, and others that it uses. `None`: there is no corpus.
pub(super) fn given(ending: &str, others: &[&str]) -> Option<Scenario> {
    let mut it = Scenario::of_json(&corpus::file(ending)?);
    for other in others {
        it = it.with_json(&corpus::file(other)?);
    }
    Some(it)
}

pub(super) fn finishes(ending: &str, others: &[&str]) -> Option<Seen> {
    let seen = given(ending, others)?.start();
    assert_eq!(seen.sub_status, SubStatus::Finished, "{ending}: {seen:#?}");
    Some(seen)
}

fn problems(ending: &str) -> Option<Vec<String>> {
    let mut host = Host::default();
    let definition = host.add_text(&corpus::file(ending)?);
    let graph = host.library.compile(&definition, &host.expressions);
    let environment = Environment::new(BEGIN, &host.expressions);
    let errors = validate(&graph, &environment)
        .into_iter()
        .filter(|p| p.is_error);
    Some(errors.map(|p| p.message).collect())
}

#[test]
pub(crate) fn hello_world_finishes() {
    finishes("BasicWorkflows__hello-world.json", &[]);
    finishes("RestApis__Workflows__hello-world.json", &[]);
    finishes("WorkflowCompletion__hello-world.json", &[]);
}

#[test]
pub(crate) fn a_start_takes_a_correlation_id() {
    let Some(mut it) = given("RestApis__Workflows__hello-world.json", &[]) else {
        return;
    };
    let start = Start {
        correlation_id: Some("order-1".into()),
        ..Start::default()
    };
    assert_eq!(it.start_as(start).sub_status, SubStatus::Finished);
    assert_eq!(it.instance().correlation_id.as_deref(), Some("order-1"));
}

#[test]
pub(crate) fn an_unpublished_provider_gives_its_output() {
    let others = ["InputOutput__Workflows__provider.json"];
    let Some(mut it) = given("InputOutput__Workflows__consumer.json", &others) else {
        return;
    };
    // The variable is gone with the instance's end, so one activity is held back by an early look.
    it.host.limits.step_activities_max = 1;
    let seen = it.start();
    assert_eq!(seen.sub_status, SubStatus::Finished, "{seen:#?}");
    let outputs: Vec<&Value> = it
        .host
        .kept(it.id())
        .unwrap()
        .journal
        .iter()
        .filter_map(|e| e.data.pointer("/outputs/Output1"))
        .collect();
    assert_eq!(outputs, [&json!("Hello World!")]);
}

#[test]
pub(crate) fn inputs_are_logged_where_the_activity_says_so() {
    let Some(mut it) = given("LogPersistenceModes__input-output-logging-1.json", &[]) else {
        return;
    };
    assert_eq!(it.start().sub_status, SubStatus::Finished);
    let kept = it.host.kept(it.id()).unwrap();
    let started = kept.journal.iter().filter(|e| e.event == Event::Started);
    let is_logged: Vec<bool> = started
        .map(|e| kept.graph.node(e.node))
        .filter(|n| n.type_name == "Elsa.WriteLine")
        .map(|n| n.inputs[0].is_logged)
        .collect();
    assert_eq!(is_logged, [true, false, true, false]);
}

#[test]
pub(crate) fn outputs_are_logged_though_nothing_is_bound() {
    let others = ["LogPersistenceModes__input-output-logging-3-child.json"];
    let Some(mut it) = given("LogPersistenceModes__input-output-logging-3.json", &others) else {
        return;
    };
    assert_eq!(it.start().sub_status, SubStatus::Finished);
    let kept = it.host.kept(it.id()).unwrap();
    let is_it = |name: Option<&str>| name == Some("InputOutputLogging3-Child1");
    let completed = kept
        .journal
        .iter()
        .find(|e| e.event == Event::Completed && is_it(kept.graph.node(e.node).name.as_deref()))
        .unwrap();
    let outputs = completed.data["outputs"].as_object().unwrap();
    assert!(
        outputs.contains_key("Output1") && outputs.contains_key("Output2"),
        "{outputs:?}"
    );
}

#[test]
pub(crate) fn an_inlined_workflow_is_not_written_into_its_user() {
    let Some(main) = corpus::file("WorkflowJsonStructures__main.json") else {
        return;
    };
    let mut host = Host::default();
    let definition = host.add_text(&main);
    for activity in definition.root()["activities"].as_array().unwrap() {
        assert!(activity.get("root").is_none(), "{activity}");
    }
}

#[test]
pub(crate) fn an_inlined_workflow_has_elsas_node_ids() {
    let others = ["WorkflowJsonStructures__sub.json"];
    let Some(it) = given("WorkflowJsonStructures__main.json", &others) else {
        return;
    };
    let graph = it
        .host
        .library
        .graph("ebe87d0f1d1924ea", &it.host.expressions)
        .unwrap();
    let sub = graph
        .by_node_id("Workflow2:4d5af7585eece1d7:f19ae76011a020f3")
        .unwrap();
    let below = |parent| {
        graph
            .indexes()
            .find(|i| graph.node(*i).parent == Some(parent))
            .unwrap()
    };
    let workflow = below(sub);
    assert_eq!(graph.node(workflow).type_name, "Elsa.Workflow");
    assert_eq!(graph.node(workflow).id, "Workflow1");
    assert_eq!(
        graph.node(below(below(workflow))).type_name,
        "Elsa.WriteLine"
    );
}

/// The definitions that use a definition, directly or through others.
fn consumers(of: &str) -> Option<Vec<String>> {
    let mut host = Host::default();
    for name in ["grandchild", "child", "parent"] {
        host.add_text(&corpus::file(&format!("__refgraph-{name}.json"))?);
    }
    let uses = |id: &str| {
        let graph = host.library.graph(id, &host.expressions).unwrap();
        graph.bindings.iter().any(|(used, _)| used == of)
    };
    let ids = host
        .library
        .versions()
        .iter()
        .filter_map(|d| d.definition_id.clone());
    Some(ids.filter(|id| uses(id)).collect())
}

#[test]
pub(crate) fn users_of_a_workflow_are_known_through_others() {
    let Some(found) = consumers("refgraph-grandchild") else {
        return;
    };
    assert_eq!(found, ["refgraph-child", "refgraph-parent"]);
}

#[test]
pub(crate) fn nobody_uses_the_outermost_workflow() {
    let Some(found) = consumers("refgraph-parent") else {
        return;
    };
    assert!(found.is_empty(), "{found:?}");
}

#[test]
pub(crate) fn a_join_of_all_waits_for_both_lines() {
    for file in ["join-all-1.json", "join-all-2.json"] {
        let Some(seen) = finishes(file, &[]) else {
            return;
        };
        assert_eq!(seen.lines, ["Start", "Line 1", "Line 2", "End"], "{file}");
    }
}

#[test]
pub(crate) fn joins_of_any_fire_once() {
    let Some(seen) = finishes("join-any-1.json", &[]) else {
        return;
    };
    assert_eq!(seen.lines, ["Start", "End"]);
}

#[test]
pub(crate) fn branches_without_a_join_finish() {
    finishes("FlowchartCompletion__Workflows__workflow1.json", &[]);
}

#[test]
pub(crate) fn a_braid_of_implicit_joins_finishes() {
    finishes("FlowchartCompletion__Workflows__workflow2.json", &[]);
}

#[test]
pub(crate) fn a_braid_with_delays_finishes() {
    let Some(mut it) = given("FlowchartCompletion__Workflows__workflow4.json", &[]) else {
        return;
    };
    assert_eq!(it.start().sub_status, SubStatus::Suspended);
    assert_eq!(it.resume_all().sub_status, SubStatus::Finished);
}

#[test]
pub(crate) fn a_loop_by_a_connection_back_counts() {
    let Some(mut it) = given("implicit-loop.json", &[]) else {
        return;
    };
    it.start()
        .is(finished().lines(&["Do something", "Retry", "Do something", "Done"]));
}

#[test]
pub(crate) fn a_single_line_is_written() {
    let Some(mut it) = given("ImportAndExecute__Workflows__writeline.json", &[]) else {
        return;
    };
    it.start().is(finished().lines(&["Dummy Text"]));
}

#[test]
pub(crate) fn a_bad_cron_expression_is_told() {
    let Some(found) = problems("bad-cron-expression.json") else {
        return;
    };
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("Error when parsing cron expression:"),
        "{found:?}"
    );
    assert!(
        found[0].contains("Seconds") && found[0].contains("59"),
        "{found:?}"
    );
}

#[test]
pub(crate) fn good_triggers_have_no_problems() {
    for file in [
        "cron-every-hour.json",
        "ImportAndPublish__Workflows__http-workflow.json",
        "timer-workflow.json",
    ] {
        let Some(found) = problems(file) else { return };
        assert!(found.is_empty(), "{file}: {found:?}");
    }
}

fn tokens(file: &str) -> Option<(Seen, Scenario)> {
    let mut it = given(&format!("JoinBehaviors__Workflows__{file}"), &[])?;
    Some((it.start_with_tokens(), it))
}

#[test]
pub(crate) fn a_dead_branch_blocks_a_merge_of_tokens() {
    let Some((seen, _)) = tokens("fork-decision-join-converge.json") else {
        return;
    };
    // The token that waits at the merge keeps the flowchart open.
    seen.shows(SubStatus::Suspended, &["A"]);
}

#[test]
pub(crate) fn a_dead_branch_does_not_block_a_stream_of_tokens() {
    let Some((seen, _)) = tokens("fork-decision-join-none.json") else {
        return;
    };
    seen.shows(SubStatus::Finished, &["A", "C"]);
}

#[test]
pub(crate) fn a_dead_branch_blocks_a_join_of_tokens() {
    let Some((seen, _)) = tokens("fork-decision-join-waitall.json") else {
        return;
    };
    seen.shows(SubStatus::Faulted, &["A", "C", "B", "D"]);
}

#[test]
pub(crate) fn a_join_of_tokens_completes_once() {
    let Some((_, it)) = tokens("join.json") else {
        return;
    };
    let count = it
        .journal()
        .split(' ')
        .filter(|e| *e == "802725996be1b582-")
        .count();
    assert_eq!(count, 1, "{}", it.journal());
}

#[test]
pub(crate) fn keys_with_a_dollar_sign_survive() {
    // Every step of every test is encoded and decoded, so the run itself is the proof.
    let Some(mut it) = given("instance-serialization.json", &[]) else {
        return;
    };
    it.host.limits.step_activities_max = 1;
    assert_eq!(it.start().sub_status, SubStatus::Finished);
}
