//! `dormouse test`: what passes, what fails, and what it says about it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::process::{Ran, Server, dormouse, example, folder, run};

/// Runs the cases of a test file of `workflow`, which is written beside it.
pub(crate) fn test(folder: &Path, workflow: &Value, cases: &str, more: &[&str]) -> (PathBuf, Ran) {
    std::fs::write(folder.join("it.json"), workflow.to_string()).unwrap();
    let file = folder.join("it.test.yaml");
    std::fs::write(&file, format!("workflow: it.json\n{cases}")).unwrap();
    let mut args = vec!["test", file.to_str().unwrap()];
    args.extend(more);
    let ran = run(args);
    (file, ran)
}

fn text(name: &str, value: &str) -> Value {
    json!({ "id": name, "name": name, "type": "Elsa.WriteLine",
        "text": { "typeName": "String", "expression": { "type": "JavaScript", "value": value } } })
}

/// Asks a customer service, and waits for an event and for thirty days.
pub(crate) fn workflow() -> Value {
    let input = |kind: &str, value: &str| json!({ "typeName": kind, "expression": { "type": "Literal", "value": value } });
    json!({
        "definitionId": "it",
        "inputs": [{ "name": "Who", "type": "String" }],
        "variables": [{ "id": "Code", "name": "Code", "typeName": "Int32",
              "storageDriverTypeName": "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core" },
            { "id": "Answer", "name": "Answer", "typeName": "Object" }],
        "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            { "id": "ask", "name": "Ask", "type": "Elsa.SendHttpRequest",
              "url": input("Uri", "https://shop.example/crm/7"), "method": input("String", "POST"),
              "content": { "typeName": "Object", "expression": { "type": "JavaScript", "value": "({ who: getInput('Who') })" } },
              "contentType": input("String", "application/json"),
              "parsedContent": { "typeName": "Object", "memoryReference": { "id": "Answer" } },
              "statusCode": { "typeName": "Int32", "memoryReference": { "id": "Code" } } },
            text("Tell", "`${getCode()} ${getAnswer() ? getAnswer().id : 'none'}`"),
            { "id": "sleep", "name": "Sleep", "type": "Elsa.Delay", "timeSpan": input("TimeSpan", "30.00:00:00") },
            text("Late", "'late'"),
        ] }
    })
}

const MOCKS: &str = "
mocks:
  Elsa.SendHttpRequest:
    - { when: { url: '*/crm/*', method: post, body: { who: Ada } }, answer: { status: 200, body: { id: 7 } } }
    - { when: { url: '*/crm/*' }, times: 1, answer: { status: 404 } }
";

#[test]
fn every_example_has_a_test_and_passes_it() {
    let ran = run([
        "test",
        example("x").parent().unwrap().to_str().unwrap(),
        "--json",
    ])
    .ended(0)
    .json();
    let mut tested: Vec<&str> = ran["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| {
            let coverage = &file["coverage"];
            for kind in ["activities", "outcomes"] {
                let all = coverage[kind].as_array().unwrap();
                assert!(
                    !all.is_empty() && all.iter().all(|one| one["runs"].as_u64().unwrap() > 0),
                    "{coverage:#}"
                );
            }
            file["workflow"].as_str().unwrap()
        })
        .collect();
    tested.sort_unstable();
    let files = std::fs::read_dir(example("x").parent().unwrap()).unwrap();
    let names = files.map(|f| f.unwrap().file_name().into_string().unwrap());
    let mut examples: Vec<String> = names.filter(|n| n.ends_with(".json")).collect();
    examples.sort_unstable();
    assert_eq!(tested, examples);
}

#[test]
fn thirty_days_pass_in_less_than_fifty_milliseconds() {
    let folder = folder();
    let cases = format!(
        "{MOCKS}
cases:
  - name: it sleeps for thirty days
    input: {{ Who: Ada }}
    steps:
      - expect: {{ lines: ['200 7'], waiting: [Sleep], variables: {{ Code: 200 }} }}
      - advance: 29d 23h
      - expect: {{ waiting: [Sleep], notRan: [Late] }}
      - advance: 1h
    expect: {{ status: Finished, ran: [Late], requests: 1, incidents: 0 }}
  - name: others are unknown
    input: {{ Who: Bob }}
    expect: {{ lines: ['404 none'] }}
"
    );
    let (_, ran) = test(folder.path(), &workflow(), &cases, &["--json"]);
    let ran = ran.ended(0).json();
    let case = &ran["files"][0]["cases"][0];
    assert_eq!(case["virtualMs"], 30 * 86_400_000_i64);
    assert!(case["ms"].as_f64().unwrap() < 50.0, "{case:#}");
}

