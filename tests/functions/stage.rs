//! The functions over one deployment, and what a client and Lambda do with them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use dormouse_tests::deployment::Deployment;
use dormouse_tests::lambda::Lambda;
use serde_json::{Value, json};

/// A deployment with the functions that a test has asked for.
pub(super) struct Stage {
    pub(super) deployment: Deployment,
    variables: Vec<(&'static str, String)>,
    functions: std::sync::Mutex<BTreeMap<&'static str, std::sync::Arc<Lambda>>>,
}

/// An answer of the API.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: u64,
    pub(super) headers: Value,
    pub(super) body: Value,
}

/// The binary of a function: of this build, or those that `DORMOUSE_FUNCTIONS` names.
pub(super) fn binary(name: &str) -> PathBuf {
    dormouse_tests::lambda::binary(name, env!("CARGO_BIN_EXE_dormouse-api"))
}

impl Stage {
    /// `None` where the emulator is not installed.
    pub(super) async fn set() -> Result<Option<Self>> {
        Self::set_with(&[]).await
    }

    /// With more variables.
    pub(super) async fn set_with(more: &[(&'static str, &str)]) -> Result<Option<Self>> {
        let Some(deployment) = Deployment::make().await? else {
            return Ok(None);
        };
        let mut variables = deployment.variables().await?;
        variables.extend(
            more.iter()
                .map(|(name, value)| (*name, (*value).to_owned())),
        );
        Ok(Some(Self {
            deployment,
            variables,
            functions: std::sync::Mutex::default(),
        }))
    }

    /// One of the functions; its process is started when it is asked for first.
    pub(super) fn function(&self, name: &'static str) -> std::sync::Arc<Lambda> {
        let mut functions = self.functions.lock().unwrap();
        let started = functions.entry(name).or_insert_with(|| {
            let variables: Vec<_> = self
                .variables
                .iter()
                .map(|(n, v)| (*n, v.as_str()))
                .collect();
            std::sync::Arc::new(Lambda::start(&binary(name), &variables))
        });
        std::sync::Arc::clone(started)
    }

    /// Sends a request to the API.
    pub(super) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Answered {
        let mut event = request(method, path);
        if let Some(body) = body {
            event["body"] = body.to_string().into();
        }
        let answer = self.function("api").invoke(&event);
        answered(answer.expect("the api answers"))
    }

    /// Publishes a definition.
    pub(super) fn publish(&self, model: &Value) {
        let body = json!({ "model": model, "publish": true });
        let answer = self.ask("POST", "/elsa/api/workflow-definitions", Some(&body));
        assert_eq!(answer.status, 200, "{:#}", answer.body);
    }

    /// Starts an instance; answers its id.
    pub(super) fn start(&self, definition: &str) -> String {
        let body = json!({ "definitionId": definition });
        let answer = self.ask("POST", "/elsa/api/workflow-starts", Some(&body));
        assert!([201, 202].contains(&answer.status), "{:#}", answer.body);
        answer.body["id"].as_str().unwrap().to_owned()
    }

    /// How an instance stands.
    pub(super) fn sub_status(&self, id: &str) -> String {
        let answer = self.ask("GET", &format!("/elsa/api/workflow-instances/{id}"), None);
        assert_eq!(answer.status, 200, "{:#}", answer.body);
        answer.body["subStatus"].as_str().unwrap().to_owned()
    }

    /// The dead letters.
    pub(super) fn dead_letters(&self) -> Vec<Value> {
        let answer = self.ask("GET", "/elsa/api/bookmark-queue/dead-letters", None);
        assert_eq!(answer.status, 200, "{:#}", answer.body);
        answer.body["items"].as_array().unwrap().clone()
    }

    /// Hands messages of the resume queue on until an instance stands so.
    pub(super) async fn resume_until(&self, id: &str, sub_status: &str) -> Result<()> {
        let (url, function) = (&self.deployment.resume_url, self.function("resume"));
        for _ in 0..20 {
            if self.sub_status(id) == sub_status {
                return Ok(());
            }
            self.deployment.hand_on(url, 2, &function).await?;
        }
        let stands = self.sub_status(id);
        ensure!(stands == sub_status, "{id} is {stands}; {}", function.log());
        Ok(())
    }
}

/// A request as API Gateway and function URLs send it.
pub(super) fn request(method: &str, path: &str) -> Value {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {
            "accept": "*/*",
            "content-type": "application/json",
            "host": "abcdefghij.execute-api.us-east-1.amazonaws.com",
            "x-amzn-trace-id": "Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e",
            "x-forwarded-for": "203.0.113.7",
            "x-forwarded-port": "443",
            "x-forwarded-proto": "https",
        },
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "abcdefghij",
            "domainName": "abcdefghij.execute-api.us-east-1.amazonaws.com",
            "http": {
                "method": method, "path": path, "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7", "userAgent": "test",
            },
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": "$default",
            "stage": "$default",
            "time": "10/Mar/2026:05:16:23 +0000",
            "timeEpoch": 1_583_817_383_220_u64,
        },
        "isBase64Encoded": false,
    })
}

/// The answer in an answer.
pub(super) fn answered(answer: Value) -> Answered {
    let text = answer["body"].as_str().unwrap_or_default();
    Answered {
        status: answer["statusCode"].as_u64().unwrap(),
        headers: answer["headers"].clone(),
        body: serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

/// A literal input.
pub(super) fn literal(type_name: &str, value: impl Into<Value>) -> Value {
    json!({ "typeName": type_name, "expression": { "type": "Literal", "value": value.into() } })
}

/// A definition of activities in sequence.
pub(super) fn sequence(id: &str, activities: &[Value]) -> Value {
    json!({
        "definitionId": id, "name": id, "toolVersion": "3.6.0.0",
        "root": { "type": "Elsa.Sequence", "id": "root", "activities": activities },
    })
}

/// Writes a line.
pub(super) fn write(text: &str) -> Value {
    json!({ "type": "Elsa.WriteLine", "id": text, "text": literal("String", text) })
}

/// Waits for an event.
pub(super) fn event(name: &str) -> Value {
    json!({ "type": "Elsa.Event", "id": format!("wait-{name}"), "eventName": literal("String", name) })
}

/// Waits for a time.
pub(super) fn delay(span: &str) -> Value {
    json!({ "type": "Elsa.Delay", "id": "delay", "timeSpan": literal("TimeSpan", span) })
}
