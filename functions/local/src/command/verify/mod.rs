//! `dormouse verify`: checks the guarantees of a cluster against a running one.

mod caches;
mod check;
mod cluster;
mod failover;
mod leases;
mod restart;
mod resumes;
mod timers;

use std::time::Instant;

use clap::Args;
use serde_json::json;

use crate::client::Client;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::key;
use crate::screen::Screen;
use crate::text_table::TextTable;
use check::{Checked, Verdict};
use cluster::Cluster;

/// Cluster to verify.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Addresses of the nodes, or one address of a load balancer
    #[arg(required = true, value_name = "URL")]
    nodes: Vec<String>,
    /// Shell command that kills a node. Without it, the failover check is skipped
    #[arg(long, value_name = "COMMAND")]
    kill: Option<String>,
    /// Shell command that restarts all nodes one by one and returns when they are ready. Without it, the restart check is
    /// skipped
    #[arg(long, value_name = "COMMAND")]
    restart: Option<String>,
    /// Maximum 95th-percentile resume latency in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 500)]
    lease_ms: u64,
    /// Keep the definitions and instances that the checks create
    #[arg(long)]
    keep: bool,
}

/// Checks one thing after the other, and cleans up.
pub(crate) async fn verify(
    args: &VerifyArgs,
    key: Option<&str>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let client = |url: &String| Client::new(url, key::find(key, url));
    let cluster = Cluster::new(args.nodes.iter().map(client).collect());
    // Without an answer from each of them there is nothing to check.
    for node in cluster.nodes() {
        node.get("/package/version").await?;
    }
    screen.line(format!(
        "Checking {} with definitions that begin with {}:",
        screen.bold(&args.nodes.join(", ")),
        cluster.prefix()
    ));
    let mut checks = Vec::new();
    for (number, name) in (1..).zip(NAMES) {
        let begin = Instant::now();
        let verdict = check(number, args, &cluster).await;
        let verdict = verdict.unwrap_or_else(|failure| Verdict::Failed(failure.message));
        let checked = Checked {
            name,
            verdict,
            took: begin.elapsed(),
        };
        let mut table = TextTable::plain();
        table.row(checked.row(screen));
        screen.table(&table);
        checks.push(checked);
    }
    if !args.keep {
        let left = cluster.clean().await;
        if left > 0 {
            screen.line(format!(
                "{left} of the things it made could not be removed: see {}",
                cluster.prefix()
            ));
        }
    }
    let failed = checks.iter().filter(|checked| checked.has_failed()).count();
    screen.value(&json!({
        "passed": failed == 0,
        "prefix": cluster.prefix(),
        "checks": checks.iter().map(Checked::json).collect::<Vec<_>>(),
    }));
    Ok(if failed == 0 { Exit::Ok } else { Exit::Failed })
}

/// The checks, in their order.
const NAMES: [&str; 6] = [
    "concurrent resumes",
    "timers",
    "caches",
    "failover",
    "rolling restart",
    "leases",
];

async fn check(number: u32, args: &VerifyArgs, cluster: &Cluster) -> Result<Verdict, Failure> {
    match (number, &args.kill, &args.restart) {
        (1, ..) => resumes::check(cluster).await,
        (2, ..) => timers::check(cluster).await,
        (3, ..) => caches::check(cluster).await,
        (4, Some(kill), _) => failover::check(cluster, kill).await,
        (4, None, _) => Ok(Verdict::Skipped("say how: --kill COMMAND".into())),
        (5, _, Some(restart)) => restart::check(cluster, restart).await,
        (5, _, None) => Ok(Verdict::Skipped("say how: --restart COMMAND".into())),
        _ => leases::check(cluster, args.lease_ms).await,
    }
}
