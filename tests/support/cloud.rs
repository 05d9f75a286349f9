//! template.yaml deployed to an emulator by the script that everybody uses, with the real functions behind it, which
//! the emulator runs. Every call that they make is recorded.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use crate::http_client::{Client, Response};
use crate::ministack::{Ministack, tools};
use crate::recorder::Recorder;

/// How long anything may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A deployed stack.
pub struct Cloud {
    /// What the functions call.
    pub recorder: Recorder,
    /// The emulator.
    pub server: Ministack,
    /// The stack's outputs.
    pub outputs: BTreeMap<String, String>,
}

impl Cloud {
    /// Deploys the programs of a folder. `None` where the emulator or its tools are not installed.
    ///
    /// # Errors
    ///
    /// The deployment fails; what it said is in the error.
    pub fn deploy(programs: &Path, parameters: &[&str]) -> Result<Option<Self>> {
        let recorder = Recorder::start()?;
        let Some(server) = Ministack::behind(recorder.endpoint())? else {
            return Ok(None);
        };
        recorder.lead_to(server.endpoint());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../infra/emulator/deploy.sh");
        let path = std::env::var("PATH").unwrap_or_default();
        let deployed = Command::new("bash")
            .arg(script)
            .arg(programs)
            .args(parameters)
            .env("PATH", format!("{}:{path}", tools().display()))
            .env("AWS_ENDPOINT_URL", server.endpoint())
            .output()
            .context("bash")?;
        ensure!(
            deployed.status.success(),
            "{}\n{}",
            String::from_utf8_lossy(&deployed.stdout),
            String::from_utf8_lossy(&deployed.stderr)
        );
        let outputs = outputs(server.endpoint())?;
        Ok(Some(Self {
            recorder,
            server,
            outputs,
        }))
    }

    /// One of the stack's outputs.
    #[must_use]
    pub fn output(&self, name: &str) -> &str {
        let found = self.outputs.get(name);
        found.unwrap_or_else(|| panic!("the stack has no output {name}: {:?}", self.outputs))
    }

    /// The address of the API, as this machine reaches it.
    ///
    /// # Errors
    ///
    /// The stack tells none.
    pub fn url(&self) -> Result<String> {
        Ok(format!("{}{}", self.server.endpoint(), self.stage()?))
    }

    /// `http://ID.execute-api.localhost:PORT`; that name need not resolve here.
    fn stage(&self) -> Result<String> {
        let url = self.output("Url").trim_start_matches("http://");
        let (api, _) = url.split_once('.').context("the API's id")?;
        Ok(format!("/_aws/execute-api/{api}/$default"))
    }

    /// What a program needs to know that works with the whole stack: a container, or the doctor.
    #[must_use]
    pub fn variables(&self) -> Vec<(&'static str, &str)> {
        let of_stack = [
            ("DORMOUSE_TABLE", "TableName"),
            ("DORMOUSE_BUCKET", "BucketName"),
            ("DORMOUSE_RESUME_QUEUE_URL", "ResumeQueueUrl"),
            ("DORMOUSE_TIMER_QUEUE_URL", "TimerQueueUrl"),
            ("DORMOUSE_TIMER_QUEUE_ARN", "TimerQueueArn"),
            ("DORMOUSE_TOPIC_ARN", "TopicArn"),
            ("DORMOUSE_BUS_NAME", "BusName"),
            ("DORMOUSE_SCHEDULE_GROUP", "ScheduleGroupName"),
            ("DORMOUSE_SCHEDULE_ROLE_ARN", "ScheduleRoleArn"),
            ("DORMOUSE_SCHEDULE_DLQ_ARN", "UndeliveredQueueArn"),
        ];
        let of_stack = of_stack.map(|(name, output)| (name, self.output(output)));
        let of_aws = [
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ];
        of_stack.into_iter().chain(of_aws).collect()
    }

    /// Calls a service that speaks JSON, by its name for it, like `AmazonSQS.SendMessage`.
    ///
    /// # Errors
    ///
    /// It refuses.
    pub fn call(&self, target: &str, body: &Value) -> Result<Value> {
        let service = match target.split_once('.') {
            Some(("AmazonSQS", _)) => "sqs",
            Some(("AWSEvents", _)) => "events",
            _ => bail!("{target} is not known here"),
        };
        let headers = [
            ("content-type", "application/x-amz-json-1.1"),
            ("x-amz-target", target),
        ];
        self.signed(service, "POST", "/", &headers, &body.to_string())
    }

    /// Looks at schedules (`GET`), or deletes one.
    ///
    /// # Errors
    ///
    /// The scheduler refuses.
    pub fn schedules(&self, method: &str, path: &str) -> Result<Value> {
        self.signed("scheduler", method, path, &[], "")
    }

