//! HTTP as activities see it: the request that arrived, bodies as values and values as bodies, files, limits.
//!
//! Nothing here talks to anybody. What arrives comes in as plain JSON (see [`Arrived`]), what leaves goes out as a
//! call or an answer.

mod arrived;
mod content;
mod delivery;
mod file;
mod form;
mod header_name;
mod json_error;
mod outgoing;
mod rules;
mod status;
mod zip;

pub use arrived::{Arrived, HTTP_CONTEXT};
pub use file::File;
pub use form::{Form, multipart};
pub use header_name::header_name;
pub use json_error::JsonError;
pub use rules::{Rejection, Rules};

pub(crate) use content::{content, text};
pub use delivery::content_disposition;
pub(crate) use delivery::{delivery, entity_tag, tag_of};
pub(crate) use outgoing::Outgoing;
pub(crate) use status::status;
pub use status::status_name;
pub use zip::archive;
