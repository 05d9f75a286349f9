//! How AWS is reached: region, credentials, endpoint, time limits and the HTTP client, once for every adapter.
//!
//! Two ways in: [`AwsConfig::from_environment`] for AWS itself (and for an emulator named by the standard
//! variables), [`AwsConfig::emulator`] for a server on this machine that takes any credentials.

use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{
    ConfigBag, Credentials, RuntimeComponents, RuntimeComponentsBuilder, SharedCredentialsProvider,
    SharedHttpClient,
};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_http_client::tls::{self, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::connector_metadata::ConnectorMetadata;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnectorSettings, SharedHttpConnector,
};

/// A connection that takes longer than this to open is given up. DynamoDB's open in milliseconds.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// One request, its connection included, must be answered within this. The SDK's own default is to wait for
/// ever, which would let a lease run out in silence.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(5);

/// An idle connection is closed after this. A frozen Lambda environment wakes up with connections that the
/// other side has long closed; a write sent on one of them has no known outcome.
const IDLE_LIMIT: Duration = Duration::from_secs(20);

/// Where the AWS services are and who asks them. Cheap to clone; clones share one pool of connections.
#[derive(Debug, Clone)]
pub struct AwsConfig {
    sdk: SdkConfig,
    from_environment: bool,
}

impl AwsConfig {
    /// The configuration that the environment names, by the rules of every AWS tool: variables, profile files,
    /// container and instance roles. `AWS_ENDPOINT_URL` names another place for every service and
    /// `AWS_ENDPOINT_URL_DYNAMODB` (and the like) for one.
    ///
    /// It cannot fail: what is missing shows at the first call, most usefully in
    /// [`DynamoTable::ready`](crate::dynamo_table::DynamoTable::ready).
    pub async fn from_environment() -> Self {
        let sdk = aws_config::defaults(BehaviorVersion::latest())
            .http_client(http_client())
            .timeout_config(time_limits())
            .load()
            .await;
        Self {
            sdk,
            from_environment: true,
        }
    }

    /// The configuration for an emulator at `endpoint` (like `http://127.0.0.1:8000`): region `us-east-1`, and
    /// credentials that say nothing. Reads nothing of the environment.
    pub fn emulator(endpoint: impl Into<String>) -> Self {
        let credentials = Credentials::new("dormouse", "dormouse", None, None, "emulator");
        let emulator = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("us-east-1"))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .endpoint_url(endpoint)
            .http_client(http_client())
            .timeout_config(time_limits());
        Self {
            sdk: emulator.build(),
            from_environment: false,
        }
    }

    /// What the SDK's clients are made from.
    #[must_use]
    pub fn sdk(&self) -> &SdkConfig {
        &self.sdk
    }

    /// The endpoint that was named for a service (like `DYNAMODB`), if one was. Profile files can name endpoints
    /// too; the SDK goes by them, but here they are not looked up.
    #[must_use]
    pub fn endpoint(&self, service: &str) -> Option<String> {
        let of_service = self
            .from_environment
            .then(|| std::env::var(format!("AWS_ENDPOINT_URL_{service}")).ok())
            .flatten()
            .filter(|endpoint| !endpoint.is_empty());
        of_service.or_else(|| self.sdk.endpoint_url().map(str::to_owned))
    }

    /// Where the calls to a service go, in words for messages.
    #[must_use]
    pub fn place(&self, service: &str) -> String {
        match (self.endpoint(service), self.sdk.region()) {
            (Some(endpoint), _) => endpoint,
            (None, Some(region)) => format!("region {region}"),
            (None, None) => "no region (set AWS_REGION)".to_owned(),
        }
    }
}

fn time_limits() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(CONNECT_LIMIT)
        .operation_attempt_timeout(ATTEMPT_LIMIT)
        .build()
}

/// HTTP/1.1 and HTTP/2 over rustls with ring, and the system's certificates, which the first request loads.
fn http_client() -> SharedHttpClient {
    let client = aws_smithy_http_client::Builder::new()
        .tls_provider(tls::Provider::Rustls(CryptoMode::Ring))
        .pool_idle_timeout(IDLE_LIMIT)
        .build_https();
    SharedHttpClient::new(LazyHttpClient(client))
}

/// The connections of requests that no client of the SDK makes.
#[cfg(feature = "messages")]
pub(crate) fn connector() -> SharedHttpConnector {
    let connector = aws_smithy_http_client::Connector::builder()
        .pool_idle_timeout(IDLE_LIMIT)
        .tls_provider(tls::Provider::Rustls(CryptoMode::Ring))
        .build();
    SharedHttpConnector::new(connector)
}

/// An HTTP client that does nothing before the first request.
///
/// The SDK validates each service's client when it is made, and its HTTP client takes that as the occasion to parse all
/// certificates and to throw the result away: once for each service, which is half of the start of a function.
#[derive(Debug)]
struct LazyHttpClient(SharedHttpClient);

impl HttpClient for LazyHttpClient {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        self.0.http_connector(settings, components)
    }

    /// Without asking the inner client. What would be wrong shows at the first request.
    fn validate_base_client_config(
        &self,
        _components: &RuntimeComponentsBuilder,
        _config: &ConfigBag,
    ) -> Result<(), BoxError> {
        Ok(())
    }

    fn connector_metadata(&self) -> Option<ConnectorMetadata> {
        self.0.connector_metadata()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use aws_smithy_runtime_api::client::http::http_client_fn;

    use super::*;

    /// Counts how often it is validated, which is when the SDK's own client reads certificates.
    #[derive(Debug)]
    struct Validated(Arc<AtomicU32>, SharedHttpClient);

    impl HttpClient for Validated {
        fn http_connector(
            &self,
            settings: &HttpConnectorSettings,
            components: &RuntimeComponents,
        ) -> SharedHttpConnector {
            self.1.http_connector(settings, components)
        }

        fn validate_base_client_config(
            &self,
            _components: &RuntimeComponentsBuilder,
            _config: &ConfigBag,
        ) -> Result<(), BoxError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }

    #[test]
    fn a_client_that_has_sent_nothing_has_read_no_certificates() {
        let validations = |is_lazy: bool| {
            let count = Arc::new(AtomicU32::new(0));
            let unused = http_client_fn(|_, _| panic!("nothing is sent"));
            let counted = SharedHttpClient::new(Validated(Arc::clone(&count), unused));
            let client = match is_lazy {
                true => SharedHttpClient::new(LazyHttpClient(counted)),
                false => counted,
            };
            let sdk = AwsConfig::emulator("http://127.0.0.1:9").sdk().clone();
            let sdk = sdk.into_builder().http_client(client).build();
            let _unused = aws_sdk_dynamodb::Client::new(&sdk);
            count.load(Ordering::Relaxed)
        };
        assert_eq!(validations(false), 1, "the SDK validates each client");
        assert_eq!(validations(true), 0);
        let ours = format!("{:?}", AwsConfig::emulator("http://127.0.0.1:9").sdk());
        assert!(ours.contains("LazyHttpClient"), "{ours}");
    }

    #[test]
    fn an_emulator_is_named_by_its_endpoint() {
        let config = AwsConfig::emulator("http://127.0.0.1:8000");
        assert_eq!(config.place("DYNAMODB"), "http://127.0.0.1:8000");
        assert_eq!(config.sdk().region().map(AsRef::as_ref), Some("us-east-1"));
    }
}