    /// Sends a request that is signed by nobody in particular.
    fn signed(
        &self,
        service: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Value> {
        let signature = signature(service);
        let mut headers = headers.to_vec();
        headers.push(("authorization", &signature));
        let mut client = Client::new(port(self.server.endpoint())?);
        let answer = client.send(method, path, &headers, body.as_bytes())?;
        ensure!(answer.is_success(), "{service}: {}", said(&answer));
        Ok(answer.json())
    }

    /// Sends a request to the API.
    ///
    /// # Errors
    ///
    /// No answer.
    pub fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Response> {
        // As in Elsa, a body that is said to be JSON and is empty is an error.
        let headers: &[_] = match body {
            Some(_) => &[("content-type", "application/json")],
            None => &[],
        };
        let body = body.map(ToString::to_string).unwrap_or_default();
        self.send(method, path, headers, &body)
    }

    /// Sends any request to the API.
    ///
    /// # Errors
    ///
    /// No answer.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Response> {
        let path = format!("{}{path}", self.stage()?);
        let mut client = Client::new(port(self.server.endpoint())?);
        Ok(client.send(method, &path, headers, body.as_bytes())?)
    }

    /// Publishes a definition.
    ///
    /// # Errors
    ///
    /// The API refuses.
    pub fn publish(&self, model: &Value) -> Result<()> {
        let body = json!({ "model": model, "publish": true });
        let answer = self.ask("POST", "/elsa/api/workflow-definitions", Some(&body))?;
        ensure!(answer.is_success(), "{}", said(&answer));
        Ok(())
    }

    /// Starts an instance; answers its id.
    ///
    /// # Errors
    ///
    /// The API refuses.
    pub fn start(&self, definition: &str, input: &Value) -> Result<String> {
        let body = json!({ "definitionId": definition, "input": input });
        let answer = self.ask("POST", "/elsa/api/workflow-starts", Some(&body))?;
        ensure!(answer.is_success(), "{}", said(&answer));
        let id = answer.json()["id"].as_str().map(str::to_owned);
        id.with_context(|| format!("no id in {}", said(&answer)))
    }

    /// How an instance stands.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn instance(&self, id: &str) -> Result<Value> {
        let answer = self.ask("GET", &format!("/elsa/api/workflow-instances/{id}"), None)?;
        ensure!(answer.is_success(), "{id}: {}", said(&answer));
        Ok(answer.json())
    }

    /// The instances of a definition.
    ///
    /// # Errors
    ///
    /// No answer.
    pub fn instances(&self, definition: &str) -> Result<Vec<Value>> {
        let path = format!("/elsa/api/workflow-instances?definitionId={definition}&pageSize=100");
        let answer = self.ask("GET", &path, None)?;
        ensure!(answer.is_success(), "{}", said(&answer));
        Ok(answer.json()["items"]
            .as_array()
            .cloned()
            .unwrap_or_default())
    }

    /// Waits until something is so.
    ///
    /// # Errors
    ///
    /// It is not in all that time; or looking fails.
    pub fn until<T>(&self, what: &str, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Some(found) = look()? {
                return Ok(found);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!("not within {PATIENCE:?}: {what}")
    }

    /// Waits until an instance stands so.
    ///
    /// # Errors
    ///
    /// It does not.
    pub fn until_is(&self, id: &str, sub_status: &str) -> Result<Value> {
        self.until(&format!("{id} is {sub_status}"), || {
            let instance = self.instance(id)?;
            Ok((instance["subStatus"] == sub_status).then_some(instance))
        })
    }
}

/// An answer in words.
#[must_use]
pub fn said(answer: &Response) -> String {
    format!(
        "{} {}",
        answer.status,
        String::from_utf8_lossy(&answer.body)
    )
}

fn port(endpoint: &str) -> Result<u16> {
    let (_, port) = endpoint.rsplit_once(':').context("a port")?;
    Ok(port.parse()?)
}

/// What an emulator reads of a signature: the region and the service.
fn signature(service: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/{service}/aws4_request, \
         SignedHeaders=host, Signature=0"
    )
}

/// The outputs of the one stack, from CloudFormation's XML.
fn outputs(endpoint: &str) -> Result<BTreeMap<String, String>> {
    let signature = signature("cloudformation");
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("authorization", signature.as_str()),
    ];
    let body = b"Action=DescribeStacks&Version=2010-05-15&StackName=dormouse";
    let answer = Client::new(port(endpoint)?).send("POST", "/", &headers, body)?;
    let text = String::from_utf8(answer.body)?;
    let between = |text: &str, tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        let (value, _) = rest.split_once(&format!("</{tag}>"))?;
        Some(value.to_owned())
    };
    let members = text.split("<OutputKey>").skip(1);
    let found: BTreeMap<String, String> = members
        .filter_map(|member| {
            let (name, rest) = member.split_once("</OutputKey>")?;
            Some((name.to_owned(), between(rest, "OutputValue")?))
        })
        .collect();
    ensure!(!found.is_empty(), "the stack tells nothing: {text}");
    Ok(found)
}
