//! What is too large, too deep, cut off or in the wrong place is refused with a reason, and nothing changes.

use axum::body::{Body, Bytes};
use axum::http::Request;
use serde_json::json;

use crate::server::{Server, waiting};

/// A body that comes in chunks and declares no length.
fn chunked(chunk: usize, count: usize) -> Body {
    let chunks = (0..count).map(move |_| Ok::<_, std::io::Error>(Bytes::from(vec![b' '; chunk])));
    Body::from_stream(futures_util::stream::iter(chunks))
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_by_counted_bytes() {
    let server = Server::new();
    for path in [
        "/workflow-definitions",
        "/workflow-starts",
        "/events/E/trigger",
        "/tasks/t/complete",
    ] {
        let large = chunked(1 << 20, 6);
        server
            .post_bytes(path, large)
            .await
            .problem(413, "bodyTooLarge");
    }
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_refused() {
    let server = Server::new();
    let broken = [
        Ok(Bytes::from("{\"model\":")),
        Err(std::io::Error::other("gone")),
    ];
    let body = Body::from_stream(futures_util::stream::iter(broken));
    server
        .post_bytes("/workflow-definitions", body)
        .await
        .problem(400, "bodyBroken");
    server
        .post_bytes("/workflow-definitions", "{\"model\":".into())
        .await
        .problem(400, "notJson");
}

#[tokio::test]
async fn json_that_is_nested_too_deep_is_refused() {
    let server = Server::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    server
        .post_bytes("/workflow-instances", deep.clone().into())
        .await
        .problem(400, "jsonTooDeep");
    let wrapped = format!("{{\"model\": {deep}}}");
    server
        .post_bytes("/workflow-definitions", wrapped.into())
        .await
        .problem(400, "jsonTooDeep");
}

#[tokio::test]
async fn json_of_the_wrong_shape_is_refused_with_what_is_wrong() {
    let server = Server::new();
    for (path, body) in [
        ("/workflow-definitions", json!([])),
        ("/workflow-definitions", json!({ "publish": true })),
        ("/workflow-instances", json!({ "page": "two" })),
        (
            "/workflow-starts",
            json!({ "definitionId": "x", "input": 7 }),
        ),
        ("/bookmarks/resume", json!({ "workflowInstanceId": "x" })),
    ] {
        server.post(path, &body).await.problem(400, "wrongShape");
    }
    let no_root = json!({ "model": { "name": "x", "root": 7 } });
    server
        .post("/workflow-definitions", &no_root)
        .await
        .problem(400, "notADefinition");
}

#[tokio::test]
async fn what_is_nowhere_and_what_takes_another_method_are_told_apart() {
    let server = Server::new();
    server.get("/nothing").await.problem(404, "noSuchRoute");
    server.ask("GET", "/").await.problem(404, "noSuchRoute");
    server
        .ask("GET", "/elsa/api/../../etc/passwd")
        .await
        .problem(404, "noSuchRoute");
    let wrong = server.ask("DELETE", "/elsa/api/workflow-definitions").await;
    wrong.problem(405, "methodNotAllowed");
    assert!(wrong.header("allow").contains("POST"), "{wrong:?}");
}

#[tokio::test]
async fn parameters_that_cannot_be_read_are_named() {
    let server = Server::new();
    for path in [
        "/workflow-definitions?pageSize=-1",
        "/workflow-definitions?versionOptions=Newest",
        "/workflow-instances?hasIncidents=perhaps",
    ] {
        server.get(path).await.problem(400, "badParameter");
    }
    let column = json!({ "page": 0, "timestampFilters": [{ "column": "Color", "operator": "Is", "timestamp": "2026-01-01" }] });
    server
        .post("/workflow-instances", &column)
        .await
        .problem(400, "badParameter");
}

#[tokio::test]
async fn a_server_that_drains_takes_nothing_new_and_still_lives() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    server.ask("GET", "/health/ready").await.ok(200);
    server.app.drain();
    let refused = server
        .post("/workflow-starts", &json!({ "definitionId": "w" }))
        .await;
    refused.problem(503, "draining");
    assert_eq!(refused.header("retry-after"), "1");
    server
        .ask("GET", "/workflows/x")
        .await
        .problem(503, "draining");
    server
        .ask("GET", "/health/ready")
        .await
        .problem(503, "draining");
    server.ask("GET", "/health/live").await.ok(200);
}

#[tokio::test]
async fn web_pages_of_others_change_nothing() {
    let server = Server::with(dormouse_http::HttpConfig {
        is_local: true,
        ..dormouse_http::HttpConfig::default()
    });
    let ask = |method: &str, host: &str, origin: Option<&str>| {
        let mut request = Request::builder()
            .method(method)
            .uri("/elsa/api/workflow-definitions")
            .header("host", host)
            .header("content-type", "application/json");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        server.send(request.body(Body::from("{}")).unwrap())
    };
    let own = "localhost:7070";
    ask("GET", own, Some("https://evil.example")).await.ok(200);
    ask("POST", own, Some("https://evil.example"))
        .await
        .problem(403, "foreignPage");
    ask("POST", own, Some("http://localhost:7070"))
        .await
        .problem(400, "wrongShape");
    ask("POST", own, None).await.problem(400, "wrongShape");
    ask("GET", "evil.example:7070", None)
        .await
        .problem(421, "foreignHost");
    server
        .ask("GET", "/health/live")
        .await
        .problem(421, "foreignHost");
}

#[tokio::test]
async fn a_path_that_cannot_be_read_is_a_problem_like_any_other() {
    let server = Server::new();
    for path in [
        "/workflow-definitions/w/version/4294967296",
        "/workflow-definitions/w/version/-1",
        "/workflow-definitions/%FF/version/1",
    ] {
        let path = format!("/elsa/api{path}");
        server
            .ask("DELETE", &path)
            .await
            .problem(400, "badParameter");
    }
}
