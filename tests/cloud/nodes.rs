//! Three containers beside the functions, over the same table and the same topic: what changes at one is seen by all.

use std::path::Path;

use anyhow::{Result, ensure};
use dormouse_tests::cloud::{Cloud, said};
use dormouse_tests::http_client::Client;
use dormouse_tests::primitives::{sequence, write};
use dormouse_tests::workflow;
use serde_json::{Value, json};

use super::node::Node;

/// The version that a start at a node runs.
fn version_at(node: &mut Client) -> Result<Value> {
    let path = "/elsa/api/workflow-definitions/shared/execute";
    let answer = node.post(path, &json!({}))?;
    ensure!(answer.is_success(), "{}", said(&answer));
    let id = answer.json()["workflowState"]["id"].clone();
    let path = format!(
        "/elsa/api/workflow-instances/{}",
        id.as_str().unwrap_or_default()
    );
    Ok(node.get(&path)?.json()["version"].clone())
}

/// Published at the API, run by each node; published again at one node, run by each other one and by the API at once.
pub(super) fn a_change_reaches_every_node(cloud: &Cloud, binary: &Path) -> Result<()> {
    let nodes = (0..3).map(|_| Node::start(binary, cloud));
    let nodes = nodes.collect::<Result<Vec<_>>>()?;
    let definition = |text: &str| workflow("shared", sequence([write(text)]));
    cloud.publish(definition("one").json())?;
    for node in &nodes {
        ensure!(version_at(&mut node.client())? == 1);
    }
    let second = definition("two").version(2);
    let body = json!({ "model": second.json(), "publish": true });
    let published = nodes[0]
        .client()
        .post("/elsa/api/workflow-definitions", &body)?;
    ensure!(published.is_success(), "{}", said(&published));
    for node in &nodes {
        ensure!(version_at(&mut node.client())? == 2);
    }
    let started = cloud.start("shared", &json!({}))?;
    ensure!(cloud.instance(&started)?["version"] == 2);
    for node in &nodes {
        cloud.until("the node has heard of the change", || {
            let heard = node.log().contains("cache invalidation received");
            Ok(heard.then_some(()))
        })?;
    }
    Ok(())
}
