//! A function that has begun: the runtime over the deployment's parts.

use std::io::Write as _;
use std::sync::Arc;

use dormouse_aws::config::AwsConfig;
use dormouse_aws::deployment::{Deployment, Messaging};
use dormouse_aws::environment::{self, Environment, EnvironmentError};
use dormouse_aws::lambda_functions::LambdaFunctions;
use dormouse_aws::node_queue::NodeQueues;
use dormouse_egress::{Egress, EgressConfig, Network, NotANetwork, Reach};
use dormouse_embedded::{SystemClock, TokioBackground};
use dormouse_engine::time::Timestamp;
use dormouse_expressions::{Expressions, Limits};
use dormouse_runtime::identity::{Authentication, BadAuthentication, JwtSettings};
use dormouse_runtime::port::{Bus, Clock, HttpCaller, Ports};
use dormouse_runtime::{Runtime, RuntimeConfig, RuntimeError, SigningSecret};
use dormouse_telemetry::{CloudWatchLines, Collector, LogFormat, Spans, begin_log};
use dormouse_webhook::{BadWebhook, TwoBuses, Webhook, WebhookBus};
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tracing::level_filters::LevelFilter;

/// The longest that a function may be given by Lambda, in ms.
const LONGEST_MS: i64 = 15 * 60_000;

/// What is kept back of an invocation for the last commit and the answer, in ms; a quarter of what is left, if that
/// is less.
const RESERVE_MS: i64 = 2_000;

/// What is kept back besides where what a commit tells waits for a webhook's answer, in ms.
const WEBHOOK_MS: i64 = dormouse_webhook::ANSWER_MS.cast_signed();

/// After this time a request is answered that asks for more, in ms: HTTP APIs wait for 30 s.
const REQUEST_MS: i64 = 25_000;

/// How long a message waits for an instance that somebody else works on, in ms, before it goes back to its queue:
/// waiting costs money here, and nothing there.
const MESSAGE_WAIT_MS: i64 = 1_000;

/// What a function's work comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Requests that somebody waits for.
    Requests,
    /// Messages of queues.
    Messages,
}

/// A function that has begun.
pub struct Function {
    /// The use cases. [`Function::runtime`] bounds them by an invocation's end.
    unbounded: Runtime,
    kind: Kind,
    /// What is kept back of an invocation, in ms.
    reserve_ms: i64,
    authentication: Authentication,
    messaging: Messaging,
    metrics: Arc<CloudWatchLines>,
    spans: Option<Arc<Spans>>,
    node_queues: Option<NodeQueues>,
    public_url: Option<String>,
    links_allowed: OnceCell<()>,
}

/// Why a function cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The deployment's variables are wrong.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// It is not clear who may call the API.
    #[error("the DORMOUSE_AUTHENTICATION and DORMOUSE_JWT variables do not go together: {0}")]
    Authentication(#[from] BadAuthentication),
    /// Nothing can be sent to the webhook.
    #[error("DORMOUSE_WEBHOOK_URL or DORMOUSE_WEBHOOK_SECRET is wrong: {0}")]
    Webhook(#[from] BadWebhook),
    /// A network is none.
    #[error(
        "DORMOUSE_ALLOW_EGRESS names networks, separated by commas, and `{text}` is none: {source}"
    )]
    Network {
        /// What it says.
        text: String,
        /// What it may say.
        source: NotANetwork,
    },
    /// The system is not as it must be.
    #[error("the process cannot begin: {0}")]
    Process(#[source] std::io::Error),
}

