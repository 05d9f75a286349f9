//! The real server under attack: clients that send heads and bodies slowly or never, bombs of JSON and archives, frames that no decent
//! client sends, scripts that do not end, and wrong passwords. Normal clients go on, memory and files stay within bounds, and what
//! takes more than its share is told so.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test fails with a sentence"
)]

#[path = "hostile/bombs.rs"]
mod bombs;
#[path = "hostile/certificate.rs"]
mod certificate;
#[path = "hostile/connections.rs"]
mod connections;
#[path = "hostile/everything.rs"]
mod everything;
#[path = "hostile/folder.rs"]
mod folder;
#[path = "hostile/http2.rs"]
mod http2;
#[path = "hostile/multiplying.rs"]
mod multiplying;
#[path = "hostile/scripts.rs"]
mod scripts;
#[path = "hostile/site.rs"]
mod site;
#[path = "hostile/tls.rs"]
mod tls;
