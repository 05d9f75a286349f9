//! Texts that only who has a key can have written: HMAC-SHA256 over a purpose and the text.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

/// The purpose is a part of what is signed, so that no text of one purpose counts for another.
fn content(purpose: &str, text: &str) -> String {
    format!("{}:{purpose}{text}", purpose.len())
}

/// `text` in a form that fits into an address, and its signature.
#[must_use]
pub fn seal(key: &[u8], purpose: &str, text: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let mark = hmac::sign(&key, content(purpose, text).as_bytes());
    let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    format!("{}.{}", part(text.as_bytes()), part(mark.as_ref()))
}

/// The text that was sealed with the key for the purpose.
#[must_use]
pub fn open(key: &[u8], purpose: &str, sealed: &str) -> Option<String> {
    let (text, mark) = sealed.split_once('.')?;
    let part = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
    let text = String::from_utf8(part(text)?).ok()?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let is_ours = hmac::verify(&key, content(purpose, &text).as_bytes(), &part(mark)?).is_ok();
    is_ours.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_and_the_purpose_open_what_was_sealed() {
        let sealed = seal(b"key", "links", "text");
        assert_eq!(open(b"key", "links", &sealed).as_deref(), Some("text"));
        assert_eq!(open(b"other", "links", &sealed), None);
        assert_eq!(open(b"key", "other", &sealed), None);
        assert_eq!(open(b"key", "", &sealed), None);
        let (text, mark) = sealed.split_once('.').unwrap_or_default();
        for forged in [
            "",
            ".",
            text,
            &format!("{text}."),
            &format!("{text}x.{mark}"),
            &format!("{text}.{mark}A"),
        ] {
            assert_eq!(open(b"key", "links", forged), None, "{forged}");
        }
    }
}
