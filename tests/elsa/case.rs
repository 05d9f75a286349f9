//! Recorded cases: where they lie, and what one asks for.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// The recorded cases of one kind, which may lie in several files.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) cases: Vec<Value>,
}

fn read(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a file of cases");
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).expect("a case is JSON"))
        .collect()
}

/// The folder of the recordings in this repository.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/elsa")
}

/// All kinds by name. Public definitions are not ours to copy: theirs are read from the shared folder, where it is.
pub(crate) fn kinds() -> Vec<Kind> {
    let mut paths: Vec<_> = std::fs::read_dir(folder().join("cases"))
        .expect("the folder of the cases")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    let shared = dormouse_tests::corpus::shared();
    let public = shared.map(|s| s.join("elsa-recorded/cases/public.jsonl"));
    paths.extend(public.filter(|p| p.is_file()));
    paths.sort();
    let mut kinds: Vec<Kind> = Vec::new();
    for path in paths {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = stem.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        let cases = read(&path);
        match kinds.iter_mut().find(|kind| kind.name == name) {
            Some(kind) => kind.cases.extend(cases),
            None => kinds.push(Kind {
                name: name.to_owned(),
                cases,
            }),
        }
    }
    kinds
}

/// What Elsa answered in a mode.
pub(crate) fn expected<'a>(case: &'a Value, mode: &str) -> Option<&'a Value> {
    let expected = case.get("expected")?;
    expected.get(mode).or_else(|| expected.get("counter"))
}

/// The definitions and steps of a case.
pub(crate) fn expanded(case: &Value) -> (Value, Value) {
    let Some(expression) = case.get("expression") else {
        let part = |name: &str| case.get(name).cloned().unwrap_or_else(|| json!([]));
        return (part("definitions"), part("steps"));
    };
    let steps = case.get("steps").cloned();
    (
        json!([around(case, &expression[0], &expression[1])]),
        steps.unwrap_or_else(|| json!([{ "start": "$CASE" }])),
    )
}

/// One definition around one expression: its value becomes the variable Result and WriteLine's text.
fn around(case: &Value, kind: &Value, text: &Value) -> Value {
    let variable = |name: &Value, of: &Value, value: &Value, is_array: &Value| {
        json!({
            "id": name, "name": name, "typeName": of, "isArray": is_array.as_bool().unwrap_or(false), "value": value,
            "storageDriverTypeName": "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core",
        })
    };
    let given = case.get("variables").cloned().unwrap_or_else(|| {
        json!([
            ["N", "Int32", "7"],
            ["D", "Double", "2.5"],
            ["S", "String", "Hello"],
            ["B", "Boolean", "true"],
            ["M", "Decimal", "12.345"],
        ])
    });
    let objects = case.get("objects").and_then(Value::as_object).cloned();
    let objects = objects.unwrap_or_else(|| {
        let usual = [("L", "[3,1,2]"), ("O", "({a:1,b:{c:'x'},list:['p','q']})")];
        Map::from_iter(usual.map(|(n, v)| (n.to_owned(), Value::from(v))))
    });
    let set = |id: &str, name: &str, expression: Value| {
        json!({
            "id": id, "name": id, "type": "Elsa.SetVariable", "version": 1,
            "variable": { "id": name, "name": name, "typeName": "Object" },
            "value": { "typeName": "Object", "expression": expression },
        })
    };
    let mut variables: Vec<Value> = given
        .as_array()
        .into_iter()
        .flatten()
        .map(|v| variable(&v[0], &v[1], &v[2], &v[3]))
        .collect();
    let names = objects.keys().map(String::as_str).chain(["Result"]);
    let object = json!("Object");
    variables.extend(names.map(|n| variable(&json!(n), &object, &Value::Null, &Value::Null)));
    let mut activities: Vec<Value> = objects
        .iter()
        .map(|(name, value)| {
            let script = json!({ "type": "JavaScript", "value": value });
            set(&format!("set{name}"), name, script)
        })
        .collect();
    let expression = json!({ "type": kind, "value": text });
    activities.push(set("set", "Result", expression.clone()));
    activities.push(json!({
        "id": "text", "type": "Elsa.WriteLine", "version": 1, "name": "text",
        "text": { "typeName": "String", "expression": expression },
    }));
    json!({
        "definitionId": "$CASE", "name": "$CASE", "toolVersion": "3.8.0.0", "variables": variables,
        "inputs": case.get("inputs").cloned().unwrap_or_else(|| json!([])),
        "outputs": [], "outcomes": [], "customProperties": {}, "options": {},
        "root": {
            "id": "seq", "type": "Elsa.Sequence", "version": 1, "name": "seq", "variables": [], "activities": activities,
        },
    })
}
