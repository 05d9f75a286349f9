//! Crowds: many instances that wait for one event, many timers of one instance, many children of one parent, many idle
//! connections. `cargo bench -p dormouse --bench crowds`; each figure stands beside the aim it is held to.
//!
//! Load comes from this process, on the same machine. `DORMOUSE_CROWD` makes every crowd smaller: 0.1 is a tenth.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench prints, reads the clock, and may stop at once"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dormouse_tests::api::{journal, publish, seen, start, trigger_event};
use dormouse_tests::flow::flow;
use dormouse_tests::http_client::Client;
use dormouse_tests::js;
use dormouse_tests::primitives::{bulk, delay, event, parallel_for_each, sequence};
use dormouse_tests::server::Server;
use dormouse_tests::workflow;
use serde_json::json;

/// A crowd over a server.
type Crowd = fn(&Server);

/// A crowd is late if it is not through by then.
const PATIENCE: Duration = Duration::from_secs(600);

/// The binary to measure; `DORMOUSE_BINARY` names another build of it.
fn binary() -> PathBuf {
    std::env::var_os("DORMOUSE_BINARY")
        .map_or_else(|| env!("CARGO_BIN_EXE_dormouse").into(), PathBuf::from)
}

fn size(whole: usize) -> usize {
    let share = std::env::var("DORMOUSE_CROWD").ok();
    let share: f64 = share.map_or(1.0, |share| share.parse().expect("a number"));
    ((whole as f64 * share) as usize).max(1)
}

fn main() {
    println!("{:<64} {:>10} {:>10}", "", "measured", "aim");
    let crowds: [(&str, Crowd); 5] = [
        ("event", one_event),
        ("timers", one_instance),
        ("bulk", bulk_dispatch),
        ("parent", parent),
        ("idle", idle_connections),
    ];
    // Names among the arguments select; cargo adds arguments of its own.
    let given: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |name: &str| given.iter().any(|g| g == name);
    let all = !crowds.iter().any(|(name, _)| is_named(name));
    for (name, crowd) in crowds {
        if !all && !is_named(name) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let args = [
            "--data",
            data.to_str().unwrap(),
            "--max-connections",
            "20000",
            "--max-connections-per-address",
            "20000",
        ];
        let server = Server::start_with(&binary(), &args, &[], &data.with_extension("log"), 1);
        crowd(&server);
    }
}

/// Instances that wait for one event, which comes once.
fn one_event(server: &Server) {
    let count = size(100_000);
    let mut client = server.client(0);
    let waits = flow("wait > after", [event("Go").id("wait")]);
    publish(&mut client, workflow("waiting", waits).json());
    let next = AtomicUsize::new(0);
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut client = server.client(0);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let started = start(&mut client, "waiting", &format!("w-{number}"));
                    assert!(started.unwrap().is_success());
                }
            });
        }
    });
    told(
        &format!("{count} starts that wait for one event"),
        begin,
        "",
    );
    let (ends, most) = (AtomicBool::new(false), AtomicUsize::new(0));
    let begin = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                most.fetch_max(server.memory_bytes() as usize, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let answer = trigger_event(&mut client, "Go", "go").unwrap();
        assert!(answer.is_success());
        told("  the event is answered", begin, "");
        until(&mut client, "waiting", "Finished", count);
        ends.store(true, Ordering::Relaxed);
    });
    told("  all have finished", begin, "15 s");
    figure("  most memory, MB", most.into_inner() as f64 / 1e6, "256");
}

