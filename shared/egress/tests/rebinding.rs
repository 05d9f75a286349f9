//! Redirects and names that change, over sockets: two servers on two addresses of this machine, one of which is allowed.
//! What is refused never reaches the other one, not even with a connection.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may fail"
)]

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dormouse_egress::{Egress, EgressConfig, Names, Reach};
use dormouse_engine::call::{Answer, HttpRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const ALLOWED: &str = "127.0.0.1";
const FORBIDDEN: &str = "127.0.0.2";

/// A server on an address, and how many connections it has had.
async fn server(
    host: &str,
    port: u16,
    answer: impl Fn(&str) -> String + Send + Sync + 'static,
) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((host, port)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut read = vec![0; 8_192];
            let n = stream.read(&mut read).await.unwrap_or(0);
            let head = String::from_utf8_lossy(&read[..n]).into_owned();
            let _gone = stream.write_all(answer(&head).as_bytes()).await;
            let _gone = stream.shutdown().await;
        }
    });
    (address, seen)
}

fn ok(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

fn to(url: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {url}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

/// A server of names whose owner changes his mind: each answer is given once, the last one for ever.
struct Changing(Mutex<VecDeque<Vec<&'static str>>>);

impl Changing {
    fn new(answers: &[&[&'static str]]) -> Arc<Self> {
        let answers = answers.iter().map(|answer| answer.to_vec());
        Arc::new(Self(Mutex::new(answers.collect())))
    }
}

impl Names for Changing {
    fn addresses(
        &self,
        _name: String,
    ) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> {
        let mut answers = self.0.lock().unwrap();
        let now = match answers.len() {
            1 => answers[0].clone(),
            _ => answers.pop_front().unwrap(),
        };
        let now = now.into_iter().map(|text| text.parse().unwrap()).collect();
        Box::pin(async move { Ok(now) })
    }
}

fn egress(names: Arc<Changing>) -> Egress {
    let networks = [ALLOWED.parse().unwrap()];
    let config = EgressConfig::new(Reach::PublicAnd(Arc::new(networks)));
    Egress::with_names(config, names)
}

async fn get(egress: &Egress, url: String) -> Answer {
    let request = HttpRequest {
        method: "GET".into(),
        url,
        ..HttpRequest::default()
    };
    egress.request(request).await
}

#[track_caller]
fn body(answer: Answer) -> String {
    match answer {
        Answer::Http { body, .. } => String::from_utf8(body).unwrap(),
        other => panic!("no response: {other:?}"),
    }
}

#[track_caller]
fn is_refused(answer: &Answer) {
    match answer {
        Answer::Refused { message } => assert!(message.contains("not allowed"), "{message}"),
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_redirect_from_an_allowed_address_to_a_forbidden_one_is_refused_at_that_hop() {
    let (inside, reached) = server(FORBIDDEN, 0, |_| ok("secret")).await;
    let spelled = [
        format!("http://{inside}/"),
        format!("http://[::ffff:{FORBIDDEN}]:{}/", inside.port()),
        format!("http://name.example:{}/", inside.port()),
    ];
    for target in spelled {
        let (outside, asked) = server(ALLOWED, 0, move |head| match head.contains(" /first ") {
            true => to("/second"),
            false => to(&target),
        })
        .await;
        let names = Changing::new(&[&[FORBIDDEN]]);
        let answer = get(&egress(names), format!("http://{outside}/first")).await;
        is_refused(&answer);
        // The hop before it was made.
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_the_second_time_is_refused_then() {
    let (outside, asked) = server(ALLOWED, 0, |_| ok("hello")).await;
    let (_, reached) = server(FORBIDDEN, outside.port(), |_| ok("secret")).await;
    let egress = egress(Changing::new(&[&[ALLOWED], &[FORBIDDEN]]));
    let url = format!("http://name.example:{}/", outside.port());
    assert_eq!(body(get(&egress, url.clone()).await), "hello");
    is_refused(&get(&egress, url).await);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_a_connection_and_anew_for_a_redirect() {
    // It answers its own name with an address inside once it has been asked.
    let (outside, asked) = server(ALLOWED, 0, |_| to("/again")).await;
    let (_, reached) = server(FORBIDDEN, outside.port(), |_| ok("secret")).await;
    let egress = egress(Changing::new(&[&[ALLOWED], &[FORBIDDEN]]));
    let url = format!("http://name.example:{}/", outside.port());
    is_refused(&get(&egress, url).await);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_forbidden_address_is_no_second_choice_where_the_allowed_one_does_not_answer() {
    // Nobody listens at the allowed one: a client that fell back would reach the other.
    let (inside, reached) = server(FORBIDDEN, 0, |_| ok("secret")).await;
    let egress = egress(Changing::new(&[&[FORBIDDEN, ALLOWED, FORBIDDEN]]));
    let url = format!("http://name.example:{}/", inside.port());
    let answer = get(&egress, url).await;
    assert!(
        matches!(answer, Answer::FailedToConnect { .. }),
        "{answer:?}"
    );
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}
