//! Elsa's waits, faults, cancellations and variables.

use dormouse_engine::call::Answer;
use dormouse_engine::instance::Start;
use dormouse_engine::journal::{Entry, Event};
use dormouse_engine::step::Stimulus;
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{
    event, fault, if_, line, parallel, publish, run_js, sequence, set, while_, write,
};
use dormouse_tests::{
    Activity, Host, Scenario, activity, cancelled, faulted, finished, js, suspended, workflow,
};
use serde_json::json;

fn scenario(root: Activity) -> Scenario {
    Scenario::of(&workflow("waiting", root))
}

#[test]
pub(crate) fn an_event_divides_a_sequence() {
    let steps = [
        line("Line 1"),
        event("Event"),
        line("Line 2"),
        line("Line 3"),
    ];
    let mut it = scenario(sequence(steps));
    it.start().is(suspended(&["Event"]).lines(&["Line 1"]));
    it.resume("Event")
        .is(finished().lines(&["Line 2", "Line 3"]));
}

/// Two branches that wait for events; one fails before it waits.
fn half_failing() -> Activity {
    let activities = [
        event("Event 1"),
        fault("Broken").id("Fault"),
        event("Event 2"),
    ];
    flow("Start>1a>Event 1>1b; Start>2a>Fault>Event 2>2b", activities)
}

#[test]
pub(crate) fn a_failing_branch_fails_the_workflow() {
    let mut it = scenario(half_failing());
    it.start()
        .is(faulted(&["Broken"]).lines(&["Start", "1a", "2a"]));
    it.resume_all().is(faulted(&["Broken"]));
}

#[test]
pub(crate) fn with_incidents_allowed_the_other_branch_goes_on() {
    let mut it = Scenario::of(&workflow("waiting", half_failing()).continue_with_incidents());
    it.start().is(suspended(&["Event 1"])
        .lines(&["Start", "1a", "2a"])
        .incidents(&["Broken"]));
    it.resume_all()
        .is(suspended(&[]).lines(&["1b"]).incidents(&["Broken"]));
}

#[test]
pub(crate) fn a_cancelled_instance_does_nothing_more() {
    let mut it = scenario(sequence([event("Event"), line("Never")]));
    it.start().is(suspended(&["Event"]));
    it.cancel().is(cancelled());
}

/// Runs one activity a step, and gives a stimulus after some steps.
fn interrupt_after(steps: usize, root: Activity, stimulus: Stimulus) -> Vec<String> {
    let mut host = Host::default();
    host.add(workflow("waiting", root).json());
    let graph = host.library.graph("waiting", &host.expressions).unwrap();
    let mut environment = dormouse_engine::step::Environment::new(host.now, &host.expressions);
    environment.limits.step_activities_max = 1;
    let id = "one".into();
    let mut instance =
        dormouse_engine::instance::Instance::new(&graph, id, Start::default(), host.now, 1);
    let mut lines = Vec::new();
    let mut stimuli = vec![Stimulus::Start];
    stimuli.extend(vec![Stimulus::Continue; steps]);
    stimuli.push(stimulus);
    stimuli.extend(vec![Stimulus::Continue; 10]);
    for stimulus in &stimuli {
        if instance.is_ended() {
            break;
        }
        let transition =
            dormouse_tests::host::lawful_step(&graph, instance, stimulus, &environment);
        lines.extend(transition.lines);
        instance = transition.instance;
    }
    lines
}

#[test]
pub(crate) fn a_child_cancelled_before_it_runs_never_runs() {
    let root = sequence([parallel([line("A"), line("B"), line("C")]), line("After")]);
    let cancel = Stimulus::CancelActivity {
        activity_id: "B".into(),
    };
    // Workflow, sequence and parallel have run; A, B and C are queued.
    assert_eq!(interrupt_after(2, root, cancel), ["A", "C", "After"]);
}

#[test]
pub(crate) fn an_activity_cancelled_after_scheduling_takes_its_child_along() {
    let root = sequence([
        line("Start"),
        if_(true, line("Child")).id("If"),
        line("After"),
    ]);
    let cancel = Stimulus::CancelActivity {
        activity_id: "If".into(),
    };
    // Workflow, sequence, the first line and the if have run; the child is queued.
    assert_eq!(interrupt_after(3, root, cancel), ["Start"]);
}

