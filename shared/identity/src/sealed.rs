//! Bytes that only whoever has a key reads: AEAD with a key of 256 bits, under several keys while one replaces another.
//!
//! What is sealed begins with a format number and the id of its key. The purpose is authenticated with it, so that what
//! is sealed for one purpose opens for no other.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::digest::{SHA256, digest};

const FORMAT: u8 = 1;
const ID_LENGTH: usize = 4;
const HEAD_LENGTH: usize = 1 + ID_LENGTH + NONCE_LEN;
/// The most keys of a ring: one is in use, and the others still open what was sealed before.
const KEYS_MAX: usize = 8;

/// Keys, the one in use first. Not printable, so that no log gets them by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Keyring(Vec<[u8; 32]>);

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring(..)")
    }
}

fn id_of(key: &[u8; 32]) -> [u8; ID_LENGTH] {
    let mut id = [0; ID_LENGTH];
    for (to, from) in id.iter_mut().zip(digest(&SHA256, key).as_ref()) {
        *to = *from;
    }
    id
}

fn cipher(key: &[u8; 32]) -> Option<LessSafeKey> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, key).ok()?;
    Some(LessSafeKey::new(key))
}

impl Keyring {
    /// A ring with one key, which must be unpredictable.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self(vec![key])
    }

    /// Reads what [`Self::text`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let keys: Option<Vec<[u8; 32]>> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| STANDARD.decode(line).ok()?.try_into().ok())
            .collect();
        keys.filter(|keys| (1..=KEYS_MAX).contains(&keys.len()))
            .map(Self)
    }

    /// A line for each key, the one in use first.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |key: &[u8; 32]| format!("{}\n", STANDARD.encode(key));
        self.0.iter().map(line).collect()
    }

    /// The ring with another key in use. The oldest one goes where there are too many.
    #[must_use]
    pub fn with(&self, key: [u8; 32]) -> Self {
        let keys = std::iter::once(key).chain(self.0.iter().copied());
        Self(keys.take(KEYS_MAX).collect())
    }

    /// Seals bytes with the key in use. The random numbers must never come twice.
    #[must_use]
    pub fn seal(&self, purpose: &str, random: [u64; 2], bytes: &[u8]) -> Option<Vec<u8>> {
        let key = self.0.first()?;
        let mut nonce = [0; NONCE_LEN];
        let random = random.map(u64::to_le_bytes);
        for (to, from) in nonce.iter_mut().zip(random.iter().flatten()) {
            *to = *from;
        }
        let mut head = vec![FORMAT];
        head.extend(id_of(key));
        head.extend(nonce);
        let mut sealed = bytes.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        cipher(key)?
            .seal_in_place_append_tag(nonce, Aad::from(purpose.as_bytes()), &mut sealed)
            .ok()?;
        head.append(&mut sealed);
        Some(head)
    }

    /// Whether the key in use sealed this, judged by the id of the key alone.
    #[must_use]
    pub fn is_current(&self, sealed: &[u8]) -> bool {
        let id = sealed.get(1..=ID_LENGTH);
        self.0.first().is_some_and(|key| id == Some(&id_of(key)))
    }

    /// Whether one of the keys sealed this, judged by the id of the key alone.
    #[must_use]
    pub fn knows(&self, sealed: &[u8]) -> bool {
        let id = sealed.get(1..=ID_LENGTH);
        self.0.iter().any(|key| id == Some(&id_of(key)))
    }

    /// Opens what was sealed for this purpose with any of the keys.
    #[must_use]
    pub fn open(&self, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (head, body) = sealed.split_at_checked(HEAD_LENGTH)?;
        let rest = head.strip_prefix(&[FORMAT])?;
        let (id, nonce) = rest.split_at_checked(ID_LENGTH)?;
        let key = self.0.iter().find(|key| id_of(key) == id)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut bytes = body.to_vec();
        let opened = cipher(key)?.open_in_place(nonce, Aad::from(purpose.as_bytes()), &mut bytes);
        opened.ok().map(|bytes| bytes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_its_key_and_for_its_purpose_only() {
        let ring = Keyring::new([7; 32]);
        let sealed = ring.seal("acme/stripe", [1, 2], b"s3cret").unwrap();
        assert!(!sealed.windows(6).any(|part| part == b"s3cret"));
        assert_eq!(ring.open("acme/stripe", &sealed).unwrap(), b"s3cret");
        assert_eq!(ring.open("other/stripe", &sealed), None);
        assert_eq!(Keyring::new([8; 32]).open("acme/stripe", &sealed), None);
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(ring.open("acme/stripe", &changed), None, "at {place}");
            assert_eq!(ring.open("acme/stripe", &sealed[..place]), None);
        }
    }

    #[test]
    fn a_ring_opens_what_its_older_keys_sealed() {
        let old = Keyring::new([1; 32]);
        let sealed = old.seal("p", [1, 1], b"x").unwrap();
        let both = old.with([2; 32]);
        assert_eq!(both.open("p", &sealed).unwrap(), b"x");
        assert!(old.is_current(&sealed) && !both.is_current(&sealed));
        assert!(!both.is_current(&sealed[..3]) && !both.knows(&sealed[..3]));
        assert!(both.knows(&sealed) && !Keyring::new([2; 32]).knows(&sealed));
        let again = both.seal("p", [1, 1], b"x").unwrap();
        assert_eq!(old.open("p", &again), None);
        assert_eq!(Keyring::parse(&both.text()), Some(both));
    }

    #[test]
    fn nothing_else_is_a_ring() {
        for wrong in ["", "#\n", "AAAA", "not base64!", &"A".repeat(43)] {
            assert_eq!(Keyring::parse(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{:?}", Keyring::new([9; 32])), "Keyring(..)");
    }
}
