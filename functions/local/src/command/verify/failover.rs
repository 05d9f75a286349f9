//! A node is killed while timers run: others fire them, once each.

use super::check::{Verdict, shell};
use super::cluster::{Cluster, delay, note};
use super::timers::fired_once;
use crate::command::text;
use crate::failure::Failure;

const TIMERS: usize = 20;

pub(super) async fn check(cluster: &Cluster, kill: &str) -> Result<Verdict, Failure> {
    let activities = [delay("wait", "00:00:04"), note("after")];
    let definition = cluster.publish(0, "failover", &activities).await?;
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
