//! The binary of the function `resume`.

use std::process::ExitCode;

use dormouse_lambda::{Kind, begin};

fn main() -> ExitCode {
    begin("resume", Kind::Messages, dormouse_resume::handle)
}
