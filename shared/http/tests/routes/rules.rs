//! The table of rules and the routes themselves, held against each other.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use axum::http::Request;
use dormouse_http::access::{DESIGNER, OUTSIDE, RULES, absent};
use dormouse_http::router;

use crate::server::Server;

/// Paths and their methods; `*` is all of them.
type Routes = BTreeMap<String, BTreeSet<String>>;

/// The methods in what a route shows of itself: `get: Route, head: None, …, fallback: …`.
fn methods(shown: &str) -> BTreeSet<String> {
    let (fields, _) = shown.split_once("fallback:").unwrap();
    let taken = fields.split(", ").filter_map(|field| {
        let (name, value) = field.split_once(": ")?;
        (value != "None").then(|| name.trim().to_uppercase())
    });
    let taken: BTreeSet<String> = taken.collect();
    match taken.is_empty() {
        true => BTreeSet::from(["*".to_owned()]),
        false => taken,
    }
}

/// The routes that there are. Only what a router shows of itself for debugging tells them.
fn there_are() -> Routes {
    let shown = format!("{:?}", router(Server::new().app));
    let (own, _) = shown.split_once("fallback_router:").unwrap();
    let (routes, paths) = own.split_once("node: Node { paths: {").unwrap();
    let mut by_id = BTreeMap::new();
    for route in routes.split("RouteId(").skip(1) {
        let (id, route) = route.split_once("): MethodRouter(MethodRouter { ").unwrap();
        by_id.insert(id, methods(route));
    }
    let mut found = Routes::new();
    for path in paths.split("RouteId(").skip(1) {
        let (id, path) = path.split_once("): \"").unwrap();
        let (path, _) = path.split_once('"').unwrap();
        found.insert(path.to_owned(), by_id[id].clone());
    }
    found
}

fn ruled() -> Routes {
    let of_api = RULES
        .iter()
        .chain(DESIGNER)
        .map(|rule| (format!("/elsa/api{}", rule.path), rule));
    let beside = OUTSIDE.iter().map(|rule| (rule.path.to_owned(), rule));
    let mut found = Routes::new();
    for path in absent() {
        found.insert(path, BTreeSet::from(["*".to_owned()]));
    }
    for (path, rule) in of_api.chain(beside) {
        let methods = rule.methods.iter().map(|m| (*m).to_owned());
        found.entry(path).or_default().extend(methods);
    }
    found
}

#[tokio::test]
async fn every_route_has_a_rule_and_every_rule_a_route() {
    let (there_are, ruled) = (there_are(), ruled());
    assert!(there_are.len() > 50, "{there_are:?}");
    for (path, methods) in &there_are {
        let rules = ruled.get(path).cloned().unwrap_or_default();
        let without: Vec<_> = methods.difference(&rules).collect();
        assert!(
            without.is_empty(),
            "nobody has said who may use {without:?} {path}: add it to `RULES` (or, outside of the API, to `OUTSIDE`) \
             in shared/http/src/access.rs, with Elsa's name of the permission, and with `.audit(…)` if it changes \
             definitions, instances or who may do what"
        );
    }
    for (path, rules) in &ruled {
        let methods = there_are.get(path).cloned().unwrap_or_default();
        let gone: Vec<_> = rules.difference(&methods).collect();
        assert!(
            gone.is_empty(),
            "there is no route {gone:?} {path}: take its rule out of shared/http/src/access.rs"
        );
    }
}

#[test]
fn a_rule_stands_once() {
    let mut seen = BTreeSet::new();
    for rule in RULES.iter().chain(DESIGNER).chain(OUTSIDE) {
        for method in rule.methods {
            assert!(seen.insert((rule.path, *method)), "{method} {}", rule.path);
        }
    }
}

#[tokio::test]
async fn the_openapi_document_names_every_route_of_the_api() {
    let document = Server::new().get("/openapi.json").await.ok(200);
    let paths = document["paths"].as_object().unwrap();
    for (path, methods) in there_are() {
        if !path.starts_with("/elsa/api/") || absent().any(|other| other == path) {
            continue;
        }
        for method in methods {
            let operation = &paths[&path][method.to_lowercase()];
            assert!(
                operation["responses"]["default"].is_object(),
                "{method} {path}"
            );
            let names = path.matches('{').count();
            let parameters = operation["parameters"].as_array().unwrap().iter();
            let in_path = parameters.filter(|p| p["in"] == "path").count();
            assert_eq!(in_path, names, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn the_openapi_document_is_not_sent_again_to_a_client_that_has_it() {
    let server = Server::new();
    let first = server.get("/openapi.json").await;
    first.ok(200);
    assert_eq!(first.header("cache-control"), "no-cache");
    let request = Request::get("/elsa/api/openapi.json");
    let request = request.header("if-none-match", first.header("etag"));
    let again = server.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), first.header("etag"));
}
