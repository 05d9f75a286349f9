//! A node is killed while timers run: others fire them, once each.

use std::time::Instant;

use super::check::{Verdict, shell};
use super::cluster::{Cluster, delay, note};
use super::timers::fired_once;
use crate::command::text;
use crate::failure::Failure;

const TIMERS: usize = 20;

/// Minimum and maximum time of a timer, in seconds.
const RUNS_S: (u64, u64) = (4, 50);

pub(super) async fn check(cluster: &Cluster, kill: &str) -> Result<Verdict, Failure> {
    let publish = async |runs_s: u64| {
        let activities = [delay("wait", &format!("00:00:{runs_s:02}")), note("after")];
        cluster.publish(0, "failover", &activities).await
    };
    // The timers must run still when the last one is set, however slow the nodes are: a start takes no longer than a
    // publish.
    let begin = Instant::now();
    publish(RUNS_S.0).await?;
    let starts_s = begin.elapsed().as_secs_f64() * TIMERS as f64;
    let definition = publish((RUNS_S.0 + starts_s.ceil() as u64).min(RUNS_S.1)).await?;
    let mut instances = Vec::new();
    for number in 0..TIMERS {
        let started = cluster.start(number, &definition, None).await?;
        instances.push(text(&started, "workflowInstanceId").to_owned());
    }
    shell(kill).await?;
    let wrong = cluster.not_finished(&instances).await?;
    if !wrong.is_empty() {
        return Ok(Verdict::Failed(wrong.join(", ")));
    }
    Ok(match fired_once(cluster, &instances).await? {
        Some(wrong) => Verdict::Failed(wrong),
        None => Verdict::Passed(format!(
            "{TIMERS} timers, one node killed meanwhile: each fired once"
        )),
    })
}
