//! What the caller hears when he wants to change, import or deliver anew what cannot be.

use axum::http::StatusCode;
use dormouse_engine::activity_type::Flaw;
use dormouse_runtime::{SecretRefusal, StaleEdit};

use super::Facts;

/// Why an operator's request was refused.
#[derive(Debug)]
#[allow(missing_docs, reason = "each variant's sentence is in `facts`")]
pub enum Operating {
    NoSuchVariable {
        instance_id: String,
    },
    AlterationNotOffered {
        name: String,
    },
    StaleEdit {
        id: String,
        stale: StaleEdit,
    },
    NoSuchPlan {
        id: String,
    },
    PlanDiffers {
        id: String,
    },
    NotAnArchive {
        name: String,
    },
    NoSuchDeadLetter {
        id: String,
    },
    MayRepeat {
        id: String,
        stimulus: String,
    },
    NoSuchSchedule {
        definition_id: String,
        activity_id: String,
    },
    OccurrenceStarted {
        instance_id: String,
    },
    NotTheNextOccurrence {
        next: String,
    },
    NoSuchActivity {
        id: String,
    },
    NoSuchTask {
        id: String,
    },
    NoSuchActivityExecution {
        id: String,
    },
    InvalidActivityType(Vec<Flaw>),
    ActivityTypeTaken {
        name: String,
        definition_id: String,
    },
    TooMany {
        what: &'static str,
        limit: usize,
    },
    NoSuchOwnType {
        name: String,
        version: Option<u32>,
    },
    NoHeartbeat {
        id: String,
    },
    NotHere {
        module: &'static str,
        reason: &'static str,
    },
    Secret {
        name: String,
        why: SecretRefusal,
    },
    SecretsUnreadable {
        count: usize,
    },
    NotYourDeployment,
    HttpsRequired,
    SeveralHosts,
    NotReady {
        reason: String,
    },
    ExportTooLarge {
        limit: usize,
    },
    NotAnExport {
        name: String,
        reason: String,
    },
    InstanceExists {
        id: String,
    },
    IdTaken {
        id: String,
    },
    IdBusy {
        id: String,
    },
    VersionNotHere {
        instance_id: String,
        definition_id: String,
        version: u32,
    },
    VersionDiffers {
        instance_id: String,
        definition_id: String,
        version: u32,
    },
}