#[test]
pub(crate) fn a_script_sets_a_variable_in_three_ways() {
    for script in ["setX(42)", "variables.X = 42", "setVariable('X', 42)"] {
        let root = sequence([run_js(script), event("Wait"), write(js("getX()"))]);
        let mut it = Scenario::of(&workflow("waiting", root).variable("X", "Int32", 0));
        it.start().is(suspended(&["Wait"]));
        assert_eq!(it.variable("X"), Some(json!(42)), "{script}");
        it.resume("Wait").is(finished().lines(&["42"]));
    }
}

#[test]
pub(crate) fn a_kept_variable_survives_every_wait() {
    let body = sequence([
        set("n", js("getN() - 1")),
        write(js("getN()")),
        event("Next"),
    ]);
    let root = while_(js("getN() > 0"), body);
    let mut it = Scenario::of(&workflow("waiting", root).variable("n", "Int32", 3));
    it.start().is(suspended(&["Next"]).lines(&["2"]));
    it.resume("Next").is(suspended(&["Next"]).lines(&["1"]));
    it.resume("Next").is(suspended(&["Next"]).lines(&["0"]));
    it.resume("Next").is(finished());
}

#[test]
pub(crate) fn an_event_starts_whom_it_triggers() {
    let shipped = json!({ "Status": "Shipped" });
    let producer = activity("Elsa.PublishEvent")
        .input("eventName", "OrderShipped")
        .input("payload", js("({ Status: 'Shipped' })"))
        .input("correlationId", "order-1");
    let trigger = event("OrderShipped")
        .trigger()
        .bind("result", "ReceivedPayload");
    let consumer = workflow("consumer", trigger).output("ReceivedPayload", "Object");
    let mut it = scenario(producer).with(&consumer);
    it.start()
        .is(finished().effects(&[r#"publish OrderShipped {"Status":"Shipped"} to order-1"#]));
    let started = it.host.instances_of("consumer");
    assert_eq!(started.len(), 1);
    assert_eq!(started[0].correlation_id.as_deref(), Some("order-1"));
    assert_eq!(started[0].sub_status.as_str(), "Finished");
    assert_eq!(started[0].output["ReceivedPayload"], shipped);
}

#[test]
pub(crate) fn a_workflow_tells_itself_of_an_event() {
    let tell = publish("Go", json!(1)).input("isLocalEvent", true);
    let mut it = scenario(parallel([event("Go"), tell]));
    it.start().is(finished());
}

#[test]
pub(crate) fn an_event_is_not_lost_when_it_comes_too_early() {
    let mut it = scenario(sequence([event("First"), event("Second"), line("End")]));
    it.host.publish_event("First", json!(1));
    it.start().is(suspended(&["Second"]));
    it.event("Second", json!(2)).is(finished().lines(&["End"]));
}

/// The outputs that the journal tells of a request, with one of them bound.
fn outputs_of_a_request(is_background: bool) -> serde_json::Value {
    let send = activity("Elsa.FlowSendHttpRequest")
        .id("Send")
        .input("url", "http://localhost/")
        .bind("parsedContent", "got");
    let send = if is_background {
        send.background()
    } else {
        send
    };
    let mut it = Scenario::of(&workflow("waiting", send).variable("got", "Object", json!(null)));
    it.host.answers.push_back(Answer::Http {
        status: 200,
        headers: [("content-type".to_owned(), vec!["text/plain".to_owned()])].into(),
        body: b"hello".to_vec(),
    });
    it.start();
    let kept = it.host.kept(it.id()).unwrap();
    let of_the_end =
        |e: &&Entry| e.event == Event::Completed && kept.graph.node(e.node).id == "Send";
    kept.journal.iter().find(of_the_end).unwrap().data["outputs"].clone()
}

#[test]
pub(crate) fn a_background_activity_tells_its_outputs_like_any_other() {
    let outputs = outputs_of_a_request(true);
    assert_eq!(outputs["ParsedContent"], "hello");
    assert_eq!(outputs["StatusCode"], 200);
    assert_eq!(outputs, outputs_of_a_request(false));
}
