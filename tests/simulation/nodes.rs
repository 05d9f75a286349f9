//! The nodes of a world: they die, come back, stand still, and their clocks are off.

use std::task::{Poll, Waker};

use super::world::{Inner, Owner, Work, World};

/// How a node stands.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NodeState {
    pub(crate) is_dead: bool,
    pub(crate) is_frozen: bool,
    /// Whether it has come back and has not yet looked whether there is a pause: nobody reaches it before.
    pub(crate) is_starting: bool,
    pub(crate) tasks: u32,
    pub(crate) skew_ms: i64,
}

impl World {
    /// Kills a node: all its tasks and all its memory are gone.
    pub(crate) fn kill(&self, node: usize) {
        self.note(|| format!("node {node} dies"));
        let (gone, undertaker) = {
            let mut inner = self.inner();
            inner.nodes[node].is_dead = true;
            inner.nodes[node].is_frozen = false;
            inner.counts.deaths += 1;
            inner.deaths.push(node);
            // The task at work, if it is one of them, ends where it is polled.
            let current = inner.current;
            let gone = inner.bury(Owner::Node(node), Some(current));
            (gone, inner.undertaker.take())
        };
        drop(gone);
        undertaker.into_iter().for_each(Waker::wake);
    }

    /// Waits for the next death of a node.
    pub(crate) async fn next_death(&self) -> usize {
        std::future::poll_fn(|cx| {
            let mut inner = self.inner();
            if let Some(node) = inner.deaths.pop() {
                return Poll::Ready(node);
            }
            inner.undertaker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Whether a node is dead.
    #[must_use]
    pub(crate) fn is_dead(&self, node: usize) -> bool {
        self.inner().nodes[node].is_dead
    }

    /// A node may run tasks again.
    pub(crate) fn revive(&self, node: usize) {
        self.inner().nodes[node].is_dead = false;
        self.note(|| format!("node {node} lives"));
    }

    /// A node begins: nobody reaches it until it is ready.
    pub(crate) fn set_starting(&self, node: usize, is_starting: bool) {
        self.inner().nodes[node].is_starting = is_starting;
    }

    /// Whether a node can be asked: it lives, has begun and does not stand still.
    #[must_use]
    pub(crate) fn is_reachable(&self, node: usize) -> bool {
        let node = self.inner().nodes[node];
        !node.is_dead && !node.is_frozen && !node.is_starting
    }

    /// A node stands still, as a Lambda environment does, or goes on.
    pub(crate) fn freeze(&self, node: usize, is_frozen: bool) {
        let mut inner = self.inner();
        inner.nodes[node].is_frozen = is_frozen;
        inner.counts.freezes += u64::from(is_frozen);
        if !is_frozen {
            let mut stopped = std::mem::take(&mut inner.stopped);
            inner.ready.append(&mut stopped);
        }
        drop(inner);
        self.note(|| {
            format!(
                "node {node} {}",
                if is_frozen { "freezes" } else { "thaws" }
            )
        });
    }

    /// Whether a node stands still.
    #[must_use]
    pub(crate) fn is_frozen(&self, node: usize) -> bool {
        self.inner().nodes[node].is_frozen
    }

    /// How far a node's clock is off, ms.
    #[must_use]
    pub(crate) fn skew_ms(&self, node: usize) -> i64 {
        self.inner().nodes[node].skew_ms
    }

    /// Sets a node's clock.
    pub(crate) fn set_skew(&self, node: usize, ms: i64) {
        self.inner().nodes[node].skew_ms = ms;
    }

    /// Whether any node has something to do beside the tasks that it always has.
    #[must_use]
    pub(crate) fn is_busy(&self, always: u32) -> bool {
        self.inner().nodes.iter().any(|node| node.tasks > always)
    }
}

impl Inner {
    pub(crate) fn is_frozen(&self, owner: Owner) -> bool {
        matches!(owner, Owner::Node(node) if self.nodes[node].is_frozen)
    }

    /// Takes away all tasks of a node that has died, but one.
    pub(crate) fn bury(&mut self, owner: Owner, but: Option<usize>) -> Vec<Work> {
        let dying: Vec<usize> = (0..self.tasks.len())
            .filter(|place| self.tasks[*place].owner == owner && self.tasks[*place].waker.is_some())
            .filter(|place| but != Some(*place))
            .collect();
        dying
            .into_iter()
            .filter_map(|place| self.vacate(place))
            .collect()
    }
}
