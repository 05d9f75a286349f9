//! Filters between text and its encodings: Base64, URLs, HTML, JSON and hashes.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use md5::Md5;
use serde_json::Value;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::{Filter, Input, failure};
use crate::EvaluationError;
use crate::dotnet::json_text;
use crate::liquid::element::plain;
use crate::liquid::value::{date_of, number_text, weight};

type Made = Result<Value, EvaluationError>;

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("base64", |input| {
        let text = match input.value {
            Value::Bool(true) => "True".into(),
            Value::Bool(false) => "False".into(),
            Value::Array(_) | Value::Object(_) => json_text(&plain(input.value), false).into(),
            Value::Null | Value::Number(_) | Value::String(_) => input.text(),
        };
        input.made(STANDARD.encode(&*text))
    }),
    ("hmac_sha1", |input| keyed::<Sha1>(input)),
    ("hmac_sha256", |input| keyed::<Sha256>(input)),
    ("base64_encode", |input| {
        input.made(STANDARD.encode(&*input.text()))
    }),
    ("base64_decode", |input| {
        decoded(input, STANDARD.decode(&*input.text()))
    }),
    ("base64_url_safe_encode", |input| {
        input.made(URL_SAFE.encode(&*input.text()))
    }),
    ("base64_url_safe_decode", |input| {
        decoded(
            input,
            URL_SAFE_NO_PAD.decode(input.text().trim_end_matches('=')),
        )
    }),
    ("url_encode", url_encode),
    ("url_decode", url_decode),
    ("escape", |input| input.made(escape(input)?)),
    ("escape_once", escape_once),
    ("json", json),
    ("md5", |input| hashed::<Md5>(input)),
    ("sha1", |input| hashed::<Sha1>(input)),
    ("sha256", |input| hashed::<Sha256>(input)),
];

fn decoded(input: &Input<'_>, bytes: Result<Vec<u8>, base64::DecodeError>) -> Made {
    match bytes {
        Ok(bytes) => input.made(String::from_utf8_lossy(&bytes)),
        Err(error) => Err(failure(format!("this is not Base64: {error}"))),
    }
}

fn hashed<D: Digest>(input: &Input<'_>) -> Made {
    let text = input.text();
    input.work.charge(text.len())?;
    let hash = D::digest(text.as_bytes());
    input.made(
        hash.iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
    )
}

/// HMAC of RFC 2104; both hashes have blocks of 64 bytes.
fn keyed<D: Digest>(input: &Input<'_>) -> Made {
    const BLOCK: usize = 64;
    let (text, key) = (input.text(), input.text_argument(0));
    input.work.charge(text.len() + key.len())?;
    let mut key = match key.len() {
        0..=BLOCK => key.as_bytes().to_vec(),
        _ => D::digest(key.as_bytes()).to_vec(),
    };
    key.resize(BLOCK, 0);
    let padded = |with: u8| key.iter().map(move |byte| byte ^ with).collect::<Vec<u8>>();
    let inner = D::digest([padded(0x36).as_slice(), text.as_bytes()].concat());
    let outer = D::digest([padded(0x5c).as_slice(), inner.as_slice()].concat());
    input.made(
        outer
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
    )
}

/// Everything but letters, digits and `-_.~` as `%XX`; a blank as `+`, as forms have it.
fn url_encode(input: &Input<'_>) -> Made {
    let text = input.text();
    input.work.allocate(text.len().saturating_mul(3))?;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(Value::String(encoded))
}

fn url_decode(input: &Input<'_>) -> Made {
    let text = input.text();
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let code = hex
            .and_then(|hex| u8::from_str_radix(hex, 16).ok())
            .filter(|_| *first == b'%');
        bytes.push(code.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = if code.is_some() {
            after.get(2..).unwrap_or(&[])
        } else {
            after
        };
    }
    input.made(String::from_utf8_lossy(&bytes))
}

fn escape(input: &Input<'_>) -> Result<String, EvaluationError> {
    let text = input.text();
    input.work.allocate(text.len().saturating_mul(6))?;
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    Ok(escaped.replace('"', "&quot;").replace('\'', "&#39;"))
}

/// Escapes what is not escaped already.
fn escape_once(input: &Input<'_>) -> Made {
    let mut text = escape(input)?;
    for entity in ["amp;", "lt;", "gt;", "quot;", "#39;"] {
        text = text.replace(&format!("&amp;{entity}"), &format!("&{entity}"));
    }
    input.made(text)
}

fn json(input: &Input<'_>) -> Made {
    input.work.allocate(weight(input.value))?;
    if let Some(iso) = date_of(input.value) {
        return input.made(format!("\"{iso}\""));
    }
    let value = plain(input.value);
    // A decimal keeps its zeros.
    if let Value::Number(number) = value.as_ref() {
        return input.made(number_text(number));
    }
    input.made(json_text(&value, true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::run;

    #[test]
    fn encodings_are_those_of_fluid() {
        let cases = [
            ("base64", json!("héllo"), json!("aMOpbGxv")),
            ("base64_decode", json!("aMOpbGxv"), json!("héllo")),
            ("base64_url_safe_encode", json!("??>"), json!("Pz8-")),
            ("base64_url_safe_decode", json!("Pz8-"), json!("??>")),
            ("url_encode", json!("a b&ü"), json!("a+b%26%C3%BC")),
            ("url_decode", json!("a+b%26%C3%BC%"), json!("a b&ü%")),
            (
                "escape",
                json!("<a href='b'>&</a>"),
                json!("&lt;a href=&#39;b&#39;&gt;&amp;&lt;/a&gt;"),
            ),
            (
                "escape_once",
                json!("1 < 2 &amp; 3"),
                json!("1 &lt; 2 &amp; 3"),
            ),
            ("json", json!({"a": [1, null]}), json!("{\"a\":[1,null]}")),
            ("json", json!("a\"b"), json!("\"a\\u0022b\"")),
            ("md5", json!("a"), json!("0cc175b9c0f1b6a831c399e269772661")),
            (
                "sha1",
                json!("a"),
                json!("86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"),
            ),
            (
                "sha256",
                json!("a"),
                json!("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
            ),
        ];
        for (name, value, expected) in cases {
            assert_eq!(run(name, &value, &[]), expected, "{name}");
        }
    }
}
