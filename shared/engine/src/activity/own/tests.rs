use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::activity::scenario::{Scenario, bound, literal, write};
use crate::activity_type::{ActivityType, read};
use crate::definition::Definition;
use crate::graph::{Children, Reference};
use crate::instance::SubStatus;
use crate::step::Stimulus;
use crate::time::Timestamp;

struct One(Arc<ActivityType>);

impl Children for One {
    fn find(&self, _reference: &Reference) -> Option<Arc<Definition>> {
        None
    }

    fn own(&self, reference: &Reference) -> Option<Arc<ActivityType>> {
        (reference.type_name == self.0.type_name).then(|| Arc::clone(&self.0))
    }
}

fn charge(handler: Value, more: Value) -> Value {
    let mut ty = json!({
        "type": "Acme.Charge",
        "inputs": [{ "name": "amount", "type": "Decimal", "isRequired": true }, { "name": "Card", "isSensitive": true }],
        "outputs": [{ "name": "receipt", "type": "String" }],
        "outcomes": ["Done", "Declined"],
        "handler": handler, "timeoutMs": 30_000,
    });
    ty.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    ty
}

fn play(ty: &Value) -> Scenario {
    let activity = json!({
        "id": "c", "type": "Acme.Charge", "amount": literal(3), "card": literal("4242"), "receipt": bound("Receipt"),
    });
    let definition = json!({
        "toolVersion": "3.7.0",
        "variables": [{ "id": "Receipt", "name": "Receipt", "typeName": "Object", "storageDriverTypeName": "WorkflowInstanceStorageDriver" }],
        "root": { "id": "s", "type": "Elsa.Sequence", "activities": [activity, write("Receipt")] },
    });
    Scenario::using(definition, &One(Arc::new(read(ty, 4).unwrap()))).start()
}

fn worker(more: Value) -> Scenario {
    play(&charge(json!({ "kind": "worker", "queue": "pay" }), more))
}

fn task(scenario: &Scenario) -> Bookmark {
    let open = scenario.instance.bookmarks.iter().find(|b| is_task(b));
    open.expect("a task is open").clone()
}

fn say(scenario: &mut Scenario, word: &Word) -> bool {
    let bookmark = task(scenario).id;
    scenario.resume_bookmark(bookmark, Value::Object(word.input()))
}

fn answer(answer: Value) -> Word {
    Word::Answered { answer }
}

fn take(lease: &str) -> Word {
    Word::Taken {
        lease: lease.into(),
        worker: "w".into(),
    }
}

fn told(scenario: &Scenario) -> Value {
    let open = open_task(&scenario.graph, &scenario.instance, &task(scenario).id);
    open.unwrap().body(&scenario.instance, "acme")
}

fn timers(scenario: &Scenario) -> usize {
    let mut bookmarks = scenario.instance.bookmarks.iter();
    bookmarks.by_ref().filter(|b| b.due().is_some()).count()
}

#[test]
fn a_worker_is_told_all_of_its_task_and_its_answer_goes_on() {
    let mut scenario = worker(json!({}));
    let bookmark = task(&scenario);
    let asked = Effect::Perform {
        bookmark: bookmark.id.clone(),
        queue: Some("pay".into()),
        activity_type: "Acme.Charge".into(),
        since: scenario.now,
    };
    assert_eq!(scenario.effects, [asked]);
    assert_eq!(timers(&scenario), 0, "nobody has begun");
    say(&mut scenario, &take("l1"));
    assert_eq!(timers(&scenario), 1);
    let body = told(&scenario);
    assert_eq!(body["taskId"], format!("i1{}", bookmark.id));
    assert_eq!(body["input"], json!({ "amount": 3, "Card": "4242" }));
    assert_eq!(
        (&body["type"], &body["version"], &body["attempt"]),
        (&json!("Acme.Charge"), &json!(4), &json!(1))
    );
    let workflow = json!({ "definitionId": "test", "instanceId": "i1", "correlationId": null, "tenantId": "acme" });
    assert_eq!(body["workflow"], workflow);
    say(
        &mut scenario,
        &answer(json!({ "outputs": { "receipt": "r-1" }, "outcome": "Declined" })),
    );
    assert_eq!(scenario.lines, ["r-1"]);
    assert_eq!(scenario.outcomes("c"), json!(["Declined"]));
    assert!(scenario.instance.bookmarks.is_empty());
    let second = Stimulus::Resume {
        bookmark: bookmark.id,
        input: answer(json!({})).input(),
    };
    assert!(!scenario.play(second), "a second answer changes nothing");
}

