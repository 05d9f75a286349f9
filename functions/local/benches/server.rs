//! The whole server over HTTP with full durability: `cargo bench -p dormouse --bench server`.
//!
//! Load comes from this process, on the same machine. Every figure stands beside the machine's own fsync in the same run.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    missing_docs,
    reason = "a bench prints, reads the clock, and may stop at once"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dormouse_tests::api::{complete_task, journal, publish, seen, start};
use dormouse_tests::flow::flow;
use dormouse_tests::http_client::Client;
use dormouse_tests::primitives::{delay, task};
use dormouse_tests::server::Server;
use dormouse_tests::workflow;

/// The binary to measure; `DORMOUSE_BINARY` names another build of it.
fn binary() -> PathBuf {
    std::env::var_os("DORMOUSE_BINARY")
        .map_or_else(|| env!("CARGO_BIN_EXE_dormouse").into(), PathBuf::from)
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let growth = std::env::args().any(|a| a == "growth");
    let only_own = std::env::args().any(|a| a == "own");
    println!(
        "machine: append + fdatasync, p50 {:.3} ms",
        fsync_ms(folder.path())
    );
    let mut server = Server::start(&binary(), &folder.path().join("data"), 1);
    println!(
        "start-up on an empty folder: {:.1} ms",
        ms(server.ready_after)
    );
    println!("idle memory: {:.1} MB", server.memory_bytes() as f64 / 1e6);
    let mut client = server.client(0);
    publish(
        &mut client,
        workflow("three", flow("one > two > three", [])).json(),
    );
    publish(
        &mut client,
        workflow(
            "task",
            flow("before > work > after", [task("work").id("work")]),
        )
        .json(),
    );
    publish(
        &mut client,
        workflow(
            "sleep",
            flow("wait > awake", [delay("00:00:02").id("wait")]),
        )
        .json(),
    );
    if only_own {
        own_activities(&server);
    } else if growth {
        grow(&server);
        server.kill();
        server.start_again();
        println!(
            "start-up on these instances, after kill -9: {:.1} ms",
            ms(server.ready_after)
        );
    } else {
        println!(
            "\n{:<28} {:>8} {:>10} {:>10} {:>10}",
            "", "clients", "per s", "p50 ms", "p99 ms"
        );
        for clients in [1, 16, 64] {
            throughput(&server, clients);
        }
        own_activities(&server);
        timers(&server);
        println!(
            "memory after the load: {:.1} MB",
            server.memory_bytes() as f64 / 1e6
        );
    }
}

fn throughput(server: &Server, clients: usize) {
    let count = if clients == 1 { 2_000 } else { 20_000 };
    let (rate, times) = load(server, clients, count, |client, number| {
        let response = start(client, "three", &format!("three-{clients}-{number}")).unwrap();
        assert!(
            response.is_success(),
            "{}",
            String::from_utf8_lossy(&response.body)
        );
    });
    report("start → complete (3 steps)", clients, rate, times);
    let tasks = Mutex::new(Vec::new());
    let (rate, times) = load(server, clients, count, |client, number| {
        let response = start(client, "task", &format!("task-{clients}-{number}")).unwrap();
        let state = seen(&response.json()["workflowState"]);
        assert_eq!(state.sub_status, "Suspended");
        tasks
            .lock()
            .unwrap()
            .push(format!("{}.{}", state.id, state.bookmarks[0]));
    });
    report("start → suspend", clients, rate, times);
    let tasks = tasks.into_inner().unwrap();
    let (rate, times) = load(server, clients, count, |client, number| {
        let response = complete_task(client, &tasks[number]).unwrap();
        assert!(
            response.is_success(),
            "{}",
            String::from_utf8_lossy(&response.body)
        );
    });
    report("resume → complete", clients, rate, times);
}

