//! Telling the nodes of one process which definitions have changed: a queue per node, as each node has on AWS.

use async_trait::async_trait;
use dormouse_runtime::Runtime;
use dormouse_runtime::port::{Broadcast, DefinitionChanged, PortError};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;

/// How many changes a node may lag behind. What does not fit is dropped: a start checks the version anyway.
const LAG_MAX: usize = 1_024;

/// One node's way to tell the others.
#[derive(Debug, Clone)]
pub struct NodeBroadcast {
    others: Vec<Sender<DefinitionChanged>>,
}

/// What one node hears from the others.
#[derive(Debug)]
pub struct NodeQueue {
    receiver: Receiver<DefinitionChanged>,
}

/// The broadcasts and queues of so many nodes, in order.
#[must_use]
pub fn node_broadcasts(nodes: usize) -> Vec<(NodeBroadcast, NodeQueue)> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..nodes).map(|_| channel(LAG_MAX)).unzip();
    let others = |own: usize| {
        let all = senders.iter().enumerate();
        all.filter(|(i, _)| *i != own)
            .map(|(_, s)| s.clone())
            .collect()
    };
    let queues = receivers.into_iter().enumerate();
    queues
        .map(|(i, receiver)| (NodeBroadcast { others: others(i) }, NodeQueue { receiver }))
        .collect()
}

#[async_trait]
impl Broadcast for NodeBroadcast {
    async fn publish(&self, changed: &DefinitionChanged) -> Result<(), PortError> {
        for node in &self.others {
            if node.try_send(changed.clone()).is_err() {
                tracing::warn!(
                    definition = changed.definition_id,
                    "a node lags behind and was not told of a change"
                );
            }
        }
        Ok(())
    }
}

impl NodeQueue {
    /// Passes what the others tell to the node's runtime, until `stop` turns true or no other is left.
    pub async fn run(mut self, runtime: Runtime, mut stop: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                changed = self.receiver.recv() => match changed {
                    Some(changed) => runtime.graphs().invalidate(&changed),
                    None => return,
                },
                _ = stop.wait_for(|stop| *stop) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_node_but_the_sender_hears_of_a_change() {
        let mut nodes = node_broadcasts(3);
        let changed = DefinitionChanged {
            tenant: "default".into(),
            definition_id: "d".into(),
        };
        nodes[1].0.publish(&changed).await.unwrap();
        assert_eq!(nodes[0].1.receiver.try_recv().unwrap(), changed);
        assert!(nodes[1].1.receiver.try_recv().is_err());
        assert_eq!(nodes[2].1.receiver.try_recv().unwrap(), changed);
        assert!(nodes[2].1.receiver.try_recv().is_err());
    }
}
