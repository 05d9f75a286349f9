//! Variables, their scope and where they are kept; inputs and expressions.

use dormouse_engine::instance::SubStatus;
use dormouse_tests::primitives::{delay, event, for_each, run_js, sequence, set, write};
use dormouse_tests::{
    Expr, Scenario, activity, finished, js, liquid, literal, object, suspended, variable, workflow,
};
use serde_json::{Value, json};

#[test]
fn a_container_has_variables_of_its_own() {
    let own = json!([{ "id": "inner.X", "name": "X", "typeName": "String", "value": "inner" }]);
    let show = || write(js("getX()"));
    let inner = sequence([show(), set("inner.X", "changed"), show()]).set("variables", own);
    let definition = workflow("data", sequence([show(), inner, show()]));
    Scenario::of(&definition.variable("X", "String", "outer"))
        .start()
        .is(finished().lines(&["outer", "inner", "changed", "outer"]));
}

#[test]
fn a_container_that_runs_again_begins_with_its_defaults() {
    let body = sequence([set("X", js("getX() + 1")), write(js("String(getX())"))]);
    let root = for_each(object(json!([1, 2])), body.variable("X", "Int32", 0));
    Scenario::of(&workflow("data", root))
        .start()
        .is(finished().lines(&["1", "1"]));
}

fn after_a_wait(driver: Option<&str>) -> Vec<String> {
    let root = sequence([set("X", "set"), event("Wait"), write(js("String(getX())"))]);
    let definition = workflow("data", root).variable_in("X", "String", "default", driver);
    let mut it = Scenario::of(&definition);
    assert_eq!(it.start().sub_status, SubStatus::Suspended);
    it.resume("Wait").lines
}

#[test]
fn a_variable_with_a_driver_survives_a_wait() {
    for driver in [
        "WorkflowInstanceStorageDriver",
        "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core",
        "Elsa.Workflows.Services.WorkflowStorageDriver, Elsa.Workflows.Core",
        "WORKFLOWSTORAGEDRIVER",
    ] {
        assert_eq!(after_a_wait(Some(driver)), ["set"], "{driver}");
    }
}

#[test]
fn a_variable_in_memory_is_forgotten_over_a_wait() {
    assert_eq!(after_a_wait(Some("MemoryStorageDriver")), ["default"]);
}

#[test]
fn set_variable_converts_to_the_variables_type() {
    let root = sequence([
        set("n", "42"),
        write(js("typeof getN() + ' ' + (getN() + 1)")),
    ]);
    Scenario::of(&workflow("data", root).variable("n", "Int32", 0))
        .start()
        .is(finished().lines(&["number 43"]));
}

#[test]
fn an_output_is_bound_as_it_is() {
    // Elsa converts to the output's type, not to the variable's: a String variable can hold a map.
    let give = run_js("return { Response: 'yes' }").bind("result", "text");
    let root = sequence([give, write(js("getText().Response"))]);
    Scenario::of(&workflow("data", root).variable("text", "String", ""))
        .start()
        .is(finished().lines(&["yes"]));
}

#[test]
fn set_variable_without_such_a_variable_fails() {
    let seen = Scenario::of(&workflow("data", set("nowhere", "x"))).start();
    assert_eq!(seen.incidents, ["Variable 'nowhere' not found."]);
}

#[test]
fn a_default_without_a_reading_is_the_default_of_its_type() {
    let definition = workflow("data", write(js("String(getN())")));
    Scenario::of(&definition.variable("n", "Int32", "many"))
        .start()
        .is(finished().lines(&["0"]));
}

