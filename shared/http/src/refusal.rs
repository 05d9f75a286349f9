//! Every way a request is refused, and what the caller hears of it: status, code and sentence, in this one file.
//!
//! Codes are stable; sentences say what to do. Causes go to the log. How the answer is written is `problem.rs`'s business.

use axum::http::StatusCode;
use dormouse_engine::definition::DefinitionError;
use dormouse_engine::graph::Problem;
use dormouse_runtime::{RuntimeError, StoreError, TableError};

/// Why a request was refused.
#[derive(Debug)]
#[allow(missing_docs, reason = "each variant's sentence is in `facts`")]
pub enum Refusal {
    NoSuchRoute {
        path: String,
    },
    MethodNotAllowed {
        method: String,
        path: String,
    },
    BodyTooLarge {
        limit: usize,
    },
    BodyBroken {
        reason: String,
    },
    NotJson {
        reason: String,
    },
    JsonTooDeep {
        limit: usize,
    },
    WrongShape {
        reason: String,
    },
    BadParameter {
        name: &'static str,
        value: String,
    },
    NotADefinition(DefinitionError),
    InvalidDefinition(Vec<Problem>),
    NoSuchDefinition {
        id: String,
    },
    DefinitionReadOnly {
        id: String,
    },
    DefinitionNotPublished {
        id: String,
    },
    NoSuchInstance {
        id: String,
    },
    InstanceDeleted {
        id: String,
    },
    InstanceEnded {
        id: String,
        sub_status: String,
    },
    StartRefused {
        id: String,
        holder: String,
    },
    BookmarkGone {
        instance_id: String,
        open: Vec<String>,
    },
    BookmarkNotYetOpen {
        instance_id: String,
    },
    WhichBookmark {
        instance_id: String,
        open: Vec<String>,
    },
    NoSuchTask {
        id: String,
    },
    NoSuchDeadLetter {
        id: String,
    },
    NoWorkflowListens {
        path: String,
    },
    SeveralWorkflowsListen {
        path: String,
        workflows: Vec<String>,
    },
    ForeignHost,
    ForeignPage,
    Draining,
    Runtime(RuntimeError),
}

/// What a refusal looks like from outside.
pub(crate) struct Facts {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) detail: String,
}

impl Refusal {
    pub(crate) fn bad_parameter(name: &'static str, value: &str) -> Self {
        Self::BadParameter {
            name,
            value: value.to_owned(),
        }
    }

