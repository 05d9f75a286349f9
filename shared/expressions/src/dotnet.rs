//! .NET's format strings for dates, numbers and composite texts, in the invariant culture.

mod composite;
mod date;
mod json;
mod number;
mod pattern;
mod span;
mod text;

pub(crate) use composite::{Part, format_parts};
pub(crate) use date::format_date;
pub use json::{indented_json_text, json_text};
pub(crate) use number::{format_exact, format_number};
pub(crate) use span::Span;
pub use text::{date_time_text, number_text};
