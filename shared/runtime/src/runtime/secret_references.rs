//! References to secrets: what steps get instead of values, and what whoever sends a request puts a value in place of.
//!
//! A reference is signed and counts for one instance only. So nobody who can send data to a workflow can make it send a
//! secret: a text that was not made by a step of that instance is a text.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dormouse_engine::id::InstanceId;
use dormouse_engine::step::{CannotSeal, SEALED_PREFIX, SecretReferences};
use dormouse_identity::mac;
use dormouse_identity::secret::sha256_hex;
use dormouse_store::Tenant;
use serde_json::Value;

use crate::port::Vault;
use crate::runtime::Runtime;

/// What a reference begins with.
pub(crate) const PREFIX: &str = "dmsecret_";
/// What the signature is for.
const PURPOSE: &str = "secret";
/// Length of a signature: 256 bits as Base64.
const MARK_LENGTH: usize = 43;

/// References of one tenant, for a step.
pub(crate) struct TenantSecrets<'a> {
    key: &'a [u8],
    tenant: &'a Tenant,
    vault: Option<&'a Arc<dyn Vault>>,
}

impl SecretReferences for TenantSecrets<'_> {
    fn reference(&self, instance: &InstanceId, name: &str) -> String {
        let text = said_before_name(self.tenant, instance.as_str()) + name;
        format!("{PREFIX}{}", mac::seal(self.key, PURPOSE, &text))
    }

    fn seal(&self, instance: &InstanceId, value: &Value) -> Result<Option<String>, CannotSeal> {
        let Some(vault) = self.vault.filter(|vault| vault.seals()) else {
            return Ok(None);
        };
        let purpose = kept_purpose(self.tenant, instance.as_str());
        let text = value.to_string();
        // A step that is repeated must come to the same text, so the random numbers are made of what is sealed.
        let digest = mac::seal(self.key, &purpose, &text);
        let digest = sha256_hex(digest.as_bytes());
        let number = |at: usize| {
            let part = digest.get(at..at + 16).ok_or(CannotSeal)?;
            u64::from_str_radix(part, 16).map_err(|_| CannotSeal)
        };
        let random = [number(0)?, number(16)?];
        let sealed = vault.seal(&purpose, random, text.as_bytes());
        let sealed = URL_SAFE_NO_PAD.encode(sealed.map_err(|_| CannotSeal)?);
        Ok(Some(format!("{SEALED_PREFIX}{sealed}")))
    }

    fn open(&self, instance: &InstanceId, sealed: &str) -> Option<Value> {
        open_kept(self.vault?, self.tenant, instance.as_str(), sealed)
    }
}

/// What every reference of an instance says before the name of its secret.
pub(crate) fn said_before_name(tenant: &Tenant, instance: &str) -> String {
    format!("{tenant}\n{instance}\n")
}

fn kept_purpose(tenant: &Tenant, instance: &str) -> String {
    format!("kept\n{tenant}\n{instance}")
}

/// The value of a text that was sealed for an instance.
pub(crate) fn open_kept(
    vault: &Arc<dyn Vault>,
    tenant: &Tenant,
    instance: &str,
    sealed: &str,
) -> Option<Value> {
    let sealed = URL_SAFE_NO_PAD
        .decode(sealed.strip_prefix(SEALED_PREFIX)?)
        .ok()?;
    let opened = vault
        .open(&kept_purpose(tenant, instance), &sealed)
        .ok()??;
    serde_json::from_slice(&opened).ok()
}

/// A text cut at its references.
pub(crate) enum Piece<'a> {
    Text(&'a str),
    /// One that counts: the name of its secret.
    Secret(String),
}

/// The end of what looks like a reference, after its prefix.
fn end_of(rest: &str) -> Option<usize> {
    let is_of_it = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let dot = rest.bytes().position(|b| !is_of_it(b))?;
    let mark = rest.get(dot + 1..dot + 1 + MARK_LENGTH)?;
    (rest.as_bytes().get(dot) == Some(&b'.') && mark.bytes().all(is_of_it))
        .then_some(dot + 1 + MARK_LENGTH)
}

