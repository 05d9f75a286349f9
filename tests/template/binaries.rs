//! The binaries of the functions, the events that they send, and the memory that prices are worked out with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dormouse_aws::eventbridge_bus::SOURCE;
use dormouse_tests::template::Template;
use serde_json::{Value, json};

/// The binary of each function, and the folder that it is built in.
fn functions(template: &Template) -> BTreeMap<&str, &str> {
    let functions = template.of_type("AWS::Serverless::Function");
    let built = functions.into_iter().map(|(name, function)| {
        let built = &template.resource(name)["Metadata"];
        assert_eq!(built["BuildMethod"], "rust-cargolambda", "{name}");
        let binary = built["BuildProperties"]["Binary"].as_str();
        let folder = function["CodeUri"].as_str();
        (binary.expect("a binary"), folder.expect("a folder"))
    });
    built.collect()
}

#[test]
fn each_binary_is_that_of_its_package() {
    let template = Template::read();
    let functions = functions(&template);
    let binaries: Vec<&&str> = functions.keys().collect();
    let all = [
        &"dormouse-api",
        &"dormouse-invalidation",
        &"dormouse-resume",
        &"dormouse-timer",
    ];
    assert_eq!(binaries, all);
    for (binary, folder) in functions {
        let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(folder)
            .join("Cargo.toml");
        let manifest = std::fs::read_to_string(&manifest).expect("the function's manifest");
        assert!(
            manifest.contains(&format!("name = \"{binary}\"")),
            "{manifest}"
        );
    }
}

#[test]
fn our_own_events_wake_no_workflow() {
    let template = Template::read();
    let pattern = &template.properties("EventRule")["EventPattern"];
    assert_eq!(*pattern, json!({ "source": [{ "anything-but": SOURCE }] }));
}

#[test]
fn what_costs_are_worked_out_with_is_what_is_deployed() {
    let prices = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/cost/prices.json");
    let prices = std::fs::read_to_string(prices).expect("the prices");
    let prices: Value = serde_json::from_str(&prices).expect("JSON");
    let template = Template::read();
    let memory = &template.section("Parameters")["MemoryMegabytes"]["Default"];
    assert_eq!(prices["assumed"]["lambdaMemoryMb"], *memory);
}
