//! All nodes are restarted one after the other while work comes in: every run that began ends well.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;

use super::check::{Verdict, shell};
use super::cluster::{Cluster, delay, note};
use crate::command::text;
use crate::exit::Exit;
use crate::failure::Failure;

/// Number of clients that send work at the same time.
const SENDERS: usize = 4;

/// Pause of each client between two starts.
const PAUSE: Duration = Duration::from_millis(25);

pub(super) async fn check(cluster: &Cluster, restart: &str) -> Result<Verdict, Failure> {
    let activities = [delay("wait", "00:00:01"), note("after")];
    let definition = cluster.publish(0, "restart", &activities).await?;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut senders = JoinSet::new();
    for sender in 0..SENDERS {
        let (cluster, definition) = (cluster.clone(), definition.clone());
        let is_over = Arc::clone(&is_over);
        senders.spawn(async move { send(&cluster, &definition, sender, &is_over).await });
    }
    let restarted = shell(restart).await;
    is_over.store(true, Ordering::Relaxed);
    let mut instances = Vec::new();
    while let Some(sent) = senders.join_next().await {
        let lost = |e| Failure::new(Exit::Failed, "lost", format!("a sender was lost: {e}"));
        instances.extend(sent.map_err(lost)??);
    }
    restarted?;
    let wrong = cluster.not_finished(&instances).await?;
    let (runs, bad) = (instances.len(), wrong.len());
    Ok(if wrong.is_empty() {
        Verdict::Passed(format!(
            "{runs} runs during the restart: all of them finished"
        ))
    } else {
        let first = wrong.into_iter().take(5).collect::<Vec<_>>().join(", ");
        Verdict::Failed(format!("{bad} of {runs} runs did not finish: {first}"))
    })
}

/// Starts one run after the other until it is over.
async fn send(
    cluster: &Cluster,
    definition: &str,
    sender: usize,
    is_over: &AtomicBool,
) -> Result<Vec<String>, Failure> {
    let mut instances = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let number = instances.len();
        let key = format!("{definition}-{sender}-{number}");
        let started = cluster
            .start_somewhere(sender + number, definition, &key)
            .await?;
        instances.push(text(&started, "workflowInstanceId").to_owned());
        tokio::time::sleep(PAUSE).await;
    }
    Ok(instances)
}
