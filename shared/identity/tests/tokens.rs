//! Forged tokens: what an attacker may write into one, and that none of it counts.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may fail"
)]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dormouse_identity::jwks::Jwks;
use dormouse_identity::jwt::{Expected, Key, TokenError, Unverified, sign};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

const NOW: i64 = 1_800_000_000;

const EXPECTED: Expected<'_> = Expected {
    issuer: "https://issuer.example",
    audience: "dormouse",
    now_s: NOW,
};

fn claims() -> Value {
    json!({ "iss": EXPECTED.issuer, "aud": EXPECTED.audience, "sub": "ada", "iat": NOW, "exp": NOW + 60 })
}

fn with(changes: Value) -> Value {
    let mut claims = claims();
    let all = claims.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => all.remove(name),
            value => all.insert(name.clone(), value.clone()),
        };
    }
    claims
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn verify(token: &str, key: &Key) -> Result<(), TokenError> {
    Unverified::read(token)?.verify(key, EXPECTED).map(|_| ())
}

fn shared() -> Key {
    Key::Shared(b"a secret of this deployment".to_vec())
}

fn signed(claims: &Value) -> String {
    sign("k", b"a secret of this deployment", claims)
}

/// An issuer's pair of keys on the curve P-256.
struct Issuer(EcdsaKeyPair);

impl Issuer {
    fn new() -> Self {
        let chance = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &chance).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &chance).unwrap())
    }

    fn jwk(&self, kid: &str) -> Value {
        let point = self.0.public_key().as_ref();
        let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        json!({ "kty": "EC", "crv": "P-256", "kid": kid, "use": "sig", "alg": "ES256",
            "x": part(&point[1..33]), "y": part(&point[33..]) })
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", part(header), part(claims));
        let mark = self
            .0
            .sign(&SystemRandom::new(), signed.as_bytes())
            .unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mark))
    }
}

#[test]
fn a_token_that_is_right_counts() {
    assert_eq!(verify(&signed(&claims()), &shared()), Ok(()));
    let several = with(json!({ "aud": ["other", "dormouse"], "exp": NOW as f64 + 0.5 }));
    assert_eq!(verify(&signed(&several), &shared()), Ok(()));
}

#[test]
fn claims_that_are_not_for_us_do_not_count() {
    for (changes, why) in [
        (json!({ "iss": "https://evil.example" }), TokenError::Issuer),
        (json!({ "iss": null }), TokenError::Issuer),
        (
            json!({ "iss": ["https://issuer.example"] }),
            TokenError::Issuer,
        ),
        (json!({ "aud": "other" }), TokenError::Audience),
        (json!({ "aud": null }), TokenError::Audience),
        (json!({ "aud": [] }), TokenError::Audience),
        (json!({ "aud": "dormouse-other" }), TokenError::Audience),
        (json!({ "exp": NOW - 31 }), TokenError::Expired),
        (json!({ "exp": -1 }), TokenError::Expired),
        (json!({ "exp": null }), TokenError::Time),
        (json!({ "exp": "9999999999" }), TokenError::Time),
        (json!({ "exp": [] }), TokenError::Time),
        (json!({ "nbf": NOW + 60 }), TokenError::NotYet),
        (json!({ "nbf": "soon" }), TokenError::Time),
        (json!({ "iat": NOW + 60 }), TokenError::NotYet),
    ] {
        let result = verify(&signed(&with(changes.clone())), &shared());
        assert_eq!(result, Err(why), "{changes}");
    }
}

#[test]
fn the_tokens_header_does_not_choose_how_it_is_verified() {
    let body = part(&claims());
    for alg in ["none", "None", "NONE", "", "HS512", "RS256", "hs256"] {
        let header = part(&json!({ "alg": alg, "kid": "k" }));
        for mark in ["", "AAAA"] {
            let token = format!("{header}.{body}.{mark}");
            assert_eq!(
                verify(&token, &shared()),
                Err(TokenError::Algorithm),
                "{alg}"
            );
        }
    }
    let missing = format!("{}.{body}.", part(&json!({ "kid": "k" })));
    assert_eq!(verify(&missing, &shared()), Err(TokenError::Algorithm));

    // The classic: a public key, which everybody has, used as a shared secret.
    let issuer = Issuer::new();
    let jwks = Jwks::read(json!({ "keys": [issuer.jwk("p")] }).to_string().as_bytes()).unwrap();
    let key = jwks.get(Some("p")).unwrap();
    let public = issuer.0.public_key().as_ref();
    let confused = sign("p", public, &claims());
    assert_eq!(verify(&confused, key), Err(TokenError::Algorithm));

    let critical = json!({ "alg": "ES256", "kid": "p", "crit": ["exp"] });
    let critical = issuer.token(&critical, &claims());
    assert_eq!(verify(&critical, key), Err(TokenError::Critical));
    let right = issuer.token(&json!({ "alg": "ES256", "kid": "p" }), &claims());
    assert_eq!(verify(&right, key), Ok(()));
}

