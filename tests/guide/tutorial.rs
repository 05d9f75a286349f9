//! Executes the shell blocks of the quick start and the tutorials as a reader would, against the real binary.
//!
//! Each page has a server, a data folder and a working folder of its own. A block `sh` is executed; a block `sh,no-run` is not.
//! A block `text` after an executed block is the output that the page promises.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::page::{Block, blocks, matches};
use crate::process::{Server, dormouse, folder};
use crate::{pages, repository};

/// Line before the output of a block.
const MARK: &str = "== block ";

/// A block to execute, and the output that the page shows for it.
struct Step<'a> {
    block: &'a Block,
    shown: Option<&'a str>,
}

fn steps(blocks: &[Block]) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut is_open = false;
    for block in blocks {
        match (&*block.info, steps.last_mut()) {
            ("text", Some(last)) if is_open => last.shown = Some(&block.text),
            ("text", _) => panic!("line {}: output of no block", block.line),
            _ => {}
        }
        is_open = block.info == "sh";
        if is_open {
            steps.push(Step { block, shown: None });
        }
    }
    steps
}

/// Executes a page. Returns the number of its blocks.
fn execute(path: &Path) -> usize {
    let name = path.display();
    let text = std::fs::read_to_string(path).unwrap();
    let found = blocks(&text);
    let steps = steps(&found);
    let work = folder();
    for linked in ["functions", "shared"] {
        std::os::unix::fs::symlink(repository().join(linked), work.path().join(linked)).unwrap();
    }
    let data = work.path().join("dormouse-data");
    let server = Server::start(&data);
    let mut script = String::from("exec 2>&1\nset -euo pipefail\n");
    for (number, step) in steps.iter().enumerate() {
        let commands = &step.block.text;
        script.push_str(&format!("echo '{MARK}{number}'\n{commands}\n"));
    }
    let script = script.replace("http://127.0.0.1:7070", &server.urls[0]);

    let binary = PathBuf::from(dormouse().get_program());
    let built = binary.parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{}:{path}", cargo(&work, built), built.display());
    let ran = Command::new("bash")
        .args(["-c", &script])
        .current_dir(work.path())
        .env("PATH", path)
        .env("DORMOUSE_URL", &server.urls[0])
        .env("DORMOUSE_DATA", &data)
        .env("NO_COLOR", "1")
        .env_remove("DORMOUSE_API_KEY")
        .output()
        .unwrap();
    let output = String::from_utf8(ran.stdout).unwrap();
    let output = output.replace(&server.urls[0], "http://127.0.0.1:7070");
    let parts: Vec<&str> = output.split(MARK).skip(1).collect();
    for (number, step) in steps.iter().enumerate() {
        let line = step.block.line;
        let part = parts.get(number).and_then(|part| part.split_once('\n'));
        let (_, said) = part.unwrap_or_else(|| panic!("{name}:{line} was not reached: {output}"));
        if let Some(shown) = step.shown {
            let lines: Vec<&str> = said.lines().collect();
            let expected: Vec<&str> = shown.lines().collect();
            assert!(
                matches(&lines, &expected),
                "{name}:{line} shows\n{shown}\nand the commands print\n{said}"
            );
        }
    }
    assert!(ran.status.success(), "{name} failed: {output}");
    steps.len()
}

/// Folder of a `cargo` that builds an example as the tests are built, so that nothing is built twice, and executes it.
fn cargo(work: &tempfile::TempDir, built: &Path) -> String {
    let folder = work.path().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let (repository, target) = (repository(), built.parent().unwrap().to_owned());
    let script = format!(
        r#"#!/usr/bin/env bash
set -euo pipefail
[[ "$*" =~ ^(build|run)\ --quiet\ --package\ dormouse-sdk\ --example\ ([a-z_]+)$ ]] || exit 64
name=${{BASH_REMATCH[2]}}
if [ "$1" = build ]; then
  cd '{repository}'
  exec '{cargo}' build --quiet --workspace --features dormouse-tests/aws,dormouse/aws --locked --offline \
    --target-dir '{target}' --example "$name"
fi
exec '{built}/examples/'"$name"
"#,
        repository = repository.display(),
        cargo = env!("CARGO"),
        target = target.display(),
        built = built.display(),
    );
    let file = folder.join("cargo");
    std::fs::write(&file, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&file, executable).unwrap();
    folder.display().to_string()
}

#[test]
fn the_page_of_rust_shows_the_example_that_is_built() {
    let page = std::fs::read_to_string(pages().join("first-activity/rust.md")).unwrap();
    let shown = blocks(&page).into_iter().find(|b| b.info == "rust");
    let example = repository().join("shared/sdk/rust/examples/first_activity.rs");
    assert_eq!(
        shown.unwrap().text,
        std::fs::read_to_string(example).unwrap()
    );
}

#[test]
fn the_first_activities_work_as_they_are_written() {
    execute_all("first-activity", 3);
}

#[test]
fn the_quick_start_works_as_it_is_written() {
    assert!(execute(&pages().join("quick-start.md")) >= 4);
}

#[test]
fn the_tutorials_work_as_they_are_written() {
    execute_all("tutorials", 5);
}

/// Executes all pages of a folder beside each other.
fn execute_all(folder: &str, least: usize) {
    let mut names: Vec<PathBuf> = std::fs::read_dir(pages().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    assert!(names.len() >= least, "{names:?}");
    std::thread::scope(|scope| {
        let pages = names.iter();
        let running = pages.map(|name| scope.spawn(move || (name, execute(name))));
        let running: Vec<_> = running.collect();
        for thread in running {
            let (name, count) = thread.join().unwrap();
            assert!(count >= 2, "{} has {count} blocks", name.display());
        }
    });
}
