//! HTTPS that the server speaks itself.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::certificate::{self, Der};
use crate::site::{BINARY, exchange, request};

const LIVE: &str = "/health/live";

/// What a client saw.
struct Told {
    answer: String,
    protocol: Option<Vec<u8>>,
}

/// Asks by HTTPS, trusting one certificate.
fn ask(port: u16, trusted: &Der, path: &str, protocols: &[&[u8]]) -> std::io::Result<Told> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(trusted.clone())).unwrap();
    let provider = rustls::crypto::ring::default_provider();
    let mut config = ClientConfig::builder_with_provider(provider.into())
        .with_protocol_versions(rustls::DEFAULT_VERSIONS)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let name = "localhost".try_into().unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut stream = StreamOwned::new(client, stream);
    stream.write_all(&request("GET", path, "", b""))?;
    let mut answer = Vec::new();
    // A peer may close without a word.
    let _end = stream.read_to_end(&mut answer);
    Ok(Told {
        answer: String::from_utf8_lossy(&answer).into_owned(),
        protocol: stream.conn.alpn_protocol().map(<[u8]>::to_vec),
    })
}

/// A server with a certificate; its port, and what to end it with.
struct Site {
    child: std::process::Child,
    port: u16,
}

impl Drop for Site {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

fn serve(folder: &Path, trusted: &Der, options: &[&str]) -> Site {
    // Taken and given back: it lies below the range of clients.
    let port = (14_000..30_000)
        .step_by(7)
        .skip(std::process::id() as usize % 2_000)
        .find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let child = std::process::Command::new(BINARY)
        .args(["serve", "--quiet", "--port", &port.to_string()])
        .args(["--data", &file("data"), "--tls-cert", &file("cert.pem")])
        .args(["--tls-key", &file("key.pem")])
        .args(options)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let site = Site { child, port };
    let began = Instant::now();
    while ask(port, trusted, LIVE, &[]).is_err() {
        assert!(began.elapsed() < Duration::from_secs(60), "no server");
        std::thread::sleep(Duration::from_millis(20));
    }
    site
}

fn certificate(folder: &Path, name: &str) -> Der {
    certificate::write(&folder.join("cert.pem"), &folder.join("key.pem"), name)
}

#[test]
fn the_server_speaks_https_and_says_so_to_browsers() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = certificate(folder.path(), "first");
    let site = serve(folder.path(), &trusted, &["--require-https"]);
    let told = ask(site.port, &trusted, LIVE, &[b"http/1.1"]).unwrap();
    assert!(told.answer.starts_with("HTTP/1.1 200"), "{}", told.answer);
    assert_eq!(told.protocol.as_deref(), Some(&b"http/1.1"[..]));
    let told = ask(site.port, &trusted, "/elsa/api/package/version", &[]).unwrap();
    assert!(told.answer.starts_with("HTTP/1.1 200"), "{}", told.answer);
    let demanded = "strict-transport-security: max-age=63072000";
    assert!(told.answer.contains(demanded), "{}", told.answer);
    let both: [&[u8]; 2] = [b"h2", b"http/1.1"];
    let told = ask(site.port, &trusted, LIVE, &both).unwrap();
    assert_eq!(told.protocol.as_deref(), Some(&b"h2"[..]));
    // Who speaks plainly is told nothing.
    assert!(exchange(site.port, &request("GET", LIVE, "", b"")).is_err());
    // Another certificate is not trusted, so it is this one that is served.
    let other = tempfile::tempdir().unwrap();
    let stranger = certificate(other.path(), "first");
    assert!(ask(site.port, &stranger, LIVE, &[]).is_err());
}

#[test]
fn a_certificate_that_changes_is_taken_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let first = certificate(folder.path(), "first");
    let site = serve(folder.path(), &first, &[]);
    std::fs::write(folder.path().join("cert.pem"), "nonsense").unwrap();
    std::thread::sleep(Duration::from_secs(3));
    ask(site.port, &first, LIVE, &[]).unwrap();
    let second = certificate(folder.path(), "second");
    let began = Instant::now();
    while ask(site.port, &second, LIVE, &[]).is_err() {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "the new certificate is not served"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(ask(site.port, &first, LIVE, &[]).is_err());
}

#[test]
fn handshakes_that_are_never_finished_are_closed() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = certificate(folder.path(), "first");
    let site = serve(folder.path(), &trusted, &[]);
    let mut held: Vec<TcpStream> = (0..50)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", site.port)).ok()?;
            stream.write_all(&[22, 3, 1, 2, 0]).ok()?;
            Some(stream)
        })
        .collect();
    assert_eq!(held.len(), 50);
    ask(site.port, &trusted, LIVE, &[]).unwrap();
    for stream in &mut held {
        let timeout = Some(Duration::from_secs(30));
        stream.set_read_timeout(timeout).unwrap();
        let mut rest = Vec::new();
        let closed = stream.read_to_end(&mut rest);
        let is_open =
            closed.is_err_and(|e| matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
        assert!(!is_open, "it is still open");
    }
}

#[test]
fn https_is_not_demanded_where_it_cannot_come() {
    let folder = tempfile::tempdir().unwrap();
    let ended = std::process::Command::new(BINARY)
        .args(["serve", "--require-https", "--port", "0", "--data"])
        .arg(folder.path().join("data"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.contains("--tls-cert"), "{told}");
    std::fs::write(folder.path().join("cert.pem"), "nonsense").unwrap();
    std::fs::write(folder.path().join("key.pem"), "nonsense").unwrap();
    let ended = std::process::Command::new(BINARY)
        .args(["serve", "--port", "0", "--data"])
        .arg(folder.path().join("data"))
        .arg("--tls-cert")
        .arg(folder.path().join("cert.pem"))
        .arg("--tls-key")
        .arg(folder.path().join("key.pem"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.contains("cannot be served with"), "{told}");
}
