//! Requests that would take more memory than there is for them are refused before they take it, and those that have no right to
//! a body are answered without it.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Request;
use dormouse_engine::http::{File, archive};
use dormouse_http::HttpConfig;
use futures_util::{StreamExt, stream};
use serde_json::json;

use crate::access;
use crate::server::{Server, literal, sequence};

/// A body that begins and never ends.
fn endless(first: usize) -> Body {
    let begun = stream::iter([Ok::<_, std::io::Error>(Bytes::from(vec![b' '; first]))]);
    Body::from_stream(begun.chain(stream::pending()))
}

fn post(path: &str, body: Body) -> Request<Body> {
    Request::post(path)
        .header("content-type", "application/json")
        .body(body)
        .unwrap()
}

#[tokio::test]
async fn json_of_very_many_values_is_refused_before_it_is_parsed() {
    let server = Server::new();
    let bomb = format!("[{}0]", "{\"\":0},".repeat(400_000));
    let hidden = serde_json::to_string(&bomb).unwrap();
    for body in [
        bomb.clone(),
        format!("{{\"definitionId\":\"w\",\"input\":{{\"a\":{bomb}}}}}"),
        format!("{{\"model\":{{\"stringData\":{hidden}}}}}"),
    ] {
        for path in [
            "/workflow-definitions",
            "/workflow-starts",
            "/events/E/trigger",
        ] {
            server
                .post_bytes(path, body.clone().into())
                .await
                .problem(413, "tooManyValues");
        }
    }
    let file = File {
        name: "a.json".into(),
        bytes: bomb.into_bytes(),
        ..File::default()
    };
    let zip = archive(&[file]).unwrap();
    for path in [
        "/workflow-definitions/import-files",
        "/workflow-instances/import",
    ] {
        let answer = server.upload(path, &[("a.zip", zip.clone())]).await;
        answer.problem(413, "tooManyValues");
    }
}

#[tokio::test(start_paused = true)]
async fn bodies_that_are_withheld_hold_no_more_memory_than_there_is_and_not_for_ever() {
    let server = Server::with(HttpConfig {
        memory_bytes_max: 1 << 20,
        ..HttpConfig::default()
    });
    let withheld = || server.send(post("/elsa/api/workflow-instances", endless(512 << 10)));
    // What is over the budget is shed at once, and what is small is served.
    let first = withheld();
    let second = withheld();
    let third = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let shed = withheld().await;
        shed.problem(503, "overloaded");
        assert_eq!(shed.header("retry-after"), "1");
        server
            .post("/workflow-instances", &json!({ "page": 0 }))
            .await
            .ok(200);
    };
    let (first, second, ()) = futures_util::join!(first, second, third);
    for slow in [first, second] {
        slow.problem(408, "bodyTooSlow");
    }
    let all = "{}".to_owned() + &" ".repeat(256 << 10);
    let answer = server.post_bytes("/workflow-instances", all.into()).await;
    answer.ok(200);
}

#[tokio::test]
async fn who_is_turned_away_is_so_before_the_body_is_read() {
    let server = access::server();
    let admin = access::key(&server, "default", &["*"]).await;
    let endpoint = json!([{
        "type": "Elsa.HttpEndpoint", "id": "in", "customProperties": { "canStartWorkflow": true },
        "path": literal("String", &"closed".into()), "authorize": literal("Boolean", &true.into()),
        "supportedMethods": { "typeName": "String[]", "expression": { "type": "Object", "value": "[\"POST\"]" } },
    }]);
    let save = json!({ "model": sequence("closed", endpoint), "publish": true });
    let saved = access::ask(
        &server,
        Some(&admin),
        "POST",
        "/workflow-definitions",
        &save,
    );
    saved.await.ok(200);
    for (path, status) in [
        ("/nowhere", 404),
        ("/elsa/api/nowhere", 404),
        ("/elsa/api/workflow-definitions", 401),
        ("/elsa/api/workflow-definitions/import-files", 401),
        ("/workflows/nowhere", 404),
        ("/workflows/closed", 401),
    ] {
        let answered = server.status(post(path, endless(100)));
        let answered = tokio::time::timeout(Duration::from_secs(5), answered).await;
        assert_eq!(answered, Ok(status), "{path}");
        let mut bad = post(path, endless(100));
        let credential = format!("ApiKey dm_{:016x}_{}", 1, "A".repeat(43));
        bad.headers_mut()
            .insert("authorization", credential.parse().unwrap());
        let answered = tokio::time::timeout(Duration::from_secs(5), server.status(bad)).await;
        assert_eq!(answered, Ok(status), "{path}");
    }
}