    #[allow(clippy::too_many_lines, reason = "one table of all refusals")]
    /// What the caller hears of it.
    pub(crate) fn facts(&self) -> Facts {
        use StatusCode as S;
        let (status, code, detail) = match self {
            Self::NoSuchRoute { path } => (
                S::NOT_FOUND,
                "noSuchRoute",
                format!("there is nothing at `{path}`; the API is under /elsa/api and HTTP workflows are under /workflows"),
            ),
            Self::MethodNotAllowed { method, path } => (
                S::METHOD_NOT_ALLOWED,
                "methodNotAllowed",
                format!("`{path}` does not take {method}; the header `Allow` lists what it takes"),
            ),
            Self::BodyTooLarge { limit } => (
                S::PAYLOAD_TOO_LARGE,
                "bodyTooLarge",
                format!("the body has more than {limit} bytes, which is the limit; send less"),
            ),
            Self::BodyBroken { reason } => (
                S::BAD_REQUEST,
                "bodyBroken",
                format!("the body did not arrive whole ({reason}); send the request again"),
            ),
            Self::NotJson { reason } => (
                S::BAD_REQUEST,
                "notJson",
                format!("the body is not JSON: {reason}"),
            ),
            Self::JsonTooDeep { limit } => (
                S::BAD_REQUEST,
                "jsonTooDeep",
                format!("the JSON is nested deeper than {limit} levels, which is the limit; flatten it"),
            ),
            Self::WrongShape { reason } => (
                S::BAD_REQUEST,
                "wrongShape",
                format!("the JSON is not what is expected here: {reason}"),
            ),
            Self::BadParameter { name, value } => (
                S::BAD_REQUEST,
                "badParameter",
                format!("the parameter `{name}` cannot be `{value}`; see Elsa's API for what it takes"),
            ),
            Self::NotADefinition(error) => match error {
                DefinitionError::TooLarge { .. } => (S::PAYLOAD_TOO_LARGE, "definitionTooLarge", error.to_string()),
                DefinitionError::NotJson(_) | DefinitionError::NoRoot => (S::BAD_REQUEST, "notADefinition", error.to_string()),
            },
            Self::InvalidDefinition(problems) => (
                S::BAD_REQUEST,
                "invalidDefinition",
                format!("the definition is saved but not published: {} of its problems are errors; correct them and publish again",
                    problems.iter().filter(|p| p.is_error).count()),
            ),
            Self::NoSuchDefinition { id } => (
                S::NOT_FOUND,
                "noSuchDefinition",
                format!("there is no such workflow definition or version: `{id}`; check the id and that it is published"),
            ),
            Self::DefinitionReadOnly { id } => (
                S::FORBIDDEN,
                "definitionReadOnly",
                format!("the workflow definition `{id}` is read-only; import it under another id to change it"),
            ),
            Self::DefinitionNotPublished { id } => (
                S::BAD_REQUEST,
                "definitionNotPublished",
                format!("the workflow definition `{id}` is not published, so there is nothing to retract"),
            ),
            Self::NoSuchInstance { id } => (
                S::NOT_FOUND,
                "noSuchInstance",
                format!("there is no workflow instance `{id}`"),
            ),
            Self::InstanceDeleted { id } => (
                S::GONE,
                "instanceDeleted",
                format!("the workflow instance `{id}` was deleted and does not come back; start a new one"),
            ),
            Self::InstanceEnded { id, sub_status } => (
                S::CONFLICT,
                "instanceEnded",
                format!("the workflow instance `{id}` has ended ({sub_status}); nothing has changed"),
            ),
            Self::StartRefused { id, holder } => (
                S::CONFLICT,
                "startRefused",
                format!("the activation strategy of `{id}` does not allow a start while the instance `{holder}` runs; wait for it or cancel it"),
            ),
            Self::BookmarkGone { instance_id, open } => (
                S::CONFLICT,
                "bookmarkGone",
                format!("the bookmark is not open: it was resumed before, or `{instance_id}` never had it; nothing has changed. Open now: {}", list(open)),
            ),
            Self::BookmarkNotYetOpen { instance_id } => (
                S::CONFLICT,
                "bookmarkNotYetOpen",
                format!("`{instance_id}` is about to open this bookmark; try again in a moment"),
            ),
            Self::WhichBookmark { instance_id, open } => (
                S::CONFLICT,
                "whichBookmark",
                format!("`{instance_id}` does not wait at exactly one bookmark; name one of: {}", list(open)),
            ),
            Self::NoSuchTask { id } => (
                S::NOT_FOUND,
                "noSuchTask",
                format!("there is no task `{id}`; a task's id is in the instance's bookmark and in the request to its worker"),
            ),
            Self::NoSuchDeadLetter { id } => (
                S::NOT_FOUND,
                "noSuchDeadLetter",
                format!("there is no dead letter `{id}`; it was replayed or deleted before, or never existed"),
            ),
            Self::NoWorkflowListens { path } => (
                S::NOT_FOUND,
                "noWorkflowListens",
                format!("no workflow listens for this method at `{path}`; publish one with an HttpEndpoint activity for it"),
            ),
            Self::SeveralWorkflowsListen { path, workflows } => (
                S::INTERNAL_SERVER_ERROR,
                "severalWorkflowsListen",
                format!("more than one workflow listens at `{path}`: {}; give each its own path, or name an instance", list(workflows)),
            ),
            Self::ForeignHost => (
                S::MISDIRECTED_REQUEST,
                "foreignHost",
                "this server is for its own machine only; call it localhost or 127.0.0.1, or let it listen for others with --host".to_owned(),
            ),
            Self::ForeignPage => (
                S::FORBIDDEN,
                "foreignPage",
                "a web page of another origin may not change anything here; send the request from this server's own pages or from a program".to_owned(),
            ),
            Self::Draining => (
                S::SERVICE_UNAVAILABLE,
                "draining",
                "this server is stopping and takes nothing new; ask another one, or try again in a moment".to_owned(),
            ),
            Self::Runtime(error) => return runtime(error),
        };
        Facts {
            status,
            code,
            detail,
        }
    }
}