/// Tasks of a worker queue: each client polls and completes, with tasks of one poll one after the other. A time is that of a
/// task from the poll that leased it to the answer of its completion.
fn own_activities(server: &Server) {
    const CLIENTS: usize = 16;
    const TASKS: usize = 10_000;
    let mut client = server.client(0);
    let ty = r#"{"handler": {"kind": "worker", "queue": "q"}, "heartbeatMs": 60000}"#;
    let headers = [("content-type", "application/json")];
    let path = "/elsa/api/activity-types/Acme.Work";
    client.send("PUT", path, &headers, ty.as_bytes()).unwrap();
    let work = serde_json::json!({ "id": "work", "type": "Acme.Work" });
    let root = serde_json::json!({ "id": "all", "type": "Elsa.Sequence", "activities": [work] });
    let definition = serde_json::json!({ "definitionId": "own", "name": "own", "root": root });
    publish(&mut client, &definition);
    for max in [1, 10] {
        load(server, CLIENTS, TASKS, |client, number| {
            let started = start(client, "own", &format!("own-{max}-{number}")).unwrap();
            assert!(started.is_success());
        });
        let poll = serde_json::json!({
            "queue": "q", "types": ["Acme.Work"], "max": max, "waitMs": 2_000, "workerId": "bench",
        });
        let (left, all) = (AtomicUsize::new(TASKS), Mutex::new(Vec::new()));
        let (begin, cpu_ms) = (Instant::now(), server.cpu_ms());
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    let (mut client, mut times) = (server.client(0), Vec::new());
                    while left.load(Ordering::Relaxed) > 0 {
                        let begin = Instant::now();
                        let answer = client.post("/elsa/api/tasks/poll", &poll).unwrap().json();
                        for task in answer["tasks"].as_array().unwrap() {
                            let id = task["taskId"].as_str().unwrap();
                            assert!(complete_task(&mut client, id).unwrap().is_success());
                            times.push(ms(begin.elapsed()));
                            left.fetch_sub(1, Ordering::Relaxed);
                        }
                    }
                    all.lock().unwrap().extend(times);
                });
            }
        });
        let rate = TASKS as f64 / begin.elapsed().as_secs_f64();
        let mut times = all.into_inner().unwrap();
        times.sort_by(f64::total_cmp);
        let what = format!("poll {max} → complete each");
        report(&what, CLIENTS, rate, times);
        let cpu_ms = (server.cpu_ms() - cpu_ms) as f64 / TASKS as f64;
        println!("the server's processor time for each of them: {cpu_ms:.3} ms");
    }
}

/// 1,000 timers of two seconds: each must fire once; how late?
fn timers(server: &Server) {
    let ids = Mutex::new(Vec::new());
    load(server, 16, 1_000, |client, number| {
        let response = start(client, "sleep", &format!("sleep-{number}")).unwrap();
        ids.lock()
            .unwrap()
            .push(seen(&response.json()["workflowState"]).id);
    });
    std::thread::sleep(Duration::from_secs(4));
    let mut client = server.client(0);
    let (mut late, mut fired) = (Vec::new(), 0);
    for id in ids.into_inner().unwrap() {
        let lines = journal(&mut client, &id).unwrap();
        let at = |event: &str| -> Vec<i64> {
            let found = lines
                .iter()
                .filter(|l| l["activityType"] == "Elsa.Delay" && l["eventName"] == event);
            found
                .map(|l| {
                    l["timestamp"]
                        .as_str()
                        .unwrap()
                        .parse::<jiff::Timestamp>()
                        .unwrap()
                        .as_millisecond()
                })
                .collect()
        };
        let (began, resumed) = (at("Started"), at("Resumed"));
        fired += usize::from(resumed.len() == 1);
        late.extend(resumed.iter().map(|r| (r - began[0] - 2_000) as f64));
    }
    late.sort_by(f64::total_cmp);
    let at = |p: usize| late[(late.len() * p / 100).min(late.len() - 1)];
    println!(
        "1,000 timers of 2 s: {fired} fired exactly once, late p50 {:.0} ms, p99 {:.0} ms",
        at(50),
        at(99)
    );
}

