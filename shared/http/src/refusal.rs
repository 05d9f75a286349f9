//! Every way a request is refused, and what the caller hears of it: status, code and sentence, in this one file (and
//! `refusal/runtime.rs`, for what went wrong inside, `operating.rs`, for what operators ask for, `overload.rs`).
//!
//! Codes are stable; sentences say what to do. Causes go to the log. How the answer is written is `problem.rs`'s business.

mod from;
mod operating;
mod overload;
mod runtime;

use std::borrow::Cow;

use axum::http::StatusCode;
use dormouse_engine::definition::DefinitionError;
use dormouse_engine::graph::Problem;
use dormouse_runtime::RuntimeError;

pub use operating::Operating;
pub use overload::Overload;

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
    HeadWouldStart,
    BodyTooLarge {
        limit: usize,
    },
    BodyBroken {
        reason: String,
    },
    NotJson {
        reason: String,
    },
    NotJsonType,
    /// What is wrong with members of a request, in Elsa's words.
    Invalid(Vec<(Cow<'static, str>, String)>),
    JsonTooDeep {
        limit: usize,
    },
    WrongShape {
        reason: String,
    },
    BadParameter {
        name: &'static str,
        value: String,
        /// What it should be: .NET's name of the type.
        kind: &'static str,
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
    NoSuchActivityType {
        name: String,
    },
    NoSuchFeature {
        name: String,
    },
    NoWorkflowListens {
        path: String,
    },
    NoSuchLink,
    InvalidToken,
    WebhookNotTaken,
    NoSuchWebhook {
        id: String,
    },
    TooManyAttempts,
    Unauthenticated,
    Forbidden {
        any_of: &'static [&'static str],
    },
    PolicyNotMet {
        policy: String,
    },
    MoreThanYours,
    Yourself,
    NameTaken,
    RoleInUse {
        id: String,
    },
    NoSuchRole {
        id: String,
    },
    NoSuchIdentity {
        id: String,
    },
    NotRecorded,
    ForeignHost,
    ForeignPage,
    Draining,
    Operating(Operating),
    Overload(Overload),
    Runtime(RuntimeError),
}

/// What a refusal looks like from outside.
pub(crate) struct Facts {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) detail: String,
}

impl Refusal {
    /// A request that is refused as a whole, in Elsa's words.
    pub(crate) fn invalid(
        member: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self::Invalid(vec![(member.into(), message.into())])
    }

    pub(crate) fn bad_parameter(name: &'static str, value: &str) -> Self {
        Self::BadParameter {
            name,
            value: value.to_owned(),
            kind: "String",
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
            Self::HeadWouldStart => (
                S::METHOD_NOT_ALLOWED,
                "headWouldStart",
                "a HEAD starts nothing, and a GET here would; send a GET or a POST".to_owned(),
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
            Self::NotJsonType => (
                S::UNSUPPORTED_MEDIA_TYPE,
                "notJsonType",
                "send the body as JSON, with the header `Content-Type: application/json`".to_owned(),
            ),
            Self::Invalid(problems) => (
                S::BAD_REQUEST,
                "invalidRequest",
                problems.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" "),
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
            Self::BadParameter { name, value, .. } => (
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
                format!("Workflow with id {id} is not published"),
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
            Self::NoSuchActivityType { name } => (
                S::NOT_FOUND,
                "noSuchActivityType",
                format!("there is no activity type `{name}`; /elsa/api/descriptors/activities lists all"),
            ),
            Self::NoSuchFeature { name } => (
                S::NOT_FOUND,
                "noSuchFeature",
                format!("the feature `{name}` is not installed; /elsa/api/features/installed lists those that are"),
            ),
            Self::NoWorkflowListens { path } => (
                S::NOT_FOUND,
                "noWorkflowListens",
                format!("no workflow listens for this method at `{path}`; publish one with an HttpEndpoint activity for it"),
            ),
            Self::NoSuchLink => (
                S::NOT_FOUND,
                "noSuchLink",
                "this link leads nowhere: it has expired, was withdrawn, or its question was answered in another way; ask for a new one".to_owned(),
            ),
            // Elsa's own words.
            Self::InvalidToken => (S::BAD_REQUEST, "invalidToken", "Invalid token. Ask for a new link".to_owned()),
            Self::WebhookNotTaken => (
                S::UNAUTHORIZED,
                "webhookNotTaken",
                "no webhook takes this: its address, its signature or its time is wrong; sign it with the secret that was told when the webhook was made".to_owned(),
            ),
            Self::NoSuchWebhook { id } => (
                S::NOT_FOUND,
                "noSuchWebhook",
                format!("there is no webhook `{id}`; list them to see which there are"),
            ),
            Self::TooManyAttempts => (
                S::TOO_MANY_REQUESTS,
                "tooManyAttempts",
                "too many attempts from your address failed; wait a minute and try again".to_owned(),
            ),
            Self::Unauthenticated => (
                S::UNAUTHORIZED,
                "unauthenticated",
                "say who you are, with a credential that counts: the header `Authorization: ApiKey <key>`, or `Authorization: Bearer <token>` with a token of /elsa/api/identity/login".to_owned(),
            ),
            Self::Forbidden { any_of: [] } => (
                S::FORBIDDEN,
                "forbidden",
                "nobody is let in here: this route has no rule that says who may use it".to_owned(),
            ),
            Self::Forbidden { any_of } => (
                S::FORBIDDEN,
                "forbidden",
                format!("your credential does not permit this; ask for the permission {}", any_of.join(" or ")),
            ),
            Self::PolicyNotMet { policy } => (
                S::FORBIDDEN,
                "policyNotMet",
                format!("this address demands the policy `{policy}`; ask for a permission of that name"),
            ),
            Self::MoreThanYours => (
                S::FORBIDDEN,
                "moreThanYours",
                "it has, or would have, permissions that you do not have yourself; ask somebody who has them".to_owned(),
            ),
            Self::Yourself => (
                S::CONFLICT,
                "yourself",
                "you cannot delete yourself; let another user do it".to_owned(),
            ),
            Self::NameTaken => (
                S::CONFLICT,
                "nameTaken",
                "there is one of this name, or somebody else changed it just now; look again".to_owned(),
            ),
            Self::RoleInUse { id } => (
                S::CONFLICT,
                "roleInUse",
                format!("users or applications have the role `{id}`; take it from them first"),
            ),
            Self::NoSuchRole { id } | Self::NoSuchIdentity { id } => (
                S::NOT_FOUND,
                "noSuchIdentity",
                format!("there is no user, role or application `{id}`; list them to see who there is"),
            ),
            Self::NotRecorded => (
                S::INTERNAL_SERVER_ERROR,
                "notRecorded",
                "it was done, but could not be written to the audit log; look before you do it again".to_owned(),
            ),
            Self::ForeignHost => (
                S::MISDIRECTED_REQUEST,
                "foreignHost",
                "this server does not answer under this name: a stranger could have pointed it here; call it by its address or localhost, or start it with --public-url and the name".to_owned(),
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
            Self::Operating(refusal) => return refusal.facts(),
            Self::Overload(overload) => return overload.facts(),
            Self::Runtime(error) => return runtime::facts(error),
        };
        Facts {
            status,
            code,
            detail,
        }
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
