//! The real server under attack: clients that send heads and bodies slowly or never, bombs of JSON and archives, scripts that do
//! not end, and wrong passwords, all at once. Normal clients go on, memory and files stay within bounds, and what takes more than
//! its share is told so. `DORMOUSE_HOSTILE_S` says for how long (10 s unless told).
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test fails with a sentence"
)]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dormouse_tests::server::Server;
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_dormouse");

/// Resident memory that the server stays below, whatever is sent.
const MEMORY_BYTES_MAX: u64 = 256 << 20;

/// Half-open connections: more than the usual limit of open files.
const HALF_OPEN: usize = 1_100;

/// Sends a request and reads all of the answer.
fn exchange(port: u16, request: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.set_write_timeout(Some(Duration::from_secs(30)))?;
    // The server may answer and close before all is sent.
    let _sent = stream.write_all(request);
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let status = std::str::from_utf8(answer.get(9..12).unwrap_or_default()).ok();
    match status.and_then(|status| status.parse().ok()) {
        Some(status) => Ok((status, answer)),
        None => Err(read
            .err()
            .unwrap_or_else(|| std::io::ErrorKind::UnexpectedEof.into())),
    }
}

fn request(method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A server that asks who its callers are, and the key of its command line.
fn server(folder: &Path) -> (Server, String) {
    let data = folder.join("data");
    let args = ["--data", data.to_str().unwrap(), "--quiet"];
    let variables = [("DORMOUSE_AUTHENTICATION", "users,apiKeys")];
    let server = Server::start_with(Path::new(BINARY), &args, &variables, &folder.join("log"), 1);
    let key = std::fs::read_dir(&data).unwrap().filter_map(|entry| {
        let text = std::fs::read_to_string(entry.ok()?.path()).ok()?;
        text.starts_with("dm_").then(|| text.trim().to_owned())
    });
    let key = key.into_iter().next().unwrap();
    (server, format!("Authorization: ApiKey {key}\r\n"))
}

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

/// Open files of the process.
fn files(server: &Server) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", server.id())).map_or(0, Iterator::count)
}

/// Connections that send a part of a head and then nothing.
fn half_open(port: u16, count: usize) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").ok()?;
        Some(stream)
    };
    (0..count).filter_map(open).collect()
}

#[test]
fn half_open_connections_are_closed_and_the_server_answers_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = server(folder.path());
    let live = request("GET", "/health/live", "", b"");
    let held = half_open(server.port, HALF_OPEN);
    assert_eq!(held.len(), HALF_OPEN);
    for _ in 0..20 {
        assert_eq!(exchange(server.port, &live).unwrap().0, 200);
    }
    // One address holds half of all connections at most; the oldest made room.
    let many = files(&server);
    assert!((900..HALF_OPEN).contains(&many), "{many} files are open");
    let began = Instant::now();
    while files(&server) > HALF_OPEN / 2 {
        assert!(
            began.elapsed() < Duration::from_secs(15),
            "they are still open"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn bombs_and_withheld_bodies_take_no_more_than_their_budget() {
    let folder = tempfile::tempdir().unwrap();
    let (server, key) = server(folder.path());
    let before = server.memory_bytes();
    let bomb = format!("[{}0]", "{\"\":0},".repeat(560_000));
    let input = format!("{{\"definitionId\":\"w\",\"input\":{{\"a\":{bomb}}}}}");
    for (path, key, body) in [
        ("/elsa/api/identity/login", "", &bomb),
        ("/elsa/api/workflow-definitions", key.as_str(), &bomb),
        ("/elsa/api/workflow-starts", key.as_str(), &input),
    ] {
        let (status, _) =
            exchange(server.port, &request("POST", path, key, body.as_bytes())).unwrap();
        assert_eq!(status, 413, "{path}");
    }
    // Four hundred withhold the last byte of what may be sent.
    let head = request("POST", "/elsa/api/identity/login", "", &vec![b' '; 4 << 20]);
    let withheld: Vec<_> = (0..400)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port)).ok()?;
            stream
                .set_write_timeout(Some(Duration::from_secs(5)))
                .ok()?;
            let _shed_perhaps = stream.write_all(&head[..head.len() - 1]);
            Some(stream)
        })
        .collect();
    let most = server.memory_bytes();
    println!(
        "resident: {} MB before, {} MB with 400 withheld bodies",
        before >> 20,
        most >> 20
    );
    assert!(most < MEMORY_BYTES_MAX, "{most}");
    drop(withheld);
}

/// A definition whose only activity is a script that never ends.
fn endless() -> Value {
    let script = json!({ "typeName": "Object", "expression": { "type": "JavaScript", "value": "for (;;) {}" } });
    let activity = json!({ "type": "Elsa.WriteLine", "id": "bomb", "text": script });
    json!({ "definitionId": "bomb", "root": { "type": "Elsa.Sequence", "id": "all", "activities": [activity] } })
}

