//! Receiver of task requests and lifecycle events: options of the command line.

use dormouse_runtime::SigningSecret;
use dormouse_webhook::{BadWebhook, Webhook};

use crate::exit::Exit;
use crate::failure::Failure;

/// Receiver of events.
#[derive(Debug, clap::Args)]
pub(crate) struct WebhookArgs {
    /// Send task requests to this URL as signed webhooks, in addition to the event bus of a deployment
    #[arg(long, value_name = "URL", env = "DORMOUSE_WEBHOOK_URL")]
    webhook_url: Option<String>,
    /// Secret that signs webhooks and requests to handlers of activities: `whsec_` followed by 24 to 64 bytes in base64
    #[arg(
        long,
        value_name = "SECRET",
        env = "DORMOUSE_WEBHOOK_SECRET",
        hide_env_values = true
    )]
    webhook_secret: Option<String>,
    /// Also send webhooks when instances start, suspend and end. Each costs one more write
    #[arg(
        long,
        env = "DORMOUSE_WEBHOOK_LIFECYCLE",
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    webhook_lifecycle: bool,
}

impl WebhookArgs {
    /// Secret that signs requests to handlers of activities.
    pub(crate) fn signing_secret(&self) -> Result<Option<SigningSecret>, Failure> {
        // A variable that is set to nothing is not set.
        let given = self.webhook_secret.as_deref().filter(|s| !s.is_empty());
        let wrong = || {
            let failure = refusal(
                "badWebhookSecret",
                "the webhook secret cannot sign anything",
            );
            failure.help(format!(
                "--webhook-secret takes {}",
                BadWebhook::SECRET_FORM
            ))
        };
        given
            .map(|given| SigningSecret::new(given).ok_or_else(wrong))
            .transpose()
    }

    /// The address, if there is one and it can be signed for.
    pub(crate) fn read(&self) -> Result<Option<Webhook>, Failure> {
        let url = self.webhook_url.as_deref().filter(|url| !url.is_empty());
        let Some(url) = url else {
            return match self.webhook_lifecycle {
                true => Err(refusal("badWebhookUrl", "there is no address for webhooks")
                    .help("give one with --webhook-url or DORMOUSE_WEBHOOK_URL")),
                false => Ok(None),
            };
        };
        let secret = self.webhook_secret.as_deref().unwrap_or_default();
        match Webhook::new(url, secret, self.webhook_lifecycle) {
            Ok(webhook) => Ok(Some(webhook)),
            Err(bad @ BadWebhook::Url(_)) => Err(refusal("badWebhookUrl", &bad.to_string())),
            Err(bad @ BadWebhook::Secret) => {
                let failure = refusal("badWebhookSecret", &bad.to_string());
                Err(failure.help(format!(
                    "give one with --webhook-secret or DORMOUSE_WEBHOOK_SECRET: {}",
                    BadWebhook::SECRET_FORM
                )))
            }
        }
    }
}

fn refusal(code: &'static str, message: &str) -> Failure {
    Failure::new(Exit::BadInput, code, message)
}
