//! Every route × no credential, one without the permission, one of another tenant, one that has it.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use dormouse_http::HttpConfig;
use dormouse_http::access::{Access, DESIGNER, RULES, Rule};
use dormouse_runtime::Tenant;
use dormouse_runtime::identity::{
    ApplicationMade, Authentication, Identity, NewApplication, Principal,
};
use serde_json::{Value, json};

use crate::server::{Answered, NoNetwork, Server, waiting};

/// A server that takes API keys.
pub(crate) fn server() -> Server {
    let authentication = Authentication::read("apiKeys,users", None).unwrap();
    Server::letting_in(HttpConfig::default(), authentication, Arc::new(NoNetwork))
}

/// An API key of a tenant with permissions.
pub(crate) async fn key(server: &Server, tenant: &str, permissions: &[&str]) -> String {
    key_of(server, tenant, "test", permissions).await
}

/// The same of an application with a name.
pub(crate) async fn key_of(
    server: &Server,
    tenant: &str,
    name: &str,
    permissions: &[&str],
) -> String {
    let identity = Identity::new(server.app.runtime().clone(), Authentication::none());
    let by = Principal {
        tenant: Tenant::new(tenant).unwrap(),
        ..Principal::unasked()
    };
    let new = NewApplication {
        name: name.into(),
        permissions: permissions.iter().map(|p| (*p).to_owned()).collect(),
        ..NewApplication::default()
    };
    match identity.make_application(&by, new).await.unwrap() {
        ApplicationMade::Made(_, key) => key.text(),
        other => panic!("{other:?}"),
    }
}

/// Sends a request under the API with a key.
pub(crate) async fn ask(
    server: &Server,
    key: Option<&str>,
    method: &str,
    path: &str,
    body: &Value,
) -> Answered {
    let mut request = Request::builder()
        .method(method)
        .uri(format!("/elsa/api{path}"))
        .header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("authorization", format!("ApiKey {key}"));
    }
    server
        .send(request.body(Body::from(body.to_string())).unwrap())
        .await
}

/// The rule's path with the ids of things that exist.
fn path(rule: &Rule, instance: &str, bookmark: &str) -> String {
    let is_of_definition = rule.path.starts_with("/workflow-definitions");
    let id = if is_of_definition { "w" } else { instance };
    rule.path
        .replace("{id}", id)
        .replace("{bookmark}", bookmark)
        .replace("{version}", "1")
        .replace("{activity}", "hello")
        .replace("{name}", "Nothing")
}

#[tokio::test]
async fn every_route_lets_in_whom_its_rule_lets_in_and_nobody_else() {
    let mut count = 0;
    for rule in RULES.iter().chain(DESIGNER) {
        for method in rule.methods {
            // A server for each: what is deleted or retracted is there for the next one again.
            let server = server();
            let all = key(&server, "default", &["*"]).await;
            let save = json!({ "model": waiting("w"), "publish": true });
            ask(&server, Some(&all), "POST", "/workflow-definitions", &save)
                .await
                .ok(200);
            let body = json!({ "definitionId": "w" });
            let started = ask(&server, Some(&all), "POST", "/workflow-starts", &body)
                .await
                .ok(201);
            let instance = started["id"].as_str().unwrap();
            let bookmark = started["bookmarks"][0]["id"].as_str().unwrap();
            let path = path(rule, instance, bookmark);
            check(&server, rule, method, &path).await;
            count += 1;
        }
    }
    eprintln!("{count} routes, each asked with every kind of credential");
    assert!(count > 60, "{count}");
}

/// Whether an answer tells nothing of what another tenant has. Elsa answers some with nothing, or a list of nothing.
fn leads_nowhere(rule: &Rule, other: &Answered) -> bool {
    let is_empty_list = ["deletion-impact", "update-references"]
        .iter()
        .any(|p| rule.path.ends_with(p));
    let told: Option<Value> = serde_json::from_slice(&other.body).ok();
    let is_nothing = match &told {
        None => other.body.is_empty(),
        Some(told) => told.is_null() || told["items"] == json!([]),
    };
    match other.status.as_u16() {
        404 | 400 => true,
        200 => is_empty_list || is_nothing,
        _ => is_empty_list,
    }
}

