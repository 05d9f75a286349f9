//! The guide in `shared/guide`: its tutorials are executed from their own text, and its reference pages are generated from
//! the real binary.
//!
//! `DORMOUSE_BLESS=1 cargo test -p dormouse --test guide` writes the reference pages.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::too_many_lines,
    clippy::wildcard_enum_match_arm,
    reason = "a test may fail, and the table of limits is one list"
)]

#[path = "guide/page.rs"]
mod page;
#[allow(dead_code, reason = "the tier of the command line uses more of it")]
#[path = "cli/process.rs"]
mod process;
#[path = "guide/reference.rs"]
mod reference;
#[path = "guide/tutorial.rs"]
mod tutorial;

use std::path::{Path, PathBuf};

/// Folder of the repository.
fn repository() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.canonicalize().unwrap()
}

/// Folder of the guide's pages.
fn pages() -> PathBuf {
    repository().join("shared/guide/src")
}

#[test]
fn every_alarm_has_a_runbook() {
    let page = std::fs::read_to_string(pages().join("operations/runbooks.md")).unwrap();
    let mut headings: Vec<&str> = page.lines().filter_map(|l| l.strip_prefix("## ")).collect();
    headings.sort_unstable();
    let template = dormouse_tests::template::Template::read();
    let alarms = template.of_type("AWS::CloudWatch::Alarm");
    let alarms: Vec<&str> = alarms.into_keys().collect();
    assert_eq!(headings, alarms);
}
