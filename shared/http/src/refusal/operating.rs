//! What the caller hears when he wants to change, import or deliver anew what cannot be.

use axum::http::StatusCode;

use super::Facts;

/// Why an operator's request was refused.
#[derive(Debug)]
#[allow(missing_docs, reason = "each variant's sentence is in `facts`")]
pub enum Operating {
    NoSuchVariable { instance_id: String },
    AlterationNotOffered { name: String },
    PlansNotKept,
    NotAnArchive { name: String },
    NoSuchDeadLetter { id: String },
    NoSuchActivity { id: String },
    NoSuchTask { id: String },
    NoSuchActivityExecution { id: String },
    NotYourDeployment,
}

impl Operating {
    pub(super) fn facts(&self) -> Facts {
        use StatusCode as S;
        let (status, code, detail) = match self {
            Self::NoSuchVariable { instance_id } => (
                S::BAD_REQUEST,
                "noSuchVariable",
                format!("nothing was changed: `{instance_id}` does not keep one of these variables now; list them for their ids. One in memory is kept for a burst only"),
            ),
            Self::AlterationNotOffered { name } => (
                S::BAD_REQUEST,
                "alterationNotOffered",
                format!("nothing was changed: there is no alteration `{name}` here; there are ModifyVariable, CancelActivity and Cancel, and /elsa/api/alterations/workflows/retry"),
            ),
            Self::PlansNotKept => (
                S::BAD_REQUEST,
                "plansNotKept",
                "nothing was changed: plans are not kept here; ask /elsa/api/alterations/dry-run which instances a filter takes, and change them with /elsa/api/alterations/run".to_owned(),
            ),
            Self::NotAnArchive { name } => (
                S::BAD_REQUEST,
                "notAnArchive",
                format!("`{name}` cannot be read as a ZIP archive of definitions: it is damaged, encrypted, or unpacks to more than is taken at once; send its files by themselves"),
            ),
            Self::NoSuchDeadLetter { id } => (
                S::NOT_FOUND,
                "noSuchDeadLetter",
                format!("there is no dead letter `{id}`; it was replayed or deleted before, or never existed"),
            ),
            Self::NoSuchActivity { id } => (
                S::NOT_FOUND,
                "noSuchActivity",
                format!("the definition has no activity `{id}`; its ids and node ids are in its JSON"),
            ),
            Self::NoSuchTask { id } => (
                S::NOT_FOUND,
                "noSuchTask",
                format!("there is no task `{id}`; a task's id is in the instance's bookmark and in the request to its worker"),
            ),
            Self::NoSuchActivityExecution { id } => (
                S::NOT_FOUND,
                "noSuchActivityExecution",
                format!("there is no execution of an activity with the id or node id `{id}`"),
            ),
            Self::NotYourDeployment => (
                S::FORBIDDEN,
                "notYourDeployment",
                "a pause is in force for all tenants, and you act for one; ask whoever runs this deployment".to_owned(),
            ),
        };
        Facts {
            status,
            code,
            detail,
        }
    }
}
