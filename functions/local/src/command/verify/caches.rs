//! After a publish on one node no other starts the version before it.

use serde_json::Value;

use super::check::Verdict;
use super::cluster::{Cluster, note};
use crate::command::text;
use crate::failure::Failure;

const ROUNDS: u64 = 10;

pub(super) async fn check(cluster: &Cluster) -> Result<Verdict, Failure> {
    let mut started = 0;
    for round in 1..=ROUNDS {
        let publisher = usize::try_from(round).unwrap_or_default();
        let name = format!("version {round}");
        let definition = cluster.publish(publisher, "caches", &[note(&name)]).await?;
        // The node that published comes last: the others have the older version in their caches.
        for step in 1..=cluster.nodes().len() {
            let answer = cluster.start(publisher + step, &definition, None).await?;
            let version = answer.get("version").and_then(Value::as_u64);
            if version != Some(round) || text(&answer, "name") != name {
                return Ok(Verdict::Failed(format!(
                    "version {round} was published, and a start on another node ran version {}",
                    version.unwrap_or_default()
                )));
            }
            started += 1;
        }
    }
    Ok(Verdict::Passed(format!(
        "{ROUNDS} publishes, {started} starts right after them: none ran an older version"
    )))
}
