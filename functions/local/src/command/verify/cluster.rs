//! The nodes that are checked, and what was made on them, so that it can be removed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dormouse_embedded::SystemClock;
use dormouse_runtime::port::Clock;
use serde_json::{Value, json};

use crate::client::{Client, segment};
use crate::command::{items, text};
use crate::exit::Exit;
use crate::failure::Failure;

/// Time that nodes may be away before that is a failure.
const PATIENCE: Duration = Duration::from_secs(90);

/// Pause before a node is asked again.
const PAUSE: Duration = Duration::from_millis(50);

/// The nodes. Clones are the same.
#[derive(Clone)]
pub(super) struct Cluster {
    nodes: Arc<[Client]>,
    prefix: Arc<str>,
    made: Arc<Mutex<Made>>,
}

#[derive(Default)]
struct Made {
    definitions: BTreeSet<String>,
    instances: BTreeSet<String>,
}

impl Cluster {
    pub(super) fn new(nodes: Vec<Client>) -> Self {
        let prefix = format!("dormouse-verify-{:08x}", SystemClock.random() >> 32);
        Self {
            nodes: nodes.into(),
            prefix: prefix.into(),
            made: Arc::default(),
        }
    }

    pub(super) fn nodes(&self) -> &[Client] {
        &self.nodes
    }

    /// Prefix of all definitions that it creates.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// A node by its number; they take turns.
    pub(super) fn node(&self, number: usize) -> Result<&Client, Failure> {
        let node = self.nodes.get(number % self.nodes.len().max(1));
        node.ok_or_else(|| Failure::new(Exit::BadInput, "noNodes", "there are no nodes"))
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes activities in sequence on a node, and answers the definition's id.
    pub(super) async fn publish(
        &self,
        node: usize,
        name: &str,
        activities: &[Value],
    ) -> Result<String, Failure> {
        let id = format!("{}-{name}", self.prefix);
        self.made().definitions.insert(id.clone());
        let root = json!({ "type": "Elsa.Sequence", "id": "all", "activities": activities });
        let model =
            json!({ "definitionId": id, "name": id, "toolVersion": "3.6.0.0", "root": root });
        let body = json!({ "model": model, "publish": true });
        self.node(node)?
            .post("/workflow-definitions", &body)
            .await?;
        Ok(id)
    }

    /// Starts an instance on a node, and answers how it stands.
    pub(super) async fn start(
        &self,
        node: usize,
        definition: &str,
        key: Option<&str>,
    ) -> Result<Value, Failure> {
        let body = json!({ "definitionId": definition });
        let client = self.node(node)?;
        let started = client.post_once("/workflow-starts", &body, key).await?;
        let id = text(&started, "workflowInstanceId").to_owned();
        self.made().instances.insert(id);
        Ok(started)
    }

    /// The same while nodes come and go: whichever answers first. The key makes it one start.
    pub(super) async fn start_somewhere(
        &self,
        first: usize,
        definition: &str,
        key: &str,
    ) -> Result<Value, Failure> {
        let begin = Instant::now();
        for node in first.. {
            match self.start(node, definition, Some(key)).await {
                Err(failure) if is_passing(&failure) && begin.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                }
                settled => return settled,
            }
        }
        Err(Failure::new(Exit::Failed, "noNodes", "no node answers"))
    }

    /// Waits until instances have ended; answers those that did not, or that did not finish well.
    pub(super) async fn not_finished(&self, instances: &[String]) -> Result<Vec<String>, Failure> {
        let begin = Instant::now();
        let mut wrong = Vec::new();
        for (number, id) in instances.iter().enumerate() {
            let path = format!("/workflow-instances/{}/execution-state", segment(id));
            for node in number.. {
                let state = self.node(node)?.get(&path).await;
                let has_ended = match &state {
                    Ok(state) => text(state, "status") == "Finished",
                    Err(failure) if is_passing(failure) => false,
                    Err(_) => return state.map(|_| Vec::new()),
                };
                let sub_status = state.as_ref().map_or("unknown", |s| text(s, "subStatus"));
                if has_ended && sub_status == "Finished" {
                    break;
                }
                if has_ended || begin.elapsed() > PATIENCE {
                    wrong.push(format!("{id} is {sub_status}"));
                    break;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(wrong)
    }

    /// Number of journal lines of an event for an activity of an instance.
    pub(super) async fn count(
        &self,
        instance: &str,
        activity: &str,
        event: &str,
    ) -> Result<usize, Failure> {
        let id = segment(instance);
        let path = format!("/workflow-instances/{id}/journal?skip=0&take=1000");
        let journal = self.node(0)?.get(&path).await?;
        let lines = items(&journal, "items").iter();
        let of = |line: &&Value| {
            text(line, "activityId") == activity && text(line, "eventName") == event
        };
        Ok(lines.filter(of).count())
    }

    /// Removes what was made; answers how much could not be removed.
    pub(super) async fn clean(&self) -> usize {
        let Made {
            definitions,
            instances,
        } = std::mem::take(&mut *self.made());
        let mut left = 0;
        for (number, id) in instances.iter().enumerate() {
            left += self.remove(number, "workflow-instances", id).await;
        }
        for id in &definitions {
            left += self.remove(0, "workflow-definitions", id).await;
        }
        left
    }

    async fn remove(&self, number: usize, kind: &str, id: &str) -> usize {
        let path = format!("/{kind}/{}", segment(id));
        let begin = Instant::now();
        for node in number.. {
            let Ok(client) = self.node(node) else { break };
            match client.delete(&path).await {
                Ok(_) => return 0,
                Err(failure) if failure.exit == Exit::NotFound => return 0,
                Err(failure) if is_passing(&failure) && begin.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(_) => break,
            }
        }
        1
    }
}

/// True if another node, or the same one later, may answer.
fn is_passing(failure: &Failure) -> bool {
    matches!(failure.exit, Exit::Unreachable | Exit::Conflict)
}

/// An activity that waits for its completion from outside.
pub(super) fn task(id: &str) -> Value {
    json!({ "type": "Elsa.RunTask", "id": id, "taskName": literal("String", id) })
}

/// An activity that waits for a time.
pub(super) fn delay(id: &str, span: &str) -> Value {
    json!({ "type": "Elsa.Delay", "id": id, "timeSpan": literal("TimeSpan", span) })
}

/// An activity that does nothing of note.
pub(super) fn note(id: &str) -> Value {
    json!({ "type": "Elsa.SetName", "id": id, "value": literal("String", id) })
}

fn literal(type_name: &str, value: &str) -> Value {
    json!({ "typeName": type_name, "expression": { "type": "Literal", "value": value } })
}

/// The id of the task that a started instance waits for.
pub(super) fn task_id(state: &Value) -> String {
    let bookmark = items(state, "bookmarks").first();
    let payload = bookmark.and_then(|b| b.get("payload"));
    payload
        .map_or("", |payload| text(payload, "TaskId"))
        .to_owned()
}

/// Completes a task on a node.
pub(super) async fn complete(node: &Client, task: &str) -> Result<Value, Failure> {
    let path = format!("/tasks/{}/complete", segment(task));
    node.post(&path, &json!({ "result": "done" })).await
}
