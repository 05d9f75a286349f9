//! Every variable that the template sets is read, and every one that is read is set.

use std::cell::RefCell;
use std::collections::BTreeSet;

use dormouse_aws::environment::Environment;
use dormouse_tests::template::{Template, documents};
use serde_json::Value;

/// The variables that the code asks for in an environment where each is set.
fn read() -> BTreeSet<&'static str> {
    let asked = RefCell::new(BTreeSet::new());
    let environment = Environment::of(|name| {
        asked.borrow_mut().insert(name);
        let value = match name {
            "DORMOUSE_ARCHIVE" | "DORMOUSE_LIFECYCLE_EVENTS" | "DORMOUSE_WEBHOOK_LIFECYCLE" => {
                "true"
            }
            "DORMOUSE_AUTHENTICATION" => "none",
            "DORMOUSE_TENANT_MODE" => "single",
            // A number, and a text that is good for any name.
            _ => "1",
        };
        Some(value.to_owned())
    });
    environment.expect("every variable is set");
    asked.into_inner()
}

fn named(variables: &Value) -> BTreeSet<&str> {
    let variables = variables.as_object().expect("variables");
    variables.keys().map(String::as_str).collect()
}

#[test]
fn functions_have_the_variables_that_are_read_and_no_others() {
    let template = Template::read();
    let set = named(&template.globals()["Environment"]["Variables"]);
    assert_eq!(set, read());
}

#[test]
fn what_the_template_lets_one_choose_is_what_the_code_understands() {
    let template = Template::read();
    let parameters = template.section("Parameters");
    let variables = &template.globals()["Environment"]["Variables"];
    let mut checked = 0;
    for (name, value) in variables.as_object().expect("variables") {
        let Some(parameter) = value["Ref"].as_str().and_then(|r| parameters.get(r)) else {
            continue;
        };
        for choice in parameter["AllowedValues"].as_array().into_iter().flatten() {
            let choice = choice.as_str().expect("a choice");
            let environment = Environment::of(|asked| match asked {
                asked if asked == name => Some(choice.to_owned()),
                "DORMOUSE_TABLE" => Some("table".to_owned()),
                // What is told of a webhook calls for its address.
                "DORMOUSE_WEBHOOK_URL" => Some("https://hooks.example".to_owned()),
                _ => None,
            });
            assert!(environment.is_ok(), "{name}={choice}: {environment:?}");
            checked += 1;
        }
    }
    assert!(checked >= 8, "only {checked} choices were found");
}

#[test]
fn containers_name_nothing_that_is_not_read() {
    let read = read();
    let manifest = documents("infra/kubernetes/dormouse.yaml");
    let map = manifest.iter().find(|d| d["kind"] == "ConfigMap");
    let kubernetes = named(&map.expect("a ConfigMap")["data"]);
    let task = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../infra/ecs/task-definition.json"
    ));
    let task: Value = serde_json::from_str(&task.expect("the task definition")).expect("JSON");
    let variables = task["containerDefinitions"][0]["environment"].as_array();
    let ecs: BTreeSet<&str> = variables
        .into_iter()
        .flatten()
        .filter_map(|variable| variable["name"].as_str())
        .collect();
    assert_eq!(kubernetes, ecs);
    let foreign: Vec<&&str> = kubernetes.difference(&read).collect();
    assert_eq!(foreign, [&"AWS_REGION"]);
}
