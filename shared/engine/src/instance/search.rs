//! Values of the search attributes of an instance, as of its last step.

use super::Instance;
use crate::definition::declaration::Storage;
use crate::definition::search_attribute::{Source, search_text};
use crate::graph::{Graph, ROOT};

impl Instance {
    /// Notes the values of the attributes that the definition declares. To be called before what is in memory only is
    /// forgotten: an attribute keeps the last value that such a variable or input had.
    pub(crate) fn note_search(&mut self, graph: &Graph) {
        let declared = &graph.search_attributes;
        self.search
            .retain(|name, _| declared.iter().any(|attribute| attribute.name == *name));
        for attribute in declared {
            let is_noted = self.search.contains_key(&attribute.name);
            let value = match attribute.source {
                Source::Variable(place) => {
                    let variable = graph.node(ROOT).variables.get(place as usize);
                    let is_kept = variable.is_some_and(|v| v.storage == Storage::Instance);
                    let default = variable.map(|v| &v.default);
                    // A variable that is kept with the instance has its default where it has no value.
                    let default = default.filter(|_| is_kept || !is_noted);
                    self.variable(place).or(default)
                }
                Source::Input(place) => {
                    let input = graph.inputs.get(place as usize);
                    let given = input.and_then(|input| {
                        let mut given = self.input.iter();
                        let given = given.find(|(n, _)| n.eq_ignore_ascii_case(&input.name));
                        given.map(|(_, value)| value)
                    });
                    let default = input.map(|input| &input.default);
                    given.or(default.filter(|_| !is_noted))
                }
            };
            let Some(value) = value else { continue };
            match search_text(value) {
                Some(text) => self.search.insert(attribute.name.clone(), text),
                None => self.search.remove(&attribute.name),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, literal};
    use crate::instance::Start;

    fn workflow(storage: &str) -> Scenario {
        Scenario::workflow(json!({
            "toolVersion": "3.7.0",
            "variables": [
                { "id": "v", "name": "Customer", "typeName": "String", "value": "nobody", "storageDriverTypeName": storage },
            ],
            "inputs": [{ "name": "Region", "type": "String" }],
            "customProperties": { "searchAttributes": [
                { "name": "Customer", "variable": "Customer" },
                { "name": "Region", "input": "Region" },
            ] },
            "root": { "id": "s", "type": "Elsa.Sequence", "activities": [
                { "id": "e1", "type": "Elsa.Event", "eventName": literal("one") },
                { "id": "set", "type": "Elsa.SetVariable", "variable": { "id": "v" }, "value": literal("ACME") },
                { "id": "e2", "type": "Elsa.Event", "eventName": literal("two") },
            ] },
        }))
    }

    fn noted(scenario: &Scenario) -> Vec<(&str, &str)> {
        let noted = scenario.instance.search.iter();
        noted.map(|(n, v)| (n.as_str(), v.as_str())).collect()
    }

    #[test]
    fn attributes_follow_their_variable_and_outlive_what_is_in_memory_only() {
        for storage in ["WorkflowInstanceStorageDriver", "MemoryStorageDriver"] {
            let start = Start {
                input: [("region".to_owned(), json!("EU"))].into_iter().collect(),
                ..Start::default()
            };
            let mut scenario = workflow(storage).start_with(start);
            assert_eq!(noted(&scenario), [("Customer", "nobody"), ("Region", "EU")]);
            assert!(scenario.instance.input.is_empty(), "the input is gone");
            assert!(scenario.resume("e1", json!({})));
            assert_eq!(noted(&scenario), [("Customer", "ACME"), ("Region", "EU")]);
            assert!(scenario.resume("e2", json!({})));
            assert!(scenario.instance.is_ended());
            assert_eq!(noted(&scenario), [("Customer", "ACME"), ("Region", "EU")]);
        }
    }
}
