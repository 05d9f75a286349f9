//! template.yaml deployed to an emulator by the script that everybody uses. Every call that is made of it is recorded.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::http_client::{Client, Response};
use crate::ministack::{Ministack, tools};
use crate::recorder::Recorder;

/// How long anything may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A deployed stack.
pub struct Cloud {
    /// Where functions and containers find AWS.
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