#[test]
fn a_default_of_json_text_stays_text_in_a_variable_of_objects() {
    let definition = workflow("data", write(js("typeof getO()")));
    Scenario::of(&definition.variable("O", "Object", r#"{"a":["x","y"]}"#))
        .start()
        .is(finished().lines(&["string"]));
}

#[test]
fn a_script_makes_a_variable_nobody_declared() {
    let show = write(js("String(getVariable('Made'))"));
    let root = sequence([run_js("setVariable('Made', 5)"), event("Wait"), show]);
    let mut it = Scenario::of(&workflow("data", root));
    it.start().is(suspended(&["Wait"]));
    it.resume("Wait").is(finished().lines(&["5"]));
}

/// What a text given by an expression comes to.
fn text(expr: impl Into<Expr>) -> Vec<String> {
    let definition = workflow("data", write(expr)).variable("V", "String", "value");
    Scenario::of(&definition.input("In", "String"))
        .start_with(json!({ "In": "given" }))
        .lines
}

#[test]
fn every_kind_of_expression_gives_a_text() {
    assert_eq!(text("plain"), ["plain"]);
    assert_eq!(text(literal(5)), ["5"]);
    // Where a text is wanted, the JSON of an object is that text.
    assert_eq!(text(object(json!("quoted"))), [r#""quoted""#]);
    assert_eq!(text(object(json!({ "a": 1 }))), [r#"{"a":1}"#]);
    assert_eq!(text(variable("V")), ["value"]);
    assert_eq!(text(js("getV() + ' ' + getIn()")), ["value given"]);
    assert_eq!(
        text(liquid("{{ Variables.V }} {{ Input.In }}")),
        ["value given"]
    );
}

#[test]
fn an_input_expression_reads_the_workflows_input() {
    let written = |reference: Value| {
        let expression = json!({ "type": "Input", "value": reference });
        let text = json!({ "typeName": "String", "expression": expression });
        let root = activity("Elsa.WriteLine").set("text", text);
        Scenario::of(&workflow("data", root).input("In", "String"))
            .start_with(json!({ "In": "given" }))
            .lines
    };
    let declaration = json!({ "name": "In", "type": "String" });
    assert_eq!(written(declaration.to_string().into()), ["given"]);
    assert_eq!(written(declaration), ["given"]);
    // Less than the declaration of an input names nothing.
    assert_eq!(written(json!({ "name": "In" })), [""]);
}

fn input_after_a_wait(is_kept: bool) -> Vec<String> {
    let definition = workflow(
        "data",
        sequence([event("Wait"), write(js("String(getInput('In'))"))]),
    );
    let definition = match is_kept {
        true => definition.kept_input("In", "String"),
        false => definition.input("In", "String"),
    };
    let mut it = Scenario::of(&definition);
    it.start_with(json!({ "In": "given" }));
    it.resume("Wait").lines
}

#[test]
fn an_input_lasts_for_the_burst_unless_it_has_a_driver() {
    assert_eq!(input_after_a_wait(true), ["given"]);
    assert_ne!(input_after_a_wait(false), ["given"]);
}

#[test]
fn a_resume_brings_input_of_its_own() {
    let root = sequence([event("Wait"), write(js("getInput('Word')"))]);
    let mut it = Scenario::of(&workflow("data", root));
    it.start();
    it.resume_with("Wait", json!({ "Word": "hello" }))
        .is(finished().lines(&["hello"]));
}

#[test]
fn a_scripts_mistake_names_the_input() {
    let seen = Scenario::of(&workflow("data", write(js("nobody.there")))).start();
    assert_eq!(seen.sub_status, SubStatus::Faulted);
    let message = &seen.incidents[0];
    assert!(
        message.starts_with("Failed to evaluate activity input 'Text'"),
        "{message}"
    );
}

#[test]
fn name_and_correlation_id_are_set_by_activities_and_scripts() {
    let root = sequence([
        activity("Elsa.SetName").input("value", "order 5"),
        activity("Elsa.Correlate").input("correlationId", "o-5"),
        write(js("getWorkflowInstanceName() + ' ' + getCorrelationId()")),
        run_js("setCorrelationId('o-6'); setWorkflowInstanceName('order 6')"),
    ]);
    let mut it = Scenario::of(&workflow("data", root));
    it.start().is(finished().lines(&["order 5 o-5"]));
    assert_eq!(it.instance().name.as_deref(), Some("order 6"));
    assert_eq!(it.instance().correlation_id.as_deref(), Some("o-6"));
}

#[test]
fn scripts_draw_different_numbers_within_a_step() {
    // That they are the same when the step is repeated, the host checks at every step.
    let draw = "return [newGuidString(), newGuidString(), Math.random(), Math.random()]";
    let root = run_js(draw).bind("result", "Out");
    let seen = Scenario::of(&workflow("data", root).output("Out", "Object")).start();
    let drawn = seen.output["Out"].as_array().unwrap();
    assert_ne!(drawn[0], drawn[1]);
    assert_ne!(drawn[2], drawn[3]);
}

#[test]
fn time_is_the_time_of_the_burst() {
    let now = || write(js("new Date().toISOString()"));
    let root = sequence([now(), delay("00:00:05"), now()]);
    let mut it = Scenario::of(&workflow("data", root));
    assert_eq!(it.start().lines, ["2026-01-01T00:00:00.000Z"]);
    assert_eq!(it.after("00:00:05").lines, ["2026-01-01T00:00:05.000Z"]);
}
