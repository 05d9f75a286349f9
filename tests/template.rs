//! template.yaml and the code are one product: names, keys, limits and variables are the same in both, and no role may
//! more than its function does. That the template is sound as such is the affair of `.ci/template`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod template {
    #[cfg(feature = "aws")]
    mod binaries;
    mod containers;
    #[cfg(feature = "aws")]
    mod environment;
    mod functions;
    mod limits;
    mod policies;
    mod queues;
    #[cfg(feature = "aws")]
    mod table;
}
