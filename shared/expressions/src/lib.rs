//! JavaScript, Liquid and C# over workflow data, within limits of work, memory, depth and output.
//!
//! A script sees what its [`Scope`] shows it and nothing else: no clock, no randomness, no files, no network
//! but what the scope hands in. The same script over the same scope gives the same value, always.
//!
//! # JavaScript
//!
//! A script is planned from its text once (`javascript/plan.rs`), compiled once per thread, and run in an interpreter that all scripts of a
//! thread share and none can change (`javascript/realm.rs`).
//!
//! - Scripts are kept apart because everything in the shared interpreter is frozen, because no code can be made from text in it, and because
//!   global names that a script leaves are removed. `javascript/hazard.rs` only sends a script that changes a builtin to an interpreter of
//!   its own (a millisecond), where it can. A test walks everything that a script can reach.
//! - After a limit, or with a promise job left, the interpreter is discarded.
//! - A limit that is reached outside of the interpreter (a host function, a conversion, a guarded builtin) stops the script with an error
//!   that it cannot catch (`Current::stop`). Builtins that could work natively for hours are charged before they start
//!   (`javascript/prelude/guards.js`). A new builtin of QuickJS needs the same.
//! - QuickJS survives running out of memory, but not a garbage collection that begins there, and not while it compiles. It therefore
//!   collects only between evaluations, and compiles only where there is room.
//! - One operation on one large value is never cut short: up to ten milliseconds for a text that fills the heap, a second for big integers of
//!   a million bits. Each block of 4 KiB or more compares the clock (`javascript/heap.rs`), and is denied when the time is over. A loop of such
//!   operations therefore ends with the current one. The compiler needs its memory, so a text that is compiled at run time has a second of
//!   processor time without that check, one of 64 KiB eleven. Comparing long texts takes no block: a loop of comparisons ends after ten thousand
//!   turns.
//! - A path into one value (`getOrder().customer.name`), which most scripts are, is read without the interpreter (`javascript/path.rs`). A
//!   test holds both ways to the same answers.
//! - The evaluation of many scripts can be cut off as a whole ([`Cut`]): by time, or by the owner of the thread. Its results are discarded.
//!
//! # Liquid
//!
//! Liquid is an interpreter of our own: it reads values where they are, and counts its work as JavaScript does.

mod budget;
mod csharp;
mod cut;
mod dotnet;
mod error;
mod expressions;
mod javascript;
mod library;
mod limits;
mod liquid;
mod moment;
mod processor;
mod scope;
mod script;

pub use cut::Cut;
pub use dotnet::{date_time_text, indented_json_text, json_text, number_text};
pub use error::EvaluationError;
pub use expressions::{Evaluated, Expressions};
pub use library::Library;
pub use limits::Limits;
pub use scope::{Identity, Kind, Scope};
pub use script::{Language, Script};
