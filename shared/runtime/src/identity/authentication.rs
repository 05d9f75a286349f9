//! The setting that says who is let in. There is no default: who serves must say it.

use std::collections::BTreeSet;

use super::OidcSettings;

/// An outside issuer of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwtSettings {
    /// What its tokens say in `iss`.
    pub issuer: String,
    /// What its tokens for us say in `aud`.
    pub audience: String,
    /// Where its public keys are. `None`: where its discovery document says.
    pub jwks_url: Option<String>,
}

/// Who is let in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Authentication {
    is_open: bool,
    /// API keys count.
    pub api_keys: bool,
    /// Local users may sign in.
    pub users: bool,
    /// The tokens of this issuer count.
    pub jwt: Option<JwtSettings>,
    /// People sign in there.
    pub oidc: Option<OidcSettings>,
    /// Tokens of the issuer must name their tenant in `tenant`; else everybody is of the one tenant.
    pub is_multi_tenant: bool,
}

/// Why a setting is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAuthentication {
    /// It says nothing.
    #[error(
        "no accepted credentials are configured: set `none`, or a comma-separated list of `apiKeys`, `users`, `jwt` and `oidc`"
    )]
    Missing,
    /// It says what nobody knows.
    #[error(
        "`{0}` is no way to authenticate: set `none`, or a comma-separated list of `apiKeys`, `users`, `jwt` and `oidc`"
    )]
    Unknown(String),
    /// It says `none` and something else.
    #[error("`none` disables access control, so it cannot be combined with other values")]
    NoneAndMore,
    /// Tokens are to be taken of nobody knows whom.
    #[error(
        "`jwt` needs an issuer and an audience, and https in the addresses of the issuer and of its keys (JWKS)"
    )]
    NoIssuer,
    /// People are to sign in nobody knows where.
    #[error(
        "`oidc` needs the address of an issuer, with https, and the id that this server has there as a client"
    )]
    NoClient,
}

impl Authentication {
    /// Nobody is asked: everybody may do everything. For a machine that only its owner reaches.
    #[must_use]
    pub fn none() -> Self {
        Self {
            is_open: true,
            ..Self::default()
        }
    }

    /// Nobody is let in.
    #[must_use]
    pub fn closed() -> Self {
        Self::default()
    }

    /// Reads a setting such as `apiKeys,users`. `jwt` is the issuer, where one is configured.
    ///
    /// # Errors
    ///
    /// [`BadAuthentication`]
    pub fn read(setting: &str, jwt: Option<JwtSettings>) -> Result<Self, BadAuthentication> {
        Self::read_all(setting, jwt, None)
    }

    /// The same where people may sign in at an outside issuer: `oidc` is it, where one is configured.
    ///
    /// # Errors
    ///
    /// [`BadAuthentication`]
    pub fn read_all(
        setting: &str,
        jwt: Option<JwtSettings>,
        oidc: Option<OidcSettings>,
    ) -> Result<Self, BadAuthentication> {
        let words = setting.split(',').map(str::trim).filter(|w| !w.is_empty());
        let words: BTreeSet<String> = words.map(str::to_lowercase).collect();
        if words.is_empty() {
            return Err(BadAuthentication::Missing);
        }
        let known = ["none", "apikeys", "users", "jwt", "oidc"];
        if let Some(other) = words.iter().find(|word| !known.contains(&word.as_str())) {
            return Err(BadAuthentication::Unknown(other.clone()));
        }
        if words.contains("none") {
            return match words.len() {
                1 => Ok(Self::none()),
                _ => Err(BadAuthentication::NoneAndMore),
            };
        }
        let jwt = words.contains("jwt").then_some(jwt);
        let is_usable = |jwt: &JwtSettings| {
            // The issuer is asked where its keys are if nobody says it.
            let url = jwt.jwks_url.as_deref().unwrap_or(&jwt.issuer);
            let is_there = !jwt.issuer.is_empty() && !jwt.audience.is_empty();
            is_there && is_safe(url)
        };
        let jwt = match jwt {
            Some(settings) => Some(
                settings
                    .filter(is_usable)
                    .ok_or(BadAuthentication::NoIssuer)?,
            ),
            None => None,
        };
        let is_client = |oidc: &OidcSettings| !oidc.client_id.is_empty() && is_safe(&oidc.issuer);
        let oidc = match words.contains("oidc") {
            true => Some(oidc.filter(is_client).ok_or(BadAuthentication::NoClient)?),
            false => None,
        };
        Ok(Self {
            is_open: false,
            api_keys: words.contains("apikeys"),
            users: words.contains("users"),
            jwt,
            oidc,
            is_multi_tenant: false,
        })
    }

    /// The same, where tokens of the issuer must name their tenant.
    #[must_use]
    pub fn with_tenants(mut self, is_multi_tenant: bool) -> Self {
        self.is_multi_tenant = is_multi_tenant;
        self
    }

    /// Whether people sign in and have sessions here.
    #[must_use]
    pub fn has_sessions(&self) -> bool {
        self.users || self.oidc.is_some()
    }

    /// Whether nobody is asked.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open
    }
}

/// Whether nobody on the way can answer for an address.
fn is_safe(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://127.0.0.1:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jwt(url: &str) -> Option<JwtSettings> {
        Some(JwtSettings {
            issuer: "https://issuer.example".into(),
            audience: "dormouse".into(),
            jwks_url: Some(url.into()),
        })
    }

    #[test]
    fn a_setting_is_read_or_told_what_is_wrong_with_it() {
        assert_eq!(
            Authentication::read("none", None),
            Ok(Authentication::none())
        );
        let both = Authentication::read("users, apiKeys", None).unwrap();
        assert!(both.users && both.api_keys && both.jwt.is_none() && !both.is_open());
        let read = |setting, jwt| Authentication::read(setting, jwt).unwrap_err();
        assert_eq!(read("", None), BadAuthentication::Missing);
        assert_eq!(read(" , ", None), BadAuthentication::Missing);
        assert_eq!(read("none,users", None), BadAuthentication::NoneAndMore);
        assert_eq!(
            read("basic", None),
            BadAuthentication::Unknown("basic".into())
        );
        assert_eq!(read("jwt", None), BadAuthentication::NoIssuer);
        assert_eq!(
            read("jwt", jwt("http://x/keys")),
            BadAuthentication::NoIssuer
        );
        let settings = jwt("https://issuer.example/keys");
        assert_eq!(
            Authentication::read("JWT", settings.clone()).unwrap().jwt,
            settings
        );
        let found = |issuer: &str| {
            let mut settings = jwt("").unwrap();
            (settings.issuer, settings.jwks_url) = (issuer.into(), None);
            Authentication::read("jwt", Some(settings)).is_ok()
        };
        assert!(found("https://issuer.example") && !found("issuer"));
        assert!(!Authentication::closed().is_open());
    }
}