/// A definition of many scripts, none of which reaches a limit alone.
fn busy() -> Value {
    let script = "for (let turn = 0; turn < 5_000_000; turn++) {} true";
    let condition =
        json!({ "typeName": "Boolean", "expression": { "type": "JavaScript", "value": script } });
    let line = json!({ "type": "Elsa.WriteLine", "id": "line" });
    json!({ "definitionId": "busy", "root": { "type": "Elsa.While", "id": "ever", "condition": condition, "body": line } })
}

/// Publishes a definition.
fn publish(port: u16, key: &str, model: &Value) {
    let save = json!({ "model": model, "publish": true }).to_string();
    let save = request(
        "POST",
        "/elsa/api/workflow-definitions",
        key,
        save.as_bytes(),
    );
    assert_eq!(exchange(port, &save).unwrap().0, 200);
}

/// A request that runs a published definition to its end.
fn execute(definition: &str, key: &str) -> Vec<u8> {
    let path = format!("/elsa/api/workflow-definitions/{definition}/execute");
    request("POST", &path, key, b"{}")
}

#[test]
fn scripts_that_never_end_hold_up_nobody_and_end_with_a_pause() {
    let folder = tempfile::tempdir().unwrap();
    let (server, key) = server(folder.path());
    let port = server.port;
    let line = json!({ "type": "Elsa.WriteLine", "id": "line", "text": { "typeName": "String", "expression": { "type": "Literal", "value": "hello" } } });
    let script =
        json!({ "typeName": "Object", "expression": { "type": "JavaScript", "value": "1 + 1" } });
    let short = json!({ "type": "Elsa.WriteLine", "id": "short", "text": script });
    publish(port, &key, &busy());
    publish(
        port,
        &key,
        &json!({ "definitionId": "plain", "root": line }),
    );
    publish(
        port,
        &key,
        &json!({ "definitionId": "short", "root": short }),
    );
    let bombs_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let bombs: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let answer = exchange(port, &execute("busy", &key)).unwrap();
                    bombs_ended.store(true, Ordering::Relaxed);
                    answer
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(500));
        let began = Instant::now();
        let live = request("GET", "/health/live", "", b"");
        for _ in 0..5 {
            assert_eq!(exchange(port, &live).unwrap().0, 200);
            assert_eq!(exchange(port, &execute("plain", &key)).unwrap().0, 200);
            assert_eq!(exchange(port, &execute("short", &key)).unwrap().0, 200);
        }
        println!("others were answered after {:?}", began.elapsed());
        assert!(!bombs_ended.load(Ordering::Relaxed), "others had to wait");
        let paused = Instant::now();
        let pause = "/elsa/api/admin/workflow-runtime/pause";
        assert_eq!(
            exchange(port, &request("POST", pause, &key, b"{}"))
                .unwrap()
                .0,
            200
        );
        for bomb in bombs {
            let (status, body) = bomb.join().unwrap();
            assert_eq!(status, 503, "{}", String::from_utf8_lossy(&body));
        }
        // A step may take ten seconds.
        assert!(
            paused.elapsed() < Duration::from_secs(4),
            "{:?}",
            paused.elapsed()
        );
    });
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

#[test]
fn normal_clients_go_on_under_every_attack_at_once() {
    let seconds = std::env::var("DORMOUSE_HOSTILE_S").ok();
    let seconds = seconds.and_then(|s| s.parse().ok()).unwrap_or(10);
    let folder = tempfile::tempdir().unwrap();
    let (server, key) = server(folder.path());
    let port = server.port;
    let attacks = attacks(port, &key);
    let normal = [
        request("GET", "/health/live", "", b""),
        request("GET", "/elsa/api/workflow-definitions", &key, b""),
    ];
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
    let errors = seen.errors.lock().unwrap();
    println!(
        "{seconds} s: {asked} normal requests, p50 {p50:?}, p99 {p99:?}, errors {errors:?}, {} MB, {open} files",
        memory >> 20
    );
    assert!(errors.is_empty(), "{errors:?}");
    assert!(asked > 20, "{asked}");
    assert!(memory < MEMORY_BYTES_MAX, "{memory}");
}

#[test]
fn the_data_folder_is_private_and_an_old_one_is_mended() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (mut server, _) = server(folder.path());
    let data = folder.path().join("data");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let is_private = || {
        let files = std::fs::read_dir(&data).unwrap().map(|e| e.unwrap().path());
        mode(&data) == 0o700
            && files
                .filter(|f| f.is_file())
                .all(|file| mode(&file) & 0o077 == 0)
    };
    assert!(is_private());
    server.kill();
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap()
    };
    open(&data, 0o755);
    open(&data.join("dormouse.sqlite"), 0o644);
    server.start_again();
    assert!(is_private());
}
