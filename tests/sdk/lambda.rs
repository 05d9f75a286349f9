//! Handlers of the kind `lambda`: the real server, and a server that speaks Lambda's API.

use std::path::Path;
use std::time::{Duration, Instant};

use dormouse_tests::api::publish;
use dormouse_tests::http_client::{Client, Response};
use dormouse_tests::server::Server;
use serde_json::{Value, json};

use super::lambda_api::{KEY_ID, LambdaApi, SECRET_KEY};

const ALLOWED: &str = "arn:aws:lambda:us-east-1:123456789012:function:";

struct Stage {
    api: LambdaApi,
    server: Server,
    client: Client,
    _folder: tempfile::TempDir,
}

impl Stage {
    fn start() -> Self {
        let api = LambdaApi::start();
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let pattern = format!("{ALLOWED}by-arn*");
        let mut args = vec!["--data", data.to_str().unwrap()];
        let names = [
            "run",
            "throttled",
            "thrown",
            "timed-out",
            "gone",
            "nonsense",
            "huge",
            "silent",
            "later",
            "forbidden",
            &pattern,
        ];
        for name in names {
            args.extend(["--allow-lambda", name]);
        }
        let endpoint = format!("http://127.0.0.1:{}", api.port);
        let variables = [
            ("AWS_ENDPOINT_URL_LAMBDA", endpoint.as_str()),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
            ("AWS_EC2_METADATA_DISABLED", "true"),
        ];
        let log = folder.path().join("server.log");
        let server = Server::start_with(Path::new(super::BINARY), &args, &variables, &log, 1);
        let client = server.client(0);
        Self {
            api,
            server,
            client,
            _folder: folder,
        }
    }

    /// Publishes a type that a function does.
    fn ty(&mut self, name: &str, function: &str, more: &Value) -> Response {
        let mut ty = json!({
            "inputs": [{ "name": "n", "type": "Int64" }], "outputs": [{ "name": "result", "type": "Object" }],
            "outcomes": ["Done", "Negative"], "handler": { "kind": "lambda", "function": function },
            "retry": { "maxAttempts": 2, "intervalMs": 10, "jitter": false },
        });
        let members = ty.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        let path = format!("/elsa/api/activity-types/Acme.{name}");
        let headers = [("content-type", "application/json")];
        let ty = ty.to_string();
        let answer = self.client.send("PUT", &path, &headers, ty.as_bytes());
        answer.unwrap()
    }

    /// Publishes a type and a workflow of it, and starts the workflow.
    fn begin(&mut self, function: &str, n: i64, more: &Value) -> String {
        let put = self.ty("Run", function, more);
        assert!(put.is_success(), "{}", put.json());
        let result = json!({ "typeName": "Object", "memoryReference": { "id": "Result" } });
        let work = json!({
            "id": "work", "type": "Acme.Run", "result": result,
            "n": { "typeName": "Int64", "expression": { "type": "Literal", "value": n } },
        });
        let definition = json!({
            "definitionId": "run", "name": "run", "outputs": [{ "name": "Result", "type": "Object" }],
            "root": { "id": "all", "type": "Elsa.Sequence", "activities": [work] },
        });
        publish(&mut self.client, &definition);
        let path = "/elsa/api/workflow-definitions/run/execute";
        let answer = self.client.post(path, &json!({})).unwrap();
        let id = answer.json()["workflowState"]["id"].clone();
        id.as_str().unwrap().to_owned()
    }

