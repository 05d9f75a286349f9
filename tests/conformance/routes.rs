//! Elsa's HTTP workflows and REST routes, asked of the real route table.

use std::future::Future;

use axum::body::Body;
use axum::http::Request;
use dormouse_expressions::Limits;
use dormouse_runtime::RuntimeConfig;
use dormouse_tests::primitives::{endpoint, respond, sequence};
use dormouse_tests::routes::{Answered, Routes};
use dormouse_tests::{Workflow, activity, corpus, js, object, workflow};
use serde_json::{Value, json};

/// A server and what is asked of it, to its end.
fn play<F: Future<Output = ()>>(ask: impl FnOnce(Server) -> F) {
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    tokio.unwrap().block_on(async {
        let config = RuntimeConfig::server("conformance");
        ask(Server(Routes::new(config, Limits::default()))).await;
    });
}

struct Server(Routes);

impl Server {
    async fn ask(&self, method: &str, path: &str) -> Answered {
        let request = Request::builder().method(method).uri(path);
        self.0.send(request.body(Body::empty()).unwrap()).await
    }

    async fn api(&self, method: &str, path: &str, body: &Value) -> Answered {
        let request = Request::builder()
            .method(method)
            .uri(format!("/elsa/api{path}"))
            .header("content-type", "application/json");
        let body = Body::from(body.to_string());
        self.0.send(request.body(body).unwrap()).await
    }

    async fn publish(&self, definition: &Value) {
        let save = json!({ "model": definition, "publish": true });
        let answer = self.api("POST", "/workflow-definitions", &save).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// Imports a file and publishes it. `None`: there is no corpus.
    async fn given(&self, ending: &str) -> Option<Value> {
        let file: Value = serde_json::from_slice(&corpus::file(ending)?).unwrap();
        self.publish(&file).await;
        Some(file)
    }
}

fn answering(id: &str, path: &str, script: &str) -> Workflow {
    let endpoint = endpoint(path, &["GET"])
        .bind("routeData", "route")
        .bind("queryStringData", "query");
    let null = || json!(null);
    workflow(id, sequence([endpoint, respond(js(script))]))
        .variable("route", "Object", null())
        .variable("query", "Object", null())
}

#[test]
pub(crate) fn route_values_are_as_they_were_sent_and_the_whole_path_must_match() {
    play(|server| async move {
        let script = "getRoute().userid + '|' + getRoute().orderid";
        let it = answering("orders", "users/{userId}/orders/{orderId}", script);
        server.publish(it.json()).await;
        for (path, body) in [
            ("users/12/orders/AB-3", "12|AB-3"),
            (
                "users/user%40domain.com/orders/a%20b",
                "user@domain.com|a b",
            ),
            ("users/User@Domain.com/orders/x", "User@Domain.com|x"),
        ] {
            let answer = server.ask("GET", &format!("/workflows/{path}")).await;
            assert_eq!((answer.status, answer.text()), (200, body.into()), "{path}");
        }
        for path in [
            "users/12/orders",
            "users//orders/3",
            "users/12/orders/3/more",
            "users",
        ] {
            let answer = server.ask("GET", &format!("/workflows/{path}")).await;
            assert_eq!(answer.status, 404, "{path}");
        }
    });
}

#[test]
pub(crate) fn odd_queries_are_no_mistake() {
    play(|server| async move {
        let it = answering("query", "query", "`name is ${getQuery()?.name ?? 'none'}`");
        server.publish(it.json()).await;
        for (query, body) in [
            ("?name=", "name is "),
            ("?name", "name is "),
            ("?=value", "name is none"),
            ("?&&&", "name is none"),
            ("?name=Ada%20B", "name is Ada B"),
        ] {
            let answer = server.ask("GET", &format!("/workflows/query{query}")).await;
            assert_eq!(
                (answer.status, answer.text()),
                (200, body.into()),
                "{query}"
            );
        }
    });
}

#[test]
pub(crate) fn of_three_that_wait_at_one_path_the_one_that_is_named_goes_on() {
    play(|server| async move {
        let again = activity("Elsa.HttpEndpoint").input("path", "again");
        let again = again.input("supportedMethods", object(json!(["GET"])));
        let it = workflow("w", sequence([again, respond("resumed")]));
        server.publish(it.json()).await;
        for n in ["1", "2", "3"] {
            let start = json!({ "definitionId": "w", "id": format!("i{n}"), "correlationId": format!("c{n}") });
            let started = server.api("POST", "/workflow-starts", &start).await;
            assert_eq!(started.json()["subStatus"], "Suspended");
        }
        let states = || async {
            let mut states = Vec::new();
            for n in ["1", "2", "3"] {
                let path = format!("/workflow-instances/i{n}/execution-state");
                let state = server.api("GET", &path, &json!({})).await.json();
                states.push(state["subStatus"].as_str().unwrap().to_owned());
            }
            states
        };
        let nobody = server.ask("GET", "/workflows/again").await;
        assert_eq!(nobody.status, 500, "{}", nobody.text());
        let by_instance = Request::get("/workflows/again").header("X-Workflow-Instance-ID", "i2");
        let answer = server
            .0
            .send(by_instance.body(Body::empty()).unwrap())
            .await;
        assert_eq!((answer.status, answer.text()), (200, "resumed".into()));
        assert_eq!(states().await, ["Suspended", "Finished", "Suspended"]);
        let answer = server.ask("GET", "/workflows/again?correlationId=c3").await;
        assert_eq!((answer.status, answer.text()), (200, "resumed".into()));
        assert_eq!(states().await, ["Suspended", "Finished", "Finished"]);
    });
}

const HELLO: &str = "/elsa/api/workflow-definitions/3790068018ac4f02/execute";

async fn hello(server: &Server, request: Request<Body>) {
    let Some(_) = server.given("RestApis__Workflows__hello-world.json").await else {
        return;
    };
    let answer = server.0.send(request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["workflowState"]["subStatus"], "Finished");
}

#[test]
pub(crate) fn an_execute_needs_no_body_and_no_type() {
    let request = Request::post(HELLO).body(Body::empty()).unwrap();
    play(|server| async move { hello(&server, request).await });
}

#[test]
pub(crate) fn an_execute_takes_an_empty_body_of_json() {
    let request = Request::post(HELLO).header("content-type", "application/json");
    let request = request.body(Body::empty()).unwrap();
    play(|server| async move { hello(&server, request).await });
}

#[test]
pub(crate) fn an_execute_without_a_definition_is_not_found() {
    play(|server| async move {
        let path = "/workflow-definitions//execute";
        assert_eq!(server.api("POST", path, &json!({})).await.status, 404);
    });
}

#[test]
pub(crate) fn an_execute_can_be_a_get() {
    let request = Request::get(HELLO).body(Body::empty()).unwrap();
    play(|server| async move { hello(&server, request).await });
}

#[test]
pub(crate) fn a_published_child_is_what_its_users_run() {
    play(|server| async move {
        let Some(_) = server.given("CacheInvalidation_Child.json").await else {
            return;
        };
        server.given("CacheInvalidation_Parent.json").await;
        let mut seen = Vec::new();
        for next in [None, Some("CacheInvalidation_Childv2.json")] {
            if let Some(file) = next {
                server.given(file).await;
            }
            let answer = server
                .ask("GET", "/workflows/test-cache-invalidation")
                .await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let id = answer.headers["x-elsa-workflow-instance-id"]
                .to_str()
                .unwrap()
                .to_owned();
            let path = format!("/workflow-instances/{id}");
            let instance = server.api("GET", &path, &json!({})).await.json();
            seen.push(instance["correlationId"].as_str().unwrap().to_owned());
        }
        assert_eq!(seen, ["Child version 1", "Child version 2"]);
    });
}

#[test]
pub(crate) fn an_export_has_the_users_of_a_workflow_if_it_is_told_to() {
    play(|server| async move {
        for file in [
            "refgraph-grandchild.json",
            "refgraph-child.json",
            "refgraph-parent.json",
        ] {
            let Some(_) = server.given(file).await else {
                return;
            };
        }
        let export = |query: &'static str| {
            let path = format!("/elsa/api/workflow-definitions/refgraph-grandchild/export{query}");
            let server = &server;
            async move { server.ask("GET", &path).await }
        };
        let alone = export("").await;
        assert_eq!(alone.json()["definitionId"], "refgraph-grandchild");
        let all = export("?includeConsumingWorkflows=true").await;
        assert_eq!(all.headers["content-type"], "application/octet-stream");
        for id in ["refgraph-grandchild", "refgraph-child", "refgraph-parent"] {
            let text = format!("\"definitionId\": \"{id}\"");
            let is_there = all.body.windows(text.len()).any(|w| w == text.as_bytes());
            assert!(is_there, "{id}");
        }
    });
}

