//! Handlers of the kind `http`: requests signed as Standard Webhooks has it, verified and answered.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

use crate::context::Task;
use crate::worker::Worker;

/// By how much the time of a message may differ from ours, in seconds.
pub const TOLERANCE_S: i64 = 300;

/// The headers of a signed message.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// `webhook-id`
    pub id: &'a str,
    /// `webhook-timestamp`, in seconds since 1970.
    pub timestamp: &'a str,
    /// `webhook-signature`
    pub signatures: &'a str,
}

/// Why a message does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSignature {
    /// Its time is no number, or too far from ours.
    #[error("its time is not within {TOLERANCE_S} seconds of ours")]
    Time,
    /// None of its signatures is one of a secret's.
    #[error("its signature is wrong")]
    Signature,
}

fn key(secret: &str) -> Option<hmac::Key> {
    let bytes = STANDARD.decode(secret.strip_prefix("whsec_").unwrap_or(secret));
    let bytes = bytes.ok().filter(|bytes| !bytes.is_empty())?;
    Some(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

fn content(id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat()
}

/// The value of `webhook-signature`. `None`: the secret is not base64, usually after `whsec_`.
#[must_use]
pub fn sign(secret: &str, id: &str, timestamp_s: i64, body: &[u8]) -> Option<String> {
    let mark = hmac::sign(&key(secret)?, &content(id, &timestamp_s.to_string(), body));
    Some(format!("v1,{}", STANDARD.encode(mark)))
}

/// Checks a request by its raw body. Several secrets count while one replaces another.
///
/// # Errors
///
/// [`InvalidSignature`]
pub fn verify(
    secrets: &[&str],
    signed: Signed<'_>,
    now_s: i64,
    body: &[u8],
) -> Result<(), InvalidSignature> {
    let at: i64 = signed
        .timestamp
        .parse()
        .map_err(|_| InvalidSignature::Time)?;
    if at.abs_diff(now_s) > TOLERANCE_S.unsigned_abs() {
        return Err(InvalidSignature::Time);
    }
    let content = content(signed.id, signed.timestamp, body);
    let keys: Vec<_> = secrets.iter().filter_map(|secret| key(secret)).collect();
    let marks = signed.signatures.split(' ').take(10);
    let mut marks = marks.filter_map(|mark| STANDARD.decode(mark.strip_prefix("v1,")?).ok());
    let fits = |mark: Vec<u8>| {
        keys.iter()
            .any(|key| hmac::verify(key, &content, &mark).is_ok())
    };
    if marks.any(fits) {
        Ok(())
    } else {
        Err(InvalidSignature::Signature)
    }
}

impl Worker {
    /// Verifies a request, does its task, and gives status and body of the response (JSON).
    pub async fn answer_webhook(
        &self,
        secrets: &[&str],
        signed: Signed<'_>,
        now_s: i64,
        body: &[u8],
    ) -> (u16, Vec<u8>) {
        let told = |status: u16, detail: String| {
            let body = serde_json::json!({ "detail": detail });
            (status, body.to_string().into_bytes())
        };
        if let Err(error) = verify(secrets, signed, now_s, body) {
            return told(401, error.to_string());
        }
        let task: Task = match serde_json::from_slice(body) {
            Ok(task) => task,
            Err(error) => return told(400, format!("the body is no task of Dormouse: {error}")),
        };
        match self.answer(task).await {
            Some(answer) => (200, answer.to_string().into_bytes()),
            None => (202, Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use serde_json::{Value, json};

    use super::*;
    use crate::handler::Reply;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    #[test]
    fn the_specifications_own_example_verifies() {
        let signed = Signed {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: "1614265330",
            signatures: "v1a,x v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        };
        let (body, at) = (br#"{"test": 2432232314}"#, 1_614_265_330);
        let both = ["whsec_AAAA", SECRET];
        assert_eq!(verify(&both, signed, at, body), Ok(()));
        let late = verify(&both, signed, at + 301, body);
        assert_eq!(late, Err(InvalidSignature::Time));
        let changed = verify(&both, signed, at, b"{}");
        assert_eq!(changed, Err(InvalidSignature::Signature));
        assert_eq!(verify(&[], signed, at, body), changed);
    }

    #[tokio::test]
    async fn a_signed_task_is_done_and_answered() {
        let worker = Worker::new("q")
            .activity(
                "Acme.Twice",
                |n: std::collections::BTreeMap<String, i64>, _| async move {
                    Ok(Reply::outputs(
                        json!({ "twice": n.get("n").map(|n| n * 2) }),
                    ))
                },
            )
            .activity("Acme.Later", |_: Value, _| async { Ok(Reply::Later) });
        let ask = async |body: &str, secret: &str| {
            let signatures = sign(secret, "m", 7, body.as_bytes()).unwrap();
            let signed = Signed {
                id: "m",
                timestamp: "7",
                signatures: &signatures,
            };
            worker
                .answer_webhook(&[SECRET], signed, 7, body.as_bytes())
                .await
        };
        let task = r#"{"taskId": "t", "type": "Acme.Twice", "input": {"n": 4}}"#;
        let (status, answer) = ask(task, SECRET).await;
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(
            (status, answer),
            (200, json!({ "outputs": { "twice": 8 } }))
        );
        let later = r#"{"taskId": "t", "type": "Acme.Later"}"#;
        assert_eq!(ask(later, SECRET).await, (202, Vec::new()));
        assert_eq!(ask("[]", SECRET).await.0, 400);
        assert_eq!(ask(task, "whsec_AAAA").await.0, 401);
    }
}