#[test]
fn of_two_who_take_a_task_one_has_it() {
    let mut scenario = worker(json!({}));
    say(&mut scenario, &take("first"));
    let lines = scenario.journal.len();
    say(&mut scenario, &take("second"));
    assert_eq!(
        scenario.journal.len(),
        lines,
        "nobody needs to read about it"
    );
    let open = open_task(&scenario.graph, &scenario.instance, &task(&scenario).id).unwrap();
    assert_eq!(open.lease.as_deref(), Some("first"));
    assert_eq!(timers(&scenario), 1);
}

#[test]
fn a_task_nothing_is_heard_of_is_offered_again_under_another_id() {
    let mut scenario = worker(json!({ "heartbeatMs": 1_000 }));
    let first = task(&scenario).id;
    say(&mut scenario, &take("a"));
    scenario.now = scenario.now.plus_ms(900);
    say(
        &mut scenario,
        &Word::Heartbeat {
            details: json!({ "page": 3 }),
        },
    );
    let resumed = scenario.journaled("c", Event::Resumed).len();
    assert_eq!(resumed, 1, "a heartbeat is no line of the journal");
    let due = scenario.instance.bookmarks.iter().filter_map(Bookmark::due);
    assert_eq!(due.min(), Some(scenario.now.plus_ms(1_000)));
    scenario.let_time_pass();
    let second = task(&scenario).id;
    assert_ne!(first, second);
    assert_eq!(timers(&scenario), 0);
    let body = told(&scenario);
    assert_eq!(body["heartbeatDetails"], json!({ "page": 3 }));
    assert_eq!(body["heartbeatMs"], 1_000);
    assert_eq!(
        (&body["attempt"], &body["idempotencyKey"]),
        (&json!(1), &json!("i1/4"))
    );
    let late = Stimulus::Resume {
        bookmark: first,
        input: answer(json!({})).input(),
    };
    assert!(!scenario.play(late), "the late answer changes nothing");
    let lines = scenario.journaled("c", Event::Retrying);
    assert_eq!(lines[0]["details"]["type"], "HeartbeatTimeout");
}

#[test]
fn heartbeats_do_not_extend_an_attempt_and_one_timer_does_for_both() {
    let mut scenario = worker(json!({ "heartbeatMs": 1_000, "timeoutMs": 2_500 }));
    let begin = scenario.now;
    say(&mut scenario, &take("a"));
    let due = |scenario: &Scenario| {
        assert_eq!(timers(scenario), 1);
        scenario.instance.bookmarks.iter().find_map(Bookmark::due)
    };
    assert_eq!(due(&scenario), Some(begin.plus_ms(1_000)));
    let beat = Word::Heartbeat {
        details: Value::Null,
    };
    for (at, next) in [(900, 1_900), (1_800, 2_500), (2_400, 2_500)] {
        scenario.now = begin.plus_ms(at);
        say(&mut scenario, &beat);
        assert_eq!(due(&scenario), Some(begin.plus_ms(next)));
    }
    scenario.let_time_pass();
    let exception = scenario.instance.incidents[0].exception.as_ref();
    assert_eq!(exception.unwrap().kind, "Timeout");
}

#[test]
fn a_task_that_kills_whoever_takes_it_is_an_incident_in_the_end() {
    let mut scenario = worker(json!({ "heartbeatMs": 1_000 }));
    for _ in 0..=LOST_MAX {
        say(&mut scenario, &take("a"));
        scenario.let_time_pass();
    }
    assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    assert_eq!(
        scenario.incidents(),
        ["nothing was heard of it for 1000 ms"]
    );
}

#[test]
fn an_error_is_tried_again_after_a_pause_and_is_an_incident_in_the_end() {
    let retry = json!({ "retry": { "maxAttempts": 2, "intervalMs": 500, "jitter": false } });
    let mut scenario = worker(retry);
    let begin: Timestamp = scenario.now;
    say(&mut scenario, &take("a"));
    let busy = answer(json!({ "error": { "type": "Busy", "message": "later" } }));
    let first = told(&scenario);
    say(&mut scenario, &busy);
    assert_eq!(timers(&scenario), 1, "only the pause");
    scenario.let_time_pass();
    assert_eq!(scenario.now, begin.plus_ms(500));
    let second = told(&scenario);
    assert_eq!(second["attempt"], 2);
    assert_eq!(first["idempotencyKey"], second["idempotencyKey"]);
    assert_ne!(first["taskId"], second["taskId"]);
    say(&mut scenario, &busy);
    assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    assert_eq!(scenario.incidents(), ["later"]);
    assert!(scenario.instance.bookmarks.is_empty());
    assert_eq!(scenario.journaled("c", Event::Retrying).len(), 1);
}

