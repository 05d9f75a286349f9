//! The commands, one file each.

pub(crate) mod activity;
pub(crate) mod alter;
mod altered;
pub(crate) mod apply;
pub(crate) mod backup;
pub(crate) mod cancel;
pub(crate) mod cost;
pub(crate) mod dead_letters;
pub(crate) mod delete;
pub(crate) mod doctor;
pub(crate) mod event;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod incidents;
pub(crate) mod init;
pub(crate) mod key;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod logs;
mod pages;
pub(crate) mod pause;
mod place;
pub(crate) mod publish;
pub(crate) mod resume;
pub(crate) mod retry;
pub(crate) mod run;
pub(crate) mod schedules;
pub(crate) mod schema;
pub(crate) mod secrets;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod start;
pub(crate) mod studio;
pub(crate) mod task;
pub(crate) mod test;
mod traces;
pub(crate) mod validate;
pub(crate) mod verify;
pub(crate) mod watch;

use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::wait;

/// A text in the server's answer; empty if it is not there.
fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A list in the server's answer.
fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    let list = value.get(name).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// An idempotency key, if one is given.
fn idempotency_key(given: Option<&str>) -> Result<Option<&str>, Failure> {
    if given.is_some_and(str::is_empty) {
        let failure = Failure::new(Exit::BadInput, "badInput", "the idempotency key is empty");
        return Err(failure.help("give --key a text, or leave it out"));
    }
    Ok(given)
}

/// Tells what a burst did, where its instance stands now, and which commands continue from there.
fn tell_burst(screen: &Screen, answer: &Value) -> Exit {
    let exit = tell_end(screen, answer);
    let id = text(answer, "workflowInstanceId");
    wait::tell(screen, id, items(answer, "bookmarks"));
    if text(answer, "subStatus") == "Faulted" {
        screen.line(format!("See what failed: dormouse show {id}"));
    }
    exit
}

/// Tells what a burst did.
fn tell_end(screen: &Screen, answer: &Value) -> Exit {
    screen.value(answer);
    for line in items(answer, "lines") {
        screen.line(format!("  {}", line.as_str().unwrap_or_default()));
    }
    let sub_status = text(answer, "subStatus");
    screen.line(format!("Status: {}", screen.status(sub_status)));
    let output = answer.get("output").and_then(Value::as_object);
    if let Some(output) = output.filter(|o| !o.is_empty()) {
        screen.line(format!("Output: {}", Value::Object(output.clone())));
    }
    ended(sub_status)
}

/// The exit code for how an instance stands.
fn ended(sub_status: &str) -> Exit {
    match sub_status {
        "Faulted" | "Cancelled" => Exit::Failed,
        _ => Exit::Ok,
    }
}
