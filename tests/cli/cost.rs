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