impl Function {
    /// Makes a function out of its environment. Nothing is asked of AWS before the first invocation. To be called on a
    /// tokio runtime.
    ///
    /// # Errors
    ///
    /// [`StartError`], which says what to set.
    pub async fn new(name: &str, kind: Kind) -> Result<Self, StartError> {
        let environment = Environment::read()?;
        begin_log(level(&environment.log), LogFormat::Json);
        let aws = AwsConfig::from_environment().await;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let deployment = Deployment::new(&aws, &environment, &clock);
        let queues = environment.needed_queues()?;
        let messaging = Messaging::new(&aws, queues, &clock, &deployment.large);
        let authentication = match kind {
            Kind::Requests => authentication(environment.needed_authentication()?)?,
            Kind::Messages => Authentication::closed(),
        };
        let spans = spans(&environment, name);
        let metrics = CloudWatchLines::new(environment.metrics_namespace.clone(), name);
        let metrics = Arc::new(metrics);
        let node = format!("{name}-{:08x}", clock.random() >> 32);
        let reach = reach(&environment)?;
        let http_caller: Arc<dyn HttpCaller> = Arc::new(Egress::new(EgressConfig::new(reach)));
        let webhook = webhook(&environment, &http_caller, &clock)?;
        let reserve_ms = RESERVE_MS + webhook.as_ref().map_or(0, |_| WEBHOOK_MS);
        let ports = Ports {
            clock,
            background: Arc::new(TokioBackground::new(Handle::current())),
            scheduler: Arc::new(messaging.scheduler.clone()),
            http_caller,
            queue: Some(Arc::new(messaging.resume.clone())),
            bus: TwoBuses::of(deployment.bus_port(), webhook),
            broadcast: deployment.broadcast_port(),
            compute: None,
            observer: spans.clone().map(|spans| spans as _),
            commands: None,
            vault: None,
            functions: LambdaFunctions::port(&aws, &environment.lambda_functions),
            metrics: Some(Arc::clone(&metrics) as _),
        };
        let expressions = Arc::new(Expressions::new(Limits::default()));
        let unbounded = Runtime::new(
            deployment.store,
            ports,
            expressions,
            RuntimeConfig {
                signing_secret: signing_secret(&environment),
                ..config(node, kind)
            },
        );
        Ok(Self {
            unbounded,
            kind,
            reserve_ms,
            authentication,
            messaging,
            metrics,
            spans,
            node_queues: deployment.node_queues,
            public_url: environment.public_url,
            links_allowed: OnceCell::new(),
        })
    }

    /// Lets scripts make links, where it is known what a link begins with. A read of the table in a process's first
    /// invocation; nothing in the others.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: the table did not answer.
    pub(crate) async fn allow_links(&self) -> Result<(), RuntimeError> {
        if let Some(url) = &self.public_url {
            let allow = || self.unbounded.links().allow_event_links(url, false);
            self.links_allowed.get_or_try_init(allow).await?;
        }
        Ok(())
    }

    /// Looks whether there is a pause, if the last look is a few seconds old: one read of the table. If the table does
    /// not answer, what was seen before counts on: the work that follows meets the same table, and tells of it better.
    pub(crate) async fn look_at_pause(&self) {
        if let Err(error) = self.unbounded.pauses().look_now_and_then().await {
            tracing::warn!(%error, "it could not be seen whether there is a pause");
        }
    }

    /// What addresses of links begin with, if that is said.
    #[must_use]
    pub fn public_url(&self) -> Option<&str> {
        self.public_url.as_deref()
    }

    /// The use cases for an invocation that Lambda ends at `deadline_ms`, in ms since 1970.
    #[must_use]
    pub fn runtime(&self, deadline_ms: u64) -> Runtime {
        let now = self.unbounded.ports().clock.now();
        let deadline = i64::try_from(deadline_ms).unwrap_or(i64::MAX);
        let ends = ends(self.kind, now, deadline, self.reserve_ms);
        Runtime::until(&self.unbounded, ends)
    }

    /// Who is let in.
    #[must_use]
    pub fn authentication(&self) -> &Authentication {
        &self.authentication
    }

    /// Writes the measures of an invocation where CloudWatch finds them: on the output stream.
    pub(crate) fn write_measures(&self) {
        let now = self.unbounded.ports().clock.now();
        let mut lines = String::new();
        for line in self.metrics.flush(now.0) {
            lines.push_str(&line);
            lines.push('\n');
        }
        // Without a reader there is nobody who misses them.
        let _unread = std::io::stdout().write_all(lines.as_bytes());
    }

    /// Sends the spans of an invocation, if anybody wants them.
    pub(crate) async fn send_spans(&self) {
        if let Some(spans) = &self.spans {
            spans.send().await;
        }
    }

    /// The queues of nodes that live on, if there is a topic.
    #[must_use]
    pub fn node_queues(&self) -> Option<&NodeQueues> {
        self.node_queues.as_ref()
    }

    /// The queues that messages come from.
    #[must_use]
    pub fn messaging(&self) -> &Messaging {
        &self.messaging
    }
}

