//! The public keys of an issuer, as it publishes them (RFC 7517).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::jwt::Key;

/// The most keys that are taken of one document.
const KEYS_MAX: usize = 100;

/// The keys by their names.
#[derive(Debug, Clone, Default)]
pub struct Jwks(BTreeMap<String, Key>);

#[derive(Deserialize)]
struct Document {
    keys: Vec<Jwk>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Jwk {
    /// The key, if it is one that we verify with. Shared secrets (`oct`) have no place in a public document.
    fn key(&self) -> Option<Key> {
        let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        let key = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => Key::Rsa(bytes(&self.n)?, bytes(&self.e)?),
            ("EC", Some("P-256")) => {
                let mut point = vec![4];
                point.extend(bytes(&self.x)?);
                point.extend(bytes(&self.y)?);
                Key::P256(point)
            }
            ("OKP", Some("Ed25519")) => Key::Ed25519(bytes(&self.x)?),
            _ => return None,
        };
        let is_for_signatures = self.usage.as_deref().is_none_or(|u| u == "sig");
        let is_this = self.alg.as_deref().is_none_or(|a| a == key.algorithm());
        (is_for_signatures && is_this).then_some(key)
    }
}

impl Jwks {
    /// Reads a document. Keys of kinds that we do not verify with are left out. `None`: it is no such document.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let document: Document = serde_json::from_slice(bytes).ok()?;
        let keys = document.keys.into_iter().take(KEYS_MAX);
        Some(Self(
            keys.filter_map(|jwk| Some((jwk.kid.clone().unwrap_or_default(), jwk.key()?)))
                .collect(),
        ))
    }

    /// The key of a name. A token without one fits only where there is one key.
    #[must_use]
    pub fn get(&self, kid: Option<&str>) -> Option<&Key> {
        match kid {
            Some(kid) => self.0.get(kid),
            None if self.0.len() == 1 => self.0.values().next(),
            None => None,
        }
    }
}
