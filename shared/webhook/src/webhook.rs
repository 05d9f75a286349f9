//! An address that takes events, and what it is signed for with.

use std::fmt;

use dormouse_identity::webhook::sign;
use http::Uri;

/// An address that takes events.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    pub(crate) url: String,
    pub(crate) secret: String,
    pub(crate) hears_lifecycle: bool,
}

/// Why nothing can be sent to an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadWebhook {
    /// The address is none.
    #[error("webhooks go to an absolute http or https URL, and `{0}` is none")]
    Url(String),
    /// The secret is none.
    #[error("webhooks are signed, and there is no secret to sign them with")]
    Secret,
}

impl BadWebhook {
    /// What a secret looks like.
    pub const SECRET_FORM: &str = "`whsec_` and 24 to 64 random bytes in base64";
}

impl Webhook {
    /// An address that takes task requests, and lifecycle events if it wants to hear of them.
    ///
    /// # Errors
    ///
    /// [`BadWebhook`]: the address is none, or nothing can be signed with the secret.
    pub fn new(url: &str, secret: &str, hears_lifecycle: bool) -> Result<Self, BadWebhook> {
        let uri: Option<Uri> = url.parse().ok();
        let is_absolute = uri.is_some_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
        });
        if !is_absolute {
            return Err(BadWebhook::Url(url.to_owned()));
        }
        if sign(secret, "", 0, b"").is_none() {
            return Err(BadWebhook::Secret);
        }
        Ok(Self {
            url: url.to_owned(),
            secret: secret.to_owned(),
            hears_lifecycle,
        })
    }
}

impl fmt::Debug for Webhook {
    /// Without the secret, and without the address, which may have one in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("hears_lifecycle", &self.hears_lifecycle)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    #[test]
    fn what_is_no_address_is_refused() {
        for url in [
            "",
            "hooks.example",
            "/tasks",
            "ftp://hooks.example",
            "http://",
            "a b",
        ] {
            let refused = Webhook::new(url, SECRET, false).unwrap_err();
            assert_eq!(refused, BadWebhook::Url(url.to_owned()));
        }
        for url in ["https://hooks.example", "http://[::1]:9/tasks?of=a"] {
            assert!(Webhook::new(url, SECRET, false).is_ok(), "{url}");
        }
    }

    #[test]
    fn an_address_needs_a_secret_that_signs_and_nothing_tells_it() {
        for secret in ["", "whsec_", "whsec_***"] {
            let refused = Webhook::new("https://hooks.example", secret, false);
            assert_eq!(refused, Err(BadWebhook::Secret), "{secret}");
        }
        let webhook = Webhook::new("https://hooks.example/?key=k", SECRET, true).unwrap();
        let shown = format!("{webhook:?}");
        assert!(
            !shown.contains("MfKQ") && !shown.contains("key=k"),
            "{shown}"
        );
    }
}