#[test]
fn a_final_error_is_not_tried_again() {
    for error in [
        json!({ "type": "Busy", "retryable": false }),
        json!({ "type": "Broke" }),
    ] {
        let retry = json!({ "retry": { "maxAttempts": 5, "not": ["Broke"] } });
        let mut scenario = worker(retry);
        say(&mut scenario, &answer(json!({ "error": error })));
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    }
}

#[test]
fn an_attempt_without_an_answer_ends_at_its_time() {
    let handler = json!({ "kind": "http", "url": "https://pay.example" });
    let retry = json!({ "retry": { "maxAttempts": 2, "intervalMs": 0 } });
    let mut scenario = play(&charge(handler, retry));
    let begin = scenario.now;
    say(&mut scenario, &Word::Accepted);
    let first = task(&scenario).id;
    scenario.let_time_pass();
    assert_eq!(scenario.now, begin.plus_ms(30_000));
    scenario.let_time_pass();
    assert_ne!(task(&scenario).id, first);
    scenario.let_time_pass();
    assert_eq!(
        scenario.incidents(),
        ["there was no answer within 30000 ms"]
    );
}

#[test]
fn what_does_not_fit_the_type_is_an_incident_that_says_so() {
    for (given, why) in [
        (
            json!({ "outputs": { "receipt": 3 } }),
            "`receipt` is a String",
        ),
        (json!({ "outcome": "Maybe" }), "no outcome `Maybe`"),
        (json!("<html>"), "no JSON object"),
    ] {
        let mut scenario = worker(json!({}));
        say(&mut scenario, &answer(given));
        assert!(scenario.incidents()[0].contains(why), "{why}");
        assert_eq!(
            scenario.instance.incidents[0]
                .exception
                .as_ref()
                .unwrap()
                .kind,
            "InvalidAnswer"
        );
    }
}

#[test]
fn a_script_is_part_of_the_step() {
    let source = "const add = x => x + 1; export default ({input, attempt}) => { if (attempt < 2) throw new Error('not yet'); return { outputs: { receipt: `r-${add(input.amount)}` } } }";
    let handler = json!({ "kind": "javascript", "source": source });
    let retry = json!({ "retry": { "maxAttempts": 2, "intervalMs": 1 } });
    let mut scenario = play(&charge(handler, retry));
    assert_eq!(scenario.sub_status(), SubStatus::Suspended);
    scenario.let_time_pass();
    assert_eq!(scenario.lines, ["r-4"]);
    assert!(
        scenario
            .effects
            .iter()
            .all(|e| matches!(e, Effect::Timer { .. }))
    );
}

#[test]
fn a_cancelled_instance_takes_its_task_with_it() {
    let mut scenario = worker(json!({}));
    say(&mut scenario, &take("a"));
    let bookmark = task(&scenario).id;
    scenario.play(Stimulus::Cancel);
    assert!(scenario.instance.bookmarks.is_empty());
    let late = Stimulus::Resume {
        bookmark,
        input: answer(json!({})).input(),
    };
    assert!(!scenario.play(late));
}

#[test]
fn a_required_input_is_asked_for_when_the_definition_is_checked() {
    let ty = read(
        &charge(json!({ "kind": "worker", "queue": "q" }), json!({})),
        1,
    )
    .unwrap();
    let definition = json!({ "root": { "id": "c", "type": "Acme.Charge" } });
    let scenario = Scenario::using(definition, &One(Arc::new(ty)));
    let problem = &scenario.validate()[0];
    assert_eq!((problem.code, problem.is_error), ("missingInput", true));
    assert!(problem.message.contains("`amount`"));
}

#[test]
fn sensitive_inputs_are_not_in_the_journal() {
    let scenario = worker(json!({}));
    let journal = format!("{:?}", scenario.journal);
    assert!(!journal.contains("4242"), "{journal}");
}

#[test]
fn an_error_that_quotes_a_sensitive_input_is_told_without_it() {
    let source = "export default ({input}) => { throw new Error(`no card ${input.Card}`) }";
    let scripted = play(&charge(
        json!({ "kind": "javascript", "source": source }),
        json!({}),
    ));
    let mut worked = worker(json!({}));
    let error =
        json!({ "error": { "type": "Bad4242", "message": "no card 4242", "retryable": false } });
    say(&mut worked, &answer(error));
    for scenario in [scripted, worked] {
        assert!(scenario.incidents()[0].contains("no card [redacted]"));
        let told = format!("{:?} {:?}", scenario.journal, scenario.instance.incidents);
        assert!(!told.contains("4242"), "{told}");
    }
}
