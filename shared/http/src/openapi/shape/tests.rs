//! The table of shapes against the table of routes.

use serde_json::json;

use super::*;
use crate::access::{DESIGNER, RULES};

#[test]
fn every_shape_is_of_a_route_that_there_is_and_of_kinds_that_there_are() {
    let methods_of = |path: &str| -> Vec<&str> {
        let rules = RULES
            .iter()
            .chain(DESIGNER)
            .filter(|rule| rule.path == path);
        rules
            .flat_map(|rule| rule.methods.iter().copied())
            .collect()
    };
    for (path, _) in BODIES {
        let methods = methods_of(path);
        assert!(
            methods.contains(&"POST") || methods.contains(&"PUT"),
            "{path}"
        );
    }
    for (path, _) in QUERIES {
        assert!(methods_of(path).contains(&"GET"), "{path}");
    }
    for (key, _) in ANSWERS {
        let (method, path) = key.split_once(' ').unwrap();
        assert!(methods_of(path).contains(&method), "{key}");
    }
    for (key, shape) in BODIES.iter().chain(QUERIES).chain(ANSWERS) {
        assert_eq!(fields(shape).count(), shape.split(' ').count(), "{key}");
        for (name, kind, _) in fields(shape) {
            assert!(
                kind == "any" || of_kind(kind) != json!({}),
                "{key}: {name}:{kind}"
            );
        }
    }
}
