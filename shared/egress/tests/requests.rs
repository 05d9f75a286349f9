//! Requests against a small server of the test's own.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may fail"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// Spellings of addresses inside, most of them of this machine.
const INSIDE: [&str; 44] = [
    // Plain.
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "localhost",
    "LOCALHOST",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    // One number, octal, hexadecimal, parts left out: the system's resolver takes them all.
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.1",
    "127.0.1",
    "0",
    // IPv4 within IPv6: mapped, compatible, NAT64, 6to4.
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    // Names with a user in front: what is behind the at sign is the host.
    "example.com@127.0.0.1",
    "user:secret@127.0.0.1",
    "1.1.1.1@[::1]",
    // Metadata services.
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "169.254.170.2",
    "[fd00:ec2::254]",
    "[::ffff:169.254.169.254]",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    // Private networks, links, groups.
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "[fe80::1]",
    "[fc00::1]",
    "224.0.0.1",
    "255.255.255.255",
];

/// Spellings that only some resolvers take. They need not be refused by name, but lead nowhere.
const ODD: [&str; 6] = [
    "127.0.0.1.",
    "localhost.",
    "127.0.0.1%00.example.com",
    "127.0.0.1#@example.invalid",
    "\u{ff11}27.0.0.1",
    "\u{2488}27.0.0.1",
];

#[tokio::test]
async fn a_request_to_the_inside_is_refused_before_it_is_sent() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let address = server(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        ok("secret")
    })
    .await;
    let port = address.rsplit(':').next().unwrap().to_owned();
    for host in INSIDE {
        let request = |scheme| get(format!("{scheme}://{host}:{port}/"));
        let answer = egress(Reach::Public).request(request("http")).await;
        assert!(
            matches!(answer, Answer::Refused { .. }),
            "{host}: {answer:?}"
        );
        // TLS does not take a bare number for a name in the first place.
        let answer = egress(Reach::Public).request(request("https")).await;
        assert!(
            matches!(
                answer,
                Answer::Refused { .. } | Answer::FailedToConnect { .. }
            ),
            "{host}: {answer:?}"
        );
    }
    for host in ODD {
        let request = HttpRequest {
            timeout_ms: 2_000,
            ..get(format!("http://{host}:{port}/"))
        };
        let answer = egress(Reach::Public).request(request).await;
        assert!(!matches!(answer, Answer::Http { .. }), "{host}: {answer:?}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0);
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
        let head = head.to_lowercase();
        let has = |name| head.contains(name);
        let secret = has("authorization") || has("cookie") || has("x-api-key");
        let kept = has("idempotency-key: k") && has("accept: text/csv");
        ok(&format!("{} {secret} {kept}", &head[..4]))
    })
    .await;
    let first = server(move |_| {
        format!("HTTP/1.1 302 Found\r\nlocation: http://{target}/x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    })
    .await;
    let request = HttpRequest {
        method: "POST".into(),
        headers: vec![
            ("authorization".into(), "Bearer x".into()),
            ("Cookie".into(), "a=b".into()),
            ("X-Api-Key".into(), "x".into()),
            ("Accept".into(), "text/csv".into()),
        ],
        idempotency_key: "k".into(),
        body: Some(b"{}".to_vec()),
        ..get(format!("http://{first}/"))
    };
    assert_eq!(
        body(egress(Reach::Anywhere).request(request).await),
        "get  false true"
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
