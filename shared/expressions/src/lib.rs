//! JavaScript, Liquid and C# over workflow data, within limits of work, memory, depth and output.
//!
//! A script sees what its [`Scope`] shows it and nothing else: no clock, no randomness, no files, no network
//! but what the scope hands in. The same script over the same scope gives the same value, always.

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
mod scope;
mod script;

pub use cut::Cut;
pub use dotnet::{date_time_text, json_text, number_text};
pub use error::EvaluationError;
pub use expressions::{Evaluated, Expressions};
pub use library::Library;
pub use limits::Limits;
pub use scope::{Identity, Kind, Scope};
pub use script::{Language, Script};
