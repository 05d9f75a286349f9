//! Workflows run over the pure engine in memory, with a virtual clock and a mocked outside world.
//!
//! [`Host`] is the shell: it starts instances, carries out effects and moves the clock. [`TestFile`] is a file of workflow
//! tests, and [`Trial`] runs its cases. Nothing here reads a clock or a file, or opens a connection.

mod check;
mod coverage;
mod document;
pub mod host;
mod library;
mod mock;
mod request;
mod test_file;
mod trial;

pub use check::{Answered, Check, Wanted};
pub use coverage::{ActivityCoverage, Coverage, OutcomeCoverage};
pub use document::{Document, FileError};
pub use host::{BEGIN, Host, Kept, Recipient, Task};
pub use library::Library;
pub use mock::{Mocks, Report, Rule, TaskMock};
pub use request::{Request, request};
pub use test_file::{Act, Case, Located, Step, TestFile, span_ms};
pub use trial::{Failure, Outcome, Trial, Unready};
