//! The one route table: Elsa's REST API under `/elsa/api`, HTTP workflows under `/workflows`, resume
//! links under `/links`, health, metrics.
//!
//! A route reads its request, calls one use case of the runtime and writes the answer as Elsa spells it. Whatever
//! is refused is refused by [`Refusal`], whose status, code and sentence are chosen in one file.
//!
//! # Access control
//!
//! `access.rs`, `gate.rs`, and `runtime/src/identity/`:
//!
//! - One table has every route with Elsa's permissions and its name in the audit log. A route that is not in it fails a test, and is rejected
//!   wherever credentials are required. An [`App`] accepts no credential until it is configured.
//! - A handler receives the server as `Scoped`, with the tenant of the credential. A request does not name a tenant.
//! - Keys and links are stored as SHA-256 of 256 random bits, passwords as Argon2id. What signs is stored as it is: the secrets of webhooks, and the
//!   keys of our own tokens, one for each month, known by `kid`.
//! - A session of a user is an item (`store/src/identity/session.rs`) with the number of the valid refresh token. An earlier number ends the session,
//!   except within 30 seconds, in which two tabs may renew at once, or again after a lost answer. Access tokens name their session, too.
//! - The kind of a key decides the algorithm of a token, never the token. A token names its user. The permissions are looked up and cached for ten
//!   seconds. A change on the same node is in force at once.
//! - A caller cannot grant permissions that they do not have, nor change a user with more permissions.
//! - The audit log is written after the operation and before the answer, and read in the order in which a node wrote it. Without authentication,
//!   no caller is recorded.
//! - The first credentials of a table that one machine owns are made by its server. Those of a shared table are made by an operator with write access
//!   (`dormouse key`): the log of a container contains no password.
//! - Limits on failed attempts are per process and client address: 30 unknown links at once and one more each 2 s, 10 wrong passwords and one more
//!   each 6 s. They slow guessing down; 256 bits make it hopeless.
//!
//! # Bounds
//!
//! - The memory of a request (`memory.rs`) is taken from a budget of the process before its body is read and before JSON is parsed, and returned with its
//!   answer. Connections (`functions/local/src/server/admission.rs`) are bounded in total and by address.
//! - A connection speaks HTTP/1.1 or HTTP/2, by ALPN or by its first bytes (`functions/local/src/server/connection.rs`). On HTTP/2 it takes 32
//!   requests at once. A request beside others has no free memory (`Beside`), and each answer must be taken in time (`taken.rs`), because a connection
//!   that moves says nothing about each of its answers.
//! - glibc keeps freed memory. The server bounds its arenas and returns free pages after a peak (`heap.rs` there).

mod absent;
pub mod access;
mod activity_execution;
mod activity_test;
mod activity_type;
mod administration;
mod alteration;
mod app;
mod body;
mod bookmark;
mod client_address;
mod dead_letter;
mod definition;
mod descriptor;
mod event;
mod exception;
mod gate;
mod headers;
mod health;
mod heavy;
mod identity;
mod instance;
mod known_clients;
mod link;
mod made_once;
mod memory;
mod metrics;
mod openapi;
mod origin;
mod path;
mod problem;
mod query;
mod rate_limit;
mod refusal;
mod router;
mod schedule;
mod scoped;
mod script;
mod secret;
mod stage;
mod task;
mod unzip;
mod webhook;
mod workflow;

pub use app::{App, HttpConfig};
pub use client_address::ClientAddress;
pub use health::overloaded;
pub use instance::model::state as workflow_state;
pub use memory::Beside;
pub use metrics::MetricsPage;
pub use origin::Encrypted;
pub use refusal::{Operating, Overload, Refusal};
pub use router::router;