/// Whether a text has what says to be a reference of the instance. A process without the key cannot know if it is one.
pub(crate) fn claims_reference(text: &str, begin: &str) -> bool {
    let mut candidates = text.split(PREFIX).skip(1);
    candidates.any(|rest| {
        let said = end_of(rest).and_then(|end| rest.get(..end - MARK_LENGTH - 1));
        let said = said.and_then(|said| URL_SAFE_NO_PAD.decode(said).ok());
        said.is_some_and(|said| said.starts_with(begin.as_bytes()))
    })
}

/// Reads the references of an instance.
#[derive(Clone)]
pub(crate) struct Reader {
    key: Arc<[u8]>,
    /// What every reference of the instance says before the name.
    begin: String,
}

impl Reader {
    /// Cuts a text at the references of the instance. Those of others are texts.
    pub(crate) fn pieces<'a>(&self, text: &'a str) -> Vec<Piece<'a>> {
        let (mut pieces, mut rest, mut from) = (Vec::new(), text, 0);
        while let Some(found) = rest.get(from..).and_then(|rest| rest.find(PREFIX)) {
            let begin = from + found;
            let sealed = begin + PREFIX.len();
            let end = rest.get(sealed..).and_then(end_of);
            let name = end
                .and_then(|end| rest.get(sealed..sealed + end))
                .and_then(|sealed| mac::open(&self.key, PURPOSE, sealed))
                .and_then(|said| said.strip_prefix(&self.begin).map(str::to_owned));
            match (name, end) {
                (Some(name), Some(end)) => {
                    pieces.extend(rest.get(..begin).map(Piece::Text));
                    pieces.push(Piece::Secret(name));
                    rest = rest.get(sealed + end..).unwrap_or_default();
                    from = 0;
                }
                _ => from = sealed,
            }
        }
        pieces.push(Piece::Text(rest));
        pieces
    }
}

impl Runtime {
    /// What a step of a tenant makes references with.
    pub(crate) fn secret_references<'a>(&'a self, tenant: &'a Tenant) -> Option<TenantSecrets<'a>> {
        let key = self.secret_key()?;
        let vault = self.ports().vault.as_ref();
        Some(TenantSecrets { key, tenant, vault })
    }

    /// What reads the references of an instance.
    pub(crate) fn reference_reader(&self, tenant: &Tenant, instance: &str) -> Option<Reader> {
        Some(Reader {
            key: Arc::clone(self.secret_key()?),
            begin: said_before_name(tenant, instance),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(instance: &str) -> (Reader, String) {
        let tenant = Tenant::default();
        let begin = said_before_name(&tenant, instance);
        let key: Arc<[u8]> = Arc::from(&b"key"[..]);
        let sealed = mac::seal(&key, PURPOSE, &format!("{begin}shop"));
        (Reader { key, begin }, format!("{PREFIX}{sealed}"))
    }

    fn names(reader: &Reader, text: &str) -> (String, Vec<String>) {
        let (mut texts, mut names) = (String::new(), Vec::new());
        for piece in reader.pieces(text) {
            match piece {
                Piece::Text(text) => texts.push_str(text),
                Piece::Secret(name) => names.push(name),
            }
        }
        (texts, names)
    }

    #[test]
    fn references_are_found_wherever_they_stand_and_only_those_of_the_instance() {
        let (own, reference) = reader("own");
        let (_, other) = reader("other");
        let text = format!("{reference}{reference}, ž{PREFIX}{reference}.x {other} {PREFIX}");
        let (texts, found) = names(&own, &text);
        assert_eq!(found, ["shop"; 3]);
        assert_eq!(texts, format!(", ž{PREFIX}.x {other} {PREFIX}"));
        for cut in 0..reference.len() {
            let part = reference.get(..cut).unwrap_or_default();
            assert_eq!(names(&own, part), (part.to_owned(), Vec::new()));
        }
    }

    #[test]
    fn a_process_without_the_key_knows_what_says_to_be_a_reference_of_the_instance() {
        let (own, reference) = reader("own");
        let (_, other) = reader("other");
        assert!(claims_reference(
            &format!("x {other}{reference} y"),
            &own.begin
        ));
        for text in ["", PREFIX, &other, "dmsecret_AAAA.AAAA"] {
            assert!(!claims_reference(text, &own.begin), "{text}");
        }
    }
}
