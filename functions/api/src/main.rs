//! The binary of the function `api`.

use std::process::ExitCode;
use std::sync::Arc;

use dormouse_api::Api;
use dormouse_lambda::{Kind, begin};

fn main() -> ExitCode {
    let api = Arc::new(Api::default());
    begin(
        "api",
        Kind::Requests,
        move |function, event, deadline_ms| Arc::clone(&api).handle(function, event, deadline_ms),
    )
}