/// Delays of one instance that are due together, beside others' delays of one second.
fn one_instance(server: &Server) {
    let count = size(3_000);
    let mut client = server.client(0);
    let items = js(&format!("Array.from({{length: {count}}}, (_, i) => i)"));
    let many = parallel_for_each(items, delay("00:00:06").id("many"));
    publish(&mut client, workflow("many", many).json());
    let one = flow("wait > after", [delay("00:00:01").id("wait")]);
    publish(&mut client, workflow("one", one).json());
    let begin = Instant::now();
    let answer = start(&mut client, "many", "many").unwrap().json();
    told(
        &format!("{count} delays of one instance: its start"),
        begin,
        "",
    );
    let crowd = seen(&answer["workflowState"]).id;
    let mut others = Vec::new();
    while begin.elapsed() < Duration::from_secs(12) {
        let answer = start(&mut client, "one", &format!("one-{}", others.len())).unwrap();
        others.push(seen(&answer.json()["workflowState"]).id);
        std::thread::sleep(Duration::from_millis(50));
    }
    until(&mut client, "many", "Finished", 1);
    until(&mut client, "one", "Finished", others.len());
    let path = format!("/elsa/api/workflow-instances/{crowd}");
    let instance = client.get(&path).unwrap().json();
    let at = |text: &serde_json::Value| moment(text.as_str().unwrap());
    let late = at(&instance["finishedAt"]) - at(&instance["createdAt"]) - 6_000;
    figure(
        "  the last one fires after it is due, s",
        late as f64 / 1e3,
        "2",
    );
    let mut waits: Vec<i64> = others
        .iter()
        .map(|id| {
            let lines = journal(&mut client, id).unwrap();
            let of = |name: &str| {
                let line = lines
                    .iter()
                    .find(|l| l["activityType"] == "Elsa.Delay" && l["eventName"] == name);
                moment(line.unwrap()["timestamp"].as_str().unwrap())
            };
            of("Resumed") - of("Started")
        })
        .collect();
    waits.sort_unstable();
    let most = waits.last().copied().unwrap_or_default();
    figure(
        "  others' delays of one second, at most, s",
        most as f64 / 1e3,
        "1.2",
    );
}

/// Children that nobody waits for.
fn bulk_dispatch(server: &Server) {
    let count = size(10_000);
    let mut client = server.client(0);
    publish(&mut client, workflow("child", flow("a > b", [])).json());
    let items: Vec<_> = (0..count).map(|n| json!({ "n": n })).collect();
    let parent = sequence([bulk("child", json!(items), false)]);
    publish(&mut client, workflow("parent", parent).json());
    let begin = Instant::now();
    assert!(start(&mut client, "parent", "bulk").unwrap().is_success());
    until(&mut client, "child", "Finished", count);
    told(&format!("bulk dispatch of {count} children"), begin, "4 s");
}

/// A parent that waits for all of its children.
fn parent(server: &Server) {
    let count = size(8_000);
    let mut client = server.client(0);
    publish(&mut client, workflow("child", flow("a > b", [])).json());
    let items: Vec<_> = (0..count).map(|n| json!({ "n": n })).collect();
    let parent = sequence([bulk("child", json!(items), true)]);
    publish(&mut client, workflow("parent", parent).json());
    let begin = Instant::now();
    assert!(start(&mut client, "parent", "parent").unwrap().is_success());
    until(&mut client, "parent", "Finished", 1);
    told(&format!("a parent of {count} children"), begin, "8 s");
    let letters = client.get("/elsa/api/bookmark-queue/dead-letters").unwrap();
    let letters = letters.json()["items"].as_array().map_or(0, Vec::len);
    figure("  dead letters", letters as f64, "0");
}

/// Connections that have asked once and stay.
fn idle_connections(server: &Server) {
    let count = size(10_000);
    let before = server.memory_bytes();
    let mut connections = Vec::new();
    for _ in 0..count {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", server.port)) else {
            break;
        };
        let asked = stream.write_all(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let mut answer = [0; 512];
        if asked.is_err() || stream.read(&mut answer).unwrap_or(0) == 0 {
            break;
        }
        connections.push(stream);
    }
    let grown = server.memory_bytes().saturating_sub(before) as f64 / 1e6;
    figure(
        &format!("{} idle connections, MB", connections.len()),
        grown,
        "100",
    );
}

/// Waits until so many instances of a definition have a sub-status.
fn until(client: &mut Client, definition: &str, status: &str, count: usize) {
    let begin = Instant::now();
    let path = format!(
        "/elsa/api/workflow-instances?definitionId={definition}&subStatus={status}&pageSize=1"
    );
    loop {
        let list = client.get(&path).unwrap().json();
        if list["totalCount"] == count {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{count} {definition}: {list}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn moment(text: &str) -> i64 {
    let at: jiff::Timestamp = text.parse().unwrap();
    at.as_millisecond()
}

fn told(what: &str, begin: Instant, aim: &str) {
    let seconds = begin.elapsed().as_secs_f64();
    println!("{what:<64} {seconds:>8.2} s {aim:>10}");
}

fn figure(what: &str, value: f64, aim: &str) {
    println!("{what:<64} {value:>10.2} {aim:>10}");
}
