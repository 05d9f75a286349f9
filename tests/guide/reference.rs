//! Reference pages, generated from the binary, the engine's activity types, the metrics, the limits in the code and
//! template.yaml.

#[path = "reference/command_line.rs"]
mod command_line;
#[path = "reference/limits.rs"]
mod limits;
#[path = "reference/lists.rs"]
mod lists;

use crate::pages;

/// Compares a page with the generated one. `DORMOUSE_BLESS=1` writes it.
#[track_caller]
fn is_up_to_date(name: &str, page: &str) {
    let path = pages().join("reference").join(name);
    if std::env::var_os("DORMOUSE_BLESS").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "{name} is not what the code says; `DORMOUSE_BLESS=1 cargo test -p dormouse --test guide` writes it"
    );
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

#[test]
fn the_page_of_the_command_line_is_up_to_date() {
    is_up_to_date("cli.md", &command_line::page());
}

#[test]
fn the_page_of_the_configuration_is_up_to_date() {
    is_up_to_date("configuration.md", &command_line::configuration());
}

#[test]
fn the_page_of_the_activities_is_up_to_date() {
    is_up_to_date("activities.md", &lists::activities());
}

#[test]
fn the_page_of_the_metrics_is_up_to_date() {
    is_up_to_date("metrics.md", &lists::metrics());
}

#[test]
fn the_page_of_the_limits_is_up_to_date() {
    is_up_to_date("limits.md", &limits::page());
}
