//! What a deployment says through the environment, read in this file and nowhere else.
//!
//! Reading fails with a sentence that names the variable. Where AWS is and who asks is not read here: the SDK does
//! that, by the rules of every AWS tool.

use std::fmt;

pub use crate::variables::EnvironmentError;
use crate::variables::Variables;

/// What a deployment says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// `DORMOUSE_TABLE`: the table's name.
    pub table: String,
    /// `DORMOUSE_BUCKET`: where large states go. Absent: a state that the table cannot hold is an incident.
    pub bucket: Option<String>,
    /// Queues and schedules. Absent: timers lie in the table, and each process handles its own messages.
    pub queues: Option<Queues>,
    /// `DORMOUSE_TOPIC_ARN`: who hears of changed definitions. Absent: nobody; a start checks the version anyway.
    pub topic_arn: Option<String>,
    /// `DORMOUSE_BUS_NAME`: where task requests and lifecycle events go. Absent: nowhere.
    pub bus_name: Option<String>,
    /// `DORMOUSE_LIFECYCLE_EVENTS` (`true`): whether the bus hears when instances start, suspend and end.
    pub tells_lifecycle: bool,
    /// `DORMOUSE_LOG`: the least level that is logged; `info` if absent.
    pub log: String,
    /// `DORMOUSE_METRICS_NAMESPACE`: `Dormouse` if absent.
    pub metrics_namespace: String,
    /// `OTEL_EXPORTER_OTLP_ENDPOINT`: where spans go, by OpenTelemetry's protocol over HTTP. Absent: nowhere.
    pub traces_endpoint: Option<String>,
    /// `OTEL_EXPORTER_OTLP_HEADERS`: what goes with them, like `authorization=…`.
    pub traces_headers: Option<String>,
    /// `DORMOUSE_PUBLIC_URL`: what addresses of links begin with. Absent: with what their maker calls, and scripts make
    /// none.
    pub public_url: Option<String>,
    /// How long ended instances are kept.
    pub retention: Retention,
    /// Where task requests and lifecycle events go besides the bus. Absent: nowhere.
    pub webhook: Option<Webhook>,
    /// `DORMOUSE_ALLOW_EGRESS`: networks that workflows may send requests to besides public addresses, like
    /// `10.1.0.0/16`, separated by commas.
    pub allow_egress: Vec<String>,
    /// `DORMOUSE_LAMBDA_FUNCTIONS`: names and ARNs of functions that activity types may invoke, separated by commas; `*`
    /// stands for any part of a name.
    pub lambda_functions: Vec<String>,
    /// Who may ask. Absent: nobody has said it, and nobody is let in.
    pub authentication: Option<Authentication>,
}

/// The queues of a deployment and what feeds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queues {
    /// `DORMOUSE_RESUME_QUEUE_URL`: where messages go.
    pub resume_url: String,
    /// `DORMOUSE_TIMER_QUEUE_URL`: where timers go that are due within 15 minutes.
    pub timer_url: String,
    /// `DORMOUSE_TIMER_QUEUE_ARN`: the same queue, as the target of schedules.
    pub timer_arn: String,
    /// `DORMOUSE_SCHEDULE_GROUP`: the group of this deployment's schedules.
    pub schedule_group: String,
    /// `DORMOUSE_SCHEDULE_ROLE_ARN`: the role under which a schedule sends to the timer queue.
    pub schedule_role_arn: String,
    /// `DORMOUSE_SCHEDULE_DLQ_ARN`: where schedules go that could not be sent. Absent: they are dropped.
    pub schedule_dead_letter_arn: Option<String>,
}

/// An address that takes task requests and lifecycle events as signed messages.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// `DORMOUSE_WEBHOOK_URL`
    pub url: String,
    /// `DORMOUSE_WEBHOOK_SECRET`: what they are signed with.
    pub secret: Option<String>,
    /// `DORMOUSE_WEBHOOK_LIFECYCLE` (`true`): whether it hears when instances start, suspend and end.
    pub hears_lifecycle: bool,
}

impl fmt::Debug for Webhook {
    /// Without what is secret in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").finish_non_exhaustive()
    }
}

