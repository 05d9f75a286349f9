//! The binary of the function `timer`.

use std::process::ExitCode;

use dormouse_lambda::{Kind, begin};

fn main() -> ExitCode {
    begin("timer", Kind::Messages, dormouse_timer::handle)
}
