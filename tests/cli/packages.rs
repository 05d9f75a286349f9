//! The packages that are published carry the binary to a machine without Rust: each is made from this build and installed
//! by the program that its users have.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BINARY: &str = env!("CARGO_BIN_EXE_dormouse");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a command, which must succeed, and gives what it prints.
fn run(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let said = String::from_utf8_lossy(&stdout).into_owned();
    let errors = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {status}\n{said}{errors}");
    said
}

/// This machine's name among the targets of a release. `None`: nothing is released for it.
fn target() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("x86_64-unknown-linux-gnu"),
        ("linux", "aarch64") => Some("aarch64-unknown-linux-gnu"),
        ("macos", "x86_64") => Some("x86_64-apple-darwin"),
        ("macos", "aarch64") => Some("aarch64-apple-darwin"),
        _other => None,
    }
}

#[test]
fn pip_npm_and_an_archive_install_the_binary() {
    let Some(target) = target() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path();
    let lean = made.join("lean");
    run(Command::new("strip")
        .arg("-o")
        .args([&lean, Path::new(BINARY)]));
    let script = repository().join("infra/release/package.py");
    let packages = made.join("packages");
    run(Command::new("python3")
        .arg(script)
        .arg("--binary")
        .arg(&lean)
        .args(["--target", target, "--folder"])
        .arg(&packages));
    let found: Vec<PathBuf> = std::fs::read_dir(&packages)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let ending = |end: &str| -> Vec<&PathBuf> {
        let name = |path: &&PathBuf| path.to_string_lossy().ends_with(end);
        found.iter().filter(name).collect()
    };
    let own = run(Command::new(BINARY).arg("--version"));

    let python = made.join("python");
    run(Command::new("python3")
        .args(["-m", "pip", "install", "--no-index", "--no-deps", "--quiet"])
        .arg("--target")
        .arg(&python)
        .args(ending(".whl")));
    assert_eq!(
        run(Command::new(python.join("bin/dormouse")).arg("--version")),
        own
    );

    let node = made.join("node");
    std::fs::create_dir(&node).unwrap();
    run(Command::new("npm")
        .args([
            "install",
            "--offline",
            "--no-audit",
            "--no-fund",
            "--silent",
        ])
        .arg("--cache")
        .arg(made.join("cache"))
        .args(ending(".tgz"))
        .current_dir(&node));
    let starter = node.join("node_modules/.bin/dormouse");
    assert_eq!(run(Command::new(&starter).arg("--version")), own);
    // The exit code is the binary's own: 2 for input that it does not take.
    let refused = Command::new(&starter)
        .args(["show", "--no-such-option"])
        .output()
        .unwrap();
    let direct = Command::new(BINARY)
        .args(["show", "--no-such-option"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), direct.status.code());
    assert!(!refused.status.success());

    let sum = ending(".sha256");
    run(Command::new("sha256sum")
        .arg("--check")
        .args(sum)
        .current_dir(&packages));
    run(Command::new("tar")
        .arg("-xzf")
        .args(ending(".tar.gz"))
        .arg("-C")
        .arg(made));
    let version = own.trim().rsplit(' ').next().unwrap();
    let unpacked = made.join(format!("dormouse-{version}-{target}/dormouse"));
    assert_eq!(run(Command::new(unpacked).arg("--version")), own);
}
