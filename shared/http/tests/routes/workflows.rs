//! HTTP workflows: requests that start and resume instances and are answered by them.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::server::{Server, literal, sequence};

fn endpoint(id: &str, path: &str, methods: &str, starts: bool) -> Value {
    json!({
        "type": "Elsa.HttpEndpoint",
        "id": id,
        "customProperties": { "canStartWorkflow": starts },
        "path": literal("String", &path.into()),
        "supportedMethods": { "typeName": "String[]", "expression": { "type": "Object", "value": methods } },
        "routeData": { "typeName": "Object", "memoryReference": { "id": "Route" } },
        "parsedContent": { "typeName": "Object", "memoryReference": { "id": "Content" } },
    })
}

fn write(id: &str, script: &str) -> Value {
    json!({
        "type": "Elsa.WriteHttpResponse",
        "id": id,
        "content": { "typeName": "Object", "expression": { "type": "JavaScript", "value": script } },
    })
}

fn workflow(id: &str, activities: Value) -> Value {
    let mut model = sequence(id, activities);
    model["variables"] = json!([
        { "id": "Route", "name": "Route", "typeName": "Object" },
        { "id": "Content", "name": "Content", "typeName": "Object" },
    ]);
    model
}

#[tokio::test]
async fn a_path_that_nobody_listens_at_is_a_bare_404_to_most_clients() {
    let server = Server::new();
    let ask = |accept: &'static str| {
        let request = Request::get("/workflows/none").header("accept", accept);
        server.send(request.body(Body::empty()).unwrap())
    };
    let bare = ask("application/json").await;
    assert_eq!((bare.status.as_u16(), bare.body.len()), (404, 0));
    assert!(!bare.headers.contains_key("content-type"));
    ask("application/problem+json")
        .await
        .problem(404, "noWorkflowListens");
}

#[tokio::test]
async fn a_request_starts_the_workflow_that_listens_and_gets_its_answer() {
    let server = Server::new();
    let model = json!([
        endpoint("in", "users/{userId}", "[\"GET\"]", true),
        write("out", "getRoute().userid")
    ]);
    server.publish(workflow("users", model)).await;
    let answer = server.ask("GET", "/workflows/Users/Ada%20B").await;
    assert_eq!(
        (answer.status.as_u16(), answer.body.as_slice()),
        (200, &b"Ada B"[..])
    );
    assert!(answer.header("x-elsa-workflow-instance-id").len() > 8);
    server
        .ask("POST", "/workflows/users/ada")
        .await
        .problem(404, "noWorkflowListens");
    server
        .ask("GET", "/workflows/users")
        .await
        .problem(404, "noWorkflowListens");
    server
        .ask("GET", "/workflows//users/ada")
        .await
        .problem(404, "noWorkflowListens");
}

#[tokio::test]
async fn a_literal_path_is_preferred_to_a_template() {
    let server = Server::new();
    for (id, path) in [("one", "users/{id}"), ("all", "users/all")] {
        let model = json!([
            endpoint("in", path, "[\"GET\"]", true),
            write("out", &format!("'{id}'"))
        ]);
        server.publish(workflow(id, model)).await;
    }
    assert_eq!(server.ask("GET", "/workflows/users/all").await.body, b"all");
    assert_eq!(server.ask("GET", "/workflows/users/7").await.body, b"one");
}

#[tokio::test]
async fn a_second_request_resumes_the_instance_and_gets_its_answer() {
    let server = Server::new();
    let model = json!([
        endpoint("first", "orders", "[\"POST\"]", true),
        write("ok", "'wait'"),
        endpoint("second", "orders/confirm", "[\"POST\"]", false),
        write("done", "getContent().by"),
    ]);
    server.publish(workflow("orders", model)).await;
    let first = server.ask("POST", "/workflows/orders").await;
    assert_eq!(first.body, b"wait");
    let id = first.header("x-elsa-workflow-instance-id");
    let confirm = |id: &str| {
        let request = Request::post("/workflows/orders/confirm")
            .header("x-workflow-instance-id", id)
            .header("content-type", "application/json");
        server.send(request.body(Body::from(r#"{"by": "Ada"}"#)).unwrap())
    };
    confirm("somebody-else")
        .await
        .problem(404, "noWorkflowListens");
    let second = confirm(id).await;
    assert_eq!(
        (second.status.as_u16(), second.body.as_slice()),
        (200, &b"Ada"[..])
    );
    confirm(id).await.problem(404, "noWorkflowListens");
}

#[tokio::test]
async fn a_path_that_another_workflow_has_is_refused_at_publish() {
    let server = Server::new();
    let model = |id| workflow(id, json!([endpoint("in", "same", "[\"GET\"]", true)]));
    server.publish(model("a")).await;
    let body = json!({ "model": model("b"), "publish": true });
    let refused = server.post("/workflow-definitions", &body).await;
    let problem = refused.problem(400, "invalidDefinition");
    assert!(
        problem["errors"].to_string().contains("same"),
        "{problem:#}"
    );
}

#[tokio::test]
async fn several_instances_at_one_path_are_an_error_that_names_them() {
    let server = Server::new();
    let model = json!([
        endpoint("in", "go/on", "[\"POST\"]", false),
        write("out", "1")
    ]);
    server.publish(workflow("w", model)).await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let started = server
            .post("/workflow-starts", &json!({ "definitionId": "w" }))
            .await
            .ok(201);
        ids.push(started["workflowInstanceId"].as_str().unwrap().to_owned());
    }
    let problem = server.ask("POST", "/workflows/go/on").await.ok(500);
    let told = problem["workflows"].to_string();
    assert!(ids.iter().all(|id| told.contains(id)), "{told}");
    let path = format!("/workflows/go/on?workflowInstanceId={}", ids[0]);
    assert_eq!(server.ask("POST", &path).await.body, b"1");
}

#[tokio::test]
async fn a_workflow_that_answers_nothing_is_200_and_one_that_fails_500() {
    let server = Server::new();
    server
        .publish(workflow(
            "quiet",
            json!([endpoint("in", "quiet", "[\"GET\"]", true)]),
        ))
        .await;
    let quiet = server.ask("GET", "/workflows/quiet").await;
    assert_eq!((quiet.status.as_u16(), quiet.body.len()), (200, 0));
    let fails =
        json!([endpoint("in", "fails", "[\"GET\"]", true), { "type": "Elsa.Fault", "id": "f" }]);
    server.publish(workflow("fails", fails)).await;
    assert_eq!(server.ask("GET", "/workflows/fails").await.status, 500);
}

#[tokio::test]
async fn what_an_endpoint_does_not_take_starts_nothing() {
    let server = Server::new();
    let mut limited = endpoint("in", "limited", "[\"POST\"]", true);
    limited["requestSizeLimit"] = literal("Int64", &10.into());
    server.publish(workflow("limited", json!([limited]))).await;
    let post = |kind: &'static str, body: Body| {
        let request = Request::post("/workflows/limited").header("content-type", kind);
        server.send(request.body(body).unwrap())
    };
    assert_eq!(
        post("text/plain", Body::from("x".repeat(11))).await.status,
        413
    );
    assert_eq!(post("application/json", Body::from("{")).await.status, 400);
    let chunks = (0..6).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 1 << 20]));
    let endless = Body::from_stream(futures_util::stream::iter(chunks));
    assert_eq!(post("text/plain", endless).await.status, 413);
    let list = server
        .post("/workflow-instances", &json!({ "page": 0 }))
        .await
        .ok(200);
    assert_eq!(list["totalCount"], 0);
    assert_eq!(post("text/plain", Body::from("short")).await.status, 200);
}

