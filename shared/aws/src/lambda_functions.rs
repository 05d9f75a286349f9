//! The port for functions of AWS Lambda: one signed request for an invocation, by the API action `Invoke`.
//!
//! A function is invoked only if the configuration names it. A pattern is a name or an ARN in which `*` stands for any
//! characters; a function of another account or region is allowed by an ARN alone.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::http::{HttpConnector, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use dormouse_runtime::port::{FunctionAnswer, Functions};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::Mutex;

use crate::config::{AwsConfig, connector};
use crate::error;

/// Credentials are asked for again so long before they expire.
const BEFORE_EXPIRY: Duration = Duration::from_secs(60);

/// Functions of AWS Lambda. Cheap to clone; clones share one pool of connections.
#[derive(Debug, Clone)]
pub struct LambdaFunctions(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    sdk: SdkConfig,
    endpoint: Option<String>,
    allowed: Vec<String>,
    connections: OnceLock<SharedHttpConnector>,
    credentials: Mutex<Option<Credentials>>,
}

/// Why a request was not sent, or has no answer.
#[derive(Debug, thiserror::Error)]
enum NotSent {
    #[error("there are no AWS credentials for invocations: {0}")]
    Credentials(String),
    #[error(
        "it is not known in which region the function is; set AWS_REGION, or name the function by its ARN"
    )]
    Region,
    #[error("the request cannot be made: {0}")]
    Request(String),
    #[error("Lambda cannot be reached: {0}")]
    Unreachable(#[from] ConnectorError),
}

impl LambdaFunctions {
    /// The functions that the patterns name, where `config` says.
    #[must_use]
    pub fn new(config: &AwsConfig, allowed: &[String]) -> Self {
        Self(Arc::new(Shared {
            sdk: config.sdk().clone(),
            endpoint: config.endpoint("LAMBDA"),
            allowed: allowed.to_vec(),
            connections: OnceLock::new(),
            credentials: Mutex::new(None),
        }))
    }

    /// The port. `None`: the configuration names no function.
    #[must_use]
    pub fn port(config: &AwsConfig, allowed: &[String]) -> Option<Arc<dyn Functions>> {
        (!allowed.is_empty()).then(|| Arc::new(Self::new(config, allowed)) as Arc<dyn Functions>)
    }

    async fn credentials(&self) -> Result<Credentials, NotSent> {
        let mut kept = self.0.credentials.lock().await;
        let is_fresh = |of: &Credentials| {
            of.expiry()
                .is_none_or(|expiry| expiry > SystemTime::now() + BEFORE_EXPIRY)
        };
        if let Some(credentials) = kept.as_ref().filter(|credentials| is_fresh(credentials)) {
            return Ok(credentials.clone());
        }
        let provider = self.0.sdk.credentials_provider();
        let provider =
            provider.ok_or_else(|| NotSent::Credentials("no provider is configured".to_owned()))?;
        let fresh = provider.provide_credentials().await;
        let fresh = fresh.map_err(|error| NotSent::Credentials(error.to_string()))?;
        // Those without an expiry may change in the environment; they cost nothing to read.
        *kept = fresh.expiry().map(|_| fresh.clone());
        Ok(fresh)
    }

    async fn send(&self, function: &str, event: Vec<u8>) -> Result<HttpResponse, NotSent> {
        let own = self.0.sdk.region().map(ToString::to_string);
        let region = region_of(function).map(str::to_owned).or(own);
        let region = region.ok_or(NotSent::Region)?;
        let base = match &self.0.endpoint {
            Some(endpoint) => endpoint.trim_end_matches('/').to_owned(),
            None if region.starts_with("cn-") => {
                format!("https://lambda.{region}.amazonaws.com.cn")
            }
            None => format!("https://lambda.{region}.amazonaws.com"),
        };
        let name = function.replace(':', "%3A").replace('$', "%24");
        let uri = format!("{base}/2015-03-31/functions/{name}/invocations");
        let headers = [
            ("content-type", "application/json"),
            ("x-amz-invocation-type", "RequestResponse"),
        ];
        let identity = self.credentials().await?.into();
        let wrong = |error: &dyn std::fmt::Display| NotSent::Request(error.to_string());
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(&region)
            .name("lambda")
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| wrong(&error))?
            .into();
        let signable = SignableRequest::new(
            "POST",
            uri.as_str(),
            headers.into_iter(),
            SignableBody::Bytes(&event),
        )
        .map_err(|error| wrong(&error))?;
        let (signed, _) = sign(signable, &parameters)
            .map_err(|error| wrong(&error))?
            .into_parts();
        let mut request = HttpRequest::new(event.into());
        request
            .set_method("POST")
            .and_then(|()| request.set_uri(uri))
            .map_err(|error| wrong(&error))?;
        let all = headers.into_iter().chain(signed.headers());
        for (name, value) in all {
            request
                .headers_mut()
                .try_insert(name.to_owned(), value.to_owned())
                .map_err(|error| wrong(&error))?;
        }
        let connections = self.0.connections.get_or_init(connector);
        Ok(connections.call(request).await?)
    }

    async fn answer(&self, function: &str, event: Vec<u8>, bytes_max: usize) -> FunctionAnswer {
        let response = match self.send(function, event).await {
            Ok(response) => response,
            Err(error) => {
                let is_retryable =
                    matches!(error, NotSent::Unreachable(_) | NotSent::Credentials(_));
                return FunctionAnswer::Failed {
                    kind: "HandlerUnreachable".to_owned(),
                    message: error.to_string(),
                    is_retryable,
                };
            }
        };
        let status = response.status().as_u16();
        let has_thrown = response.headers().contains_key("x-amz-function-error");
        let body = Limited::new(response.into_body(), bytes_max)
            .collect()
            .await;
        let body = match body {
            Ok(body) => body.to_bytes(),
            Err(cause) if cause.is::<LengthLimitError>() => return FunctionAnswer::TooLong,
            Err(cause) => {
                return FunctionAnswer::Failed {
                    kind: "HandlerUnreachable".to_owned(),
                    message: format!("the answer of Lambda broke off: {cause}"),
                    is_retryable: true,
                };
            }
        };
        match (status, has_thrown) {
            (200..300, false) => FunctionAnswer::Done(body.into()),
            (200..300, true) => error::thrown(&body),
            _ => error::not_invoked(status, &body),
        }
    }
}