#[test]
fn a_signature_is_of_one_key_over_all_of_the_token() {
    let token = signed(&claims());
    let other = sign("k", b"another secret", &claims());
    assert_eq!(verify(&other, &shared()), Err(TokenError::Signature));
    let (head, mark) = token.rsplit_once('.').unwrap();
    let header = head.split_once('.').unwrap().0;
    let changed = part(&with(json!({ "sub": "root" })));
    let changed = format!("{header}.{changed}.{mark}");
    assert_eq!(verify(&changed, &shared()), Err(TokenError::Signature));
    for short in ["", &mark[..8]] {
        let token = format!("{head}.{short}");
        assert_eq!(verify(&token, &shared()), Err(TokenError::Signature));
    }
    let (one, two) = (Issuer::new(), Issuer::new());
    let keys = json!({ "keys": [one.jwk("one"), two.jwk("two")] });
    let keys = Jwks::read(keys.to_string().as_bytes()).unwrap();
    let token = one.token(&json!({ "alg": "ES256" }), &claims());
    assert_eq!(verify(&token, keys.get(Some("one")).unwrap()), Ok(()));
    assert_eq!(
        verify(&token, keys.get(Some("two")).unwrap()),
        Err(TokenError::Signature)
    );
}

#[test]
fn what_is_no_token_is_read_as_none() {
    let long = format!("{}.e30.", "A".repeat(20_000));
    for text in [
        "",
        ".",
        "..",
        "a.b.c",
        "e30.e30",
        "e30.W10.",
        "e30.e30.*",
        &long,
    ] {
        assert!(Unverified::read(text).is_err(), "{text}");
    }
}

#[test]
fn only_keys_for_signatures_of_known_kinds_are_taken() {
    let issuer = Issuer::new();
    let other_use = |name: &str, value: &str| {
        let mut jwk = issuer.jwk("x");
        jwk[name] = value.into();
        jwk
    };
    for bad in [
        json!({ "kty": "oct", "kid": "x", "k": "c2VjcmV0" }),
        json!({ "kty": "RSA", "kid": "x" }),
        json!({ "kty": "EC", "kid": "x", "crv": "P-521", "x": "", "y": "" }),
        other_use("use", "enc"),
        other_use("alg", "HS256"),
    ] {
        let keys = Jwks::read(json!({ "keys": [bad] }).to_string().as_bytes()).unwrap();
        assert!(keys.get(Some("x")).is_none(), "{bad}");
    }
    assert!(Jwks::read(b"{}").is_none());
    // Names that look like something else are only names.
    let keys = json!({ "keys": [issuer.jwk("a"), issuer.jwk("b")] });
    let keys = Jwks::read(keys.to_string().as_bytes()).unwrap();
    for kid in [
        "",
        "../a",
        "a' OR '1'='1",
        "/dev/null",
        "http://evil.example/keys",
    ] {
        assert!(keys.get(Some(kid)).is_none(), "{kid}");
    }
    assert!(keys.get(None).is_none());
}

#[test]
fn ed25519_and_rsa_are_verified_too() {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
    let x = URL_SAFE_NO_PAD.encode(pair.public_key());
    let keys = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "e", "x": x }] });
    let keys = Jwks::read(keys.to_string().as_bytes()).unwrap();
    let signed = format!("{}.{}", part(&json!({ "alg": "EdDSA" })), part(&claims()));
    let mark = URL_SAFE_NO_PAD.encode(pair.sign(signed.as_bytes()));
    assert_eq!(
        verify(&format!("{signed}.{mark}"), keys.get(Some("e")).unwrap()),
        Ok(())
    );

    // RFC 7515, A.2. Its issuer is another than ours, which is looked at after the signature.
    let n = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
    let keys = json!({ "keys": [{ "kty": "RSA", "kid": "r", "n": n, "e": "AQAB" }] });
    let keys = Jwks::read(keys.to_string().as_bytes()).unwrap();
    let token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    assert_eq!(
        verify(token, keys.get(Some("r")).unwrap()),
        Err(TokenError::Issuer)
    );
    // Another issuer: `moe` for `joe`.
    let changed = token.replace("OiJqb2Ui", "OiJtb2Ui");
    assert_ne!(changed, token);
    assert_eq!(
        verify(&changed, keys.get(Some("r")).unwrap()),
        Err(TokenError::Signature)
    );
}
