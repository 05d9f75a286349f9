//! Concurrent resumes of one bookmark on different nodes: one succeeds, the others are rejected.

use serde_json::Value;
use tokio::task::JoinSet;

use super::check::Verdict;
use super::cluster::{Cluster, complete, note, task, task_id};
use crate::command::text;
use crate::exit::Exit;
use crate::failure::Failure;

const ROUNDS: usize = 5;
const AT_ONCE: usize = 30;

pub(super) async fn check(cluster: &Cluster) -> Result<Verdict, Failure> {
    let activities = [task("first"), note("after"), task("second")];
    let definition = cluster.publish(0, "resumes", &activities).await?;
    for round in 0..ROUNDS {
        let started = cluster.start(round, &definition, None).await?;
        let id = text(&started, "workflowInstanceId");
        let answers = all_at_once(cluster, &task_id(&started)).await;
        let carried_on = answers.iter().filter(|answer| answer.is_ok()).count();
        let told = |failure: &&Failure| failure.exit == Exit::Conflict;
        let told = answers.iter().filter_map(|a| a.as_ref().err()).filter(told);
        let told = told.count();
        if carried_on != 1 || carried_on + told != AT_ONCE {
            return Ok(Verdict::Failed(format!(
                "of {AT_ONCE} resumes of {id} {carried_on} carried it on, and {told} were told that somebody else did"
            )));
        }
        for (activity, event) in [
            ("first", "Resumed"),
            ("after", "Completed"),
            ("second", "Started"),
        ] {
            let times = cluster.count(id, activity, event).await?;
            if times != 1 {
                return Ok(Verdict::Failed(format!(
                    "{activity} of {id} was {event} {times} times"
                )));
            }
        }
    }
    Ok(Verdict::Passed(format!(
        "{ROUNDS} times {AT_ONCE} at once: one carried on, {} were told",
        AT_ONCE - 1
    )))
}

/// Completes a task many times at the same moment, on all nodes.
pub(super) async fn all_at_once(cluster: &Cluster, task: &str) -> Vec<Result<Value, Failure>> {
    let mut asking = JoinSet::new();
    for number in 0..AT_ONCE {
        let (cluster, task) = (cluster.clone(), task.to_owned());
        asking.spawn(async move { complete(cluster.node(number)?, &task).await });
    }
    let mut answers = Vec::new();
    while let Some(answer) = asking.join_next().await {
        let lost = |e| Failure::new(Exit::Failed, "lost", format!("a request was lost: {e}"));
        answers.push(answer.map_err(lost).and_then(|answer| answer));
    }
    answers
}