/// How long ended instances are kept, in days; 0: for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// `DORMOUSE_RETAIN_FINISHED_DAYS`
    pub finished_days: u32,
    /// `DORMOUSE_RETAIN_FAULTED_DAYS`
    pub faulted_days: u32,
    /// `DORMOUSE_RETAIN_CANCELLED_DAYS`
    pub cancelled_days: u32,
    /// `DORMOUSE_ARCHIVE` (`true`): whether they go to the bucket first.
    pub archives: bool,
}

/// Who may ask, and in whose name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authentication {
    /// `DORMOUSE_AUTHENTICATION`: `apiKeys`, `users`, `jwt`, comma-separated; empty for `none`.
    pub ways: Vec<String>,
    /// `DORMOUSE_JWT_ISSUER`
    pub jwt_issuer: Option<String>,
    /// `DORMOUSE_JWT_AUDIENCE`
    pub jwt_audience: Option<String>,
    /// `DORMOUSE_JWT_JWKS_URL`
    pub jwt_jwks_url: Option<String>,
    /// `DORMOUSE_TENANT_MODE`: whether it is `multi`.
    pub has_many_tenants: bool,
}

impl<F: Fn(&'static str) -> Option<String>> Variables<F> {
    fn queues(&self) -> Result<Queues, EnvironmentError> {
        let why = "queues and schedules are named together, all of them or none";
        Ok(Queues {
            resume_url: self.needed("DORMOUSE_RESUME_QUEUE_URL", why)?,
            timer_url: self.needed("DORMOUSE_TIMER_QUEUE_URL", why)?,
            timer_arn: self.needed("DORMOUSE_TIMER_QUEUE_ARN", why)?,
            schedule_group: self.needed("DORMOUSE_SCHEDULE_GROUP", why)?,
            schedule_role_arn: self.needed("DORMOUSE_SCHEDULE_ROLE_ARN", why)?,
            schedule_dead_letter_arn: self.text("DORMOUSE_SCHEDULE_DLQ_ARN"),
        })
    }

    fn webhook(&self) -> Result<Option<Webhook>, EnvironmentError> {
        let hears_lifecycle = self.flag("DORMOUSE_WEBHOOK_LIFECYCLE")?;
        let secret = self.text("DORMOUSE_WEBHOOK_SECRET");
        match self.text("DORMOUSE_WEBHOOK_URL") {
            Some(url) => Ok(Some(Webhook {
                url,
                secret,
                hears_lifecycle,
            })),
            None if hears_lifecycle => Err(EnvironmentError::Missing {
                name: "DORMOUSE_WEBHOOK_URL",
                why: "DORMOUSE_WEBHOOK_LIFECYCLE says that it is to hear of instances",
            }),
            None => Ok(None),
        }
    }

    fn authentication(&self) -> Result<Option<Authentication>, EnvironmentError> {
        const WAYS: [&str; 3] = ["apiKeys", "users", "jwt"];
        let has_many_tenants = self.one_of(
            "DORMOUSE_TENANT_MODE",
            &[("single", false), ("multi", true)],
            "single or multi",
        )?;
        let name = OF_AUTHENTICATION;
        let Some(value) = self.text(name) else {
            return Ok(None);
        };
        let mut ways = Vec::new();
        for word in value.split(',').map(str::trim) {
            match WAYS.iter().find(|way| way.eq_ignore_ascii_case(word)) {
                Some(way) => ways.push((*way).to_owned()),
                None if word.eq_ignore_ascii_case("none") => {}
                None => {
                    let takes = "none, or some of apiKeys, users and jwt, separated by commas";
                    return Err(EnvironmentError::Wrong { name, value, takes });
                }
            }
        }
        Ok(Some(Authentication {
            ways,
            jwt_issuer: self.text("DORMOUSE_JWT_ISSUER"),
            jwt_audience: self.text("DORMOUSE_JWT_AUDIENCE"),
            jwt_jwks_url: self.text("DORMOUSE_JWT_JWKS_URL"),
            has_many_tenants,
        }))
    }
}

/// The variable that says who may ask.
const OF_AUTHENTICATION: &str = "DORMOUSE_AUTHENTICATION";

/// The variables that name queues and schedules; one of them calls for the others.
const OF_QUEUES: [&str; 5] = [
    "DORMOUSE_RESUME_QUEUE_URL",
    "DORMOUSE_TIMER_QUEUE_URL",
    "DORMOUSE_TIMER_QUEUE_ARN",
    "DORMOUSE_SCHEDULE_GROUP",
    "DORMOUSE_SCHEDULE_ROLE_ARN",
];

