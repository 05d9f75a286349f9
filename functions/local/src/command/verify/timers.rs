//! Timers that are set on different nodes fire once each.

use super::check::Verdict;
use super::cluster::{Cluster, delay, note};
use crate::command::text;
use crate::failure::Failure;

const TIMERS: usize = 20;

pub(super) async fn check(cluster: &Cluster) -> Result<Verdict, Failure> {
    let activities = [delay("wait", "00:00:02"), note("after")];
    let definition = cluster.publish(0, "timers", &activities).await?;
    let mut instances = Vec::new();
    for number in 0..TIMERS {
        let started = cluster.start(number, &definition, None).await?;
        instances.push(text(&started, "workflowInstanceId").to_owned());
    }
    let wrong = cluster.not_finished(&instances).await?;
    if !wrong.is_empty() {
        return Ok(Verdict::Failed(wrong.join(", ")));
    }
    match fired_once(cluster, &instances).await? {
        Some(wrong) => Ok(Verdict::Failed(wrong)),
        None => Ok(Verdict::Passed(format!(
            "{TIMERS} timers of two seconds: each fired once"
        ))),
    }
}

/// Describes the first defect of the timers of these instances.
pub(super) async fn fired_once(
    cluster: &Cluster,
    instances: &[String],
) -> Result<Option<String>, Failure> {
    for id in instances {
        for (activity, event) in [("wait", "Resumed"), ("after", "Completed")] {
            let times = cluster.count(id, activity, event).await?;
            if times != 1 {
                let wrong = format!("{activity} of {id} was {event} {times} times");
                return Ok(Some(wrong));
            }
        }
    }
    Ok(None)
}