fn runtime(error: &RuntimeError) -> Facts {
    use StatusCode as S;
    let inside =
        "something is wrong inside the server; its log says what. Try again later".to_owned();
    let (status, code, detail) = match error {
        RuntimeError::InProgress { .. } => (S::CONFLICT, "inProgress", error.to_string()),
        RuntimeError::LeaseLost { .. } => (
            S::CONFLICT,
            "takenOver",
            format!("{error}; look at it before you try again"),
        ),
        RuntimeError::DefinitionContended { .. } => {
            (S::CONFLICT, "definitionContended", error.to_string())
        }
        RuntimeError::Store(error) => return store(error),
        RuntimeError::Instance { .. } => (
            S::INTERNAL_SERVER_ERROR,
            "instanceUnreadable",
            error.to_string(),
        ),
        RuntimeError::StoredDefinition { .. } => (
            S::INTERNAL_SERVER_ERROR,
            "definitionUnreadable",
            error.to_string(),
        ),
        RuntimeError::VersionMissing { .. } => (
            S::INTERNAL_SERVER_ERROR,
            "versionMissing",
            error.to_string(),
        ),
        RuntimeError::Format { .. } => (S::INTERNAL_SERVER_ERROR, "internal", inside),
        RuntimeError::Scheduler(_) | RuntimeError::Queue(_) | RuntimeError::Bus(_) => {
            (S::SERVICE_UNAVAILABLE, "portFailed", inside)
        }
    };
    Facts {
        status,
        code,
        detail,
    }
}

fn store(error: &StoreError) -> Facts {
    use StatusCode as S;
    let (status, code) = match error {
        StoreError::Table(table) => match table {
            TableError::Busy => (S::SERVICE_UNAVAILABLE, "busy"),
            TableError::Unknown(_) => (S::SERVICE_UNAVAILABLE, "unknownOutcome"),
            TableError::TooLarge { .. } => (S::PAYLOAD_TOO_LARGE, "tooLarge"),
            TableError::Full(_) => (S::INSUFFICIENT_STORAGE, "diskFull"),
            TableError::BadCursor => (S::BAD_REQUEST, "badCursor"),
            TableError::Invalid(_) => (S::BAD_REQUEST, "badId"),
            TableError::InUse(_) => (S::SERVICE_UNAVAILABLE, "inUse"),
            TableError::Unusable(..) => (S::INTERNAL_SERVER_ERROR, "tableUnusable"),
        },
        StoreError::BadId { .. } => (S::BAD_REQUEST, "badId"),
        StoreError::TooLarge { .. } | StoreError::NoBlobs { .. } => {
            (S::PAYLOAD_TOO_LARGE, "tooLarge")
        }
        StoreError::Damaged { .. } => (S::INTERNAL_SERVER_ERROR, "itemDamaged"),
        StoreError::NewerFormat { .. } => (S::INTERNAL_SERVER_ERROR, "newerFormat"),
        StoreError::Encode { .. } => (S::INTERNAL_SERVER_ERROR, "internal"),
        StoreError::Blobs(_) => (S::SERVICE_UNAVAILABLE, "blobsFailed"),
        StoreError::BadCursor => (S::BAD_REQUEST, "badCursor"),
    };
    Facts {
        status,
        code,
        detail: error.to_string(),
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

impl From<RuntimeError> for Refusal {
    fn from(error: RuntimeError) -> Self {
        Self::Runtime(error)
    }
}

impl From<DefinitionError> for Refusal {
    fn from(error: DefinitionError) -> Self {
        Self::NotADefinition(error)
    }
}