#[test]
pub(crate) fn an_unknown_definition_has_no_users() {
    play(|server| async move {
        let path = "/workflow-definitions/none/consumers";
        assert_eq!(server.api("GET", path, &json!({})).await.status, 404);
    });
}

#[test]
pub(crate) fn a_draft_follows_the_child_that_is_published() {
    play(|server| async move {
        let folder = "DependencyWorkflowsPublishing__Workflows__";
        let Some(child) = server.given(&format!("{folder}child.json")).await else {
            return;
        };
        let parent = corpus::file(&format!("{folder}parent.json")).unwrap();
        let parent: Value = serde_json::from_slice(&parent).unwrap();
        let imported = server
            .api("POST", "/workflow-definitions/import", &parent)
            .await;
        let parent_id = imported.json()["definitionId"].as_str().unwrap().to_owned();
        let id = child["definitionId"].as_str().unwrap();
        server
            .api("POST", "/workflow-definitions", &json!({ "model": child }))
            .await;
        let path = format!("/workflow-definitions/{id}/publish");
        let published = server.api("POST", &path, &json!({})).await.json();
        assert_eq!(published["workflowDefinition"]["version"], 2);
        let path = format!("/workflow-definitions/{parent_id}");
        let parent = server.api("GET", &path, &json!({})).await.json();
        assert_eq!(parent["isPublished"], false);
        let text = parent["root"].to_string();
        assert!(text.contains("\"version\":2"), "{text}");
    });
}
