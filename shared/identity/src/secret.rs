//! Secrets of 256 random bits: shown once, kept only as their digest.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use subtle::ConstantTimeEq;

/// 256 random bits that whoever knows them may use. Not printable, so that no log gets them by accident.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    /// A secret of random numbers, which must be unpredictable.
    #[must_use]
    pub fn new(random: [u64; 4]) -> Self {
        let mut bytes = [0; 32];
        for (to, from) in bytes.chunks_exact_mut(8).zip(random) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        Self(bytes)
    }

    /// Reads what [`Self::text`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = (text.len() == 43).then(|| URL_SAFE_NO_PAD.decode(text).ok())??;
        bytes.try_into().ok().map(Self)
    }

    /// As 43 characters that can stand in an address.
    #[must_use]
    pub fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Its SHA-256, as 64 hexadecimal digits: what is kept of it.
    #[must_use]
    pub fn digest(&self) -> String {
        sha256_hex(&self.0)
    }

    /// Whether it is the one that a digest was made of. Takes the same time for every answer.
    #[must_use]
    pub fn is(&self, digest: &str) -> bool {
        self.digest().as_bytes().ct_eq(digest.as_bytes()).into()
    }

    /// The bits themselves, for a key.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The SHA-256 of anything, as 64 hexadecimal digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

/// The SHA-256 of anything, as base64: for content security policies.
#[must_use]
pub fn sha256_base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(digest(&SHA256, bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_secret_comes_back_from_its_text_and_is_recognised_by_its_digest() {
        let secret = Secret::new([1, 2, 3, u64::MAX]);
        let again = Secret::parse(&secret.text()).unwrap();
        assert!(again.is(&secret.digest()));
        assert!(!Secret::new([1, 2, 3, 4]).is(&secret.digest()));
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }

    #[test]
    fn nothing_else_is_a_secret() {
        let text = Secret::new([7; 4]).text();
        for wrong in ["", "x", &text[1..], &format!("{text}A"), &"=".repeat(43)] {
            assert!(Secret::parse(wrong).is_none(), "{wrong}");
        }
    }
}
