//! States that the table does not hold.

use anyhow::{Result, ensure};
use dormouse_tests::cloud::{Cloud, said};
use dormouse_tests::primitives::{delay, event, incompressible, sequence, set, write};
use dormouse_tests::{activity, js, workflow};
use serde_json::{Value, json};

/// Half a megabyte that does not get smaller by compression waits: for a time, for an event by message, and for one by
/// request. So each of three functions finds it where another one has left it.
pub(super) fn a_large_state_lies_in_the_bucket(cloud: &Cloud) -> Result<()> {
    let steps = [
        set("Large", incompressible()),
        delay("00:00:01"),
        event("GoOn"),
        event("Last"),
        set("Size", js("return getLarge().length;")),
        write(js("return String(getSize());")),
    ];
    let large = workflow("large", sequence(steps))
        .variable("Large", "String", "")
        .variable("Size", "Int32", 0);
    cloud.publish(large.json())?;
    let id = cloud.start("large", &json!({}))?;
    cloud.until_is(&id, "Suspended")?;
    for (name, mode) in [("GoOn", "Asynchronous"), ("Last", "Synchronous")] {
        waits_for(cloud, &id, name)?;
        let body = json!({ "workflowExecutionMode": mode });
        let path = format!("/elsa/api/events/{name}/trigger");
        let sent = cloud.ask("POST", &path, Some(&body))?;
        ensure!(sent.is_success(), "{}", said(&sent));
    }
    cloud.until_is(&id, "Finished")?;
    let calls = cloud.recorder.calls();
    let by = |action: &str| calls.iter().any(|(_, called)| called == action);
    ensure!(by("s3:PutObject") && by("s3:GetObject"), "{calls:?}");
    let path = format!("/elsa/api/workflow-instances/{id}");
    let deleted = cloud.ask("DELETE", &path, None)?;
    ensure!(deleted.is_success(), "{}", said(&deleted));
    Ok(())
}

/// Waits until an instance waits for an event.
fn waits_for(cloud: &Cloud, id: &str, name: &str) -> Result<()> {
    cloud.until(&format!("{id} waits for {name}"), || {
        let instance: Value = cloud.instance(id)?;
        let waits = instance["workflowState"]["bookmarks"].to_string();
        Ok(waits.contains(&format!("\"{name}\"")).then_some(()))
    })
}

/// An event of a megabyte and a half, which no queue takes, is there in full where it was waited for.
pub(super) fn a_large_message_lies_in_the_bucket(cloud: &Cloud) -> Result<()> {
    let length = activity("Elsa.SetName").input("value", js("String(getLastResult().length)"));
    cloud.publish(workflow("weighs", sequence([event("Bring"), length])).json())?;
    let id = cloud.start("weighs", &json!({}))?;
    cloud.until_is(&id, "Suspended")?;
    let body = json!({ "input": "x".repeat(1_500_000) });
    let sent = cloud.ask("POST", "/elsa/api/events/Bring/trigger", Some(&body))?;
    ensure!(sent.is_success(), "{}", said(&sent));
    let ended = cloud.until_is(&id, "Finished")?;
    ensure!(ended["name"] == "1500000", "{ended}");
    Ok(())
}
