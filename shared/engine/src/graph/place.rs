//! Where each activity of a definition stands in its JSON, and what it is called there.

use dormouse_expressions::Expressions;
use serde_json::Value;

use super::{Builder, Children, Graph, NodeIndex, ROOT};
use crate::definition::Definition;

/// The place of one activity in its definition's JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The path from the definition: `root.activities[2].body`.
    pub path: String,
    /// The activity's id; one that the JSON leaves out is given as the engine gives it.
    pub id: String,
    /// Elsa's path of ids, as journals name it.
    pub node_id: String,
    /// Its type, as written.
    pub type_name: String,
    /// The activity whose workflow it belongs to, by its node id, and that workflow's own node id. `None`: it is the
    /// definition's own.
    pub host: Option<(String, String)>,
    /// The root activity of the workflow that it stands for.
    pub workflow: Option<Value>,
}

impl Graph {
    /// The places of all activities of a definition, those of workflows used as activities too, parents before
    /// children.
    #[must_use]
    pub fn places(
        definition: &Definition,
        children: &dyn Children,
        expressions: &Expressions,
    ) -> Vec<Place> {
        let mut builder = Builder::new(definition, children, expressions);
        builder.paths = Some(Vec::new());
        builder.workflow(definition, None);
        let paths = builder.paths.take().unwrap_or_default();
        let mut inlined = std::mem::take(&mut builder.inlined);
        let graph = builder.finish(definition);
        let mut place = |(index, path)| {
            let node = graph.node(index);
            Place {
                path,
                id: node.id.clone(),
                node_id: node.node_id.clone(),
                type_name: node.type_name.clone(),
                host: graph.host(index),
                workflow: inlined.remove(&index),
            }
        };
        paths.into_iter().map(&mut place).collect()
    }

    fn host(&self, index: NodeIndex) -> Option<(String, String)> {
        let parents = std::iter::successors(self.node(index).parent, |at| self.node(*at).parent);
        let mut workflows = parents.filter(|at| self.node(*at).activity.is_workflow());
        let workflow = workflows.next().filter(|at| *at != ROOT)?;
        let user = self.node(workflow).parent?;
        let node_id = |index| self.node(index).node_id.clone();
        Some((node_id(user), node_id(workflow)))
    }
}

#[cfg(test)]
mod tests {
    use dormouse_expressions::Limits;
    use serde_json::json;

    use super::*;

    #[test]
    fn activities_without_an_id_are_named_as_in_the_graph() {
        let json = json!({ "root": { "type": "Elsa.Sequence", "activities": [
            { "type": "Elsa.If", "id": "choice", "then": { "type": "Elsa.WriteLine" } },
            { "type": "Elsa.Switch", "cases": [{ "label": "a", "activity": { "type": "Acme.Odd", "id": "odd" } }] },
        ] } });
        let definition = Definition::from_value(json).unwrap();
        let expressions = Expressions::new(Limits::default());
        let places = Graph::places(&definition, &(), &expressions);
        let told: Vec<_> = places
            .iter()
            .map(|p| (p.path.as_str(), p.node_id.as_str()))
            .collect();
        let all = "Workflow1:Sequence1";
        assert_eq!(
            told,
            [
                ("root", all),
                ("root.activities[0]", format!("{all}:choice").as_str()),
                (
                    "root.activities[0].then",
                    &format!("{all}:choice:WriteLine1")
                ),
                ("root.activities[1]", &format!("{all}:Switch1")),
                (
                    "root.activities[1].cases[0].activity",
                    &format!("{all}:Switch1:odd")
                ),
            ]
        );
    }
}
