//! Containers: they are asked whether they live, go without haste, and never all at once.

use std::collections::BTreeSet;
use std::path::PathBuf;

use dormouse_tests::template::{Template, documents};
use serde_json::{Value, json};

/// How long the server waits for requests under way when it is asked to stop, in seconds.
const DRAIN_S: i64 = 30;

fn of_kind(kind: &str) -> Value {
    let manifest = documents("infra/kubernetes/dormouse.yaml");
    let found = manifest.into_iter().find(|d| d["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in the manifest"))
}

#[test]
fn a_container_has_the_time_to_finish() {
    let pod = of_kind("Deployment")["spec"]["template"]["spec"].take();
    let pause = &pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"];
    let grace = pod["terminationGracePeriodSeconds"]
        .as_i64()
        .expect("seconds");
    assert!(
        grace > DRAIN_S + pause.as_i64().expect("seconds"),
        "{grace}"
    );
    // A failed readiness probe takes it out of the service before that pause is over.
    let probe = &pod["containers"][0]["readinessProbe"];
    let unready = probe["periodSeconds"].as_i64().expect("seconds");
    assert!(pause.as_i64() >= Some(unready), "{pause}");
}

#[test]
fn probes_ask_what_the_server_answers() {
    let deployment = of_kind("Deployment");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let asks = |probe: &str| container[probe]["httpGet"]["path"].clone();
    assert_eq!(asks("startupProbe"), "/health/live");
    assert_eq!(asks("livenessProbe"), "/health/live");
    assert_eq!(asks("readinessProbe"), "/health/ready");
}

#[test]
fn never_all_at_once() {
    let deployment = of_kind("Deployment");
    assert_eq!(deployment["spec"]["replicas"], 3);
    let update = &deployment["spec"]["strategy"]["rollingUpdate"];
    assert_eq!(*update, json!({ "maxSurge": 1, "maxUnavailable": 0 }));
    assert_eq!(of_kind("PodDisruptionBudget")["spec"]["maxUnavailable"], 1);
    let autoscaler = of_kind("HorizontalPodAutoscaler");
    assert_eq!(autoscaler["spec"]["minReplicas"], 3);
    let spread = &deployment["spec"]["template"]["spec"]["topologySpreadConstraints"];
    assert_eq!(spread.as_array().map(Vec::len), Some(2));
}

#[test]
fn a_container_is_nobody_special() {
    let pod = of_kind("Deployment")["spec"]["template"]["spec"].take();
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let container = &pod["containers"][0]["securityContext"];
    assert_eq!(container["readOnlyRootFilesystem"], true);
    assert_eq!(container["capabilities"]["drop"], json!(["ALL"]));
}

#[test]
fn containers_have_variables_that_functions_have() {
    let names = |variables: &Value| -> BTreeSet<String> {
        let variables = variables.as_object().expect("variables");
        variables.keys().cloned().collect()
    };
    let kubernetes = names(&of_kind("ConfigMap")["data"]);
    let task = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../infra/ecs/task-definition.json"
    );
    let task = std::fs::read_to_string(task).expect("the task definition");
    let task: Value = serde_json::from_str(&task).expect("JSON");
    let variables = task["containerDefinitions"][0]["environment"].as_array();
    let variables = variables.into_iter().flatten();
    let ecs: BTreeSet<String> = variables
        .filter_map(|variable| variable["name"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(kubernetes, ecs);
    let template = Template::read();
    let functions = names(&template.globals()["Environment"]["Variables"]);
    let foreign: Vec<&String> = kubernetes.difference(&functions).collect();
    assert_eq!(foreign, ["AWS_REGION"]);
}

#[test]
fn nothing_but_the_agent_of_the_pod_is_reached_at_the_machine() {
    let policy = of_kind("NetworkPolicy");
    let selector = &policy["spec"]["podSelector"]["matchLabels"];
    let pod = &of_kind("Deployment")["spec"]["template"]["metadata"]["labels"];
    assert_eq!(selector, pod);
    let rules = policy["spec"]["egress"].as_array().expect("rules").iter();
    let blocks: Vec<&Value> = rules
        .flat_map(|rule| rule["to"].as_array().expect("where to"))
        .map(|to| &to["ipBlock"])
        .filter(|block| !block.is_null())
        .collect();
    let agent = json!({ "cidr": "169.254.170.23/32" });
    let others = json!({ "cidr": "0.0.0.0/0", "except": ["169.254.0.0/16"] });
    assert_eq!(blocks, [&agent, &others]);
    let port = &policy["spec"]["ingress"][0]["ports"][0]["port"];
    let ports = &of_kind("Deployment")["spec"]["template"]["spec"]["containers"][0]["ports"];
    assert_eq!(*port, ports[0]["name"]);
}

#[test]
fn the_dashboard_shows_metrics_that_there_are() {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| std::fs::read_to_string(repository.join(path)).expect("a file");
    let known = read("shared/guide/src/reference/metrics.md");
    let dashboard: Value =
        serde_json::from_str(&read("infra/grafana/dormouse.json")).expect("JSON");
    let mut shown = BTreeSet::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        for target in panel["targets"].as_array().expect("targets") {
            let query = target["expr"].as_str().expect("a query");
            let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let words = query.split(|c| !is_of_name(c));
            let names = words.filter(|word| word.starts_with("dormouse_"));
            shown.extend(names.map(|name| name.trim_end_matches("_bucket").to_owned()));
        }
    }
    assert!(shown.len() > 12, "{shown:?}");
    for name in shown {
        assert!(known.contains(&format!("| `{name}` |")), "{name}");
    }
}
