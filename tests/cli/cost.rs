//! `dormouse cost`: what a definition would cost, beside Step Functions.

use crate::process::{example, run};

#[test]
fn an_example_has_a_price_that_adds_up() {
    let file = example("approval");
    let file = file.to_str().unwrap();
    let args = ["cost", file, "-i", "Request=x", "--json"];
    let answer = ["--answer", "Decision={\"approved\": true}"];
    let cost = run(args.into_iter().chain(answer)).ended(0).json();
    assert_eq!(cost["subStatus"], "Finished", "{cost:#}");
    assert_eq!(cost["unanswered"].as_array().unwrap().len(), 0);
    let lines = cost["lines"].as_array().unwrap();
    let sum: f64 = lines
        .iter()
        .map(|line| line["usdPerMillionRuns"].as_f64().unwrap())
        .sum();
    assert!((sum - cost["usd"].as_f64().unwrap()).abs() < 1e-6);
    assert!(sum > 1.0 && sum < cost["stepFunctionsUsd"].as_f64().unwrap());
    let again = run(args.into_iter().chain(answer)).ended(0).json();
    assert_eq!(cost, again, "the same workflow has the same price");

    let half = ["--runs", "500000"];
    let half = run(args.into_iter().chain(answer).chain(half)).ended(0);
    let half = half.json()["usd"].as_f64().unwrap();
    assert!((half * 2.0 - sum).abs() < 1e-6);
}

#[test]
fn people_get_a_table_and_the_day_of_the_prices() {
    for name in ["hello", "order", "quote", "onboarding"] {
        let (file, child) = (example(name), example("grant-access"));
        let files = [file.to_str().unwrap(), child.to_str().unwrap()];
        let ran = run(["cost"].into_iter().chain(files)).ended(0);
        ran.says("write units")
            .says("us-east-1")
            .says("Step Functions Standard");
    }
}

#[test]
fn a_workflow_without_an_end_has_no_price() {
    let folder = crate::process::folder();
    let file = folder.path().join("forever.json");
    let span = serde_json::json!({ "typeName": "TimeSpan", "expression": { "type": "Literal", "value": "00:00:01" } });
    let root = serde_json::json!({
        "type": "Elsa.While",
        "condition": { "typeName": "Boolean", "expression": { "type": "Literal", "value": true } },
        "body": { "type": "Elsa.Delay", "timeSpan": span },
    });
    let definition = serde_json::json!({ "definitionId": "forever", "root": root });
    std::fs::write(&file, definition.to_string()).unwrap();
    run(["cost", file.to_str().unwrap()])
        .ended(1)
        .complains("did not come to an end");
}

#[test]
fn a_recurring_trigger_is_priced_by_its_occurrence() {
    let file = example("daily-report");
    let cost = run(["cost", file.to_str().unwrap(), "--json"]).ended(0);
    let cost = cost.json();
    assert_eq!(cost["startedBy"], "occurrence");
    assert_eq!(cost["subStatus"], "Finished", "{cost:#}");
    let lines = cost["lines"].as_array().unwrap();
    let of = |part: &str| lines.iter().find(|line| line["part"] == part).unwrap();
    assert_eq!(of("schedules")["perRun"], 1.0);
    assert!(of("logs")["perRun"].as_f64().unwrap() > 0.1, "{cost:#}");
}

#[test]
fn a_fault_and_a_missing_definition_are_explained() {
    let file = example("onboarding");
    let file = file.to_str().unwrap();
    let alone = run(["cost", file]).ended(0);
    alone.says("Faulted").says("--with FILE");
    let child = example("grant-access");
    let both = ["cost", file, "--with", child.to_str().unwrap(), "--json"];
    let both = run(both).ended(0).json();
    assert_eq!(both["missingDefinitions"].as_array().unwrap().len(), 0);
    let failed = run(["cost", file, "--json"]).ended(0).json();
    assert!(!failed["incidents"].as_array().unwrap().is_empty());
}

#[test]
fn an_unknown_answer_is_rejected_with_the_names_that_exist() {
    let file = example("approval");
    let args = ["cost", file.to_str().unwrap(), "--answer", "Decison={}"];
    run(args).ended(2).complains("Decision");
}

#[test]
fn payloads_and_waiting_instances_have_a_price() {
    let file = example("approval");
    let args = [
        "cost",
        file.to_str().unwrap(),
        "--json",
        "--waiting",
        "1000000",
    ];
    let small = run(args).ended(0).json();
    let large = ["--input-bytes", "20000"];
    let large = run(args.into_iter().chain(large)).ended(0).json();
    assert!(large["usd"].as_f64() > small["usd"].as_f64());
    assert!(small["waiting"]["usdPerMonth"].as_f64().unwrap() > 0.1);
    let kept = |cost: &serde_json::Value| cost["keptBytes"].as_u64().unwrap();
    assert!(kept(&large) > kept(&small) + 10_000);
}
