//! The binary of the function `api`.

use std::process::ExitCode;

use dormouse_lambda::{Kind, begin};

fn main() -> ExitCode {
    begin("api", Kind::Requests, dormouse_api::handle)
}