/// Cost of a start and a resume as the table grows.
fn grow(server: &Server) {
    println!(
        "\n{:>12} {:>14} {:>14} {:>12}",
        "instances", "start p50 ms", "resume p50 ms", "start-up ms"
    );
    let mut total = 0;
    let millions = std::env::args().any(|a| a == "million");
    let most = if millions { 1_000_000 } else { 100_000 };
    for target in [100, 1_000, 10_000, 100_000, 1_000_000] {
        if target > most {
            break;
        }
        let more = target - total;
        load(server, 16, more, |client, number| {
            start(client, "task", &format!("grow-{target}-{number}")).unwrap();
        });
        total = target;
        let tasks = Mutex::new(Vec::new());
        let (_, starts) = load(server, 1, 300, |client, number| {
            let response = start(client, "task", &format!("probe-{target}-{number}")).unwrap();
            let state = seen(&response.json()["workflowState"]);
            tasks
                .lock()
                .unwrap()
                .push(format!("{}.{}", state.id, state.bookmarks[0]));
        });
        let tasks = tasks.into_inner().unwrap();
        let (_, resumes) = load(server, 1, 300, |client, number| {
            complete_task(client, &tasks[number]).unwrap();
        });
        let folder = tempfile::tempdir().unwrap();
        println!(
            "{target:>12} {:>14.2} {:>14.2} {:>12}",
            p(&starts, 50),
            p(&resumes, 50),
            ""
        );
        drop(folder);
        lists(server, target);
    }
}

/// What lists of so many instances take: the first page of each filter, and a page in the middle.
fn lists(server: &Server, count: usize) {
    let mut client = server.client(0);
    let middle = format!("page={}&pageSize=25", count / 50);
    for (what, query) in [
        ("all", "page=0&pageSize=25"),
        ("waiting", "subStatus=Suspended&pageSize=25"),
        ("failed", "subStatus=Faulted&pageSize=25"),
        ("of one workflow", "definitionId=task&pageSize=25"),
        ("a page in the middle", &middle),
        ("by the last change", "orderBy=UpdatedAt&pageSize=25"),
        ("text that none has", "searchTerm=nowhere&pageSize=25"),
    ] {
        let mut times: Vec<f64> = (0..5)
            .map(|_| {
                let begin = Instant::now();
                let path = format!("/elsa/api/workflow-instances?{query}");
                let answer = client.get(&path).unwrap().json();
                assert_eq!(answer["isTotalExact"], true, "{answer}");
                ms(begin.elapsed())
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{:>12} list: {what:<24} {:>8.1} ms", "", p(&times, 50));
    }
}

/// Runs `count` requests from so many clients; gives the rate and every request's time in ms, sorted.
fn load(
    server: &Server,
    clients: usize,
    count: usize,
    request: impl Fn(&mut Client, usize) + Sync,
) -> (f64, Vec<f64>) {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::with_capacity(count));
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let mut client = server.client(0);
                let mut times = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let begin = Instant::now();
                    request(&mut client, number);
                    times.push(ms(begin.elapsed()));
                }
                all.lock().unwrap().extend(times);
            });
        }
    });
    let rate = count as f64 / begin.elapsed().as_secs_f64();
    let mut times = all.into_inner().unwrap();
    times.sort_by(f64::total_cmp);
    (rate, times)
}

fn report(what: &str, clients: usize, rate: f64, times: Vec<f64>) {
    println!(
        "{what:<28} {clients:>8} {rate:>10.0} {:>10.2} {:>10.2}",
        p(&times, 50),
        p(&times, 99)
    );
}

fn p(times: &[f64], percent: usize) -> f64 {
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn fsync_ms(folder: &Path) -> f64 {
    let mut file = std::fs::File::create(folder.join("fsync")).unwrap();
    let mut times: Vec<f64> = (0..300)
        .map(|_| {
            let begin = Instant::now();
            file.write_all(&[0; 4096]).unwrap();
            file.sync_data().unwrap();
            ms(begin.elapsed())
        })
        .collect();
    times.sort_by(f64::total_cmp);
    p(&times, 50)
}
