//! Mocks of workflow tests: HTTP requests, workers and children.

use serde_json::{Value, json};

use crate::process::{example, folder};
use crate::workflow_tests::{test, workflow};

#[test]
fn a_request_without_a_mock_fails_the_case() {
    let folder = folder();
    let cases = "
cases:
  - name: nobody is mocked
    expect: { status: Suspended }
  - name: an input that is not declared
    input: { Whom: Ada }
    expect: { status: Suspended }
";
    let (_, ran) = test(folder.path(), &workflow(), cases, &[]);
    ran.ended(1)
        .says("no mock answers POST https://shop.example/crm/7 of Ask")
        .says("the workflow declares no input `Whom`")
        .says("2 of 2 cases failed");
}

#[test]
fn a_mock_of_an_activity_that_is_not_there_fails_the_case() {
    let folder = folder();
    let cases = "
cases:
  - name: a mock
    mocks: { Elsa.SendHtpRequest: { answer: { status: 200 } } }
    expect: { status: Suspended }
";
    let (_, ran) = test(folder.path(), &workflow(), cases, &[]);
    ran.ended(1)
        .says("no activity has the type, id or name `Elsa.SendHtpRequest` of a mock");
}

#[test]
fn a_failed_activity_is_retried_and_workers_take_their_time() {
    let folder = folder();
    let script = |id: &str, value: &str| {
        json!({ "id": id, "type": "Elsa.RunJavaScript",
        "script": { "typeName": "String", "expression": { "type": "Literal", "value": value } } })
    };
    let workflow = json!({
        "definitionId": "it",
        "variables": [{ "id": "Result", "name": "Result", "typeName": "Object" }],
        "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            { "id": "review", "type": "Elsa.RunTask",
              "taskName": { "typeName": "String", "expression": { "type": "Literal", "value": "Review" } },
              "result": { "typeName": "Object", "memoryReference": { "id": "Result" } } },
            script("decide", "if (!getResult().ok) throw new Error('not ok'); return 1;"),
        ] }
    });
    let cases = "
cases:
  - name: a worker needs two days
    mocks: { 'task:Review': { after: 2d, result: { ok: true } } }
    steps:
      - advance: 47h
      - expect: { tasks: [Review], waiting: [review] }
      - advance: 1h
    expect: { status: Finished, tasks: [] }
  - name: a failure is an incident, and fails again
    mocks: { 'task:Review': { result: { ok: false } } }
    steps:
      - expect: { status: Faulted, incidents: [not ok] }
      - retry: true
    expect: { status: Faulted }
  - name: a cancelled instance waits for nobody
    steps:
      - cancel: true
    expect: { status: Cancelled, tasks: [], waiting: [] }
";
    let (_, ran) = test(folder.path(), &workflow, cases, &[]);
    ran.ended(0).says("3 cases passed");
}

#[test]
fn a_child_is_mocked_with_its_outputs_or_its_failure() {
    let folder = folder();
    let parent = std::fs::read(example("onboarding")).unwrap();
    let parent: Value = serde_json::from_slice(&parent).unwrap();
    let cases = "
cases:
  - name: each child needs a day
    input: { Person: Ada, Systems: [wiki, door] }
    mocks: { 'workflow:grant-access': { after: 1d, output: { Login: ada@here } } }
    steps:
      - advance: 23h
      - expect: { waiting: [CreateMail] }
      - advance: 25h
    expect:
      status: Finished
      output: { Granted: 2 }
      lines: ['Welcome! Your address is ada@here, and 2 systems are ready.']
  - name: children fail
    input: { Person: Ada, Systems: [wiki, door] }
    mocks: { 'workflow:grant-access': { fails: no licence } }
    expect: { status: Finished, notRan: [Count], output: { Granted: 0 } }
  - name: without the child the parent fails
    input: { Person: Ada, Systems: [wiki, door] }
    expect: { status: Faulted }
";
    let (_, ran) = test(folder.path(), &parent, cases, &[]);
    ran.ended(0).says("3 cases passed");
}
