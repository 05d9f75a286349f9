//! What every cluster promises, checked against the deployed API by the command that everybody uses.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use dormouse_tests::cloud::Cloud;
use serde_json::Value;

/// All six. A node is a function's process here: all of them are killed once while timers run, and those that answer
/// requests four times in a row while work comes in, whatever they are doing just then. What dies with a message in its
/// hands gets it back after the queue's visibility of six minutes, longer than anybody waits for a test.
pub(super) fn the_api_passes(cloud: &Cloud, binary: &Path) -> Result<()> {
    let kill = cloud.server.kill_command("");
    let replace = cloud.server.kill_command("-api");
    // On a slow machine the emulator takes seconds to begin the processes anew that were killed.
    let kill_once =
        format!("for try in $(seq 60); do sleep 1; {replace} && continue 2; done; exit 1");
    let restart = format!("for round in 1 2 3 4; do {kill_once}; done; sleep 1");
    let verified = Command::new(binary)
        .args(["verify", "--json", "--lease-ms", "10000"])
        .args(["--kill", &kill, "--restart", &restart])
        .arg(cloud.url()?)
        .output()?;
    let said = String::from_utf8(verified.stdout)?;
    let report: Value = serde_json::from_str(&said)?;
    eprintln!("{report:#}");
    ensure!(report["passed"] == true, "{report:#}");
    let checks = report["checks"].as_array().into_iter().flatten();
    let passed = checks.filter(|check| check["verdict"] == "passed").count();
    ensure!(passed == 6, "{report:#}");
    Ok(())
}