fn spans(environment: &Environment, name: &str) -> Option<Arc<Spans>> {
    let collector = Collector {
        endpoint: environment.traces_endpoint.clone()?,
        headers: environment.traces_headers.clone().unwrap_or_default(),
        service: format!("dormouse-{name}"),
    };
    // Whoever deploys has named it, so it may be on this machine: an extension is.
    let caller = Egress::new(EgressConfig::new(Reach::Anywhere));
    Some(Arc::new(Spans::new(collector, Arc::new(caller))))
}

/// How far the requests of workflows may reach.
fn reach(environment: &Environment) -> Result<Reach, StartError> {
    let read = |text: &String| {
        text.parse().map_err(|source| StartError::Network {
            text: text.clone(),
            source,
        })
    };
    let networks = environment.allow_egress.iter().map(read);
    let networks: Vec<Network> = networks.collect::<Result<_, _>>()?;
    Ok(Reach::public_and(&networks))
}

/// The webhook, which is behind the same guard as what workflows ask for.
fn webhook(
    environment: &Environment,
    caller: &Arc<dyn HttpCaller>,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Arc<dyn Bus>>, BadWebhook> {
    let Some(said) = &environment.webhook else {
        return Ok(None);
    };
    let secret = said.secret.as_deref().unwrap_or_default();
    let webhook = Webhook::new(&said.url, secret, said.hears_lifecycle)?;
    let bus = WebhookBus::new(webhook, Arc::clone(caller), Arc::clone(clock));
    Ok(Some(Arc::new(bus)))
}

/// The level of a word; `info` if it is none.
pub(crate) fn level(word: &str) -> LevelFilter {
    word.parse().unwrap_or(LevelFilter::INFO)
}

/// The setting that the environment's words make.
fn authentication(said: &environment::Authentication) -> Result<Authentication, BadAuthentication> {
    let jwt = match (&said.jwt_issuer, &said.jwt_audience) {
        (Some(issuer), Some(audience)) => Some(JwtSettings {
            issuer: issuer.clone(),
            audience: audience.clone(),
            jwks_url: said.jwt_jwks_url.clone(),
        }),
        (None, _) | (_, None) => None,
    };
    let setting = match said.ways.is_empty() {
        true => "none".to_owned(),
        false => said.ways.join(","),
    };
    Ok(Authentication::read(&setting, jwt)?.with_tenants(said.has_many_tenants))
}

/// When the work of an invocation must end.
fn ends(kind: Kind, now: Timestamp, deadline_ms: i64, reserve_ms: i64) -> Timestamp {
    let left_ms = (deadline_ms - now.0).clamp(0, LONGEST_MS);
    let work_ms = left_ms - reserve_ms.min(left_ms / 4);
    now.plus_ms(match kind {
        Kind::Requests => work_ms.min(REQUEST_MS),
        Kind::Messages => work_ms,
    })
}

/// What requests to handlers of activities are signed with: the secret of webhooks.
fn signing_secret(environment: &Environment) -> Option<SigningSecret> {
    let webhook = environment.webhook.as_ref()?;
    SigningSecret::new(webhook.secret.as_deref()?)
}

fn config(node: String, kind: Kind) -> RuntimeConfig {
    let usual = RuntimeConfig::function(node, LONGEST_MS);
    match kind {
        Kind::Requests => usual,
        Kind::Messages => RuntimeConfig {
            wait_ms_max: MESSAGE_WAIT_MS,
            ..usual
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_before_lambda_ends_it() {
        let now = Timestamp(1_000_000);
        let after = |kind, left_ms| ends(kind, now, now.0 + left_ms, RESERVE_MS).0 - now.0;
        assert_eq!(after(Kind::Messages, 60_000), 58_000);
        assert_eq!(after(Kind::Messages, 4_000), 3_000);
        assert_eq!(after(Kind::Messages, -5), 0);
        assert_eq!(after(Kind::Requests, 20_000), 18_000);
        assert_eq!(after(Kind::Requests, 900_000), 25_000);
        assert_eq!(after(Kind::Messages, i64::MAX / 2), 898_000);
        let reserve_ms = RESERVE_MS + WEBHOOK_MS;
        let ends = ends(Kind::Requests, now, now.0 + 29_000, reserve_ms);
        assert_eq!(ends.0 - now.0, 22_000);
    }
}
