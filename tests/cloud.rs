//! The whole product on an emulator of AWS: template.yaml, deployed by its script, with the real functions behind it.
//!
//! One test, because one deployment serves it all, and because what the functions called on the whole way is compared
//! with their policies at its end. It wants the programs to be built: run it alone by
//! `cargo build --workspace --bins --test cloud --features dormouse-tests/aws,dormouse/aws` and then
//! `cargo test -p dormouse-tests --features aws --test cloud`. `DORMOUSE_PROGRAMS` names another folder of programs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod cloud {
    mod calls;
    mod dead_letters;
    mod large;
    mod mailbox;
    mod node;
    mod nodes;
    mod verify;
    mod ways;
    mod whole;
}
