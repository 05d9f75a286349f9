//! What is wrong with a definition: everything at once, each with its path.

use dormouse_engine::step::Environment;
use dormouse_engine::validate::validate;
use dormouse_tests::host::{BEGIN, Host};
use dormouse_tests::primitives::{line, sequence, set, write};
use dormouse_tests::{Scenario, Workflow, activity, finished, js, liquid, workflow};
use serde_json::json;

/// The problems, as `error|warning code path`.
fn problems(definition: &Workflow) -> Vec<String> {
    let mut host = Host::default();
    let definition = host.add(definition.json());
    let graph = host.library.compile(&definition, &host.expressions);
    let environment = Environment::new(BEGIN, &host.expressions);
    let weight = |is_error| if is_error { "error" } else { "warning" };
    validate(&graph, &environment)
        .into_iter()
        .map(|p| format!("{} {} {}", weight(p.is_error), p.code, p.path))
        .collect()
}

#[test]
fn a_good_definition_has_no_problems() {
    assert!(problems(&workflow("good", sequence([line("A"), write(js("1 + 1"))]))).is_empty());
}

#[test]
fn all_problems_are_told_at_once_with_their_paths() {
    let python = json!({ "typeName": "String", "expression": { "type": "Python", "value": "1" } });
    let root = sequence([
        line("Twice"),
        line("Twice"),
        activity("Acme.Odd").id("Odd"),
        activity("Elsa.WriteLine").id("Python").set("text", python),
        write(js("1 +")).id("Broken"),
        set("nowhere", "x").id("Set"),
        activity("Elsa.Cron")
            .id("Cron")
            .input("cronExpression", "x"),
    ]);
    let definition = workflow("bad", root)
        .input("In", "String")
        .input("In", "String");
    assert_eq!(
        problems(&definition),
        [
            "error duplicateName inputs[1]",
            "error duplicateId root.activities[1]",
            "warning unknownActivity root.activities[2]",
            "error unsupportedLanguage root.activities[3].text",
            "warning expressionSyntax root.activities[4].text",
            "warning unknownVariable root.activities[5]",
            "error badCron root.activities[6].cronExpression",
        ]
    );
}

#[test]
fn an_unsupported_language_names_those_that_are_supported() {
    let mut host = Host::default();
    let text = json!({ "typeName": "String", "expression": { "type": "Python", "value": "1" } });
    let definition = workflow("python", activity("Elsa.WriteLine").set("text", text));
    let definition = host.add(definition.json());
    let graph = host.library.compile(&definition, &host.expressions);
    let message = &graph.problems[0].message;
    assert!(
        message.contains("Python") && message.contains("JavaScript") && message.contains("Liquid"),
        "{message}"
    );
}

#[test]
fn a_connection_to_nothing_is_told() {
    let connections = json!([{ "source": { "activity": "A" }, "target": { "activity": "gone" } }]);
    let root = activity("Elsa.Flowchart")
        .children("activities", [line("A")])
        .set("connections", connections);
    assert_eq!(
        problems(&workflow("dangling", root)),
        ["warning danglingConnection root.connections[0]"]
    );
}

#[test]
fn a_broken_template_renders_what_is_wrong_with_it() {
    let template = "{% if %}x{% endif %}";
    let definition = workflow("liquid", write(liquid(template)));
    assert!(problems(&definition).is_empty());
    let said = format!("\nInvalid 'if' tag at (1:6)\nSource:\n{template}\n");
    Scenario::of(&definition)
        .start()
        .is(finished().lines(&[&said]));
}

#[test]
fn a_trigger_that_cannot_listen_is_told() {
    let root = activity("Elsa.Event")
        .id("E")
        .input("eventName", js("nobody.there"))
        .trigger();
    let found = problems(&workflow("trigger", sequence([root])));
    assert_eq!(found, ["error badTrigger root.activities[0]"]);
}

#[test]
fn a_workflow_that_uses_itself_is_told() {
    let definition = workflow("Self", sequence([activity("Self")])).as_activity();
    assert_eq!(
        problems(&definition),
        ["error recursion root.activities[0]"]
    );
}

#[test]
fn workflows_nested_too_deep_are_told() {
    let mut host = Host::default();
    for number in 0..70 {
        let inner = activity(&format!("Deep{}", number + 1));
        let one = workflow(&format!("Deep{number}"), sequence([inner])).as_activity();
        host.add(one.json());
    }
    host.add(workflow("Deep70", line("Bottom")).as_activity().json());
    let outermost = host.library.find("Deep0").unwrap().clone();
    let problems = host.library.compile(&outermost, &host.expressions).problems;
    let told: Vec<_> = problems.iter().map(|p| (p.code, p.path.as_str())).collect();
    assert_eq!(told, [("tooDeep", "root.activities[0]")]);
}

#[test]
fn workflows_that_use_each_other_are_told() {
    let mut host = Host::default();
    let other = workflow("Other", sequence([activity("Self")])).as_activity();
    host.add(other.json());
    let definition = workflow("Self", sequence([activity("Other")])).as_activity();
    let definition = host.add(definition.json());
    let problems = host
        .library
        .compile(&definition, &host.expressions)
        .problems;
    let told: Vec<_> = problems.iter().map(|p| (p.code, p.path.as_str())).collect();
    assert_eq!(told, [("recursion", "root.activities[0]")]);
}