#[tokio::test]
async fn an_endpoint_may_deal_itself_with_what_is_too_large() {
    let server = Server::new();
    let mut exposing = endpoint("in", "big", "[\"POST\"]", true);
    exposing["requestSizeLimit"] = literal("Int64", &10.into());
    exposing["exposeRequestTooLargeOutcome"] = true.into();
    let root = json!({
        "type": "Elsa.Flowchart", "id": "f",
        "activities": [exposing, write("sorry", "'sorry'")],
        "connections": [{
            "source": { "activity": "in", "port": "Request too large" },
            "target": { "activity": "sorry", "port": "In" },
        }],
    });
    server
        .publish(json!({ "definitionId": "big", "root": root }))
        .await;
    let chunks = (0..6).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 1 << 20]));
    let endless = Body::from_stream(futures_util::stream::iter(chunks));
    let request = Request::post("/workflows/big").header("content-type", "text/plain");
    let answer = server.send(request.body(endless).unwrap()).await;
    assert_eq!(
        (answer.status.as_u16(), answer.body.as_slice()),
        (200, &b"sorry"[..])
    );
}

#[tokio::test]
async fn a_head_starts_and_resumes_nothing_that_a_get_would() {
    let server = Server::new();
    let model = json!([
        endpoint("in", "look", "[\"GET\"]", true),
        endpoint("again", "look/{id}", "[\"GET\"]", false),
    ]);
    server.publish(workflow("look", model)).await;
    let started = server.ask("GET", "/workflows/look").await;
    assert_eq!(started.status, 200);
    for path in ["/workflows/look", "/workflows/look/1"] {
        assert_eq!(server.ask("HEAD", path).await.status, 404, "{path}");
    }
    let execute = "/elsa/api/workflow-definitions/look/execute";
    assert_eq!(server.ask("HEAD", execute).await.status, 405);
    let list = server.get("/workflow-instances").await.ok(200);
    assert_eq!(list["totalCount"], 1);
    assert_eq!(list["items"][0]["subStatus"], "Suspended");
    // Who wants to answer a HEAD says so.
    let model = json!([
        endpoint("in", "asked", "[\"HEAD\"]", true),
        write("out", "'x'")
    ]);
    server.publish(workflow("asked", model)).await;
    assert_eq!(server.ask("HEAD", "/workflows/asked").await.status, 200);
}

#[tokio::test]
async fn a_page_of_a_workflow_is_no_page_of_the_console() {
    let server = Server::new();
    let mut answer = write("out", "'<script>fetch(\"/elsa/api/identity/me\")</script>'");
    answer["responseHeaders"] = json!({ "typeName": "HttpHeaders", "expression": {
        "type": "Object",
        "value": "{\"Content-Security-Policy\": [\"default-src *\"]}",
    } });
    let model = json!([endpoint("in", "page", "[\"GET\"]", true), answer]);
    server.publish(workflow("page", model)).await;
    server.publish(workflow("run", json!([answer]))).await;
    let execute = "/elsa/api/workflow-definitions/run/execute";
    for path in ["/workflows/page", execute] {
        let page = server.ask("GET", path).await;
        let policies = page.headers.get_all("content-security-policy");
        let policies: Vec<_> = policies.iter().map(|p| p.to_str().unwrap()).collect();
        assert_eq!(policies.len(), 2, "{path}: {policies:?}");
        assert!(policies[1].starts_with("sandbox "), "{path}: {policies:?}");
        assert!(!policies[1].contains("allow-same-origin"), "{policies:?}");
    }
}
