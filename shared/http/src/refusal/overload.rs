//! What the caller hears when a request would take more than the server gives to one, or has left for all.

use axum::http::StatusCode;
use dormouse_runtime::identity::SignInError;
use dormouse_runtime::port::ComputeError;

use super::{Facts, Refusal};

/// Why a request was shed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant's sentence is in `facts`")]
pub enum Overload {
    Memory,
    Queue,
    Connections,
    Lost,
    SlowBody,
    TooManyValues,
    Polls,
}

impl Overload {
    pub(crate) fn facts(self) -> Facts {
        use StatusCode as S;
        let (status, code, detail) = match self {
            Self::Memory => (
                S::SERVICE_UNAVAILABLE,
                "overloaded",
                "nothing was done: the requests that the server works on take all the memory that it gives them; try again in a moment, or send less at once",
            ),
            Self::Queue => (
                S::SERVICE_UNAVAILABLE,
                "overloaded",
                "nothing was done: too much work is queued; try again in a moment",
            ),
            Self::Connections => (
                S::SERVICE_UNAVAILABLE,
                "overloaded",
                "nothing was done: the server holds as many connections as it may, and all are at work; try again in a moment",
            ),
            Self::Lost => (
                S::INTERNAL_SERVER_ERROR,
                "internal",
                "something went wrong inside the server; its log says what. Try again later",
            ),
            Self::SlowBody => (
                S::REQUEST_TIMEOUT,
                "bodyTooSlow",
                "nothing was done: the body arrives too slowly; send at least 8 KiB each second",
            ),
            Self::TooManyValues => (
                S::PAYLOAD_TOO_LARGE,
                "tooManyValues",
                "nothing was done: the JSON has too many objects and values for one request; send it in several parts",
            ),
            Self::Polls => (
                S::SERVICE_UNAVAILABLE,
                "tooManyPolls",
                "nothing was done: as many requests for tasks wait as may; ask again in a moment, or ask for more tasks at once",
            ),
        };
        Facts {
            status,
            code,
            detail: detail.to_owned(),
        }
    }
}

impl From<Overload> for Refusal {
    fn from(overload: Overload) -> Self {
        Self::Overload(overload)
    }
}

impl From<SignInError> for Refusal {
    fn from(error: SignInError) -> Self {
        match error {
            SignInError::Runtime(error) => error.into(),
            SignInError::Compute(error) => error.into(),
        }
    }
}

impl From<ComputeError> for Refusal {
    fn from(error: ComputeError) -> Self {
        match error {
            ComputeError::Saturated(_) => Overload::Queue.into(),
            ComputeError::Lost => Overload::Lost.into(),
        }
    }
}
