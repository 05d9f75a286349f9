//! Requests against a small server of the test's own.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may fail"
)]

use dormouse_egress::{Egress, EgressConfig, Reach};
use dormouse_engine::call::{Answer, HttpRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server that answers each connection's first request with what `answer` makes of its head. Gives its address.
async fn server(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut read = vec![0; 8_192];
            let n = stream.read(&mut read).await.unwrap_or(0);
            let head = String::from_utf8_lossy(&read[..n]).into_owned();
            let _gone = stream.write_all(answer(&head).as_bytes()).await;
            let _gone = stream.shutdown().await;
        }
    });
    address
}

fn ok(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn get(url: String) -> HttpRequest {
    HttpRequest {
        method: "GET".into(),
        url,
        ..HttpRequest::default()
    }
}

fn egress(reach: Reach) -> Egress {
    Egress::new(EgressConfig::new(reach))
}

fn body(answer: Answer) -> String {
    match answer {
        Answer::Http { body, .. } => String::from_utf8(body).unwrap(),
        other => panic!("no response: {other:?}"),
    }
}

#[tokio::test]
async fn a_request_to_the_inside_is_refused_before_it_is_sent() {
    let address = server(|_| ok("secret")).await;
    let port = address.rsplit(':').next().unwrap().to_owned();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "2130706433",
        "[::ffff:127.0.0.1]",
    ] {
        let answer = egress(Reach::Public)
            .request(get(format!("http://{host}:{port}/")))
            .await;
        assert!(
            matches!(answer, Answer::Refused { .. }),
            "{host}: {answer:?}"
        );
    }
    let answer = egress(Reach::Anywhere)
        .request(get(format!("http://{address}/")))
        .await;
    assert_eq!(body(answer), "secret");
}

#[tokio::test]
async fn what_is_no_request_is_refused_with_a_reason() {
    for url in [
        "",
        "/x",
        "ftp://example.com/",
        "http://a b/",
        "file:///etc/passwd",
    ] {
        let answer = egress(Reach::Anywhere).request(get(url.into())).await;
        assert!(
            matches!(answer, Answer::Refused { .. }),
            "{url}: {answer:?}"
        );
    }
    let bad_header = HttpRequest {
        headers: vec![("x".into(), "a\r\nb: c".into())],
        ..get("http://127.0.0.1:1/".into())
    };
    let answer = egress(Reach::Anywhere).request(bad_header).await;
    assert!(matches!(answer, Answer::Refused { .. }), "{answer:?}");
}

#[tokio::test]
async fn the_idempotency_key_goes_with_the_request_unless_the_workflow_set_one() {
    let address = server(|head| {
        let key = head
            .lines()
            .find(|line| line.to_lowercase().starts_with("idempotency-key"));
        ok(key.unwrap_or("none"))
    })
    .await;
    let request = HttpRequest {
        idempotency_key: "i/1".into(),
        ..get(format!("http://{address}/"))
    };
    let answer = egress(Reach::Anywhere).request(request.clone()).await;
    assert_eq!(body(answer), "idempotency-key: i/1");
    let own = HttpRequest {
        headers: vec![("Idempotency-Key".into(), "mine".into())],
        ..request
    };
    assert_eq!(
        body(egress(Reach::Anywhere).request(own).await),
        "idempotency-key: mine"
    );
}

#[tokio::test]
async fn a_redirect_is_followed_without_the_credentials_for_another_place() {
    let target = server(|head| {
        let has = head.to_lowercase().contains("authorization");
        ok(&format!("{} {has}", &head[..4]))
    })
    .await;
    let first = server(move |_| {
        format!("HTTP/1.1 302 Found\r\nlocation: http://{target}/x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    })
    .await;
    let request = HttpRequest {
        method: "POST".into(),
        headers: vec![("authorization".into(), "Bearer x".into())],
        body: Some(b"{}".to_vec()),
        ..get(format!("http://{first}/"))
    };
    assert_eq!(
        body(egress(Reach::Anywhere).request(request).await),
        "GET  false"
    );
}

#[tokio::test]
async fn failures_of_the_connection_are_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}/", listener.local_addr().unwrap());
    let slow = HttpRequest {
        timeout_ms: 50,
        ..get(silent)
    };
    assert_eq!(
        egress(Reach::Anywhere).request(slow).await,
        Answer::TimedOut
    );

    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", closed.local_addr().unwrap());
    drop(closed);
    let answer = egress(Reach::Anywhere).request(get(url)).await;
    assert!(
        matches!(answer, Answer::FailedToConnect { .. }),
        "{answer:?}"
    );
}

#[tokio::test]
async fn an_answer_over_the_limit_is_not_taken() {
    let address = server(|_| ok(&"x".repeat(2_000))).await;
    let config = EgressConfig {
        response_bytes_max: 1_000,
        ..EgressConfig::new(Reach::Anywhere)
    };
    let answer = Egress::new(config)
        .request(get(format!("http://{address}/")))
        .await;
    assert!(
        matches!(answer, Answer::FailedToConnect { .. }),
        "{answer:?}"
    );
}
