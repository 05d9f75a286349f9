//! What every cluster promises, checked against the deployed API by the command that everybody uses.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use dormouse_tests::cloud::Cloud;
use serde_json::Value;

/// Concurrent resumes, timers, caches and leases; there is no node to kill, and none to restart.
pub(super) fn the_api_passes(cloud: &Cloud, binary: &Path) -> Result<()> {
    let verified = Command::new(binary)
        .args(["verify", "--json", "--lease-ms", "10000"])
        .arg(cloud.url()?)
        .output()?;
    let said = String::from_utf8(verified.stdout)?;
    let report: Value = serde_json::from_str(&said)?;
    eprintln!("{report:#}");
    ensure!(report["passed"] == true, "{report:#}");
    let checks = report["checks"].as_array().into_iter().flatten();
    let passed = checks.filter(|check| check["verdict"] == "passed").count();
    ensure!(passed == 4, "{report:#}");
    Ok(())
}
