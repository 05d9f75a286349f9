//! template.yaml, deployed to an emulator of AWS by its script, and three containers over its table and its bucket:
//! what is published at one runs at all, what one begins another one ends, none calls what the stack's policy for
//! containers does not allow, and the doctor finds and mends what is lost. Run alone by `cargo test -p dormouse --features aws --test deployed`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "deployed/container.rs"]
mod container;
#[path = "deployed/doctor.rs"]
mod doctor;

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Result, ensure};
use dormouse_tests::cloud::{Cloud, said};
use dormouse_tests::http_client::Client;
use dormouse_tests::primitives::{delay, event, incompressible, sequence, set, write};
use dormouse_tests::template::{Template, texts};
use dormouse_tests::{Workflow, workflow};
use serde_json::{Value, json};

use container::Container;

/// The stack, with functions that do nothing: this is about containers, which share only what is kept with them.
fn deploy() -> Result<Option<Cloud>> {
    let programs = tempfile::tempdir()?;
    for name in ["api", "resume", "timer", "invalidation"] {
        let program = programs.path().join(format!("dormouse-{name}"));
        std::fs::write(&program, "#!/bin/sh\nexit 1\n")?;
        std::fs::set_permissions(&program, Permissions::from_mode(0o755))?;
    }
    Cloud::deploy(programs.path(), &[])
}

fn post(client: &mut Client, path: &str, body: &Value) -> Result<Value> {
    let answer = client.post(path, body)?;
    ensure!(answer.is_success(), "{path}: {}", said(&answer));
    Ok(answer.json())
}

fn publish(client: &mut Client, model: &Workflow) -> Result<()> {
    let body = json!({ "model": model.json(), "publish": true });
    post(client, "/elsa/api/workflow-definitions", &body)?;
    Ok(())
}

/// Starts an instance; answers its id.
fn start(client: &mut Client, definition: &str) -> Result<String> {
    let body = json!({ "definitionId": definition });
    let started = post(client, "/elsa/api/workflow-starts", &body)?;
    Ok(started["id"].as_str().unwrap_or_default().to_owned())
}

fn look(client: &mut Client, id: &str) -> Result<Value> {
    let answer = client.get(&format!("/elsa/api/workflow-instances/{id}"))?;
    ensure!(answer.is_success(), "{id}: {}", said(&answer));
    Ok(answer.json())
}

/// Sends an event at one container until an instance has ended, as another one sees it.
fn wake(cloud: &Cloud, name: &str, at: &mut Client, id: &str, seen_by: &mut Client) -> Result<()> {
    post(at, &format!("/elsa/api/events/{name}/trigger"), &json!({}))?;
    cloud.until(&format!("{id} is finished"), || {
        let instance = look(seen_by, id)?;
        Ok((instance["subStatus"] == "Finished").then_some(()))
    })
}

/// A change at one container is seen by each other one with its next start.
fn changes_reach_all(containers: &[Container]) -> Result<()> {
    for (version, publisher) in [(1, 0), (2, 1)] {
        let text = format!("version {version}");
        let shared = workflow("shared", sequence([write(text.as_str())])).version(version);
        publish(&mut containers[publisher].client(), &shared)?;
        for container in containers {
            let mut client = container.client();
            let id = start(&mut client, "shared")?;
            ensure!(look(&mut client, &id)?["version"] == version);
        }
    }
    Ok(())
}

/// A delay that one container begins ends, whichever notices; a third one brings the event after it.
fn one_begins_another_ends(cloud: &Cloud, containers: &[Container]) -> Result<()> {
    let [mut first, mut second, mut third] = [0, 1, 2].map(|at: usize| containers[at].client());
    let nap = workflow(
        "nap",
        sequence([delay("00:00:01"), event("Go"), write("on")]),
    );
    publish(&mut first, &nap)?;
    let id = start(&mut first, "nap")?;
    wake(cloud, "Go", &mut second, &id, &mut third)
}

/// A state over 300 KB lies in the bucket, and is there when another container needs it.
fn large_states_are_kept(cloud: &Cloud, containers: &[Container]) -> Result<()> {
    let [mut first, mut second, mut third] = [0, 1, 2].map(|at: usize| containers[at].client());
    let large = workflow(
        "large",
        sequence([set("Large", incompressible()), event("GoOn"), write("on")]),
    );
    publish(&mut first, &large.variable("Large", "String", ""))?;
    let id = start(&mut first, "large")?;
    ensure!(look(&mut second, &id)?["subStatus"] == "Suspended");
    wake(cloud, "GoOn", &mut second, &id, &mut third)?;
    let calls = cloud.recorder.calls();
    let called = |action: &str| calls.iter().any(|(_, called)| called == action);
    ensure!(
        called("s3:PutObject") && called("s3:GetObject"),
        "{calls:?}"
    );
    Ok(())
}

/// A wait of days, for the doctor.
fn a_far_timer_is_set(containers: &[Container]) -> Result<()> {
    let mut first = containers[0].client();
    publish(
        &mut first,
        &workflow("far", sequence([delay("3.00:00:00")])),
    )?;
    let id = start(&mut first, "far")?;
    ensure!(look(&mut first, &id)?["subStatus"] == "Suspended");
    Ok(())
}

/// The policy that the stack makes for containers.
fn nothing_else_is_called(cloud: &Cloud) -> Result<()> {
    let template = Template::read();
    let statements = template.statements("NodePolicy").into_iter();
    let allowed: BTreeSet<&str> = statements
        .flat_map(|statement| texts(&statement["Action"]))
        .collect();
    let calls = cloud.recorder.calls();
    ensure!(calls.len() >= 7, "{calls:?}");
    for (caller, action) in &calls {
        ensure!(caller == container::CALLER, "{caller} called {action}");
        ensure!(allowed.contains(action.as_str()), "{action} is not allowed");
    }
    Ok(())
}

#[test]
fn three_containers_over_a_deployed_stack_work_as_one() -> Result<()> {
    let Some(cloud) = deploy()? else {
        return Ok(());
    };
    let binary = Path::new(env!("CARGO_BIN_EXE_dormouse"));
    let containers = (0..3).map(|_| Container::start(binary, &cloud));
    let containers = containers.collect::<Result<Vec<_>>>()?;
    changes_reach_all(&containers)?;
    one_begins_another_ends(&cloud, &containers)?;
    large_states_are_kept(&cloud, &containers)?;
    a_far_timer_is_set(&containers)?;
    doctor::what_is_lost_is_found_and_mended(binary, &cloud)?;
    for container in containers {
        let ended = container.stop()?;
        ensure!(ended.success(), "{ended}");
    }
    nothing_else_is_called(&cloud)
}
