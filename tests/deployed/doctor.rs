//! `dormouse doctor` over the table that containers use at the same time.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_store::table::scan::Scan as _;
use dormouse_store::table::{Condition, Table as _, Write};
use dormouse_tests::cloud::Cloud;
use serde_json::Value;

/// What the doctor says, and whether all is well then.
pub(crate) fn examine(binary: &Path, cloud: &Cloud, more: &[&str]) -> Result<(Value, bool)> {
    let output = Command::new(binary)
        .args(["doctor", "--json", "--table", "dynamodb"])
        .args(more)
        .env("DORMOUSE_TABLE", cloud.output("TableName"))
        .env("DORMOUSE_BUCKET", cloud.output("BucketName"))
        .env("AWS_ENDPOINT_URL", cloud.server.endpoint())
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .output()?;
    let said = String::from_utf8(output.stderr)?;
    let report = serde_json::from_slice(&output.stdout);
    let report: Value = report.with_context(|| format!("the doctor says: {said}"))?;
    Ok((report, output.status.success()))
}

/// Removes all timers from the table; answers how many there were.
pub(crate) fn lose_timers(cloud: &Cloud) -> Result<usize> {
    let table = DynamoTable::new(&cloud.server.config(), cloud.output("TableName"));
    let threads = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    threads.block_on(async {
        let (mut lost, mut cursor) = (0, None);
        loop {
            let page = table.scan(cursor).await?;
            for item in page.items {
                if item.key.partition.starts_with("~/TIMER#") {
                    let write = Write::Delete(item.key, Condition::Exists);
                    table.write(&[write]).await?;
                    lost += 1;
                }
            }
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(lost);
            }
        }
    })
}

/// A sound table is sound; a timer that is lost is missed, set again, and there.
pub(crate) fn what_is_lost_is_found_and_mended(binary: &Path, cloud: &Cloud) -> Result<()> {
    let (report, is_well) = examine(binary, cloud, &[])?;
    ensure!(is_well && report["running"] == 1, "{report:#}");
    ensure!(lose_timers(cloud)? == 1);
    for (more, is_well, found) in [(&[][..], false, 1), (&["--fix"], true, 1), (&[], true, 0)] {
        let (report, well) = examine(binary, cloud, more)?;
        let all = report["found"].as_array().context("findings")?;
        ensure!(
            well == is_well && all.len() == found,
            "{more:?}: {report:#}"
        );
        ensure!(
            all.iter().all(|found| found["kind"] == "timerMissing"),
            "{report:#}"
        );
    }
    Ok(())
}