impl Environment {
    /// What this process's environment says.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError`], which names the variable.
    pub fn read() -> Result<Self, EnvironmentError> {
        Self::of(|name| std::env::var(name).ok())
    }

    /// What an environment says, given by its variables.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError`], which names the variable.
    pub fn of(variable: impl Fn(&'static str) -> Option<String>) -> Result<Self, EnvironmentError> {
        let variables = Variables(variable);
        let has_queues = OF_QUEUES.iter().any(|name| variables.text(name).is_some());
        Ok(Self {
            table: variables.needed("DORMOUSE_TABLE", "it is the name of the DynamoDB table")?,
            bucket: variables.text("DORMOUSE_BUCKET"),
            queues: has_queues.then(|| variables.queues()).transpose()?,
            topic_arn: variables.text("DORMOUSE_TOPIC_ARN"),
            bus_name: variables.text("DORMOUSE_BUS_NAME"),
            tells_lifecycle: variables.flag("DORMOUSE_LIFECYCLE_EVENTS")?,
            log: variables
                .text("DORMOUSE_LOG")
                .unwrap_or_else(|| "info".to_owned()),
            metrics_namespace: variables
                .text("DORMOUSE_METRICS_NAMESPACE")
                .unwrap_or_else(|| "Dormouse".to_owned()),
            traces_endpoint: variables.text("OTEL_EXPORTER_OTLP_ENDPOINT"),
            traces_headers: variables.text("OTEL_EXPORTER_OTLP_HEADERS"),
            public_url: variables.text("DORMOUSE_PUBLIC_URL"),
            retention: Retention {
                finished_days: variables.days("DORMOUSE_RETAIN_FINISHED_DAYS")?,
                faulted_days: variables.days("DORMOUSE_RETAIN_FAULTED_DAYS")?,
                cancelled_days: variables.days("DORMOUSE_RETAIN_CANCELLED_DAYS")?,
                archives: variables.flag("DORMOUSE_ARCHIVE")?,
            },
            webhook: variables.webhook()?,
            allow_egress: variables.list("DORMOUSE_ALLOW_EGRESS"),
            lambda_functions: variables.list("DORMOUSE_LAMBDA_FUNCTIONS"),
            authentication: variables.authentication()?,
        })
    }

    /// What tells this deployment from others: the group of its schedules, or its table.
    #[must_use]
    pub fn name(&self) -> &str {
        let group = self.queues.as_ref().map(|queues| &queues.schedule_group);
        group.unwrap_or(&self.table)
    }

    /// The queues, where there is no working without them: a Lambda function is frozen between invocations, so
    /// nobody would look at timers in the table.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError::Missing`]
    pub fn needed_queues(&self) -> Result<&Queues, EnvironmentError> {
        let [name, ..] = OF_QUEUES;
        let why = "a function hands on by queues and schedules what is to be done later";
        self.queues
            .as_ref()
            .ok_or(EnvironmentError::Missing { name, why })
    }

    /// Who may ask, where somebody asks: there is no default.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError::Missing`]
    pub fn needed_authentication(&self) -> Result<&Authentication, EnvironmentError> {
        let name = OF_AUTHENTICATION;
        let why = "it says who may call the API: none, or some of apiKeys, users and jwt, separated by commas";
        self.authentication
            .as_ref()
            .ok_or(EnvironmentError::Missing { name, why })
    }
}

impl fmt::Display for Environment {
    /// What is set, in a line for the log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = |what: &'static str, is: bool| if is { what } else { "" };
        write!(
            f,
            "table {}{}{}{}{}{}",
            self.table,
            has(", bucket", self.bucket.is_some()),
            has(", queues", self.queues.is_some()),
            has(", topic", self.topic_arn.is_some()),
            has(", bus", self.bus_name.is_some()),
            has(", webhook", self.webhook.is_some()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Environment, EnvironmentError> {
        Environment::of(|name| {
            let found = pairs.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn said(pairs: &[(&str, &str)]) -> String {
        of(pairs).unwrap_err().to_string()
    }

    #[test]
    fn a_table_is_enough() {
        let environment = of(&[("DORMOUSE_TABLE", "dormouse"), ("DORMOUSE_BUCKET", "")]).unwrap();
        assert_eq!(environment.table, "dormouse");
        assert_eq!(environment.bucket, None);
        assert_eq!(environment.queues, None);
        assert_eq!(environment.log, "info");
        assert_eq!(environment.metrics_namespace, "Dormouse");
        assert_eq!(environment.retention, Retention::default());
        let missing = environment.needed_queues().unwrap_err().to_string();
        assert!(missing.contains("DORMOUSE_RESUME_QUEUE_URL"), "{missing}");
        let missing = environment.needed_authentication().unwrap_err();
        let missing = missing.to_string();
        assert!(missing.contains("DORMOUSE_AUTHENTICATION"), "{missing}");
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(said(&[]).contains("DORMOUSE_TABLE is not set"));
        let table = ("DORMOUSE_TABLE", "t");
        let half = said(&[table, ("DORMOUSE_TIMER_QUEUE_URL", "u")]);
        assert!(half.contains("DORMOUSE_RESUME_QUEUE_URL"), "{half}");
        let half = said(&[
            table,
            ("DORMOUSE_RESUME_QUEUE_URL", "u"),
            ("DORMOUSE_TIMER_QUEUE_URL", "u"),
            ("DORMOUSE_TIMER_QUEUE_ARN", "a"),
            ("DORMOUSE_SCHEDULE_GROUP", "g"),
        ]);
        assert!(half.contains("DORMOUSE_SCHEDULE_ROLE_ARN"), "{half}");
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_right() {
        let table = ("DORMOUSE_TABLE", "t");
        for (name, value, right) in [
            ("DORMOUSE_ARCHIVE", "perhaps", "true or false"),
            ("DORMOUSE_RETAIN_FINISHED_DAYS", "-1", "whole number"),
            ("DORMOUSE_TENANT_MODE", "both", "single or multi"),
            ("DORMOUSE_WEBHOOK_LIFECYCLE", "some", "true or false"),
            ("DORMOUSE_AUTHENTICATION", "apiKeys,magic", "jwt"),
        ] {
            let said = said(&[table, (name, value)]);
            assert!(said.contains(name) && said.contains(right), "{said}");
        }
    }

    #[test]
    fn words_are_read() {
        let environment = of(&[
            ("DORMOUSE_TABLE", "t"),
            ("DORMOUSE_ARCHIVE", "TRUE"),
            ("DORMOUSE_RETAIN_FAULTED_DAYS", "30"),
            ("DORMOUSE_AUTHENTICATION", "apikeys, jwt"),
            ("DORMOUSE_TENANT_MODE", "multi"),
        ])
        .unwrap();
        assert!(environment.retention.archives);
        assert_eq!(environment.retention.faulted_days, 30);
        let authentication = environment.needed_authentication().unwrap();
        assert_eq!(authentication.ways, ["apiKeys", "jwt"]);
        assert!(authentication.has_many_tenants);
    }

    #[test]
    fn a_webhook_is_an_address_and_what_goes_with_it() {
        let table = ("DORMOUSE_TABLE", "t");
        let url = ("DORMOUSE_WEBHOOK_URL", "https://hooks.example");
        let secret = ("DORMOUSE_WEBHOOK_SECRET", "whsec_MfKQ");
        let lifecycle = ("DORMOUSE_WEBHOOK_LIFECYCLE", "true");
        let environment = of(&[table, url, secret, lifecycle]).unwrap();
        let webhook = environment.webhook.clone().unwrap();
        assert_eq!(webhook.url, "https://hooks.example");
        assert_eq!(webhook.secret.as_deref(), Some("whsec_MfKQ"));
        assert!(webhook.hears_lifecycle);
        let shown = format!("{environment} {environment:?}");
        assert!(!shown.contains("MfKQ"), "{shown}");
        // Whoever reads it says what is wrong with an address or a secret.
        assert_eq!(of(&[table, url]).unwrap().webhook.unwrap().secret, None);
        assert_eq!(of(&[table, secret]).unwrap().webhook, None);
        assert!(said(&[table, lifecycle]).contains("DORMOUSE_WEBHOOK_URL is not set"));
    }

    #[test]
    fn networks_are_a_list() {
        let networks = |text| {
            let pairs = [("DORMOUSE_TABLE", "t"), ("DORMOUSE_ALLOW_EGRESS", text)];
            of(&pairs).unwrap().allow_egress
        };
        assert_eq!(
            networks("10.1.0.0/16, fd00::/8,"),
            ["10.1.0.0/16", "fd00::/8"]
        );
        assert!(networks(" ").is_empty());
    }
}
