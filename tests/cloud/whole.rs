//! Everything in turn, over one deployment.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result};
use dormouse_tests::cloud::Cloud;
use tempfile::TempDir;

use super::{calls, dead_letters, large, nodes, verify, ways};

/// The functions' programs without what only debuggers read, which is nine tenths of them: they are packed and sent.
fn slim(programs: &Path) -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    for name in ["api", "resume", "timer", "invalidation"] {
        let name = format!("dormouse-{name}");
        let (from, to) = (programs.join(&name), folder.path().join(&name));
        let stripped = Command::new("strip").arg("-o").arg(&to).arg(&from).status();
        if !stripped.is_ok_and(|status| status.success()) {
            std::fs::copy(&from, &to).with_context(|| format!("{}", from.display()))?;
        }
    }
    Ok(folder)
}

#[test]
fn the_deployed_template_runs_workflows_from_their_publish_to_their_end() -> Result<()> {
    let begin = Instant::now();
    // The programs lie beside the folder of the tests.
    let test = std::env::current_exe()?;
    let folder = test.parent().and_then(|deps| deps.parent());
    let programs = match std::env::var_os("DORMOUSE_PROGRAMS") {
        Some(named) => named.into(),
        None => folder.context("a folder")?.to_owned(),
    };
    let slim = slim(&programs)?;
    let Some(cloud) = Cloud::deploy(slim.path(), &["LifecycleEvents=true"])? else {
        return Ok(());
    };
    let told = |what: &str| eprintln!("{:6.1} s  {what}", begin.elapsed().as_secs_f64());
    told("deployed");
    ways::from_a_request_over_all_waits_to_the_end(&cloud)?;
    told("request, delay, event, task, link: finished");
    let binary = programs.join("dormouse");
    ways::far_away_timers_are_schedules(&cloud, &binary)?;
    told("a delay of days: scheduled, lost, set again, cancelled");
    ways::deadlines_come_and_go(&cloud)?;
    told("deadlines: come and gone");
    ways::early_events_are_kept(&cloud)?;
    told("early events: kept and taken");
    ways::a_clock_starts_instances(&cloud)?;
    told("cron: fired");
    ways::a_parent_waits_for_its_child(&cloud)?;
    told("parent and child: finished");
    large::a_large_state_lies_in_the_bucket(&cloud)?;
    large::a_large_message_lies_in_the_bucket(&cloud)?;
    told("a large state and a large message: kept and read");
    dead_letters::what_failed_is_redriven(&cloud)?;
    told("a dead letter: redriven");
    verify::the_api_passes(&cloud, &binary)?;
    told("dormouse verify: passed");
    nodes::a_change_reaches_every_node(&cloud, &binary)?;
    told("three containers: caches changed");
    calls::every_call_is_allowed_and_every_permission_is_used(&cloud)?;
    told("calls and policies: the same");
    Ok(())
}
