//! Where task requests and lifecycle events go, as the command line says it.

use dormouse_runtime::SigningSecret;
use dormouse_webhook::{BadWebhook, Webhook};

use crate::exit::Exit;
use crate::failure::Failure;

/// Where events go.
#[derive(Debug, clap::Args)]
pub(crate) struct WebhookArgs {
    /// Where task requests go, as signed webhooks; besides the bus of a deployment, if there is one
    #[arg(long, value_name = "URL", env = "DORMOUSE_WEBHOOK_URL")]
    webhook_url: Option<String>,
    /// What webhooks and requests to handlers of activities are signed with: `whsec_` and 24 to 64 bytes in base64
    #[arg(
        long,
        value_name = "SECRET",
        env = "DORMOUSE_WEBHOOK_SECRET",
        hide_env_values = true
    )]
    webhook_secret: Option<String>,
    /// Send webhooks too when instances start, suspend and end. Costs a second write for each
    #[arg(
        long,
        env = "DORMOUSE_WEBHOOK_LIFECYCLE",
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    webhook_lifecycle: bool,
}

impl WebhookArgs {
    /// What requests to handlers of activities are signed with.
    pub(crate) fn signing_secret(&self) -> Option<SigningSecret> {
        SigningSecret::new(self.webhook_secret.as_deref().unwrap_or_default())
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
