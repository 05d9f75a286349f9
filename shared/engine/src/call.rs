//! Calls that an activity asks the shell to make, and their answers.
//!
//! A call is recorded as a bookmark and committed before it is made, so that a crash repeats at most the call in flight, under the same key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::effect::Child;
use crate::id::BookmarkId;
use crate::instance::SubStatus;

/// A call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Request {
    /// An HTTP request.
    Http(HttpRequest),
    /// Start a child and run it until it waits or ends (Elsa's ExecuteWorkflow).
    ExecuteWorkflow(Child),
    /// Say whether a workflow is published, so that a child of it can be started. This only asks: unlike the other
    /// calls it changes nothing and needs no commit before it.
    FindWorkflow {
        /// The definition's id.
        definition_id: String,
    },
}

/// An HTTP request that an activity wants made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HttpRequest {
    /// GET, POST and so on, upper case.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// Headers in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(with = "serde_bytes", skip_serializing_if = "Option::is_none")]
    pub body: Option<Vec<u8>>,
    /// How long to wait for the answer, milliseconds. 0: the shell's default.
    pub timeout_ms: u64,
    /// What the receiver can tell a repetition by: `instance/serial/attempt-free` text, the same for every repetition of this call.
    pub idempotency_key: String,
}

/// A call to make now.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The bookmark that waits for the answer; also the call's identity.
    pub bookmark: BookmarkId,
    /// What to do.
    pub request: Request,
}

/// The answer of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Answer {
    /// An HTTP response of any status.
    Http {
        /// The status code.
        status: u16,
        /// Headers, names in lower case.
        headers: BTreeMap<String, Vec<String>>,
        /// The body.
        #[serde(with = "serde_bytes")]
        body: Vec<u8>,
    },
    /// No connection, or it broke.
    FailedToConnect {
        /// Why.
        message: String,
    },
    /// No answer in time.
    TimedOut,
    /// The request was not made, because it must not be: a forbidden address, a malformed URL.
    Refused {
        /// Why, and what to do.
        message: String,
    },
    /// A child ran until it waits or ended.
    Executed {
        /// What it does or how it ended.
        sub_status: SubStatus,
        /// Its outputs.
        output: Map<String, Value>,
    },
    /// The workflow is published.
    Found,
    /// There is no such workflow, or it may not be started.
    NotStarted {
        /// Why.
        message: String,
    },
}

/// What a workflow answers to the HTTP request that waits for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// Headers in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(with = "serde_bytes")]
    pub body: Vec<u8>,
}
