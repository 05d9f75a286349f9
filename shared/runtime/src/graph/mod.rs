//! Definitions ready to run, as data: compiled graphs, which versions they are of, and the cache of both.

pub(crate) mod bindings;
pub(crate) mod cache;
pub(crate) mod http_route;
pub(crate) mod pin;
pub(crate) mod version_extra;
