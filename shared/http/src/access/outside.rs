//! The routes beside the API.

use super::Access::{Any, Anybody};
use super::{ALL, GET, GET_POST, POST, Rule, rule};

/// All routes beside the API.
pub const OUTSIDE: &[Rule] = &[
    rule(GET, "/health/live", Anybody),
    rule(GET, "/health/ready", Anybody),
    rule(GET, "/metrics", Any(&["read:metrics"])),
    // Who has a link may follow it; the handler records that.
    rule(GET_POST, "/links/{secret}", Anybody),
    // Who has a webhook's secret signs what he sends.
    rule(POST, "/webhooks/{id}", Anybody),
    // Who they are is what they come to show.
    rule(GET, "/sign-in", Anybody),
    rule(GET, "/sign-in/callback", Anybody),
    rule(GET, "/sign-out", Anybody),
    // An endpoint asks for what its workflow demands.
    rule(ALL, "/workflows", Anybody),
    rule(ALL, "/workflows/", Anybody),
    rule(ALL, "/workflows/{*path}", Anybody),
];
