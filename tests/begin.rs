//! A function's binary in an environment that says nothing: it says what is missing, and ends. One file for all of
//! them; each package builds it for its own binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::path::PathBuf;
use std::process::Command;

/// The binary, which has the package's name and lies above the tests.
fn binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(|deps| deps.parent()).unwrap();
    folder.join(env!("CARGO_PKG_NAME"))
}

#[test]
fn a_function_without_an_environment_says_what_to_set() {
    let output = Command::new(binary())
        .env_clear()
        // Nobody listens there: whoever starts it by hand reads the log.
        .env("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9")
        .output()
        .expect("the binary can be started");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("DORMOUSE_TABLE is not set"), "{said}");
}
