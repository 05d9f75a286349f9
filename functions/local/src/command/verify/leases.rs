//! Leases are taken in reasonable time, and none is left behind.

use std::time::{Duration, Instant};

use super::check::Verdict;
use super::cluster::{Cluster, complete, task, task_id};
use super::resumes::all_at_once;
use crate::command::text;
use crate::failure::Failure;

/// Number of consecutive resumes.
const RESUMES: usize = 40;

pub(super) async fn check(cluster: &Cluster, lease_ms: u64) -> Result<Verdict, Failure> {
    let names: Vec<String> = (0..RESUMES).map(|n| format!("task {n}")).collect();
    let activities: Vec<_> = names.iter().map(|name| task(name)).collect();
    let definition = cluster.publish(0, "leases", &activities).await?;
    let mut state = cluster.start(0, &definition, None).await?;
    let id = text(&state, "workflowInstanceId").to_owned();
    // The first one in a crowd: a late caller must not leave a lease behind.
    all_at_once(cluster, &task_id(&state)).await;
    let path = format!("/workflow-instances/{id}");
    let instance = cluster.node(0)?.get(&path).await?;
    state = instance.get("workflowState").cloned().unwrap_or_default();
    let mut took = Vec::new();
    for number in 1..RESUMES {
        let begin = Instant::now();
        state = complete(cluster.node(number)?, &task_id(&state)).await?;
        took.push(begin.elapsed());
    }
    let ended = text(&state, "subStatus");
    if ended != "Finished" {
        return Ok(Verdict::Failed(format!(
            "{id} is {ended} after its last resume"
        )));
    }
    took.sort_unstable();
    let at = |percent: usize| {
        let place = (took.len() * percent / 100).min(took.len().saturating_sub(1));
        took.get(place).copied().unwrap_or(Duration::ZERO)
    };
    let (p50, p95, p100) = (at(50), at(95), at(100));
    let numbers = format!(
        "resumes took {:.1} ms at p50, {:.1} at p95, {:.1} at most",
        ms(p50),
        ms(p95),
        ms(p100)
    );
    Ok(if p95 <= Duration::from_millis(lease_ms) {
        Verdict::Passed(format!("{numbers}; no lease was left behind"))
    } else {
        Verdict::Failed(format!("{numbers}; {lease_ms} ms were allowed at p95"))
    })
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
