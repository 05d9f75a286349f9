//! A DynamoDB-compatible server in a process of its own: dynoxide over a file. It can be killed and started again,
//! and what it acknowledged is still there.
//!
//! The process is the test itself, started once more; so the test begins with [`serve_if_asked`].

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;

/// The file and the port, for the process that serves.
const FILE: &str = "DORMOUSE_TEST_DATABASE_FILE";
const PORT: &str = "DORMOUSE_TEST_DATABASE_PORT";

/// How long it may take to start on a busy machine.
const START_MAX: Duration = Duration::from_secs(60);

/// A running server. Dropping it kills it.
pub struct Database {
    test: &'static str,
    file: PathBuf,
    port: u16,
    child: Option<Child>,
}

/// In the process that serves: serves until it is killed, or the test is gone. Else returns at once.
pub fn serve_if_asked() {
    let (Ok(file), Ok(port)) = (std::env::var(FILE), std::env::var(PORT)) else {
        return;
    };
    std::thread::spawn(|| {
        // The test holds the other end, however it ends.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let database = dynoxide::Database::new(&file).expect("dynoxide opens its file");
        let port: u16 = port.parse().expect("a port");
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port))
            .await
            .expect("the port is free");
        dynoxide::server::serve_on(listener, database).await;
    });
    std::process::exit(0);
}

impl Database {
    /// Starts one over a file, for the test of this name, which begins with [`serve_if_asked`].
    #[must_use]
    pub fn start(test: &'static str, file: &Path) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let mut database = Self {
            test,
            file: file.to_owned(),
            port: free.expect("a free port").port(),
            child: None,
        };
        database.start_again();
        database
    }

    /// Starts it again after it was killed, at the same place.
    pub fn start_again(&mut self) {
        let child = Command::new(std::env::current_exe().expect("this test's file"))
            .args(["--exact", self.test, "--nocapture"])
            .env(FILE, &self.file)
            .env(PORT, self.port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("a test can start itself");
        self.child = Some(child);
        let begin = Instant::now();
        while !self.answers() {
            assert!(begin.elapsed() < START_MAX, "the database does not answer");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn answers(&self) -> bool {
        let ask = || -> std::io::Result<usize> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
            stream.read(&mut [0; 64])
        };
        ask().is_ok_and(|read| read > 0)
    }

    /// Kills it as `kill -9` does.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Where it is, like `http://127.0.0.1:41234`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.kill();
    }
}