async fn check(server: &Server, rule: &Rule, method: &str, path: &str) {
    let what = format!("{method} {}", rule.path);
    let body = json!({});
    let known = |answered: &Answered| {
        let body: Value = serde_json::from_slice(&answered.body).unwrap_or_default();
        let code = body["code"].as_str().unwrap_or_default().to_owned();
        assert!(
            code != "noSuchRoute" && code != "methodNotAllowed",
            "{what}: {code}"
        );
        (answered.status, code)
    };
    let nobody = known(&ask(server, None, method, path, &body).await);
    let forged = format!("dm_{:016x}_{}", 1, "A".repeat(43));
    let forged = known(&ask(server, Some(&forged), method, path, &body).await);
    let wrong = key(server, "default", &["nothing:at-all"]).await;
    let wrong = known(&ask(server, Some(&wrong), method, path, &body).await);
    match rule.access {
        Access::Any(permissions) => {
            assert_eq!(nobody.0, StatusCode::UNAUTHORIZED, "{what}");
            assert_eq!(forged, nobody, "{what}");
            assert_eq!(wrong, (StatusCode::FORBIDDEN, "forbidden".into()), "{what}");
            // Another tenant's ids lead nowhere.
            let other = key(server, "other", &["*"]).await;
            let other = ask(server, Some(&other), method, path, &body).await;
            let names_something = rule.path.contains("{id}");
            if names_something && !rule.path.ends_with("/import") {
                assert!(leads_nowhere(rule, &other), "{what}: {other:?}");
            }
            for permission in permissions {
                let right = key(server, "default", &[permission]).await;
                let right = known(&ask(server, Some(&right), method, path, &body).await);
                let code = right.1.as_str();
                let is_refused = code == "unauthenticated" || code == "forbidden";
                // A list or a start: each permission is for one of the two.
                let is_either = permissions.len() > 1;
                assert!(
                    !is_refused || is_either,
                    "{what} with {permission}: {right:?}"
                );
            }
        }
        Access::Known => {
            assert_eq!(
                (nobody.0, forged),
                (StatusCode::UNAUTHORIZED, nobody),
                "{what}"
            );
            assert_eq!(wrong.0, StatusCode::OK, "{what}");
        }
        Access::Anybody => {
            let asking = [
                "/identity/refresh-token",
                "/identity/logout",
                "/identity/oidc/token",
            ];
            let is_asked = asking.contains(&rule.path);
            assert_eq!(
                nobody.0 == StatusCode::UNAUTHORIZED,
                is_asked,
                "{what}: {nobody:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_start_is_no_list_and_a_publish_is_more_than_a_save() {
    let server = server();
    let reader = key(&server, "default", &["read:workflow-instances"]).await;
    let starter = key(&server, "default", &["exec:workflow-definitions"]).await;
    let writer = key(&server, "default", &["write:workflow-definitions"]).await;
    let all = key(&server, "default", &["*"]).await;
    let save = |publish: bool| json!({ "model": waiting("w"), "publish": publish });
    let to = "/workflow-definitions";
    ask(&server, Some(&writer), "POST", to, &save(false))
        .await
        .ok(200);
    ask(&server, Some(&writer), "POST", to, &save(true))
        .await
        .problem(403, "forbidden");
    ask(&server, Some(&all), "POST", to, &save(true))
        .await
        .ok(200);
    let (start, list) = (json!({ "definitionId": "w" }), json!({ "page": 0 }));
    let to = "/workflow-instances";
    ask(&server, Some(&reader), "POST", "/workflow-starts", &start)
        .await
        .problem(403, "forbidden");
    ask(&server, Some(&reader), "POST", to, &list).await.ok(200);
    ask(&server, Some(&starter), "POST", "/workflow-starts", &start)
        .await
        .ok(201);
    ask(&server, Some(&starter), "POST", to, &list)
        .await
        .problem(403, "forbidden");
}

/// Two tenants' keys, each with a definition `w` and two instances of it; and of the second instances id and bookmark.
async fn two_tenants(server: &Server) -> ([String; 2], Vec<(Value, Value)>) {
    let keys = [
        key(server, "acme", &["*"]).await,
        key(server, "umbrella", &["*"]).await,
    ];
    let mut bookmarks = Vec::new();
    for (key, name) in keys.iter().zip(["Ada", "Bob"]) {
        let mut model = waiting("w");
        model["name"] = name.into();
        let save = json!({ "model": model, "publish": true });
        ask(server, Some(key), "POST", "/workflow-definitions", &save)
            .await
            .ok(200);
        let path = "/workflow-definitions/w/execute";
        let body = json!({ "instanceId": "same", "correlationId": "c" });
        ask(server, Some(key), "POST", path, &body).await.ok(200);
        let body = json!({ "definitionId": "w", "correlationId": "c2", "name": name });
        let started = ask(server, Some(key), "POST", "/workflow-starts", &body)
            .await
            .ok(201);
        bookmarks.push((started["id"].clone(), started["bookmarks"][0]["id"].clone()));
    }
    (keys, bookmarks)
}

#[tokio::test]
async fn two_tenants_with_the_same_ids_never_meet() {
    let server = server();
    let (keys, bookmarks) = two_tenants(&server).await;
    for (key, name) in keys.iter().zip(["Ada", "Bob"]) {
        let found = ask(
            &server,
            Some(key),
            "GET",
            "/workflow-definitions/w",
            &json!({}),
        )
        .await;
        assert_eq!(found.ok(200)["name"], name);
    }
    // One tenant's event, resume, cancel and delete leave the other's alone.
    let event = json!({ "input": 1, "workflowExecutionMode": "Synchronous" });
    ask(
        &server,
        Some(&keys[0]),
        "POST",
        "/events/Go/trigger",
        &event,
    )
    .await
    .ok(200);
    let (id, bookmark) = (bookmarks[1].0.as_str().unwrap(), &bookmarks[1].1);
    let resume = json!({ "workflowInstanceId": id, "bookmarkId": bookmark });
    ask(
        &server,
        Some(&keys[0]),
        "POST",
        "/bookmarks/resume",
        &resume,
    )
    .await
    .problem(404, "noSuchInstance");
    let cancel = format!("/cancel/workflow-instances/{id}");
    ask(&server, Some(&keys[0]), "POST", &cancel, &json!({}))
        .await
        .ok(200);
    let delete = format!("/workflow-instances/{id}");
    ask(&server, Some(&keys[0]), "DELETE", &delete, &json!({}))
        .await
        .problem(404, "noSuchInstance");
    let still = ask(&server, Some(&keys[1]), "GET", &delete, &json!({}))
        .await
        .ok(200);
    assert_eq!(still["subStatus"], "Suspended");
    let same = ask(
        &server,
        Some(&keys[1]),
        "GET",
        "/workflow-instances/same/execution-state",
        &json!({}),
    )
    .await;
    assert_eq!(same.ok(200)["subStatus"], "Suspended");
}

#[tokio::test]
async fn without_a_setting_nobody_is_let_in_and_health_still_answers() {
    let server = Server::letting_in(
        HttpConfig::default(),
        Authentication::closed(),
        Arc::new(NoNetwork),
    );
    let key = key(&server, "default", &["*"]).await;
    let path = "/workflow-definitions";
    ask(&server, Some(&key), "GET", path, &json!({}))
        .await
        .problem(401, "unauthenticated");
    let refused = ask(&server, None, "GET", path, &json!({})).await;
    refused.problem(401, "unauthenticated");
    assert_eq!(refused.header("www-authenticate"), "Bearer");
    server.ask("GET", "/health/live").await.ok(200);
}

#[tokio::test]
async fn an_endpoint_that_demands_it_lets_in_only_whom_it_may() {
    let server = server();
    let all = key(&server, "default", &["*"]).await;
    let endpoint = |id: &str, more: Value| {
        let mut activity = json!({
            "type": "Elsa.HttpEndpoint", "id": "h", "canStartWorkflow": true,
            "path": crate::server::literal("String", &id.into()),
        });
        for (name, value) in more.as_object().unwrap() {
            activity[name] = crate::server::literal("Object", value);
        }
        crate::server::sequence(id, json!([activity]))
    };
    for (id, more) in [
        ("open", json!({})),
        ("known", json!({ "authorize": true })),
        (
            "policy",
            json!({ "authorize": true, "policy": "Approvers" }),
        ),
    ] {
        let save = json!({ "model": endpoint(id, more), "publish": true });
        ask(&server, Some(&all), "POST", "/workflow-definitions", &save)
            .await
            .ok(200);
    }
    let some = key(&server, "default", &["other"]).await;
    let approver = key(&server, "default", &["Approvers"]).await;
    for (path, credential, status) in [
        ("open", None, 200),
        ("open", Some("Basic dXNlcjpwYXNz".to_owned()), 200),
        ("known", None, 401),
        ("known", Some("ApiKey nothing".to_owned()), 401),
        ("known", Some(format!("ApiKey {some}")), 200),
        ("policy", None, 401),
        ("policy", Some(format!("ApiKey {some}")), 403),
        ("policy", Some(format!("Bearer {approver}")), 200),
    ] {
        let mut request = Request::builder().uri(format!("/workflows/{path}"));
        if let Some(credential) = &credential {
            request = request.header("authorization", credential);
        }
        let answered = server.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(
            answered.status.as_u16(),
            status,
            "{path} {credential:?}: {answered:?}"
        );
    }
}
