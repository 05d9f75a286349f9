//! A file as an answer: its name, its entity tag, and the part of it that was asked for.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::file::File;
use crate::call::HttpResponse;

/// The entity tag that is given, in quotes. `None`: none is.
pub(crate) fn entity_tag(given: &str) -> Option<String> {
    match given {
        "" => None,
        quoted if quoted.starts_with('"') || quoted.starts_with("W/\"") => Some(quoted.to_owned()),
        bare => Some(format!("\"{bare}\"")),
    }
}

/// An entity tag made of the bytes.
pub(crate) fn tag_of(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let hex = digest
        .iter()
        .take(16)
        .fold(String::new(), |mut text, byte| {
            let _infallible = write!(text, "{byte:02x}");
            text
        });
    format!("\"{hex}\"")
}

/// The first and the last byte of `bytes=…` with a single range. `None`: another unit, several ranges, or no range at
/// all, and then the whole file is the answer. `Some(None)`: a range outside the file.
fn parse_range(range: &str, size: usize) -> Option<Option<(usize, usize)>> {
    let (first, last) = range.trim().strip_prefix("bytes=")?.split_once('-')?;
    let (first, last) = match (first.trim(), last.trim()) {
        ("", last) => (size.saturating_sub(last.parse().ok()?), size.checked_sub(1)),
        (first, "") => (first.parse().ok()?, size.checked_sub(1)),
        (first, last) => (
            first.parse().ok()?,
            Some(last.parse::<usize>().ok()?.min(size.saturating_sub(1))),
        ),
    };
    Some(last.filter(|last| first <= *last).map(|last| (first, last)))
}

/// The answer that delivers a file, or the range of it that was asked for.
pub(crate) fn delivery(
    file: File,
    tag: Option<&str>,
    is_resumable: bool,
    range: Option<&str>,
) -> HttpResponse {
    let size = file.bytes.len();
    let mut headers = vec![
        ("content-type".to_owned(), file.content_type),
        (
            "content-disposition".to_owned(),
            content_disposition(&file.name),
        ),
    ];
    if let Some(tag) = tag {
        headers.push(("etag".to_owned(), tag.to_owned()));
    }
    if is_resumable {
        headers.push(("accept-ranges".into(), "bytes".into()));
    }
    let (status, body) = match range.and_then(|range| parse_range(range, size)) {
        None => (200, file.bytes),
        Some(None) => {
            headers.push(("content-range".into(), format!("bytes */{size}")));
            (416, Vec::new())
        }
        Some(Some((first, last))) => {
            headers.push((
                "content-range".into(),
                format!("bytes {first}-{last}/{size}"),
            ));
            (
                206,
                file.bytes.get(first..=last).unwrap_or_default().to_vec(),
            )
        }
    };
    HttpResponse {
        status,
        headers,
        body,
    }
}

/// The name in ASCII for old clients, and as it is (RFC 5987) for all others: what ASP.NET writes.
#[must_use]
pub fn content_disposition(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| match c {
            ' '..='~' => c,
            _ => '_',
        })
        .collect();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let plain = if !plain.is_empty() && plain.bytes().all(is_token) {
        plain
    } else {
        let escaped = plain.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{escaped}\"")
    };
    let is_attribute = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte);
    let encoded = name.bytes().fold(String::new(), |mut text, byte| {
        if is_attribute(byte) {
            text.push(char::from(byte));
        } else {
            let _infallible = write!(text, "%{byte:02X}");
        }
        text
    });
    format!("attachment; filename={plain}; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_tag_is_in_quotes() {
        assert_eq!(entity_tag("v1").unwrap(), "\"v1\"");
        assert_eq!(entity_tag("W/\"v1\"").unwrap(), "W/\"v1\"");
        assert_eq!(entity_tag(""), None);
        assert_ne!(tag_of(b"a"), tag_of(b"b"));
    }

    #[test]
    fn ranges_are_read_as_they_are_written() {
        assert_eq!(parse_range("bytes=0-0", 10), Some(Some((0, 0))));
        assert_eq!(parse_range("bytes=-3", 10), Some(Some((7, 9))));
        assert_eq!(parse_range("bytes=5-99", 10), Some(Some((5, 9))));
        assert_eq!(parse_range("bytes=-0", 10), Some(None));
        assert_eq!(parse_range("bytes=0-", 0), Some(None));
        assert_eq!(parse_range("bytes=0-1,3-4", 10), None);
        assert_eq!(parse_range("lines=0-1", 10), None);
    }

    #[test]
    fn any_name_is_a_safe_header() {
        assert_eq!(
            content_disposition("Grüße\"\r\n.txt"),
            "attachment; filename=\"Gr__e\\\"__.txt\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%22%0D%0A.txt"
        );
        assert_eq!(
            content_disposition("file.txt"),
            "attachment; filename=file.txt; filename*=UTF-8''file.txt"
        );
        assert_eq!(
            content_disposition("my file.txt"),
            "attachment; filename=\"my file.txt\"; filename*=UTF-8''my%20file.txt"
        );
    }
}
