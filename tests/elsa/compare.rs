//! Answers cut into facets, and whether two agree.

use serde_json::{Map, Value, json};

/// The facets of an instance.
const INSTANCE: [&str; 10] = [
    "status",
    "subStatus",
    "correlationId",
    "name",
    "output",
    "variables",
    "bookmarks",
    "incidents",
    "journal",
    "executions",
];

/// Cuts what was seen into facets.
pub(crate) fn cut(seen: &Value) -> Vec<(&'static str, Value)> {
    let list = |name: &str| seen[name].as_array().cloned().unwrap_or_default();
    let publish = list("publish").into_iter().map(|p| {
        let is_taken = p["status"].as_u64().is_some_and(|s| s < 300);
        Value::from(if is_taken { "ok" } else { "refused" })
    });
    let steps = list("steps");
    let mut facets = vec![
        ("publish", publish.collect()),
        (
            "answers",
            steps.iter().map(|s| s["answer"].clone()).collect(),
        ),
        (
            "course",
            steps.iter().map(|s| s["instances"].clone()).collect(),
        ),
    ];
    let instances = list("instances");
    for name in INSTANCE {
        let of = instances
            .iter()
            .map(|instance| facet(name, &instance[name]));
        facets.push((name, of.collect()));
    }
    facets
}

fn facet(name: &str, value: &Value) -> Value {
    let items = || value.as_array().into_iter().flatten();
    match name {
        "incidents" => items().map(|i| i["activityId"].clone()).collect(),
        "executions" => items()
            .map(|e| {
                let mut e = e.clone();
                for part in ["state", "outputs"] {
                    e[part] = some(&e[part]);
                }
                e
            })
            .collect(),
        _ => value.clone(),
    }
}

/// An output of null is no output.
fn some(members: &Value) -> Value {
    let members = members.as_object().cloned().unwrap_or_default();
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(Map::from_iter(members))
}

/// Answers and executions may hold more than Elsa's, never less: null is absent, and a body where Elsa sends none is
/// no difference.
fn covers(elsa: &Value, here: &Value) -> bool {
    match (elsa, here) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| covers(a, b))
        }
        (Value::Object(a), Value::Object(b)) => a.iter().all(|(name, value)| {
            let other = b.get(name).unwrap_or(&Value::Null);
            (name == "body" && value.is_null()) || covers(value, other)
        }),
        _ => elsa == here,
    }
}

/// Whether each of the one list is covered by another one of the other.
fn matched(elsa: &Value, here: &Value) -> bool {
    let (Some(elsa), Some(here)) = (elsa.as_array(), here.as_array()) else {
        return elsa == here;
    };
    let mut left: Vec<&Value> = here.iter().collect();
    elsa.len() == here.len()
        && elsa.iter().all(|e| {
            let found = left.iter().position(|h| covers(e, h));
            found.map(|place| left.remove(place)).is_some()
        })
}

/// Whether a facet is the same in both.
pub(crate) fn agree(facet: &str, elsa: &Value, here: &Value) -> bool {
    if elsa == here {
        return true;
    }
    match (facet, elsa.as_array(), here.as_array()) {
        ("answers", _, _) => covers(elsa, here),
        ("executions", Some(a), Some(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| matched(a, b))
        }
        _ => false,
    }
}

#[test]
fn more_members_are_no_difference_and_fewer_are_one() {
    let answer = |more: Value| json!([{ "status": 200, "body": more }]);
    let elsa = answer(json!({ "a": 1, "b": null }));
    assert!(agree("answers", &elsa, &answer(json!({ "a": 1, "c": 2 }))));
    assert!(!agree("answers", &elsa, &answer(json!({ "c": 2 }))));
    assert!(!agree("output", &elsa, &answer(json!({ "a": 1, "c": 2 }))));
    let run = |ids: [&str; 2]| json!([ids.map(|id| json!({ "activityId": id }))]);
    assert!(agree("executions", &run(["a", "b"]), &run(["b", "a"])));
    assert!(!agree("executions", &run(["a", "b"]), &run(["a", "a"])));
}