    fn until(&mut self, id: &str, sub_status: &str) -> Value {
        let path = format!("/elsa/api/workflow-instances/{id}");
        let begin = Instant::now();
        loop {
            let shown = self.client.get(&path).unwrap().json();
            if shown["workflowState"]["subStatus"] == sub_status {
                return shown["workflowState"].clone();
            }
            let is_late = begin.elapsed() > Duration::from_secs(30);
            assert!(!is_late, "{shown:#}\n{}", self.server.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_function_does_a_task_now_or_later_and_is_invoked_again_when_it_is_throttled() {
    let mut stage = Stage::start();
    let id = stage.begin("run", 7, &json!({}));
    let state = stage.until(&id, "Finished");
    let result = &state["output"]["Result"];
    assert_eq!((&result["n"], &result["attempt"]), (&json!(7), &json!(1)));
    let [event] = stage.api.events("run").try_into().unwrap();
    assert_eq!(event["idempotencyKey"], result["key"]);
    assert_eq!(event["workflow"]["instanceId"], json!(id));
    let id = stage.begin("run", -7, &json!({}));
    stage.until(&id, "Finished");

    let id = stage.begin("throttled", 1, &json!({}));
    let state = stage.until(&id, "Finished");
    assert_eq!(state["output"]["Result"]["attempt"], 2);

    // A name with an ARN's pattern is completed by it, and an ARN's colons are encoded twice in what is signed.
    for function in ["by-arn-1", &format!("{ALLOWED}by-arn-1:live")] {
        let id = stage.begin(function, 3, &json!({}));
        stage.until(&id, "Finished");
    }
    let at = |suffix: &str| format!("{}{suffix}", ALLOWED.replace(':', "%3A"));
    assert_eq!(stage.api.events(&at("by-arn-1")).len(), 1);
    assert_eq!(stage.api.events(&at("by-arn-1%3Alive")).len(), 1);

    let id = stage.begin("later", 1, &json!({}));
    let begin = Instant::now();
    while stage.api.events("later").is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(5));
    }
    let [event] = stage.api.events("later").try_into().unwrap();
    let path = format!(
        "/elsa/api/tasks/{}/complete",
        event["taskId"].as_str().unwrap()
    );
    let body = json!({ "outputs": { "result": { "n": 9 } } });
    assert!(stage.client.post(&path, &body).unwrap().is_success());
    let state = stage.until(&id, "Finished");
    assert_eq!(state["output"]["Result"]["n"], 9);
    assert_eq!(stage.client.post(&path, &body).unwrap().status, 409);
}

#[test]
fn a_function_that_fails_is_an_incident_with_its_name() {
    let mut stage = Stage::start();
    for (function, kind, attempts) in [
        ("thrown", "ValueError", 2),
        ("timed-out", "Timeout", 2),
        ("silent", "Timeout", 2),
        ("nonsense", "InvalidAnswer", 2),
        ("huge", "AnswerTooLarge", 2),
        ("gone", "HandlerGone", 1),
    ] {
        let timeout_ms = if function == "silent" { 300 } else { 20_000 };
        let id = stage.begin(function, 1, &json!({ "timeoutMs": timeout_ms }));
        let state = stage.until(&id, "Faulted");
        let told = state["incidents"].to_string();
        assert!(told.contains(kind), "{function}: {told}");
        assert_eq!(stage.api.events(function).len(), attempts, "{function}");
    }
    let large = json!({ "inputs": [
        { "name": "n", "type": "Int64" },
        { "name": "text", "type": "String", "defaultValue": "x" },
    ]});
    assert!(stage.ty("Large", "run", &large).is_success());
    let text = json!({ "typeName": "String", "expression": { "type": "JavaScript", "value": "'x'.repeat(7000000)" } });
    let definition = json!({ "definitionId": "large", "name": "large", "root": { "id": "work", "type": "Acme.Large", "text": text } });
    publish(&mut stage.client, &definition);
    let path = "/elsa/api/workflow-definitions/large/execute";
    let answer = stage.client.post(path, &json!({})).unwrap().json();
    let id = answer["workflowState"]["id"].as_str().unwrap().to_owned();
    stage.until(&id, "Faulted");
    assert!(stage.api.events("run").is_empty());
}

#[test]
fn only_functions_that_the_configuration_names_can_be_published() {
    let mut stage = Stage::start();
    let other = ALLOWED.replace("123456789012", "210987654321");
    for function in [
        "other",
        &format!("{other}by-arn"),
        &format!("{ALLOWED}other"),
    ] {
        let put = stage.ty("No", function, &json!({}));
        assert_eq!(put.status, 422, "{function}: {}", put.json());
        let told = put.json().to_string();
        assert!(told.contains("--allow-lambda"), "{told}");
    }
    let wrong = stage.ty("No", "a/b", &json!({}));
    assert!(wrong.json().to_string().contains("has a `function`"));
}
