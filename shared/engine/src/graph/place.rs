//! Where each activity of a definition stands in its JSON, and what it is called there.

use dormouse_expressions::Expressions;

use super::{Builder, Graph};
use crate::definition::Definition;

/// The place of one activity in its definition's JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path from the definition: `root.activities[2].body`.
    pub path: String,
    /// The activity's id; one that the JSON leaves out is given as the engine gives it.
    pub id: String,
    /// Elsa's path of ids, as journals name it.
    pub node_id: String,
    /// Its type, as written.
    pub type_name: String,
}

impl Graph {
    /// The places of a definition's own activities, parents before children.
    #[must_use]
    pub fn places(definition: &Definition, expressions: &Expressions) -> Vec<Place> {
        let mut builder = Builder::new(definition, &(), expressions);
        builder.paths = Some(Vec::new());
        builder.workflow(definition, None);
        let paths = builder.paths.take().unwrap_or_default();
        let graph = builder.finish(definition);
        let place = |(index, path)| {
            let node = graph.node(index);
            Place {
                path,
                id: node.id.clone(),
                node_id: node.node_id.clone(),
                type_name: node.type_name.clone(),
            }
        };
        paths.into_iter().map(place).collect()
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
        let places = Graph::places(&definition, &expressions);
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