#[async_trait]
impl Functions for LambdaFunctions {
    fn allows(&self, function: &str) -> bool {
        resolved(&self.0.allowed, function).is_some()
    }

    async fn invoke(
        &self,
        function: &str,
        input: Vec<u8>,
        timeout_ms: u64,
        bytes_max: usize,
    ) -> FunctionAnswer {
        let Some(function) = resolved(&self.0.allowed, function) else {
            return FunctionAnswer::Failed {
                kind: "HandlerNotAllowed".to_owned(),
                message: format!("the configuration does not name the function `{function}`"),
                is_retryable: false,
            };
        };
        let answer = self.answer(&function, input, bytes_max);
        tokio::time::timeout(Duration::from_millis(timeout_ms), answer)
            .await
            .unwrap_or(FunctionAnswer::TimedOut)
    }
}

/// The region in an ARN.
fn region_of(function: &str) -> Option<&str> {
    function.strip_prefix("arn:")?.split(':').nth(2)
}

/// The part of an ARN before the function's name, and the name with its qualifier.
fn split(function: &str) -> (&str, &str) {
    const BEFORE_NAME: &str = ":function:";
    match function.find(BEFORE_NAME) {
        Some(at) if function.starts_with("arn:") => function.split_at(at + BEFORE_NAME.len()),
        _ => ("", function),
    }
}

/// The function that is invoked under a name or ARN. `None`: no pattern allows it.
fn resolved(allowed: &[String], function: &str) -> Option<String> {
    let (place, name) = split(function);
    allowed.iter().find_map(|pattern| {
        let (allowed_place, allowed_name) = split(pattern);
        // A name alone means the one place that its pattern names.
        let is_completed = place.is_empty() && !allowed_place.contains('*');
        let is_place = is_completed || matches(allowed_place, place);
        let at = if is_completed { allowed_place } else { place };
        (is_place && matches(allowed_name, name)).then(|| format!("{at}{name}"))
    })
}

/// Whether a text is like a pattern, in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(rest) = text.strip_prefix(before) else {
        return false;
    };
    let Some((_, last)) = after.rsplit_once('*') else {
        return rest.ends_with(after);
    };
    // Parts between stars are found one after the other.
    let mut left = rest;
    let middle = after.strip_suffix(last).unwrap_or(after);
    for part in middle.split('*') {
        match left.find(part) {
            Some(at) => left = left.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARN: &str = "arn:aws:lambda:eu-west-1:123456789012:function:";

    #[test]
    fn only_what_is_named_is_invoked_and_where_its_pattern_says() {
        let own = [format!("{ARN}charge-*"), "local".to_owned()];
        let resolve = |function: &str| resolved(&own, function);
        assert_eq!(resolve("charge-card"), Some(format!("{ARN}charge-card")));
        assert_eq!(
            resolve("charge-card:live"),
            Some(format!("{ARN}charge-card:live"))
        );
        let full = format!("{ARN}charge-card");
        assert_eq!(resolve(&full), Some(full.clone()));
        assert_eq!(resolve("local").as_deref(), Some("local"));
        let other_account = full.replace("123456789012", "210987654321");
        let other_region = full.replace("eu-west-1", "us-east-1");
        let local_by_arn = format!("{ARN}local");
        for function in [
            "charge",
            "locals",
            "local:1",
            &other_account,
            &other_region,
            &local_by_arn,
        ] {
            assert_eq!(resolve(function), None, "{function}");
        }
        assert_eq!(resolved(&[], "local"), None);
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, is) in [
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("a**c", "ac", true),
            ("ab*bc", "abc", false),
            ("abc", "abcd", false),
        ] {
            assert_eq!(matches(pattern, text), is, "{pattern} {text}");
        }
    }

    #[test]
    fn an_arn_names_its_region() {
        assert_eq!(region_of(&format!("{ARN}x")), Some("eu-west-1"));
        assert_eq!(region_of("x"), None);
    }
}
