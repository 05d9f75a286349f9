//! Webhooks signed as "Standard Webhooks" has it: HMAC-SHA256 over `id.timestamp.body`, in the header
//! `webhook-signature` as `v1,<base64>`, several of them while a secret is being replaced.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// By how much the time in a message may differ from ours, in seconds.
pub const TOLERANCE_S: i64 = 300;

/// A message's headers.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// `webhook-id`: the same for each repetition of a message.
    pub id: &'a str,
    /// `webhook-timestamp`, in seconds since 1970.
    pub timestamp: &'a str,
    /// `webhook-signature`.
    pub signatures: &'a str,
}

/// Why a message does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Its time is no number, or too far from ours.
    #[error("its time is not within {TOLERANCE_S} seconds of ours")]
    Time,
    /// None of its signatures is one of a secret's.
    #[error("its signature is wrong")]
    Signature,
}

/// The key in a secret as it is handed out: base64 after `whsec_`.
fn key(secret: &str) -> Option<hmac::Key> {
    let bytes = STANDARD.decode(secret.strip_prefix("whsec_").unwrap_or(secret));
    let bytes = bytes.ok().filter(|bytes| !bytes.is_empty())?;
    Some(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

/// A secret as it is handed out.
#[must_use]
pub fn secret(bytes: &[u8; 32]) -> String {
    format!("whsec_{}", STANDARD.encode(bytes))
}

fn content(id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat()
}

/// The signature of a message. `None`: the secret is not base64.
#[must_use]
pub fn sign(secret: &str, id: &str, now_s: i64, body: &[u8]) -> Option<String> {
    let mark = hmac::sign(&key(secret)?, &content(id, &now_s.to_string(), body));
    Some(format!("v1,{}", STANDARD.encode(mark)))
}

/// Checks a message by its raw bytes, before anything is read out of them. Several secrets count while one
/// replaces another.
///
/// # Errors
///
/// [`WebhookError`]
pub fn verify(
    secrets: &[String],
    signed: Signed<'_>,
    now_s: i64,
    body: &[u8],
) -> Result<(), WebhookError> {
    let at: i64 = signed.timestamp.parse().map_err(|_| WebhookError::Time)?;
    if at.abs_diff(now_s) > TOLERANCE_S.unsigned_abs() {
        return Err(WebhookError::Time);
    }
    let content = content(signed.id, signed.timestamp, body);
    let marks = signed.signatures.split(' ');
    let marks = marks.filter_map(|m| STANDARD.decode(m.strip_prefix("v1,")?).ok());
    let keys: Vec<_> = secrets.iter().filter_map(|s| key(s)).collect();
    let fits = |mark: &Vec<u8>| {
        keys.iter()
            .any(|key| hmac::verify(key, &content, mark).is_ok())
    };
    // At most a handful: a header has a greatest length.
    if marks.take(10).any(|mark| fits(&mark)) {
        Ok(())
    } else {
        Err(WebhookError::Signature)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    #[test]
    fn the_specifications_own_example_verifies() {
        let signed = Signed {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: "1614265330",
            signatures: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        };
        let body = br#"{"test": 2432232314}"#;
        let secrets = [SECRET.to_owned()];
        assert_eq!(verify(&secrets, signed, 1_614_265_330, body), Ok(()));
        let mark = sign(SECRET, signed.id, 1_614_265_330, body).unwrap();
        assert_eq!(mark, signed.signatures);

        let late = verify(&secrets, signed, 1_614_265_631, body);
        assert_eq!(late, Err(WebhookError::Time));
        let changed = verify(&secrets, signed, 1_614_265_330, b"{}");
        assert_eq!(changed, Err(WebhookError::Signature));
        let other = verify(&["whsec_AAAA".into()], signed, 1_614_265_330, body);
        assert_eq!(other, Err(WebhookError::Signature));
        assert_eq!(verify(&[], signed, 1_614_265_330, body), other);
    }

    #[test]
    fn a_secret_that_was_made_signs_and_verifies() {
        let secret = secret(&[7; 32]);
        let mark = sign(&secret, "m", 7, b"x").unwrap();
        let signed = Signed {
            id: "m",
            timestamp: "7",
            signatures: &mark,
        };
        assert_eq!(verify(&[secret], signed, 7, b"x"), Ok(()));
    }

    #[test]
    fn one_of_several_signatures_and_secrets_is_enough() {
        let new = "whsec_bmV3IHNlY3JldCBmb3IgdGVzdHM=";
        let mark = sign(new, "m", 7, b"x").unwrap();
        let both = format!("v1a,abc v1,AAAA {mark}");
        let signed = Signed {
            id: "m",
            timestamp: "7",
            signatures: &both,
        };
        let secrets = [SECRET.to_owned(), new.to_owned()];
        assert_eq!(verify(&secrets, signed, 7, b"x"), Ok(()));
    }
}
