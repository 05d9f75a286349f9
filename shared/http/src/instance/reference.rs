//! A state as Elsa writes it into files: with an id for each object and each list, which other objects may refer to.

use serde_json::{Map, Value, json};

/// Members that hold objects, in the order in which Elsa numbers them.
const ORDER: [&str; 13] = [
    "bookmarks",
    "incidents",
    "payload",
    "exception",
    "innerException",
    "completionCallbacks",
    "properties",
    "activitiesVisitCount",
    "connectionVisitCount",
    "connectionLastVisitFollowed",
    "activityExecutionContexts",
    "dynamicVariables",
    "scheduledActivities",
];

/// Members whose values are people's, and are written as they are.
const PLAIN: [&str; 4] = ["input", "output", "metadata", "activityState"];

/// The numbers of what has been written.
#[derive(Default)]
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> Value {
        self.0 += 1;
        self.0.to_string().into()
    }

    fn value(&mut self, value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let mut out = Map::from_iter([("$id".to_owned(), self.next())]);
                self.members(members, &mut out);
                out.into()
            }
            Value::Array(items) => {
                let id = self.next();
                let items: Vec<Value> = items.into_iter().map(|item| self.value(item)).collect();
                json!({ "$id": id, "$values": items })
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
        }
    }

    fn members(&mut self, mut members: Map<String, Value>, out: &mut Map<String, Value>) {
        for name in ORDER {
            let Some(value) = members.remove(name) else {
                continue;
            };
            let value = match (name, value) {
                ("properties", Value::Object(kept)) => self.kept(kept),
                (_, value) => self.value(value),
            };
            out.insert(name.to_owned(), value);
        }
        for (name, value) in members {
            let is_plain = PLAIN.contains(&name.as_str());
            let value = if is_plain { value } else { self.value(value) };
            out.insert(name, value);
        }
    }

    /// What an execution keeps by name. Elsa names the types of these.
    fn kept(&mut self, kept: Map<String, Value>) -> Value {
        let typed = kept.into_iter().map(|(name, value)| {
            let mut value = self.value(value);
            let kind = if name == "Variables" {
                "VariablesDictionary"
            } else {
                name.as_str()
            };
            if let Value::Object(members) = &mut value {
                members.insert("_type".into(), kind.into());
            }
            (name, value)
        });
        Value::Object(typed.collect())
    }
}

/// A state with its numbers.
pub(super) fn numbered(state: Value) -> Value {
    Numbers::default().value(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_lists_have_numbers_and_what_is_peoples_has_none() {
        let state = json!({
            "id": "i", "input": { "a": {} }, "scheduledActivities": [],
            "activityExecutionContexts": [{ "dynamicVariables": [], "properties": { "Variables": { "T": 1 } } }],
        });
        let contexts = json!([{
            "$id": "3", "dynamicVariables": { "$id": "5", "$values": [] },
            "properties": { "Variables": { "$id": "4", "T": 1, "_type": "VariablesDictionary" } },
        }]);
        let expected = json!({
            "$id": "1", "id": "i", "input": { "a": {} },
            "activityExecutionContexts": { "$id": "2", "$values": contexts },
            "scheduledActivities": { "$id": "6", "$values": [] },
        });
        assert_eq!(numbered(state), expected);
    }
}
