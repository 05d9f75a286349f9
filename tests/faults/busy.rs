//! Timers that fall due while what they wake is busy, and recurring ones.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use dormouse_tests::api::{journal, look, publish, seen, start};
use dormouse_tests::primitives::{delay, parallel, sequence};
use dormouse_tests::{activity, workflow};

use super::{server, until};

/// A service that takes this long for each request.
fn slow_service(takes: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            std::thread::spawn(move || {
                let _read = connection.read(&mut [0; 4_096]).unwrap();
                std::thread::sleep(takes);
                let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                connection.write_all(answer.as_bytes()).unwrap();
            });
        }
    });
    url
}

fn call(url: &str) -> dormouse_tests::Activity {
    activity("Elsa.SendHttpRequest")
        .id("call")
        .input("url", url)
        .input("method", "GET")
}

#[test]
fn a_timer_that_is_due_while_its_instance_is_busy_fires_when_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    let mut client = server.client(0);
    let url = slow_service(Duration::from_millis(1_500));
    let both = parallel([
        sequence([delay("00:00:01").id("first"), call(&url)]),
        delay("00:00:01.5").id("second"),
    ]);
    publish(&mut client, workflow("both", both).json());
    let started = start(&mut client, "both", "k").unwrap().json();
    let id = seen(&started["workflowState"]).id;
    until(&server, || {
        let seen = look(&mut client, &id).unwrap();
        seen.is_some_and(|seen| seen.sub_status == "Finished")
    });
    let lines = journal(&mut client, &id).unwrap();
    let at = |activity: &str, event: &str| {
        let is_it = |l: &&serde_json::Value| l["activityId"] == activity && l["eventName"] == event;
        let line = lines.iter().find(is_it).unwrap();
        let text = line["timestamp"].as_str().unwrap().to_owned();
        // All of one minute, or of two that follow each other.
        let parts: Vec<f64> = text[14..]
            .trim_end_matches('Z')
            .split(':')
            .map(|p| p.parse().unwrap())
            .collect();
        parts[0] * 60.0 + parts[1]
    };
    let late = (at("second", "Resumed") - at("call", "Completed")).rem_euclid(3_600.0);
    // A look by itself comes after five seconds.
    assert!(!(3.0..3_590.0).contains(&late), "{late} s: {lines:#?}");
}

#[test]
fn a_recurring_trigger_keeps_its_rhythm_while_its_workflow_takes_longer_than_its_period() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    let mut client = server.client(0);
    let url = slow_service(Duration::from_millis(1_500));
    let timer = activity("Elsa.Timer")
        .id("timer")
        .trigger()
        .input("interval", "00:00:01");
    publish(
        &mut client,
        workflow("ticks", sequence([timer, call(&url)])).json(),
    );
    let begin = Instant::now();
    let ticks = |client: &mut dormouse_tests::http_client::Client| {
        let path = "/elsa/api/workflow-instances?definitionId=ticks&pageSize=100";
        let listed = client.get(path).unwrap().json();
        listed["totalCount"].as_u64().unwrap()
    };
    until(&server, || ticks(&mut client) >= 6);
    // By looks alone, one in five seconds, six would take 26.
    assert!(
        begin.elapsed() < Duration::from_secs(22),
        "{:?}",
        begin.elapsed()
    );
}
