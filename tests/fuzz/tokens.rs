//! Tokens, API keys, links' secrets, seals and signatures: whatever is changed in one, it counts no more, or says the same.

use dormouse_identity::jwks::Jwks;
use dormouse_identity::jwt::{Expected, Key, Unverified, sign};
use dormouse_identity::webhook::{self, Signed};
use dormouse_identity::{ApiKey, Secret, mac};
use serde_json::json;

use super::drive::{drive, shown};
use super::mutant::mutant;

const KEY: &[u8] = b"a secret of this deployment";
const NOW: i64 = 1_800_000_000;
const BODY: &[u8] = br#"{"type":"order.paid"}"#;

#[test]
fn credentials() {
    let claims = json!({ "iss": "https://issuer.example", "aud": "dormouse", "sub": "ada", "exp": NOW + 60 });
    let token = sign("k", KEY, &claims);
    let api_key = ApiKey::new(7, Secret::new([1, 2, 3, 4]));
    let sealed = mac::seal(KEY, "link", "order-1");
    let hook = webhook::secret(&[9; 32]);
    let mark = webhook::sign(&hook, "m", NOW, BODY).unwrap();
    let corpus: Vec<Vec<u8>> = [
        token.clone(),
        api_key.text(),
        api_key.secret.text(),
        sealed,
        mark,
        r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"a"}]}"#.into(),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect();
    let (key, hooks) = (Key::Shared(KEY.to_vec()), [hook]);
    drive(
        "credentials",
        corpus.clone(),
        |chance| mutant(chance, &corpus),
        |b| shown(b),
        |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let expected = Expected {
                issuer: "https://issuer.example",
                audience: "dormouse",
                now_s: NOW,
            };
            let verified = Unverified::read(&text).and_then(|read| read.verify(&key, expected));
            if let Ok(said) = verified {
                assert_eq!(serde_json::Value::from(said), claims);
            }
            if let Some(parsed) = ApiKey::parse(&text) {
                assert_eq!(parsed.text(), text);
            }
            if let Some(secret) = Secret::parse(&text) {
                assert_eq!(secret.text(), text);
            }
            if let Some(opened) = mac::open(KEY, "link", &text) {
                assert_eq!(opened, "order-1");
            }
            let signed = Signed {
                id: "m",
                timestamp: "1800000000",
                signatures: &text,
            };
            let other = [BODY, b" "].concat();
            assert!(webhook::verify(&hooks, signed, NOW, &other).is_err());
            let _ = Jwks::read(bytes);
        },
    );
}
