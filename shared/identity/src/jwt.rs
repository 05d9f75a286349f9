//! JSON Web Tokens: signed, read and verified. The kind of a key decides the algorithm, never the token: one that
//! says `none`, or that offers a public key as a shared secret, fits no key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::{hmac, signature};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The longest token that is looked at, in bytes.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// By how much clocks may differ, in seconds.
const LEEWAY_S: i64 = 30;

/// A key that a token may be signed with.
#[derive(Debug, Clone)]
pub enum Key {
    /// HS256. Only for tokens of our own.
    Shared(Vec<u8>),
    /// RS256: modulus and exponent.
    Rsa(Vec<u8>, Vec<u8>),
    /// ES256: the point, uncompressed.
    P256(Vec<u8>),
    /// `EdDSA` with Ed25519.
    Ed25519(Vec<u8>),
}

impl Key {
    /// The one algorithm that goes with it.
    #[must_use]
    pub fn algorithm(&self) -> &'static str {
        match self {
            Self::Shared(_) => "HS256",
            Self::Rsa(..) => "RS256",
            Self::P256(_) => "ES256",
            Self::Ed25519(_) => "EdDSA",
        }
    }

    fn verifies(&self, signed: &[u8], mark: &[u8]) -> bool {
        let public = |algorithm: &'static dyn signature::VerificationAlgorithm, key: &[u8]| {
            signature::UnparsedPublicKey::new(algorithm, key)
                .verify(signed, mark)
                .is_ok()
        };
        match self {
            Self::Shared(secret) => {
                hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed, mark).is_ok()
            }
            // 2,048 bits at least, 8,192 at most.
            Self::Rsa(n, e) => signature::RsaPublicKeyComponents { n, e }
                .verify(&signature::RSA_PKCS1_2048_8192_SHA256, signed, mark)
                .is_ok(),
            Self::P256(point) => public(&signature::ECDSA_P256_SHA256_FIXED, point),
            Self::Ed25519(key) => public(&signature::ED25519, key),
        }
    }
}

/// What a token's header says.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The algorithm.
    pub alg: String,
    /// The key's name.
    pub kid: Option<String>,
    /// Extensions that must be understood. We know none.
    crit: Option<Value>,
}

/// A token that was read and not verified: nothing in it is to be believed but for choosing a key.
#[derive(Debug)]
pub struct Unverified<'a> {
    /// What its header says.
    pub header: Header,
    claims: Map<String, Value>,
    signed: &'a str,
    mark: Vec<u8>,
}

/// Who must have made a token, and for whom.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// Its issuer, `iss`.
    pub issuer: &'a str,
    /// Whom it is for, `aud`.
    pub audience: &'a str,
    /// The time, in seconds since 1970.
    pub now_s: i64,
}

/// Why a token does not count. For the log; who sent it hears only that it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It has not the form of a token.
    #[error("it is not a token")]
    Malformed,
    /// Its algorithm is not the key's.
    #[error("its algorithm is not the one of its key")]
    Algorithm,
    /// Its header demands an extension.
    #[error("it demands an extension")]
    Critical,
    /// Its signature is not the key's.
    #[error("its signature is wrong")]
    Signature,
    /// Somebody else made it.
    #[error("its issuer is another")]
    Issuer,
    /// It is for somebody else.
    #[error("its audience is another")]
    Audience,
    /// It does not say until when it counts, or not since when in numbers.
    #[error("it has no time, or none that is a number")]
    Time,
    /// It counts no more.
    #[error("it has expired")]
    Expired,
    /// It does not count yet.
    #[error("it is not valid yet")]
    NotYet,
}

impl<'a> Unverified<'a> {
    /// Reads a token.
    ///
    /// # Errors
    ///
    /// [`TokenError::Malformed`]
    pub fn read(token: &'a str) -> Result<Self, TokenError> {
        let read = || {
            let (signed, mark) = token.rsplit_once('.')?;
            let (header, claims) = signed.split_once('.')?;
            let part = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
            Some(Self {
                header: serde_json::from_slice(&part(header)?).ok()?,
                claims: serde_json::from_slice(&part(claims)?).ok()?,
                signed,
                mark: part(mark)?,
            })
        };
        let fits = token.len() <= TOKEN_BYTES_MAX;
        fits.then(read).flatten().ok_or(TokenError::Malformed)
    }

    /// Who it says made it.
    #[must_use]
    pub fn issuer(&self) -> Option<&str> {
        self.claims.get("iss").and_then(Value::as_str)
    }

    /// Its claims, if the key signed them and they are of the issuer, for the audience, and for this time.
    ///
    /// # Errors
    ///
    /// [`TokenError`]
    pub fn verify(
        self,
        key: &Key,
        expected: Expected<'_>,
    ) -> Result<Map<String, Value>, TokenError> {
        if self.header.alg != key.algorithm() {
            return Err(TokenError::Algorithm);
        }
        if self.header.crit.is_some() {
            return Err(TokenError::Critical);
        }
        if !key.verifies(self.signed.as_bytes(), &self.mark) {
            return Err(TokenError::Signature);
        }
        if self.issuer() != Some(expected.issuer) {
            return Err(TokenError::Issuer);
        }
        let is_for = |value: &Value| value.as_str() == Some(expected.audience);
        let for_us = match self.claims.get("aud") {
            Some(Value::Array(list)) => list.iter().any(is_for),
            Some(one) => is_for(one),
            None => false,
        };
        if !for_us {
            return Err(TokenError::Audience);
        }
        self.check_times(expected.now_s)?;
        Ok(self.claims)
    }

    fn check_times(&self, now_s: i64) -> Result<(), TokenError> {
        let seconds = |name: &str| match self.claims.get(name) {
            None => Ok(None),
            Some(value) => whole(value).map(Some).ok_or(TokenError::Time),
        };
        let until = seconds("exp")?.ok_or(TokenError::Time)?;
        if until.saturating_add(LEEWAY_S) <= now_s {
            return Err(TokenError::Expired);
        }
        for since in [seconds("nbf")?, seconds("iat")?].into_iter().flatten() {
            if since.saturating_sub(LEEWAY_S) > now_s {
                return Err(TokenError::NotYet);
            }
        }
        Ok(())
    }
}

/// Seconds as a whole number; some issuers write fractions.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a cast of a float stops at the bounds"
)]
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or(value.as_f64().map(|f| f as i64))
}

/// A token of our own, HS256.
#[must_use]
pub fn sign(kid: &str, secret: &[u8], claims: &Value) -> String {
    let header = json!({ "alg": "HS256", "typ": "JWT", "kid": kid });
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&header), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let mark = URL_SAFE_NO_PAD.encode(hmac::sign(&key, signed.as_bytes()));
    format!("{signed}.{mark}")
}
