//! `Elsa.Workflow`: the implicit activity around a definition's root.

use super::Activity;
use crate::definition::Definition;
use crate::graph::{Node, NodeIndex};
use crate::step::{Cx, Ended, Fault, Then};

/// Runs the root, and ends with it.
#[derive(Debug)]
pub struct Workflow {
    root: Option<NodeIndex>,
}

impl Workflow {
    /// The workflow of a definition whose root has been built.
    #[must_use]
    pub fn new(root: Option<NodeIndex>, _definition: &Definition) -> Self {
        Self { root }
    }
}

impl Activity for Workflow {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        match self.root {
            Some(root) => {
                cx.schedule(root);
                Ok(Then::Wait)
            }
            None => Ok(Then::DONE),
        }
    }

    fn child_ended(&self, _cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(Then::DONE)
    }

    fn is_container(&self) -> bool {
        true
    }

    fn is_workflow(&self) -> bool {
        true
    }
}

/// Gives the implicit workflow activities their ids, as Elsa does: an inner one is `Workflow1`, and one around
/// others takes the first number that none inside it has.
pub(crate) fn name_workflows(nodes: &mut [Node]) {
    let workflows: Vec<usize> = nodes
        .iter()
        .enumerate()
        .filter(|(_, n)| n.activity.is_workflow())
        .map(|(i, _)| i)
        .collect();
    for &at in workflows.iter().rev() {
        let inside: Vec<String> = workflows
            .iter()
            .filter(|&&w| w > at && is_within(nodes, w, at))
            .filter_map(|&w| nodes.get(w))
            .map(|n| n.id.clone())
            .collect();
        let mut number = 1_u32;
        while inside.contains(&format!("Workflow{number}")) {
            number += 1;
        }
        if let Some(node) = nodes.get_mut(at) {
            node.id = format!("Workflow{number}");
        }
    }
}

fn is_within(nodes: &[Node], inner: usize, outer: usize) -> bool {
    let mut at = Some(inner);
    while let Some(index) = at {
        if index == outer {
            return true;
        }
        at = nodes
            .get(index)
            .and_then(|n| n.parent)
            .map(|p| p.0 as usize);
    }
    false
}
