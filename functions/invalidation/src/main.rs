//! The binary of the function `invalidation`.

use std::process::ExitCode;

use dormouse_lambda::{Kind, begin};

fn main() -> ExitCode {
    begin(
        "invalidation",
        Kind::Messages,
        dormouse_invalidation::handle,
    )
}
