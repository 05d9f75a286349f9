//! Bombs of JSON and archives, and bodies whose end is withheld.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use dormouse_engine::http::{File, archive};
use dormouse_tests::server::Server;

use crate::site::{MEMORY_BYTES_MAX, exchange, request, server};

/// What a server may keep after a peak, besides what it had before.
const KEPT_BYTES_MAX: u64 = 48 << 20;

/// Waits until the server has given memory back.
#[track_caller]
fn falls_below(server: &Server, bytes: u64) {
    let began = Instant::now();
    loop {
        let now = server.memory_bytes();
        if now < bytes {
            println!("resident: {} MB afterwards", now >> 20);
            return;
        }
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "{} MB are kept, of which {} may be",
            now >> 20,
            bytes >> 20
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A request that uploads an archive of definitions.
pub(crate) fn upload(key: &str, archive: &[u8]) -> Vec<u8> {
    let headers = format!("{key}Content-Type: multipart/form-data; boundary=b\r\n");
    let head = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.zip\"\r\n\r\n";
    let body = [head.as_bytes(), archive, b"\r\n--b--\r\n"].concat();
    let path = "/elsa/api/workflow-definitions/import-files";
    request("POST", path, &headers, &body)
}

/// An archive whose files are a hundred times as large as it is.
pub(crate) fn archive_bomb() -> Vec<u8> {
    let json = format!("[{}0]", "{\"\":0},".repeat(200_000));
    let packed = miniz_oxide::deflate::compress_to_vec(json.as_bytes(), 6);
    let file = |name: String| File {
        name,
        bytes: packed.clone(),
        ..File::default()
    };
    let files: Vec<File> = (0..20).map(|n| file(format!("{n}.json"))).collect();
    let mut zip = archive(&files).unwrap();
    // They are stored; each head and each entry of the directory says that they are deflated.
    let places: Vec<usize> = (0..zip.len() - 4)
        .filter_map(|at| match &zip[at..at + 4] {
            b"PK\x03\x04" => Some(at + 8),
            b"PK\x01\x02" => Some(at + 10),
            _ => None,
        })
        .collect();
    for place in places {
        zip[place] = 8;
    }
    zip
}

#[test]
fn archives_that_unpack_to_very_much_are_refused_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (server, key) = server(folder.path());
    let before = server.memory_bytes();
    let bomb = upload(&key, &archive_bomb());
    let port = server.port;
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let sending = (0..8).map(|_| scope.spawn(|| exchange(port, &bomb).unwrap().0));
        let sending: Vec<_> = sending.collect();
        sending.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let is_refused = |status: &u16| matches!(status, 400 | 413 | 503);
    assert!(statuses.iter().all(is_refused), "{statuses:?}");
    let most = server.memory_bytes();
    println!("{} KB of archive: {} MB", bomb.len() >> 10, most >> 20);
    assert!(most < MEMORY_BYTES_MAX, "{most}");
    falls_below(&server, before + KEPT_BYTES_MAX);
}

#[test]
fn small_bodies_of_many_connections_are_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = server(folder.path());
    let before = server.memory_bytes();
    let head = request("POST", "/elsa/api/identity/login", "", &[b' '; 16_000]);
    let withheld: Vec<_> = (0..800)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port)).ok()?;
            stream.write_all(&head[..head.len() - 1]).ok()?;
            Some(stream)
        })
        .collect();
    assert_eq!(withheld.len(), 800);
    std::thread::sleep(Duration::from_secs(1));
    let most = server.memory_bytes();
    println!("resident: {} MB with 800 small bodies", most >> 20);
    assert!(most < MEMORY_BYTES_MAX, "{most}");
    drop(withheld);
    falls_below(&server, before + KEPT_BYTES_MAX);
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
    falls_below(&server, before + KEPT_BYTES_MAX);
}