#[test]
fn an_unmet_expectation_is_named_with_its_file_line_and_case() {
    let folder = folder();
    let cases = format!(
        "{MOCKS}
cases:
  - name: everything is wrong
    input: {{ Who: Ada }}
    expect:
      status: Finished
      output: {{ Total: 3 }}
      ran: [Late]
      notRan: [Tell]
      waiting: [Ask]
      incidents: 1
      lines: [one]
      variables: {{ Code: 201 }}
      events: [Paid]
      tasks: [Review]
      instances: 2
      requests: 0
      response: {{ status: 200 }}
  - name: this one passes
    input: {{ Who: Ada }}
    expect: {{ waiting: sleep }}
"
    );
    let xml = folder.path().join("junit.xml");
    let (file, ran) = test(
        folder.path(),
        &workflow(),
        &cases,
        &["--junit", xml.to_str().unwrap(), "--coverage"],
    );
    let mut ran = ran.ended(1);
    for (line, message) in [
        (
            12,
            "expected status Finished, found Suspended; it waits at Sleep",
        ),
        (13, "expected output `Total` 3, found nothing"),
        (14, "`Late` did not run to its end"),
        (15, "`Tell` ran"),
        (16, "`Ask` does not wait; it waits at Sleep"),
        (17, "expected 1 incidents, found 0"),
        (18, r#"expected lines ["one"], found ["200 7"]"#),
        (19, "expected variable `Code` 201, found 200"),
        (20, "the event `Paid` was not published"),
        (21, r#"expected open tasks ["Review"], found []"#),
        (22, "expected 2 instances, found 1"),
        (
            23,
            "expected 0 requests, found 1: POST https://shop.example/crm/7",
        ),
        (24, "no HTTP request was answered"),
    ] {
        ran = ran.says(&format!("{}:{line}: {message}", file.display()));
    }
    ran.says("FAIL   everything is wrong")
        .says("ok     this one passes")
        .says("never ran: Late")
        .says("1 of 2 cases failed");
    let xml = std::fs::read_to_string(xml).unwrap();
    assert!(
        xml.contains("tests=\"2\" failures=\"1\" errors=\"0\""),
        "{xml}"
    );
    assert!(
        xml.contains("it.test.yaml:14: `Late` did not run to its end"),
        "{xml}"
    );
    assert_eq!(xml.matches("<failure ").count(), 13, "{xml}");
}

#[test]
fn a_step_that_finds_nobody_fails() {
    let folder = folder();
    for (step, message) in [
        (
            "{ task: Review }",
            "there is no open task `Review`; no task is open",
        ),
        (
            "{ resume: Tell }",
            "`Tell` does not wait; it waits at Sleep",
        ),
        (
            "{ request: { path: /orders } }",
            "no workflow listens for GET /orders",
        ),
        (
            "{ retry: true }",
            "nothing is retried: the instance is Suspended",
        ),
        (
            "{ expect: { notRan: [Sleeep] } }",
            "no activity has the id or name `Sleeep`",
        ),
        (
            "{ expect: { variables: { Answer: 1 } } }",
            "expected variable `Answer` 1, found nothing; it has no storage driver",
        ),
        (
            "{ expect: { variables: { Cod: 1 } } }",
            "the workflow declares no variable `Cod`",
        ),
    ] {
        let cases = format!(
            "{MOCKS}
cases:
  - name: a step
    input: {{ Who: Ada }}
    steps:
      - {step}
    expect: {{ incidents: 0 }}
"
        );
        let (file, ran) = test(folder.path(), &workflow(), &cases, &[]);
        ran.ended(1)
            .says(&format!("{}:12: {message}", file.display()));
    }
}

#[test]
fn tests_run_again_when_a_file_changes() {
    let folder = folder();
    let case = |input: &str| {
        format!(
            "{MOCKS}\ncases:\n  - name: one\n    input: {{ Who: {input} }}\n    expect: {{ lines: ['200 7'] }}\n"
        )
    };
    let (file, ran) = test(folder.path(), &workflow(), &case("Bob"), &[]);
    ran.ended(1);
    let mut watching = dormouse()
        .args(["test", file.to_str().unwrap(), "--watch", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["isPassed"], false);
    std::fs::write(&file, format!("workflow: it.json\n{}", case("Ada"))).unwrap();
    assert_eq!(next()["isPassed"], true);
    // The definition is watched as well.
    let text = workflow()
        .to_string()
        .replace("getAnswer().id", "getAnswer().no");
    std::fs::write(folder.path().join("it.json"), text).unwrap();
    assert_eq!(next()["isPassed"], false);
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn a_file_that_cannot_be_used_says_where() {
    let folder = folder();
    for (cases, line, message) in [
        ("cases: []", 2, "there is no case"),
        (
            "cases:\n  - expect: { status: Finished }",
            3,
            "a case needs a `name`",
        ),
        (
            "cases:\n  - name: x",
            3,
            "expects nothing, so it cannot fail",
        ),
        (
            "cases:\n  - name: x\n    expects: { status: Finished }",
            4,
            "`expects` is not known; a case has name",
        ),
        (
            "cases:\n  - name: x\n    expect: { status: Done }",
            4,
            "`status` is one of Running",
        ),
        (
            "cases:\n  - name: x\n    expect: { stat: Done }",
            4,
            "`stat` is not known; `expect` has status",
        ),
        (
            "cases:\n  - name: x\n    steps:\n      - { advance: 3 days }",
            5,
            "`advance` takes a length of time",
        ),
        (
            "cases:\n  - name: x\n    steps:\n      - { wait: 3d }",
            5,
            "a step is one of advance",
        ),
        (
            "cases:\n  - name: x\n    mocks: { a: {} }\n    expect: { incidents: 0 }",
            4,
            "a mock needs `answer`",
        ),
        ("cases: [", 3, ""),
        (
            "with: other.json\ncases:\n  - { name: x, expect: { incidents: 0 } }",
            2,
            "other.json",
        ),
    ] {
        let (file, ran) = test(folder.path(), &workflow(), cases, &[]);
        ran.ended(2)
            .says(&format!(
                "{}:{line}: {}",
                file.display(),
                if message.starts_with('`') {
                    message
                } else {
                    ""
                }
            ))
            .says(message)
            .says("1 of 1 files cannot be used");
    }
    run([
        "test",
        folder.path().join("none.test.yaml").to_str().unwrap(),
    ])
    .ended(2);
    let empty = crate::process::folder();
    run(["test", empty.path().to_str().unwrap()])
        .ended(2)
        .complains("there is no *.test.yaml in this folder");
}

#[test]
fn a_case_is_made_of_what_an_instance_did_and_passes() {
    let data = folder();
    let server = Server::start(data.path());
    let tests = folder();
    for (name, events) in [("approval", true), ("order", false)] {
        server.publish(name);
        let inputs: [&str; 4] = match events {
            true => ["-i", "Request=a chair", "-i", "Deadline=2.00:00:00"],
            false => ["-i", "OrderId=7", "-i", "Amount=12.5"],
        };
        let started = server.json(&[&["start", name][..], &inputs].concat());
        let id = started["workflowInstanceId"].as_str().unwrap();
        if events {
            server.json(&[
                "event",
                "Decision",
                "--input",
                r#"{"approved": true, "by": "Ada"}"#,
            ]);
        } else {
            for (task, report) in [
                ("charge-card", ["complete", "--result", r#"{"receipt": 3}"#]),
                ("reserve-stock", ["fail", "--type", "SoldOut"]),
                ("refund", ["complete", "--result", "null"]),
            ] {
                let open = server.json(&["list", "tasks", "--task", task]);
                let task = open["items"][0]["taskId"].as_str().unwrap();
                let [how, option, value] = report;
                server.json(&["task", how, task, option, value]);
            }
        }
        let made = server.run(&["test", "--from-instance", id]).ended(0);
        std::fs::copy(example(name), tests.path().join(format!("{name}.json"))).unwrap();
        let file = tests.path().join(format!("{name}.test.yaml"));
        std::fs::write(&file, &made.out).unwrap();
        let ran = run(["test", file.to_str().unwrap()]);
        assert_eq!(ran.code, 0, "{ran:?}\n{}", made.out);
        // It expects something: another definition does not pass.
        let other = std::fs::read_to_string(example(name)).unwrap();
        let other = other
            .replace("approved", "denied")
            .replace("compensated", "undone");
        std::fs::write(tests.path().join(format!("{name}.json")), other).unwrap();
        run(["test", file.to_str().unwrap()]).ended(1);
    }
    server.run(&["test", "--from-instance", "nobody"]).ended(5);
}
