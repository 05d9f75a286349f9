//! Form bodies: `application/x-www-form-urlencoded` and `multipart/form-data` (RFC 7578).

use serde_json::{Map, Value, json};

use super::file::File;

/// The most parts that are read of one form.
const PARTS_MAX: usize = 1_000;

/// A form.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Form {
    /// Fields by name; one that comes more than once has a list.
    pub fields: Map<String, Value>,
    /// Files in their order.
    pub files: Vec<File>,
    /// It has no boundary, or no end.
    pub is_malformed: bool,
}

impl Form {
    fn add(&mut self, name: String, value: String) {
        match self.fields.get_mut(&name) {
            None => {
                self.fields.insert(name, value.into());
            }
            Some(Value::Array(values)) => values.push(value.into()),
            Some(first) => *first = json!([first.take(), value]),
        }
    }
}

/// Reads `a=1&b=2`.
pub(super) fn url_encoded(body: &[u8]) -> Form {
    let mut form = Form::default();
    for pair in body
        .split(|b| *b == b'&')
        .filter(|p| !p.is_empty())
        .take(PARTS_MAX)
    {
        let mut halves = pair.splitn(2, |b| *b == b'=');
        let name = decoded(halves.next().unwrap_or_default());
        let value = decoded(halves.next().unwrap_or_default());
        form.add(name, value);
    }
    form
}

/// Undoes percent encoding; a plus is a space, and a percent sign that begins nothing stays.
fn decoded(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = code.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = tail;
            }
            (other, _) => {
                bytes.push(*other);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a multipart body. What is cut off or malformed ends the reading and is said; what came before is kept.
#[must_use]
pub fn multipart(content_type: &str, body: &[u8]) -> Form {
    let mut form = Form {
        is_malformed: true,
        ..Form::default()
    };
    let Some(boundary) = parameter(content_type, "boundary").filter(|b| !b.is_empty()) else {
        return form;
    };
    let delimiter = format!("--{boundary}").into_bytes();
    let Some(mut rest) = after(body, &delimiter) else {
        return form;
    };
    let end = [b"\r\n".as_slice(), &delimiter].concat();
    for _ in 0..PARTS_MAX {
        // `--` after the delimiter is the end of the form.
        let Some(part) = rest.strip_prefix(b"\r\n") else {
            form.is_malformed = !rest.starts_with(b"--");
            break;
        };
        let (Some(length), Some(next)) = (position(part, &end), after(part, &end)) else {
            break;
        };
        read_part(&mut form, part.get(..length).unwrap_or_default());
        rest = next;
    }
    form
}

fn read_part(form: &mut Form, part: &[u8]) {
    let (head, content) = match position(part, b"\r\n\r\n") {
        Some(at) => (part.get(..at), part.get(at + 4..)),
        None => return,
    };
    let head = String::from_utf8_lossy(head.unwrap_or_default()).into_owned();
    let content = content.unwrap_or_default();
    let header = |wanted: &str| {
        head.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.trim())
    };
    let disposition = header("content-disposition").unwrap_or_default();
    let Some(name) = parameter(disposition, "name") else {
        return;
    };
    match parameter(disposition, "filename") {
        // A browser sends an empty nameless part for a file field that was left empty.
        Some(file) if file.is_empty() && content.is_empty() => {}
        Some(file) => form.files.push(File {
            field: name,
            name: file,
            content_type: header("content-type")
                .unwrap_or("application/octet-stream")
                .to_owned(),
            bytes: content.to_vec(),
        }),
        None => form.add(name, String::from_utf8_lossy(content).into_owned()),
    }
}

/// A parameter of a header's value, such as `boundary` or `filename`, without its quotes.
fn parameter(header: &str, wanted: &str) -> Option<String> {
    let mut rest = header.split_once(';')?.1;
    loop {
        let (name, value) = rest.split_once('=')?;
        let name = name.trim().trim_start_matches(';').trim();
        let value = value.trim_start();
        let (value, next) = match value.strip_prefix('"') {
            Some(quoted) => quoted_text(quoted),
            None => {
                let end = value.find(';').unwrap_or(value.len());
                let (value, next) = value.split_at(end);
                (value.trim().to_owned(), next)
            }
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = next;
    }
}

/// The text up to the closing quote, and what follows.
fn quoted_text(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, text.get(at + 1..).unwrap_or_default()),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

fn after<'t>(text: &'t [u8], wanted: &[u8]) -> Option<&'t [u8]> {
    text.get(position(text, wanted)? + wanted.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; charset=utf-8; boundary=\"x-y\"";

    #[test]
    fn url_encoded_fields_are_decoded() {
        let form = url_encoded(b"name=Jane+Doe&mail=a%40b.c&tag=1&tag=2&&empty=&odd=100%&=none");
        let expected = json!({
            "name": "Jane Doe", "mail": "a@b.c", "tag": ["1", "2"], "empty": "", "odd": "100%", "": "none",
        });
        assert_eq!(Value::Object(form.fields), expected);
        assert_eq!(url_encoded(b""), Form::default());
    }

    #[test]
    fn parts_are_fields_and_files() {
        let body = "preamble\r\n--x-y\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA \"book\"\r\n\
            --x-y\r\ncontent-disposition: form-data; name=upload; filename=\"a\\\"b;c.bin\"\r\nContent-Type: image/png\r\n\r\n\
            one\r\n--x\r\ntwo\r\n--x-y\r\nContent-Disposition: form-data; name=\"zero\"; filename=\"zero.txt\"\r\n\r\n\r\n\
            --x-y\r\nContent-Disposition: form-data; name=\"left\"; filename=\"\"\r\n\r\n\r\n--x-y--\r\nepilogue";
        let form = multipart(TYPE, body.as_bytes());
        assert_eq!(Value::Object(form.fields), json!({ "title": "A \"book\"" }));
        let seen: Vec<_> = form
            .files
            .iter()
            .map(|f| (f.field.as_str(), f.name.as_str(), f.bytes.len()))
            .collect();
        assert_eq!(
            seen,
            [("upload", "a\"b;c.bin", 13), ("zero", "zero.txt", 0)]
        );
        assert_eq!(form.files[0].content_type, "image/png");
        assert_eq!(form.files[0].bytes, b"one\r\n--x\r\ntwo");
    }

    #[test]
    fn a_form_that_is_cut_off_keeps_what_came() {
        let body = b"--x-y\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x-y\r\nContent-Dispos";
        assert_eq!(
            Value::Object(multipart(TYPE, body).fields),
            json!({ "a": "1" })
        );
        for broken in [&b""[..], b"--x-y", b"--x-y--", b"--x-y\r\n\r\n--x-y--"] {
            let form = multipart(TYPE, broken);
            assert_eq!((form.fields.len(), form.files.len()), (0, 0));
            assert_eq!(form.is_malformed, !broken.ends_with(b"--"), "{broken:?}");
        }
        let form = multipart("multipart/form-data", body);
        assert!(form.is_malformed && form.fields.is_empty());
    }
}
