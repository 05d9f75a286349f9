//! Everything at once, for a while. `DORMOUSE_HOSTILE_S` says for how long (10 s unless told).

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dormouse_tests::server::Server;
use serde_json::json;

use crate::bombs::{archive_bomb, upload};
use crate::connections::half_open;
use crate::scripts::{endless, execute};
use crate::site::{MEMORY_BYTES_MAX, exchange, files, publish, request, server};

/// What normal clients saw.
#[derive(Default)]
struct Seen {
    latencies: Mutex<Vec<Duration>>,
    errors: Mutex<BTreeMap<String, usize>>,
}

impl Seen {
    fn ask(&self, port: u16, request: &[u8]) {
        let began = Instant::now();
        match exchange(port, request) {
            Ok((200, _)) => self.latencies.lock().unwrap().push(began.elapsed()),
            Ok((status, _)) => {
                *self
                    .errors
                    .lock()
                    .unwrap()
                    .entry(status.to_string())
                    .or_default() += 1
            }
            Err(error) => {
                *self
                    .errors
                    .lock()
                    .unwrap()
                    .entry(error.to_string())
                    .or_default() += 1
            }
        }
    }

    /// Half of them were faster, and 99 of 100.
    fn percentiles(&self) -> (Duration, Duration) {
        let mut all = self.latencies.lock().unwrap().clone();
        all.sort_unstable();
        let at = |part: usize| all[(all.len() * part / 100).min(all.len() - 1)];
        (at(50), at(99))
    }
}

/// Requests that take as much as they can, each as often as so many clients send it.
fn attacks(port: u16, key: &str) -> Vec<Vec<u8>> {
    publish(port, key, &endless());
    let login = "/elsa/api/identity/login";
    let bomb = format!("[{}0]", "{\"\":0},".repeat(500_000));
    let guess = br#"{"username":"admin","password":"wrong password"}"#;
    let tried = br#"{"workflowDefinitionHandle":{"definitionId":"bomb"},"activityHandle":{"activityId":"bomb"}}"#;
    let of = |count, request: Vec<u8>| std::iter::repeat_n(request, count);
    of(2, request("POST", login, "", bomb.as_bytes()))
        .chain(of(4, request("POST", login, "", guess)))
        .chain(of(
            3,
            request("POST", "/elsa/api/tests/activities", key, tried),
        ))
        .chain(of(1, upload(key, &archive_bomb())))
        .collect()
}

/// The most memory and the most files of the process within so many seconds.
fn watch(server: &Server, seconds: u64) -> (u64, usize) {
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut memory, mut open) = (0, 0);
    while Instant::now() < end {
        memory = memory.max(server.memory_bytes());
        open = open.max(files(server));
        std::thread::sleep(Duration::from_millis(50));
    }
    (memory, open)
}

/// A connection that sends all of a request but its last byte, as far as it is taken.
fn begun(port: u16, request: &[u8]) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let timeout = Some(Duration::from_millis(200));
    stream.set_write_timeout(timeout).ok()?;
    let (_last, most) = request.split_last()?;
    let _shed_perhaps = stream.write_all(most);
    Some(stream)
}

/// Publishes a workflow that a normal client runs.
fn publish_plain(port: u16, key: &str) {
    let line =
        json!({ "typeName": "String", "expression": { "type": "Literal", "value": "hello" } });
    let line = json!({ "type": "Elsa.WriteLine", "id": "line", "text": line });
    publish(port, key, &json!({ "definitionId": "plain", "root": line }));
}

#[test]
fn normal_clients_go_on_under_every_attack_at_once() {
    let seconds = std::env::var("DORMOUSE_HOSTILE_S").ok();
    let seconds = seconds.and_then(|s| s.parse().ok()).unwrap_or(10);
    let folder = tempfile::tempdir().unwrap();
    let (server, key) = server(folder.path());
    let port = server.port;
    let attacks = attacks(port, &key);
    publish_plain(port, &key);
    let normal = [
        request("GET", "/health/live", "", b""),
        request("GET", "/elsa/api/workflow-definitions", &key, b""),
        execute("plain", &key),
    ];
    let withheld = request("POST", "/elsa/api/identity/login", "", &[b' '; 1 << 20]);
    let (seen, is_over) = (Seen::default(), AtomicBool::new(false));
    let goes_on = || !is_over.load(Ordering::Relaxed);
    let (memory, open) = std::thread::scope(|scope| {
        for attack in &attacks {
            let goes_on = &goes_on;
            scope.spawn(move || {
                while goes_on() {
                    let _whatever = exchange(port, attack);
                }
            });
        }
        scope.spawn(|| {
            while goes_on() {
                let held = half_open(port, 500);
                std::thread::sleep(Duration::from_millis(500));
                drop(held);
            }
        });
        scope.spawn(|| {
            while goes_on() {
                // Their bodies end but for the last byte.
                let held: Vec<_> = (0..100).filter_map(|_| begun(port, &withheld)).collect();
                std::thread::sleep(Duration::from_millis(500));
                drop(held);
            }
        });
        for normal in &normal {
            let (goes_on, seen) = (&goes_on, &seen);
            scope.spawn(move || {
                while goes_on() {
                    seen.ask(port, normal);
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
        let watched = watch(&server, seconds);
        is_over.store(true, Ordering::Relaxed);
        watched
    });
    let (p50, p99) = seen.percentiles();
    let asked = seen.latencies.lock().unwrap().len();
    let mut errors = seen.errors.lock().unwrap().clone();
    // Shed, and told when to come again.
    let shed = errors.remove("503").unwrap_or_default();
    println!(
        "{seconds} s: {asked} normal requests, p50 {p50:?}, p99 {p99:?}, {shed} shed, errors {errors:?}, {} MB, {open} files",
        memory >> 20
    );
    assert!(errors.is_empty(), "{errors:?}");
    assert!(asked > 20, "{asked}");
    assert!(memory < MEMORY_BYTES_MAX, "{memory}");
    assert!(open < 2_400, "{open} files");
    let live = request("GET", "/health/live", "", b"");
    assert_eq!(exchange(port, &live).unwrap().0, 200);
}