impl Operating {
    #[allow(clippy::too_many_lines, reason = "one table of all refusals")]
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
                format!("nothing was changed: there is no alteration `{name}` here; there are ModifyVariable, Migrate, ScheduleActivity, CancelActivity and Cancel, and /elsa/api/alterations/workflows/retry"),
            ),
            Self::StaleEdit { id, stale } => {
                let by = stale.by.as_deref().unwrap_or("somebody else");
                (
                    S::CONFLICT,
                    "staleEdit",
                    format!(
                        "nothing was saved: {by} has saved `{id}` since you read it. Yours differs in: {}. Read it again and make your changes there",
                        stale.differences.join(", ")
                    ),
                )
            }
            Self::NotHere { module, reason } => (
                S::NOT_IMPLEMENTED,
                "notHere",
                format!("there is no module `{module}` on this server: {reason}"),
            ),
            Self::NoSuchPlan { id } => (
                S::NOT_FOUND,
                "noSuchPlan",
                format!("there is no alteration plan `{id}`; it was never submitted, or has been over for more than 30 days"),
            ),
            Self::PlanDiffers { id } => (
                S::CONFLICT,
                "planDiffers",
                format!("there is an alteration plan `{id}` that says something else, and it stays as it is; leave `id` out, or take another one"),
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
            Self::MayRepeat { id, stimulus } => (
                S::CONFLICT,
                "mayRepeat",
                format!("the dead letter `{id}` holds the event `{stimulus}`, which came more than a day ago: some instances may have had it, and it is not known any more which. Add `?mayRepeat=true` to deliver it to all that wait now"),
            ),
            Self::NoSuchSchedule { definition_id, activity_id } => (
                S::NOT_FOUND,
                "noSuchSchedule",
                format!("the activity `{activity_id}` of `{definition_id}` has no schedule in force; publish the definition, or list the schedules for their ids"),
            ),
            Self::OccurrenceStarted { instance_id } => (
                S::CONFLICT,
                "occurrenceStarted",
                format!("nothing was skipped: the occurrence has started the instance `{instance_id}`; cancel that one"),
            ),
            Self::NotTheNextOccurrence { next } => (
                S::CONFLICT,
                "notTheNextOccurrence",
                format!("nothing was skipped: the next occurrence is that of {next}; list the schedules again"),
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
            Self::InvalidActivityType(flaws) => {
                let told = flaws.iter().take(20).map(|flaw| match flaw.path.as_str() {
                    "" => flaw.message.clone(),
                    path => format!("{path}: {}", flaw.message),
                });
                let told: Vec<String> = told.collect();
                (S::UNPROCESSABLE_ENTITY, "invalidActivityType", told.join("; "))
            }
            Self::ActivityTypeTaken { name, definition_id } => (
                S::CONFLICT,
                "activityTypeTaken",
                format!("nothing was published: the workflow `{definition_id}` is used as the activity `{name}`; choose another name"),
            ),
            Self::Secret { name, why } => return secret(name, *why),
            Self::SecretsUnreadable { count } => (
                S::CONFLICT,
                "secretsUnreadable",
                format!("{count} values open with none of the keys, and stay as they are; the others are sealed with the new key. Give these secrets new values, or delete them"),
            ),
            Self::TooMany { what, limit } => (
                S::CONFLICT,
                "tooMany",
                format!("nothing was done: there are {limit} {what} already, which is the limit"),
            ),
            Self::NoSuchOwnType { name, version: None } => (
                S::NOT_FOUND,
                "noSuchActivityType",
                format!("no activity type `{name}` was published; list them with GET /elsa/api/activity-types"),
            ),
            Self::NoSuchOwnType { name, version: Some(version) } => (
                S::NOT_FOUND,
                "noSuchActivityType",
                format!("there is no version {version} of the activity type `{name}`"),
            ),
            Self::NoHeartbeat { id } => (
                S::CONFLICT,
                "noHeartbeat",
                format!("the task `{id}` is one of RunTask, which waits as long as it takes: only complete it, or say that it failed"),
            ),
            Self::NotYourDeployment => (
                S::FORBIDDEN,
                "notYourDeployment",
                "a pause is in force for all tenants, and you act for one; ask whoever runs this deployment".to_owned(),
            ),
            Self::HttpsRequired => (
                S::FORBIDDEN,
                "httpsRequired",
                "this server takes only requests that came encrypted; use https, through the proxy that says so in X-Forwarded-Proto".to_owned(),
            ),
            Self::SeveralHosts => (
                S::BAD_REQUEST,
                "severalHosts",
                "the request has several Host headers; send one".to_owned(),
            ),
            Self::NotReady { reason } => (
                S::SERVICE_UNAVAILABLE,
                "notReady",
                format!("this server cannot work now: {reason}"),
            ),
            Self::ExportTooLarge { limit } => (
                S::PAYLOAD_TOO_LARGE,
                "exportTooLarge",
                format!("the export would have more than {limit} bytes, which is the limit, and as much as an import takes; export fewer instances at once, or leave their logs out"),
            ),
            Self::NotAnExport { name, reason } => (
                S::BAD_REQUEST,
                "notAnExport",
                format!("nothing was imported: `{name}` is no exported instance: {reason}"),
            ),
            Self::IdTaken { id } => (
                S::CONFLICT,
                "idTaken",
                format!("nothing was started: the id `{id}` belongs to an instance of another workflow; choose another id"),
            ),
            Self::InstanceExists { id } => (
                S::CONFLICT,
                "instanceExists",
                format!("there is an instance `{id}` here, and it stays as it is; delete it first if the imported one is to take its place"),
            ),
            Self::IdBusy { id } => (
                S::CONFLICT,
                "idBusy",
                format!("an instance `{id}` is being created or deleted here just now; try again in a moment"),
            ),
            Self::VersionNotHere { instance_id, definition_id, version } => (
                S::CONFLICT,
                "versionNotHere",
                format!("nothing was imported: `{instance_id}` needs version {version} of the definition `{definition_id}`, which is not here; import and publish it first, under that number"),
            ),
            Self::VersionDiffers { instance_id, definition_id, version } => (
                S::CONFLICT,
                "versionDiffers",
                format!("nothing was imported: `{instance_id}` runs version {version} of the definition `{definition_id}`, and that is another workflow here"),
            ),
        };
        Facts {
            status,
            code,
            detail,
        }
    }
}

/// What is said of a secret that was not changed.
fn secret(name: &str, why: SecretRefusal) -> Facts {
    use StatusCode as S;
    let (status, code, detail) = match why {
        SecretRefusal::BadName => (
            S::BAD_REQUEST,
            "badSecretName",
            format!("`{name}` is no name of a secret: it begins with a letter, and has 2 to 200 letters, digits, dots, dashes, underscores and colons"),
        ),
        SecretRefusal::BadText => (
            S::BAD_REQUEST,
            "badSecret",
            "a value has 1 to 65,536 bytes, and any other text about a secret at most 2,048; there are at most 20 tags".to_owned(),
        ),
        SecretRefusal::Exists => (
            S::CONFLICT,
            "secretExists",
            format!("there is a secret `{name}`; give it another value with POST /elsa/api/secrets/{name}/rotate"),
        ),
        SecretRefusal::NotFound => (
            S::NOT_FOUND,
            "noSuchSecret",
            format!("there is no secret `{name}`; list them with GET /elsa/api/secrets"),
        ),
        SecretRefusal::Revoked => (
            S::CONFLICT,
            "secretRevoked",
            format!("the secret `{name}` was revoked for good; delete it and make another one"),
        ),
        SecretRefusal::TooMany => (
            S::CONFLICT,
            "tooMany",
            "nothing was done: a tenant has at most 500 secrets, and 1 MiB of values together; delete secrets that no workflow names".to_owned(),
        ),
        SecretRefusal::NotSealed => (
            S::NOT_IMPLEMENTED,
            "noSecretsKey",
            "this server has no key to seal values with; start it with --secrets-key, or give a `configurationKey` in the store `Configuration`".to_owned(),
        ),
        SecretRefusal::Contended => (
            S::CONFLICT,
            "secretContended",
            format!("others changed the secret `{name}` again and again; try again"),
        ),
    };
    Facts {
        status,
        code,
        detail,
    }
}
