//! HTTP requests that leave: one client for workflows and tools, and the guard that every request passes.
//!
//! A name is resolved once, each address is checked, and the connection is made to a checked address. Redirects
//! are followed here and pass the same guard.

mod address;
mod connector;
mod egress;
mod network;
mod redirect;

pub use address::is_public;
pub use connector::{Names, Reach};
pub use egress::{Egress, EgressConfig};
pub use network::{Network, NotANetwork};
