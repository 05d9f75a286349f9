//! The binary `dormouse`: a server of N nodes, and the command line.

mod cli;
mod client;
mod command;
mod definition_file;
mod drawing;
mod exit;
mod failure;
mod handlers;
mod input;
mod key;
mod moment;
mod progress;
mod reach;
mod retention;
mod screen;
mod server;
mod text_table;
mod wait;
mod webhook;
mod xml;

fn main() -> std::process::ExitCode {
    cli::main().into()
}
