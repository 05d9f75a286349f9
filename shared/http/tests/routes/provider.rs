//! An issuer in the test's own process that holds to RFC 6749 and RFC 7636.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_runtime::port::HttpCaller;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

/// Who it says it is.
pub(crate) const ISSUER: &str = "https://issuer.example";
/// When it makes its tokens, in ms since 1970.
pub(crate) const NOW_MS: i64 = 1_767_225_600_000;

/// An issuer with one person, whose claims a test chooses.
pub(crate) struct Issuer {
    pair: Ed25519KeyPair,
    pub(crate) claims: Mutex<Value>,
    /// The codes that are out: the nonce and the challenge that they were asked for with.
    codes: Mutex<BTreeMap<String, (String, String)>>,
}

impl Issuer {
    pub(crate) fn new(claims: Value) -> Arc<Self> {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Arc::new(Self {
            pair: Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap(),
            claims: Mutex::new(claims),
            codes: Mutex::default(),
        })
    }

    /// A person signs in at the address that a browser was sent to; answers the state and the code.
    pub(crate) fn visit(&self, address: &str) -> (String, String) {
        let query = address
            .strip_prefix("https://issuer.example/authorize?")
            .unwrap();
        let asked = pairs(query);
        assert_eq!(asked["response_type"], "code");
        assert_eq!(asked["client_id"], "dormouse");
        assert_eq!(
            asked["redirect_uri"],
            "https://flows.example/sign-in/callback"
        );
        assert_eq!(asked["scope"], "openid profile");
        assert_eq!(asked["code_challenge_method"], "S256");
        let mut codes = self.codes.lock().unwrap();
        let code = format!("code {}", asked["state"]);
        let kept = (asked["nonce"].clone(), asked["code_challenge"].clone());
        codes.insert(code.clone(), kept);
        (asked["state"].clone(), code)
    }

    fn exchange(&self, request: &HttpRequest) -> Option<Value> {
        let basic = format!("Basic {}", STANDARD.encode("dormouse:a+secret%3A"));
        let authorization = request.headers.iter().find(|(n, _)| n == "authorization");
        assert_eq!(authorization.unwrap().1, basic);
        let body = String::from_utf8(request.body.clone().unwrap()).unwrap();
        let asked = pairs(&body);
        assert_eq!(asked["grant_type"], "authorization_code");
        assert_eq!(
            asked["redirect_uri"],
            "https://flows.example/sign-in/callback"
        );
        // Once.
        let (nonce, challenge) = self.codes.lock().unwrap().remove(&asked["code"])?;
        let proof = digest(&SHA256, asked["code_verifier"].as_bytes());
        if URL_SAFE_NO_PAD.encode(proof) != challenge {
            return None;
        }
        let mut claims = json!({
            "iss": ISSUER, "aud": "dormouse", "nonce": nonce,
            "iat": NOW_MS / 1_000, "exp": NOW_MS / 1_000 + 300,
        });
        for (name, value) in self.claims.lock().unwrap().as_object().unwrap() {
            claims[name] = value.clone();
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let head = json!({ "alg": "EdDSA", "kid": "k" });
        let signed = format!("{}.{}", part(&head), part(&claims));
        let mark = URL_SAFE_NO_PAD.encode(self.pair.sign(signed.as_bytes()));
        Some(
            json!({ "token_type": "Bearer", "access_token": "x", "id_token": format!("{signed}.{mark}") }),
        )
    }
}

#[async_trait]
impl HttpCaller for Issuer {
    async fn call(&self, request: &HttpRequest, _timeout_ms: u64) -> Answer {
        let body = match request.url.as_str() {
            "https://issuer.example/.well-known/openid-configuration" => Some(json!({
                "issuer": ISSUER,
                "jwks_uri": "https://issuer.example/keys",
                "authorization_endpoint": "https://issuer.example/authorize",
                "token_endpoint": "https://issuer.example/token",
                "end_session_endpoint": "https://issuer.example/end?a=b",
            })),
            "https://issuer.example/keys" => {
                let x = URL_SAFE_NO_PAD.encode(self.pair.public_key());
                Some(json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x }] }))
            }
            "https://issuer.example/token" => self.exchange(request),
            other => panic!("nobody has named {other}"),
        };
        Answer::Http {
            status: if body.is_some() { 200 } else { 400 },
            headers: BTreeMap::new(),
            body: body.unwrap_or_default().to_string().into_bytes(),
        }
    }
}

fn pairs(form: &str) -> BTreeMap<String, String> {
    let decode = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((first, left)) = rest.split_first() {
            rest = left;
            match first {
                b'+' => bytes.push(b' '),
                b'%' => {
                    let (digits, left) = rest.split_at(2);
                    let digits = std::str::from_utf8(digits).unwrap();
                    bytes.push(u8::from_str_radix(digits, 16).unwrap());
                    rest = left;
                }
                other => bytes.push(*other),
            }
        }
        String::from_utf8(bytes).unwrap()
    };
    let split = form.split('&').map(|pair| pair.split_once('=').unwrap());
    split.map(|(n, v)| (decode(n), decode(v))).collect()
}
